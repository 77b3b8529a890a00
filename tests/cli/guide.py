#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide is run as it stands: its blocks of kind `sh run`, in order, in one shell; what it shows has to be what comes.

    guide.py run GUIDE.md FOLDER      runs them in FOLDER/home; FOLDER/gpu is the home of the rented machine
    guide.py same GUIDE.md OTHER.md…  translations have the same code, headings of the same levels, tables of the same shape, the same
                                    links and words in backticks; comments in code that is not run may be translated

Of a block `text` that follows, every line has to be in the output of the block before it; figures and blanks are not compared, and a
line is cut off at `…`. Of a block `text measured`, which holds what one machine took, the first words of each line have to be there.
The program may end with 3 (check) or 4 (decide); what it ends with is printed at the end.
"""
import os
import re
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# ssh HOST COMMAND, scp -r PATH HOST:PATH: the other machine is another home.
STAND_INS = {
    "ssh": '#!/bin/sh\nshift\ncd "$GPU_HOME" && HOME=$GPU_HOME exec sh -c "$*"\n',
    "scp": '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nexec cp -r "$1" "$GPU_HOME/${2#*:}"\n',
}
# The program's answers to open questions are no failures; they are told apart by what they end with.
PRELUDE = """
set -euo pipefail
probelauf() {
    local status=0
    command probelauf "$@" || status=$?
    echo "$1 $status" >>"$STATUSES"
    case "$1 $status" in "check 3" | "decide 4") return 0 ;; esac
    return $status
}
"""


def blocks(path):
    """(kind, line number, text) of each fenced block."""
    found, kind, begin, lines = [], None, 0, []
    with open(path, encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            if line.startswith("```"):
                if kind is None:
                    kind, begin, lines = line[3:].strip(), number, []
                else:
                    found.append((kind, begin, "".join(lines)))
                    kind = None
            elif kind is not None:
                lines.append(line)
    if kind is not None:
        sys.exit("%s:%d: a block does not end" % (path, begin))
    return found


def plain(line):
    """What of a line is the same on every machine: no figures, no short ids, no blanks."""
    line = re.sub(r"\b[0-9a-f]{8}\b|[-+]?\d[\d.]*(?:\s?(?:ms|s|min|h|B|[KMG]iB)\b)?", "", line)
    return re.sub(r"[\s.,:≥]+", "", line)


def first_words(line):
    """What stands before the first figure, state or second column."""
    return re.split(r"\S\s{2}|\[[mea?]\]|\d", line.strip() + "  ")[0]


def misfits(shown, output, measured):
    there = [plain(line) for line in output.splitlines()]
    for line in shown.splitlines():
        want = plain(first_words(line) if measured else line.split("…")[0])
        if want and not any(want in have for have in there):
            yield line


def run(guide, folder):
    found = blocks(guide)
    home, other, tools = (os.path.join(folder, name) for name in ("home", "gpu", "bin"))
    for path in (home, other, tools):
        os.makedirs(path)
    for name, text in STAND_INS.items():
        path = os.path.join(tools, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
    os.symlink(os.environ["PROBELAUF"], os.path.join(tools, "probelauf"))
    # nor the GPU library of the other tests, which the one who runs them may have in the loader's path
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("PROBELAUF", "XDG_", "GIT_", "LD_"))}
    env.update(HOME=home, GPU_HOME=other, PATH=tools + ":/usr/bin:/bin", OMP_NUM_THREADS="1", USER="kim", COLUMNS="80",
               STATUSES=os.path.join(folder, "statuses"), PROBELAUF_RECORD_WAIT="60s",
               EXAMPLES=os.path.join(SOURCE, "examples"))
    for role in ("AUTHOR", "COMMITTER"):
        env["GIT_%s_NAME" % role], env["GIT_%s_EMAIL" % role] = "Kim", "kim@example.org"
    # One shell for all, as a reader has one; a mark after each block tells the outputs apart.
    script, mark = [PRELUDE], "\x1e%d\n"
    numbers = [index for index, (kind, _, _) in enumerate(found) if kind == "sh run"]
    for index in numbers:
        script.append(found[index][2] + "\nprintf '%s'\n" % (mark % index).replace("\n", "\\n"))
    result = subprocess.run(["bash", "-c", "".join(script)], cwd=home, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, encoding="utf-8", check=False)
    outputs = {}
    rest = result.stdout
    for index in numbers:
        outputs[index], found_mark, rest = rest.partition(mark % index)
        if not found_mark:
            print(outputs[index])
            sys.exit("%s:%d: the block ends with %d" % (guide, found[index][1], result.returncode))
    failed = False
    for index, (kind, line, text) in enumerate(found):
        if kind == "sh run":
            last = index
        elif kind.startswith("text"):
            for shown in misfits(text, outputs[last], kind == "text measured"):
                failed = True
                print("%s:%d: does not come any more: %s" % (guide, line, shown))
    if os.environ.get("GUIDE_SHOW"):
        for index in numbers:
            print("==== line %d\n%s" % (found[index][1], outputs[index]))
    with open(env["STATUSES"], encoding="utf-8") as file:
        print("ended: " + ", ".join(line.strip() for line in file if line.startswith(("check", "decide"))))
    print("ran: %d blocks" % len(numbers))
    sys.exit(1 if failed else 0)


def shape(path):
    """Blocks as they are; headings by their level; rows of tables by their cells; links by where they lead."""
    with open(path, encoding="utf-8") as source:
        text = re.sub(r"^```.*?^```$", "```", source.read(), flags=re.S | re.M)
    rows = []
    for line in text.splitlines():
        if line.startswith("#"):
            rows.append("heading " + line.split(" ")[0])
        elif line.startswith("|"):
            rows.append("row of %d cells" % (len(re.findall(r"(?<!\\)\|", line)) - 1))
        elif line.startswith("```"):
            rows.append("block")
        elif line.startswith("- "):
            rows.append("item")
    # which document, whatever its folder; translations link to one another's
    links = [re.sub(r"^(?:\.\./|[a-z]{2}/|docs/)*", "", link) for link in re.findall(r"\]\(([^)\s]+)\)", text)]
    links = [re.sub(r"\.(?:de|fr|ko)\.md$", ".md", link) for link in links]
    return rows, sorted(set(links)), sorted(set(re.findall(r"`([^`\n]+)`", text)))


def code_of(path):
    """(kind, text) of each block; what is not run without its comments."""
    return [(kind, text if kind != "sh" else re.sub(r"\s+# .*", "", text)) for kind, _, text in blocks(path)]


def same(first, others):
    failed = False

    def complain(path, what):
        nonlocal failed
        failed = True
        print("%s: %s" % (path, what))

    rows, links, codes = shape(first)
    for other in others:
        if code_of(first) != code_of(other):
            for (_, line, _), one, two in zip(blocks(other), code_of(first), code_of(other)):
                if one != two:
                    complain(other, "the block in line %d is not that of %s" % (line, first))
                    break
            else:
                complain(other, "%d blocks instead of %d" % (len(blocks(other)), len(blocks(first))))
        rows2, links2, codes2 = shape(other)
        for number, (have, want) in enumerate(zip(rows2 + ["end"], rows + ["end"])):
            if have != want:
                complain(other, "element %d is a %s instead of a %s" % (number + 1, have, want))
                break
        for what, want, have in (("link", links, links2), ("word in backticks", codes, codes2)):
            for one in set(want) ^ set(have):
                complain(other, "the %s %s is in one of the two only" % (what, one))
    sys.exit(1 if failed else 0)


if len(sys.argv) == 4 and sys.argv[1] == "run":
    run(sys.argv[2], sys.argv[3])
elif len(sys.argv) >= 4 and sys.argv[1] == "same":
    same(sys.argv[2], sys.argv[3:])
else:
    sys.exit(__doc__)
