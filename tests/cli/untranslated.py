#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A tour of the program in the language xx, which has every text as «text» and what is filled in as ‹value›: a word outside
of «», or directly within ‹›, was printed without being looked up. Names, figures and what the user wrote are no words here.
And nothing for programs, JSON, CSV, records and the ledger, may hold a text of that language.

Usage: untranslated.py PROBELAUF-XX CHILD SOURCE_ROOT [-v]"""

import os
import re
import signal
import subprocess
import sys
import tempfile

# Everything that a person wrote begins with zz, so that it is told from our words.
PLAN = """\
probelauf: 1
study:
  id: 01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21
  title: zztitle
  paper: {title: zzpaper, version: v1}
facts:
  - {id: weights.access, about: weights, state: known, value: zzvalue, source: zzsource, source_kind: repository, seen: 2026-11-30}
  - {id: code.licence, about: code, state: open, question: zzquestion}
environments:
  - {id: here, kind: own, gpus: 0, match: [zzhost]}
  - {id: there, kind: rented, gpus: 1}
code: {paths: [src]}
steps:
  - {name: zzstep, component: prepare, run: src/work sleep 0.01, needs_machine: yes, repeats: per-rental}
tasks:
  - {id: zztask, what: zzdo, needs_machine: no, done: no, time: 90m, who: zzwho, when: 2026-11-29, why: zzwhy}
claims:
  - {id: zzclaim, text: zztext, source: zztable, result: acc, paper_value: 0.8, tolerance: 2%, where: {size: 1}}
  - {id: zzorder, text: zztext, source: zztable, result: acc, threshold: "> 0.5"}
blocks:
  - id: zzcompare
    kind: compare
    extent: full
    recurrence: one-off
    state: chosen
    matrix:
      size: {values: [1, 2], state: chosen}
    runs: 2
    command: sh -c 'src/work sleep 0.0{size} out done'
    inputs: [input.txt]
    expect: ["marker=done"]
    claims: [zzclaim, zzorder]
    results: [{name: acc, unit: "1", file: out.json, json: /acc}]
  - id: zzvalidate
    kind: validate
    extent: validation
    recurrence: one-off
    state: chosen
    fixed: {size: 1}
    runs: 1
    command: src/work sleep 0.0{size} out done
assumptions:
  - {key: zzcompare.retry-max, value: 1, who: zzwho, when: 2026-11-28, why: zzwhy}
