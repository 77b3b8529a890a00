#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants one violation at a time in a small clean tree and looks whether tools/check-layers names it at its
line, and only it; then things that look like violations and are none. Usage: test-check-layers.py CHECK_LAYERS"""

import os
import subprocess
import sys
import tempfile

CLEAN = {
    "base/err.h": "#pragma once\nstruct err { int code; };\n",
    "base/fd.h": "#pragma once\n",
    "base/fd.c": '#include "base/fd.h"\n#include <linux/magic.h>\nint f(void) { return fflush(stdout) + g(stdout); }\n',
    "base/str.h": "#pragma once\n",
    "base/str-number.c": '#include "base/str.h"\n',
    "model/kind.h": '#pragma once\n#include "base/err.h"\nenum kind { KIND_A = 1, KIND_B, KIND_COUNT_ };\n',
    "model/kind.c": '#include "model/kind.h"\n',
    "text/pattern.h": "#pragma once\n",
    "journal/journal.h": "#pragma once\nenum journal_kind { JOURNAL_START = 2, JOURNAL_END };\n",
    "store/store.h": "#pragma once\n",
    "store/store-sqlite.h": "#pragma once\n",
    "exec/exec.h": "#pragma once\n",
    "exec/exec.c": '#include "exec/exec.h"\n#include <sys/epoll.h>\n',
    "work/work.h": "#pragma once\n",
    "report/report.h": '#pragma once\n#include "store/store.h"\n',
    "cli/main.c": '#include "cli/cli.h"\n#include "work/work.h"\nint main(void) { printf("x"); exit(2); }\n',
    "cli/cli.h": "#pragma once\n",
}

# (file, its text, line, part of what is said)
PLANTED = [
    ("base/x.c", '#include "base/fd.h"\n#include "model/kind.h"\n', 2, "base must not include model"),
    ("model/x.c", '#include "model/kind.h"\n\n#  include   "text/pattern.h"\n', 3, "model must not include text"),
    ("text/x.c", '#include "text/pattern.h"\n#include "journal/journal.h"\n', 2, "text must not include journal"),
    ("store/x.c", '#include "store/store.h"\n#include "journal/journal.h"\n', 2, "store must not include journal"),
    ("journal/x.c", '#include "journal/journal.h"\n#include "store/store.h"\n', 2, "journal must not include store"),
    ("exec/x.c", '#include "exec/exec.h"\n#include "store/store.h"\n', 2, "exec must not include store"),
    ("exec/x.c", '#include "exec/exec.h"\n#include "work/work.h"\n', 2, "exec must not include work"),
    ("report/x.c", '#include "report/report.h"\n#include "work/work.h"\n', 2, "report must not include work"),
    ("report/x.c", '#include "report/report.h"\n#include "store/store-sqlite.h"\n', 2, "report must not include store"),
    ("work/x.c", '#include "work/work.h"\n#include "cli/cli.h"\n', 2, "work must not include cli"),
    ("cli/x.c", '#include "cli/cli.h"\n#include "journal/journal.h"\n', 2, "cli must not include journal"),
    ("web/x.c", '#include "base/fd.h"\n', 1, "'web' is not a layer"),
    ("base/x.h", '#pragma once\n#include "base/nothing.h"\n', 2, "is not in src/"),
    ("model/x.h", '#pragma once\n#include "fd.h"\n', 2, "is not in src/"),  # of another folder
    ("model/kind.c", '#include "base/err.h"\n#include "model/kind.h"\n', 1, "must be its own header"),
    ("model/kind.c", '#include <stdio.h>\n#include "model/kind.h"\n', 1, "must be its own header"),
    ("model/x.c", '#include "base/err.h"\n#include "model/kind.h"\n', 1, "must be a header of model"),
    ("model/x.c", "int nothing;\n", 1, "must be a header of model"),
    ("work/x.c", '#include "work/work.h"\n#include <sys/epoll.h>\n', 2, "Linux only"),
    ("cli/x.c", '#include "cli/cli.h"\n#include <linux/fs.h>\n', 2, "Linux only"),
    ("report/x.c", '#include "report/report.h"\n#include <sched.h>\n', 2, "Linux only"),
    ("exec/x.c", '#include "exec/exec.h"\n#include <err.h>\n', 2, "only cli prints"),
    ("exec/x.c", '#include "exec/exec.h"\nvoid f(void) {\n    exit(1);\n}\n', 3, "only cli ends the program"),
    ("work/x.c", '#include "work/work.h"\nvoid f(void) { printf ("x"); }\n', 2, "only cli prints (printf)"),
    ("work/x.c", '#include "work/work.h"\n/* a\n b */ void f(void) { perror("x"); }\n', 3, "only cli prints (perror)"),
    ("report/x.c", '#include "report/report.h"\nint f(void) { return fprintf(stderr, "x"); }\n', 2, "(stderr)"),
    ("report/x.c", '#include "report/report.h"\nint f(void) { return fputs("x",\n  stdout); }\n', 3, "(stdout)"),
    ("base/x.c", '#include "base/fd.h"\n__attribute__((constructor)) static void f(void) {}\n', 2, "constructors"),
    ("base/x.c", '#include "base/fd.h"\n__attribute__((unused, constructor(101))) static void f(void) {}\n', 2,
     "constructors"),
    ("model/x.c", '#include "model/kind.h"\nint f(enum kind k) {\n  switch (k) {\n  case KIND_A:\n    return 1;\n'
     '  default:\n    return 0;\n  }\n}\n', 6, "no default"),
    ("model/x.c", '#include "model/kind.h"\nint f(int n, enum kind k) {\n  switch (n) {\n  case 1:\n    switch (k) {\n'
     '    case KIND_B: default: return 1;\n    }\n  default:\n    return 0;\n  }\n}\n', 6, "no default"),
]

# what must pass: (file, its text)
HARMLESS = [
    ("base/x.c", '#include "fd.h"\n#include "base/err.h"\n'),  # beside it
    ("report/x.c", '#include "report/report.h"\n#include "store/store.h"\n#include "text/pattern.h"\n'),
    ("cli/x.c", '#include "cli/cli.h"\n#include "report/report.h"\n#include "exec/exec.h"\n'),
    ("work/x.c", '#include "work/work.h"\n/* exit(1); printf("x") */\n// #include "cli/cli.h"\n'
     'const char *t = "exit(1); \\" printf(";\nchar c = \'"\';\nvoid g(void) { _exit(1); strbuf_printf(b, "x"); }\n'),
    ("work/x.c", '#include "work/work.h"\nvoid g(struct s *s) { h(s->stdout, s->stderr); warn(1); }\n'),
    ("model/x.c", '#include "model/kind.h"\nint f(int n) {\n  switch (n) {\n  case 1: return 2;\n  case EINTR: return 3;\n'
     '  default: return 0;\n  }\n}\n'),
    ("journal/x.c", '#include "journal/journal.h"\nint f(unsigned k) { switch (k) { case JOURNAL_START: return 1;\n'
     'default: return 0; } }\n'),
    ("model/x.c", '#include "model/kind.h"\nint f(int n, enum kind k) {\n  switch (n) {\n  case 1:\n    switch (k) {\n'
     '    case KIND_B: return 1;\n    }\n  default:\n    return 0;\n  }\n}\n'),
]


def run(check, files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = os.path.join(root, "src", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        done = subprocess.run([sys.executable, check, root], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return done.returncode, done.stdout


def main(check):
    wrong = []
    code, said = run(check, CLEAN)
    if code != 0 or said:
        wrong.append(f"the clean tree: {code} {said}")
    for name, text, line, what in PLANTED:
        code, said = run(check, {**CLEAN, name: text})
        place = f"src/{name.split('/')[0]}:1" if "not a layer" in what else f"src/{name}:{line}"
        lines = said.splitlines()
        if code != 1 or len(lines) != 1 or not lines[0].startswith(place + ": ") or what not in lines[0]:
            wrong.append(f"planted in {name}: expected \"{place}: …{what}…\", got {code}: {said}")
    for name, text in HARMLESS:
        code, said = run(check, {**CLEAN, name: text})
        if code != 0:
            wrong.append(f"harmless {name}: {code} {said}")
    if run(check, {})[0] != 2:
        wrong.append("a tree without sources must be an error, not a pass")
    for text in wrong:
        print(text)
    print(f"{len(PLANTED)} planted, {len(HARMLESS)} harmless, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
