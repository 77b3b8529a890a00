#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every option of every command through help, man page and the completion of three shells, which are really driven.

    manual.py PROBELAUF MAN-FOLDER SOURCE

TAP on standard output. What a machine lacks (mandoc, zsh, fish) is skipped and said."""
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM, PAGES, SOURCE = [os.path.abspath(argument) for argument in sys.argv[1:4]]
PATIENCE_S = 30
count = failures = 0


def result(name, problems, skip=None):
    global count, failures
    count += 1
    failures += bool(problems)
    print("%s %d - %s%s" % ("not ok" if problems else "ok", count, name, " # SKIP " + skip if skip else ""), flush=True)
    for problem in problems[:20]:
        print("# " + problem, flush=True)


class Place:
    """A home of its own, a plan, two runs."""

    def __init__(self, root):
        self.root = root
        self.home = os.path.join(root, "home")
        self.study = os.path.join(root, "study")
        os.makedirs(self.home)
        os.makedirs(self.study)
        bin_folder = os.path.join(root, "bin")
        os.makedirs(bin_folder)
        os.symlink(PROGRAM, os.path.join(bin_folder, "probelauf"))
        self.env = {"HOME": self.home, "PATH": bin_folder + ":/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8",
                    "TERM": "dumb", "TMPDIR": root}
        for name in os.environ:
            if name.endswith("SAN_OPTIONS"):
                self.env[name] = os.environ[name]
        for name in ("file one.txt", "filter.yaml"):
            with open(os.path.join(self.study, name), "w", encoding="utf-8"):
                pass
        self.run("init", "--paper", "fast-kvzip")
        self.run("run", "-q", "--plan", "none", "--", "sh", "-c", "exit 0")
        self.run("run", "-q", "--plan", "none", "--", "sh", "-c", "exit 3", status=3)
        self.run("log")  # takes both in

    def run(self, *words, status=0, env=None):
        done = subprocess.run([PROGRAM, *words], cwd=self.study, env=env or self.env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode != status:
            raise SystemExit("probelauf %s: %d %s" % (" ".join(words), done.returncode, done.stderr.decode()))
        return done.stdout.decode()

    def ask(self, *words):
        lines = self.run("completion", "words", "--", *words).split("\n")
        return lines[0], [line.split("\t")[0] for line in lines[1:] if line]


def spellings(option):
    return ["--" + option["name"]] + (["-" + option["short"]] if option["short"] else [])


# ---- help and man ----

def check_help(place, tables):
    problems = []
    for command in tables["commands"]:
        text = place.run("help", command["name"])
        if not text.startswith("Examples:\n  ") or "probelauf " + command["name"] not in text.split("\n")[1]:
            problems.append("help %s: no examples first" % command["name"])
        words = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text[text.index("Usage:"):]))
        for option in command["options"]:
            problems += ["help %s: no %s" % (command["name"], name) for name in spellings(option) if name not in words]
    result("every option of every command stands in its help", problems)


def roff_words(text):
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text.replace("\\-", "-").replace("\\fB", "").replace("\\fR", "")))


def check_pages(tables):
    problems = []
    for command in tables["commands"]:
        path = os.path.join(PAGES, "probelauf-%s.1" % command["name"])
        if not os.path.exists(path):
            problems.append("no page of %s (man/meson.build)" % command["name"])
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        tags = roff_words("\n".join(line for line in text.split("\n") if line.startswith(".It ")))
        for option in command["options"]:
            problems += ["page of %s: no %s" % (command["name"], name) for name in spellings(option) if name not in tags]
        for verb in command["verbs"]:
            if '.Nm "probelauf %s %s"' % (command["name"], verb["name"]) not in text:
                problems.append("page of %s: no %s" % (command["name"], verb["name"]))
            if command["name"] != "completion" and not os.path.exists(os.path.join(PAGES, "probelauf-%s-%s.1" % (command["name"], verb["name"]))):
                problems.append("no link of %s %s (man/meson.build)" % (command["name"], verb["name"]))
        for example in command["examples"]:
            if ".Sh EXAMPLES" not in text or example["command"].split()[0] not in text[text.index(".Sh EXAMPLES"):]:
                problems.append("page of %s: an example is missing" % command["name"])
        for entry in command["exit_codes"]:
            if entry["code"] is not None and "\n.It %d\n" % entry["code"] not in text:
                problems.append("page of %s: no exit code %d" % (command["name"], entry["code"]))
    result("every command has its page, with all options, verbs, examples and exit codes", problems)


def check_references():
    problems, pages = [], os.listdir(PAGES)
    for page in pages:
        if not re.search(r"\.[15]$", page):
            continue
        with open(os.path.join(PAGES, page), encoding="utf-8") as file:
            text = file.read()
        problems += ["%s: there is no %s(%s)" % (page, name, section) for name, section in re.findall(r"^\.Xr (probelauf\S*) (\d)", text, re.M)
                     if "%s.%s" % (name, section) not in pages]
        problems += ["%s: there is no %s" % (page, target) for target in re.findall(r"^\.so man1/(\S+)", text, re.M) if target not in pages]
    for name in ("plan", "journal", "ledger", "config"):
        problems += [] if "probelauf-%s.5" % name in pages else ["no page of the file format " + name]
    result("references lead to pages that are there", problems)


def check_lint():
    if shutil.which("mandoc") is None:
        result("mandoc has nothing to say", [], "no mandoc")
        return
    problems = []
    for page in sorted(os.listdir(PAGES)):
        if re.search(r"\.[15]$", page):
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", os.path.join(PAGES, page)], cwd=os.path.dirname(PAGES), capture_output=True, check=False)
            said = [line for line in done.stdout.decode().splitlines() if ".so request" not in line and "in man1/" not in line]
            if not open(os.path.join(PAGES, page), encoding="utf-8").read().startswith(".so "):
                problems += said
    result("mandoc has nothing to say", problems)


def check_plan_page():
    with open(os.path.join(SOURCE, "schema/plan.schema.json"), encoding="utf-8") as file:
        keys = set(json.load(file)["properties"])
    with open(os.path.join(PAGES, "probelauf-plan.5"), encoding="utf-8") as file:
        text = file.read().replace("\\fB", "").replace("\\fR", "")
    result("every part of the plan stands in its page", ["no " + key for key in sorted(keys) if "\n.It %s\n" % key not in text])


def check_topics(place):
    problems = []
    for name, words in (("plan", "claims offers*? blocks probelauf-plan"), ("journal", "PLJOURN1 probelauf-journal"),
                        ("ledger", "SQLite probelauf-ledger Examples:"), ("config", "config.yaml record-wait probelauf-config Examples:")):
        text = place.run("help", name)
        problems += ["help %s: no %s" % (name, word) for word in words.split() if not re.search(word, text)]
    for width in (40, 80, 100):
        for name in ("plan", "journal", "run", "session"):
            text = place.run("help", name, env=dict(place.env, COLUMNS=str(width)))
            told = text[text.index("Usage:"):] if "Usage:" in text else text
            long = [line for line in told.split("\n") if len(line) > width and len(line.split()) > 3]
            problems += ["help %s at %d columns: %s" % (name, width, line) for line in long[:1]]
    result("help of a file format, in the width that there is", problems)


# ---- what is offered ----

def check_offered(place, tables):
    problems = []
    for command in tables["commands"]:
        how, found = place.ask(command["name"], "--")
        wanted = ["--" + option["name"] for option in command["options"]]
        if how != "words" or found != wanted:
            problems.append("%s: %s" % (command["name"], set(found) ^ set(wanted)))
        for option in command["options"]:
            name = "--" + option["name"]
            if option["type"] == "flag":
                continue
            lead = [command["verbs"][0]["name"]] if command["verbs"] else []
            how, found = place.ask(command["name"], *lead, name, "")
            joined_how, joined = place.ask(command["name"], *lead, name + "=")
            if joined_how != how or joined != [name + "=" + word for word in found]:
                problems.append("%s %s: with '=' other values" % (command["name"], name))
            if (how == "files") != (option["type"] == "path"):
                problems.append("%s %s: %s" % (command["name"], name, how))
            if option["choices"] and found != option["choices"]:
                problems.append("%s %s: %s" % (command["name"], name, found))
    result("every option, and every value that a table knows, is offered", problems)


def check_names(place):
    problems = []

    def want(expected, *words):
        how, found = place.ask(*words)
        if [how] + found != expected:
            problems.append("%s: %s" % (words, [how] + found))

    plan = open(os.path.join(place.study, "probelauf.yaml"), encoding="utf-8").read()
    blocks = re.findall(r"^  - id: (\S+)", plan[plan.index("\nblocks:"):].split("\noffers:")[0], re.M)
    blocks = blocks or re.findall(r"^  - \{?id: ([^\s,]+)", plan[plan.index("\nblocks:"):], re.M)
    how, found = place.ask("block", "run", "")
    if not found or not set(found) <= set(blocks):
        problems.append("blocks: %s of %s" % (found, blocks))
    want(["words"] + ["--block=" + block for block in found], "run", "--block=")
    want(["words"] + [block for block in found if block.startswith(found[0])], "run", "--block", found[0])
    want(["words", "go-on", "change-environment", "limit"], "block", "gate", "validate", "")
    want(["words"], "block", "gate", "validate", "limit", "")
    want(["words", "@1", "@2"], "show", "@")
    want(["words", "@1", "@2"], "compare", "@1", "")
    want(["words"], "compare", "@1", "@2", "")
    want(["files", "@1", "@2"], "explain", "")
    want(["command 2"], "run", "--", "l")
    want(["command 3"], "run", "-c", "a=1", "l")
    want(["command 4"], "run", "--note", "text", "--no-such", "ls", "-")
    want(["words"], "nonsense", "")
    want(["words"], "block", "nonsense", "")
    want(["words", "plan"], "help", "pl")
    want(["words"], "show", "--ledger", "sqlite:/nowhere/at/all.db", "@")
    how, found = place.ask("run", "-q", "--note", "x", "--change", "y", "--")
    if {"--quiet", "--note", "--verbose"} & set(found) or "--change" not in found:
        problems.append("given or shut out, and offered again: %s" % found)
    how, found = place.ask("block", "list", "--")
    if "--env" not in found or "--lanes" in found:
        problems.append("options of another verb: %s" % found)
    result("names out of plan and ledger; what cannot stand there is not offered", problems)


def picture(root):
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            found[path] = (status.st_size, status.st_mtime_ns, status.st_ino)
    return found


def check_traces(place, tables):
    problems = []
    journals = [path for path in picture(place.home) if path.endswith(".journal")]
    place.run("run", "-q", "--plan", "none", "--", "sh", "-c", "exit 0")  # not taken in by anybody but the recorder
    end = time.monotonic() + PATIENCE_S
    while [path for path in picture(place.home) if path.endswith(".journal")] != journals and time.monotonic() < end:
        time.sleep(0.1)
    before = picture(place.home)
    for words in (["show", ""], ["session", "stop", ""], ["block", "run", ""], ["run", "--env", ""], ["log", "--after", ""]):
        place.ask(*words)
    if picture(place.home) != before:
        problems.append("written: %s" % (set(picture(place.home).items()) ^ set(before.items())))
    empty = os.path.join(place.root, "empty")
    os.makedirs(empty)
    place.run("completion", "words", "--", "show", "", env=dict(place.env, HOME=empty))
    if os.listdir(empty):
        problems.append("an empty home is not empty any more: %s" % os.listdir(empty))
    with open(os.path.join(empty, "ledger.db"), "w", encoding="utf-8") as file:
        file.write("no ledger")
    for words in (["show", "--ledger", "sqlite:%s/ledger.db" % empty, ""], ["block", "run", "--plan", place.study + "/filter.yaml", ""], ["show", "--ledger", "x:y", ""]):
        done = subprocess.run([PROGRAM, "completion", "words", "--", *words], cwd=place.study, env=place.env, capture_output=True, check=False)
        if done.returncode != 0 or done.stderr or done.stdout != b"words\n":
            problems.append("%s: %d %s %s" % (words, done.returncode, done.stdout, done.stderr))
    result("asking leaves no trace, takes nothing in, and is silent where it fails", problems)


# ---- the shells themselves ----

def scripted(place, argv, script):
    path = os.path.join(place.root, "script")
    with open(path, "w", encoding="utf-8") as file:
        file.write(script)
    done = subprocess.run([*argv, path], cwd=place.study, env=place.env, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=PATIENCE_S * 4)
    return done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def lines_to_try(tables):
    tried = {"run --purpose ": ["trial", "function-test", "work"], "block gate validate ": ["go-on", "change-environment", "limit"], "show @": ["@1", "@2", "@3"],
             "mark comp": ["compute"], "help jour": ["journal"]}
    for command in tables["commands"]:
        tried[command["name"] + " --"] = ["--" + option["name"] for option in command["options"]]
        for verb in command["verbs"]:
            tried["%s %s" % (command["name"], verb["name"])] = [verb["name"]]
    tried[""] = [command["name"] for command in tables["commands"]] + ["--version", "--help"]
    return tried


def compare(name, tried, answers, errors=""):
    problems = ["said on standard error: " + errors] if errors else []
    for line, wanted in tried.items():
        found = answers.get(line)
        if found is None or sorted(set(found)) != sorted(set(wanted)):
            problems.append("'probelauf %s': %s" % (line, "nothing" if found is None else sorted(set(found) ^ set(wanted))))
    result(name, problems)


def split_answers(text):
    answers, line = {}, None
    for row in text.split("\n"):
        if row.startswith("LINE:"):
            line = row[5:]
            answers[line] = []
        elif line is not None and row:
            answers[line].append(row.split("\t")[0])
    return answers


def check_bash(place, tables):
    tried = lines_to_try(tables)
    script = "source <(probelauf completion bash)\n"
    for line in tried:
        words = ["probelauf"] + line.split(" ")
        script += "echo 'LINE:%s'; COMP_LINE='probelauf %s'; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(%s); COMP_CWORD=%d; _probelauf; printf '%%s\\n' \"${COMPREPLY[@]}\"\n" % (
            line, line, " ".join("'%s'" % word for word in words), len(words) - 1)
    out, errors = scripted(place, ["bash", "--norc", "--noprofile"], script)
    compare("bash completes every option of every command", tried, split_answers(out), errors)


def check_fish(place, tables):
    if shutil.which("fish") is None:
        result("fish completes every option of every command", [], "no fish")
        return
    tried = lines_to_try(tables)
    script = "probelauf completion fish | source\n" + "".join("echo 'LINE:%s'; complete -C 'probelauf %s'\n" % (line, line) for line in tried if line)
    script += "echo LINE:; complete -C 'probelauf '; complete -C 'probelauf --'\n"
    out, errors = scripted(place, ["fish", "--no-config"], script)
    compare("fish completes every option of every command", tried, split_answers(out), errors)


class Terminal:
    def __init__(self, argv, env, cwd):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execvpe(argv[0], argv, env)
        self.seen = ""

    def type(self, text, wanted):
        """True once `wanted` stands on the screen behind what was there before."""
        self.seen = ""
        os.write(self.fd, text.encode())
        end = time.monotonic() + PATIENCE_S
        while wanted not in self.seen and time.monotonic() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                self.seen += os.read(self.fd, 65536).decode("utf-8", "replace")
        return wanted in self.seen

    def end(self):
        os.close(self.fd)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def check_zsh(place, tables):
    if shutil.which("zsh") is None:
        result("zsh completes every option of every command", [], "no zsh")
        return
    tried = lines_to_try(tables)
    target = os.path.join(place.root, "zsh-out")
    # Every match that the completion system is given is written down, as it would stand in the line.
    begin = ("autoload -Uz compinit; compinit -u -D; source <(probelauf completion zsh); unsetopt auto_list zle_bracketed_paste\n"
             "compadd() { local -a got; builtin compadd \"$@\"; local code=$?; "
             "[[ \" ${(j: :)@[1,(i)(-|--)]}\" == *' -'[a-zA-Z]#[OAD]' '* ]] || { builtin compadd -O got \"$@\"; print -rl -- $got >>%s }; return code }\n"
             "said() { zle kill-buffer; print -r -- REA''DY-$((++n)) }; zle -N said; bindkey '^T' said; n=0; setopt extended_glob\n"
             "print -r -- REA''DY-0\n" % target)
    with open(target, "w", encoding="utf-8"):
        pass
    terminal = Terminal(["zsh", "-f", "-i"], dict(place.env, PS1="> "), place.study)
    problems = [] if terminal.type(begin, "READY-0") else ["does not begin: %r" % terminal.seen]
    answers = {}
    for index, line in enumerate(tried, 1):
        before = os.path.getsize(target)
        if problems or not terminal.type("probelauf %s\t\x14" % line, "READY-%d\r" % index):
            problems.append("'%s': %r" % (line, terminal.seen[-200:]))
            break
        with open(target, "rb") as file:
            file.seek(before)
            answers[line] = file.read().decode().split()
    terminal.end()
    if problems:
        result("zsh completes every option of every command", problems)
    else:
        compare("zsh completes every option of every command", tried, answers)


def check_keys(place):
    shells = [("bash", ["bash", "--norc", "--noprofile", "-i"], "source <(probelauf completion bash); echo REA''DY\n", "file\\ one.txt"),
              ("zsh", ["zsh", "-f", "-i"], "autoload -Uz compinit; compinit -u -D; source <(probelauf completion zsh); echo REA''DY\n", "file\\ one.txt")]
    for name, argv, begin, file in shells:
        title = "the Tab key in " + name
        if shutil.which(argv[0]) is None:
            result(title, [], "no " + name)
            continue
        problems = []
        terminal = Terminal(argv, dict(place.env, PS1="> "), place.study)
        if not terminal.type(begin, "READY"):
            problems.append("does not begin: " + terminal.seen)
        for typed, wanted in (("sho", "show "), ("run --purpose=t", "run --purpose=trial"), ("show @2", "show @2 "), ("run --input file\\ o", file),
                              ("run --input=file\\ o", "--input=" + file), ("run -c a=1 -- cat file\\ o", "cat " + file)):
            if not terminal.type("probelauf " + typed + "\t", wanted):
                problems.append("%s: %r" % (typed, terminal.seen))
            terminal.type("\x15echo REA''DY\n", "READY")
        terminal.end()
        result(title, problems)


def main():
    with tempfile.TemporaryDirectory(prefix="probelauf-manual") as root:
        place = Place(root)
        tables = json.loads(place.run("help", "--format", "json"))
        check_help(place, tables)
        check_pages(tables)
        check_references()
        check_lint()
        check_plan_page()
        check_topics(place)
        check_offered(place, tables)
        check_names(place)
        check_traces(place, tables)
        check_bash(place, tables)
        check_fish(place, tables)
        check_zsh(place, tables)
        check_keys(place)
    print("1..%d" % count)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