"""

# Names, words of the plan, phases and what the C library says: the same in every language.
NAMES = set("""probelauf UTC GPU GPUs CPU NVML CUDA ROCm NVIDIA AMD Linux Python PyTorch Git git SHA JSON CSV YAML URL TCP HTTP http https
sqlite com org github bash sh env proc sys dev tmp home usr bin etc src lib python stdin stdout stderr signal SIGTERM SIGKILL SIGSEGV
KiB MiB GiB TiB min core cgroup cgroups tmpfs overlay ext xfs btrfs nfs zfs fuse
uid true false xx ms wal NeurIPS macOS yes no open
wait4 waitid ru_maxrss rchar wchar VmHWM MemTotal WSTOPPED Debian master Unmatched
No such file or directory
load setup compute evaluate preprocess write data transfer fix teardown validate compare scale verify one off full validation
chosen confirmed undetermined booking estimate block run
of
repository paper body byte outcome step task killed ok own rented macos vm sleep source debian bookworm cpu cuda metal accelerator
environments privacy class gpus interpreters packages torch unnamed budget dependency failed command swap""".split())
NAME_SHAPE = re.compile(r"zz\w*|[0-9a-f]{6,}|SIG[A-Z]+|E[A-Z]{3,}|[A-Z]{2,}")
WORD = re.compile(r"(?<![\w/.=@:#$~\\-])[A-Za-z][A-Za-z']*[A-Za-z](?![\w/=@\\]|[.:-][\w/])")


def outside(text):
    """The text with everything in «» taken out, what is in ‹› inside of it kept."""
    out, stack = [], []
    for c in text:
        if c in "«‹":
            stack.append(c)
            out.append(" ")
        elif c in "»›":
            # a text that was cut has lost its end
            while stack and stack[-1] != {"»": "«", "›": "‹"}[c]:
                stack.pop()
            if stack:
                stack.pop()
            out.append(" ")
        elif not stack or stack[-1] == "‹" or c == "\n":
            out.append(c)
            if c == "\n" and len(stack) == 1 and stack[0] == "‹":
                stack.clear()
    return "".join(out)


class Tour:
    def __init__(self, program, child, root, folder, verbose):
        self.program, self.child, self.root, self.folder, self.verbose = program, child, root, folder, verbose
        self.words, self.own = {}, set()
        self.foreign = []  # what the commands of the tour are and print
        home = os.path.join(folder, "home")
        os.makedirs(home)
        self.env = {"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": folder, "LC_ALL": "C.UTF-8", "COLUMNS": "900",
                    "PROBELAUF_LANG": "xx", "TERM": "xterm"}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]
        self.count = 0

    def run(self, *arguments, cwd=None, env=None, feed=""):
        done = subprocess.run([self.program, *arguments], capture_output=True, check=False, cwd=cwd or self.folder,
                              env={**self.env, **(env or {})}, input=feed.encode(), timeout=120)
        self.count += 1
        if done.returncode < 0:
            raise SystemExit("%s: ended by signal %d" % (" ".join(arguments), -done.returncode))
        return done

    def look(self, *arguments, names="", **options):
        """Runs and looks: names are the words of this call that are no texts of ours."""
        done = self.run(*arguments, **options)
        text = (done.stdout + done.stderr).decode("utf-8", "replace")
        text = re.sub(r"\x1b\[[0-9;]*m", "", text)
        # 'probelauf show', `words`: what people type
        for phrase in self.foreign:
            text = text.replace(phrase, " ")
        said = re.sub(r"(?<![\w›])'[^'\n]*'(?!\w)|`[^`\n]*`|‹[\w-]+(?:, [\w-]+)+›|&[a-z]+;|probelauf [a-z]+", " ", text)
        free = re.sub(r"\[[a-z-]+\]:?|(?<![\w-])--?[a-z][a-z-]*", " ", outside(said))
        known = NAMES | self.own | set(re.findall(r"[A-Za-z']+", names)) | set(re.findall(r"[A-Za-z']+", " ".join(arguments)))
        for line, left in zip(said.split("\n"), free.split("\n")):
            for word in WORD.findall(left):
                if word not in known and not NAME_SHAPE.fullmatch(word):
                    self.words.setdefault(word, (" ".join(arguments)[:70], line.strip()[:200]))
        if self.verbose:
            print("$ probelauf %s\n%s" % (" ".join(arguments), text))
        return done

    def machine(self, *arguments, **options):
        """What is for programs holds no text of the language."""
        done = self.run(*arguments, **options)
        for mark in ("«", "‹"):
            text = done.stdout.decode("utf-8", "replace")
            if mark in text:
                at = text.index(mark)
                self.words.setdefault("«machine» " + " ".join(arguments)[:60], (" ".join(arguments), text[max(0, at - 80):at + 120]))
        return done

    def plan(self, text, name="study"):
        folder = os.path.join(self.folder, name)
        os.makedirs(os.path.join(folder, "src"), exist_ok=True)
        with open(os.path.join(folder, "probelauf.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        return folder


def commands_of(tour):
    """From the help itself: the commands that there are, and the verbs of each."""
    text = tour.run("help", env={"PROBELAUF_LANG": "en"}).stdout.decode()
    names = re.findall(r"^  ([a-z]+)  ", text[text.index("\nCommands:"):], re.M)
    return names


def help_and_usage(tour):
    for name in commands_of(tour):
        text = tour.run("help", name, env={"PROBELAUF_LANG": "en"}).stdout.decode()
        # the words that options take and the placeholders
        tour.own |= set(re.findall(r"probelauf ([a-z]+)(?: ([a-z]+))?", text) and
                        [w for pair in re.findall(r"probelauf ([a-z]+)(?: ([a-z]+))?", text) for w in pair if w])
        words = " ".join(re.findall(r"(?:One of|Not for): ([^.]*)\.", text.replace("\n", " ")))
        examples = " ".join(line for line in text.split("\n") if line.startswith("  ") and not line.startswith("      "))
        tour.look("help", name, names=words + " " + examples)
        tour.look(name, "--no-such-option")
        tour.look(name, "zz1", "zz2", "zz3", "zz4", "zz5", cwd=tour.folder)
    tour.look("help")
    tour.look("--version", names="built with")
    for arguments in (["zzcommand"], ["shwo"], ["--zz"], [], ["show", "--columns"], ["run"], ["run", "--max-time", "zz", "--", "true"],
                      ["estimate", "--repeat", "zz"], ["estimate", "--repeat"], ["config", "-q", "-v"], ["config", "--lang", "tlh"],
                      ["session", "zzverb"], ["session"], ["block", "freeze"], ["report", "--format", "zz"], ["run", "--", "/zz/none"]):
        tour.look(*arguments)


def runs(tour, study):
    work = os.path.join(study, "src/work")
    os.symlink(tour.child, work)
    for name in ("input.txt", "zzother"):
        with open(os.path.join(study, name), "w", encoding="utf-8") as file:
            file.write("one\n")
    subprocess.run("git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -q -m zz", shell=True, cwd=study, check=True)
    tour.foreign = ["torch.cuda.OutOfMemoryError: CUDA out of memory", "ModuleNotFoundError: No module named zz", "sleep 5", "exit 3",
                    "kill -9 $$", "src/work sleep 0.02 out done; echo", "sh -c", "exit 1", "echo \"", "sleep 0.05"]
    tour.look("session", "start", "--env", "here", "--note", "zznote", cwd=study)
    tour.look("session", "start", cwd=study)
    tour.look("run", "--step", "zzstep", cwd=study)
    for size in ("1", "2", "1"):
        tour.look("run", "--env", "here", "--block", "zzcompare", "-c", "size=" + size, "--", "sh", "-c",
                  "src/work sleep 0.02 out done; echo '{\"acc\": 0.7%s}' >out.json" % size, cwd=study, names="acc done")
    tour.look("run", "--env", "here", "--block", "zzcompare", "-c", "size=9", "--", "src/work", "sleep", "0.02", cwd=study)
    tour.look("run", "-v", "--", "sh", "-c", "exit 3", cwd=study)
    tour.look("run", "--retry", "1", "--", "sh", "-c", "echo \"torch.cuda.OutOfMemoryError: CUDA out of memory\" >&2; exit 1", cwd=study)
    tour.look("run", "--", "sh", "-c", "kill -9 $$", cwd=study)
    tour.look("run", "--max-time", "0.1s", "--", "sleep", "5", cwd=study)
    tour.look("run", "--", "sh", "-c", "echo \"ModuleNotFoundError: No module named zz\" >&2; exit 1", cwd=study)
    script = "probelauf=%s; $probelauf mark load; sleep 0.05; $probelauf mark compute --items 5; sleep 0.05; $probelauf mark" % tour.program
    tour.look("run", "--expect", "file:zznone", "--expect", "zzother", "--expect", "items=5", "--input", "input.txt", "--note", "zznote",
              "--", "sh", "-c", script, cwd=study)
    tour.look("mark", "load")
    tour.look("session", "note", "--reason", "decision", "zztext", cwd=study)
    tour.look("annotate", "@1", "--invalid", "--why", "zzwhy", cwd=study)
    tour.look("annotate", "@2", "--note", "zznote", cwd=study)


def readers(tour, study):
    for number in range(1, 13):
        tour.look("show", "@%d" % number, cwd=study)
        tour.look("explain", "@%d" % number, cwd=study)
    for arguments in (["show", "-v", "@2"], ["show", "@99"], ["show", "zz"], ["log"], ["log", "--zz"], ["compare", "@3", "@8"], ["compare", "@9", "@10"],
                      ["compare", "@1", "@1"], ["explain", "-"], ["block", "list"], ["block", "freeze", "zzcompare"], ["block", "freeze", "zzcompare"],
                      ["block", "list"], ["block", "freeze", "zznone"], ["check"], ["check", "-v"], ["estimate"], ["estimate", "-v"],
                      ["estimate", "--env", "here"], ["estimate", "--env", "there"], ["estimate", "--set", "zzcompare.runs=5"],
                      ["estimate", "--set", "zznone=1"], ["estimate", "--freeze", "zzfirst"], ["estimate", "--compare", "zzfirst"],
                      ["estimate", "--repeat", "24"], ["estimate", "--studies"], ["report"], ["session", "status"], ["session", "list"],
                      ["session", "status", "@1"], ["session", "stop"], ["session", "stop"], ["session", "status"], ["session", "note", "--reason", "other", "zz"],
                      ["estimate"], ["report"], ["ledger", "info"], ["ledger", "check"], ["ledger", "purge", "@1"], ["ledger", "rebuild"],
                      ["config"], ["export", "journal", "--all", "-o", "zzall"], ["import", "journal", "zzall"], ["import", "journal", "input.txt"], ["import", "journal", "zznone"],
                      ["init"], ["init", "-o", "zznew.yaml"], ["doctor"], ["doctor", "-v"], ["doctor", "--env", "here"],
                      ["decide"], ["decide", "--env", "here"], ["review"], ["review", "zzcompare"], ["block", "run", "zzcompare", "--dry-run"],
                      ["block", "gate", "zzcompare", "go-on", "--why", "zzwhy"], ["block", "gate", "zznone", "go-on", "--why", "zz"],
                      ["report", "--for", "generic"], ["report", "--for", "rental"], ["report", "--for", "neurips"]):
        keys = "ledger journal-dir lang color linger grace tee auto plan" if arguments == ["config"] else ""
        keys += "environments id kind rented or own institute macos gpus capacity host_memory" if "doctor" in arguments else ""
        tour.look(*arguments, cwd=study, names=keys)


def plans(tour):
    """Plans with many facts: their own words are theirs."""
    shipped = [os.path.join(tour.root, "catalog", name) for name in ("fast-kvzip.yaml", "linearard.yaml", "adkv.yaml")]
    shipped.append(os.path.join(tour.root, "tests/plan/good/all-keys.yaml"))
    for path in shipped:
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        study = tour.plan(text, "of-" + os.path.basename(path))
        names = " ".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))
        for arguments in (["check"], ["estimate"], ["report"], ["decide"], ["block", "list"], ["review"]):
            tour.look(*arguments, cwd=study, names=names)
    broken = os.path.join(tour.root, "tests/plan/broken")
    for name in sorted(os.listdir(broken)):
        if name.endswith(".yaml"):
            with open(os.path.join(broken, name), encoding="utf-8", errors="replace") as file:
                tour.look("check", os.path.join(broken, name), names=file.read())


def for_programs(tour, study):
    for arguments in (["show", "@2"], ["log"], ["compare", "@2", "@3"], ["explain", "@5"], ["block", "list"], ["check"], ["estimate"],
                      ["estimate", "--repeat", "3"], ["estimate", "--studies"], ["report"], ["session", "status", "@1"], ["session", "list"],
                      ["ledger", "info"], ["ledger", "check"], ["config"], ["doctor"], ["decide"], ["review"],
                      ["estimate", "--compare", "zzfirst"]):
        tour.machine(*arguments, "--json", cwd=study)
    for arguments in (["report", "--format", "csv"], ["report", "--format", "json"], ["export", "csv", "--all"], ["export", "json", "--all"],
                      ["export", "journal", "--all", "--text"], ["completion", "bash"]):
        tour.machine(*arguments, cwd=study)
    kept = subprocess.run(["sqlite3", os.path.join(tour.env["HOME"], ".local/share/probelauf/ledger.db"), ".dump"], capture_output=True, check=False)
    for line in kept.stdout.decode("utf-8", "replace").split("\n"):
        if "«" in line or "‹" in line:
            at = min(line.index(mark) for mark in "«‹" if mark in line)
            tour.words.setdefault("«ledger» " + line[:40], ("the ledger", line[max(0, at - 100):at + 140]))


def main(arguments):
    program, child, root = arguments[:3]
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    with tempfile.TemporaryDirectory(prefix="zz") as folder:
        tour = Tour(program, child, root, folder, "-v" in arguments)
        help_and_usage(tour)
        study = tour.plan(PLAN)
        tour.own |= {"here", "there", "size", "acc"}
        runs(tour, study)
        readers(tour, study)
        plans(tour)
        for_programs(tour, study)
        for word, (command, line) in sorted(tour.words.items()):
            print("%s: probelauf %s: %s" % (word, command, line))
        print("%d commands, %d words that are not translated" % (tour.count, len(tour.words)))
        return 1 if tour.words else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
