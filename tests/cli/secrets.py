# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts every secret shape of tests/text/test-secret.c into every place from which text comes into a record, and looks for it
in everything that comes out: journals, ledger, show, log, explain, export.

    secrets.py PROBELAUF CHILD SHAPES     SHAPES: the test program that prints the cases (--print SEED)
"""
import os
import subprocess
import sys
import tempfile

program, child, shapes = (os.path.realpath(path) for path in sys.argv[1:4])


def call(environment, *words, cwd=None):
    return subprocess.run([program, *words], env=environment, cwd=cwd, capture_output=True, check=False, stdin=subprocess.DEVNULL)


def cases():
    raw = subprocess.run([shapes, "--print", "4711"], check=True, capture_output=True).stdout.split(b"\0")
    return [(raw[i].decode(), raw[i + 1], raw[i + 2]) for i in range(0, len(raw) - 3, 3)]


def measure(environment, folder, text, secret):
    """One run that meets the text in its arguments, condition, note, changes, output, variables and git remote."""
    variables = dict(environment, CUDA_TEST_TEXT=text, HF_HOME=text, WANDB_API_KEY=secret, HF_TOKEN=secret)
    subprocess.run(["git", "init", "-q", folder], check=True)
    with open(os.path.join(folder, ".git", "config"), "ab") as config:
        config.write(b'[remote "origin"]\n\turl = https://user:' + secret + b"@git.example/a.git\n")
    with open(os.path.join(folder, "code.py"), "wb") as code:
        code.write(b"# nothing yet\n")
    git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run([*git, "add", "code.py"], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    with open(os.path.join(folder, "code.py"), "wb") as code:
        code.write(b"value = 1\n" + text + b"\n")
    done = call(variables, "run", "-q", "-c", b"setting=" + text, "--note", text, "--change", text, "--step", text, "--",
                child, "out", text, "err", text, "exit", "3", cwd=folder)
    assert done.returncode == 3, done.stderr
    assert text in done.stdout, "the command's own output must not be touched"


def outputs(environment, work):
    """Everything that a reader or another machine gets to see."""
    yield "show", call(environment, "show", "-v", "@1").stdout
    for words in (("log", "--limit", "0"), ("log", "--limit", "0", "--json"), ("explain", "@1"), ("export", "json"), ("export", "csv"),
                  ("export", "journal", "--all", "--text"), ("export", "journal", "--all")):
        done = call(environment, *words)
        assert done.returncode == 0, (words, done.stderr)
        yield " ".join(words), done.stdout
    for base, _, names in os.walk(work):
        for name in names:
            if ".git" not in base and name != "code.py":
                with open(os.path.join(base, name), "rb") as source:
                    yield os.path.join(base, name), source.read()


def main():
    every = cases()
    assert len(every) >= 60, len(every)
    with tempfile.TemporaryDirectory() as work:
        environment = {"PATH": os.environ["PATH"], "HOME": work, "PROBELAUF_LEDGER": "sqlite:%s/ledger.db" % work}
        for number, (_, text, secret) in enumerate(every):
            measure(environment, os.path.join(work, "code.%d" % number), text, secret)
        call(environment, "annotate", "@1", "--note", every[0][1], "--change", every[0][1], "--disposition", every[0][1])
        found = [
            "%s: in %s" % (what, place) for place, content in outputs(environment, work) for what, _, secret in every
            if len(secret) >= 6 and secret in content
        ]
        listed = call(environment, "log", "--limit", "0").stdout.count(b"\n")
    for line in found[:20]:
        print(line)
    assert listed > len(every), "only %d lines in the log" % listed
    print("%d shapes, %d leaks" % (len(every), len(found)))
    sys.exit(1 if found else 0)


main()
