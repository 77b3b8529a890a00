# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python hook in every interpreter of this machine, with stand-ins for the packages that it follows (stub/): what the
tests of it share. Each script runs without and with the hook: what it prints and how it ends must be equal to the byte, and
what the hook said of it must be right.
"""
import atexit
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
HOOK = os.path.join(HERE, "..", "..", "src", "agent", "python")
STUB = tempfile.mkdtemp(prefix="hook-stub-")  # a copy: Python writes __pycache__ into it
LIMIT_S = 120


def interpreters():
    """{(major, minor): path} of what can be started here; /usr/bin first."""
    found = {}
    names = ["python3"] + ["python3.%d" % minor for minor in range(6, 20)] + ["python2.7"]
    places = ["/usr/bin", "/usr/local/bin"] + os.environ.get("PATH", "").split(":")
    paths = [os.path.join(place, name) for place in places for name in names]
    paths += sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python")))
    for path in paths:
        if not os.access(path, os.X_OK) or "shims" in path:
            continue
        done = subprocess.run([path, "-c", "import sys; print('%d %d' % tuple(sys.version_info[:2]))"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, timeout=LIMIT_S)
        if done.returncode == 0 and done.stdout:
            found.setdefault(tuple(int(each) for each in done.stdout.split()), path)
    return found


ALL = interpreters()
FOLLOWED = {version: path for version, path in sorted(ALL.items()) if version >= (3, 8)}


class Said:
    """What stands in the marks file, line by line."""

    def __init__(self, path):
        self.lines = []
        with open(path, "rb") as source:
            for line in source:
                assert len(line) <= 4096 and line.endswith(b"\n"), line
                head, verb, name, data = line.decode("ascii").split(" ", 3)
                assert (verb, name) == ("agent", "python-hook"), line
                time, pid = head.split("@")
                self.lines.append(dict(json.loads(data), pid=int(pid), at=None if time == "-" else int(time)))

    def events(self, *names, pid=None):
        return [line for line in self.lines if line["event"] in names and pid in (None, line["pid"])]

    def phases(self, pid=None):
        return ["%s %s" % (line["event"], line["phase"]) for line in self.events("begin", "end", pid=pid)]

    def memory(self, moment=None, device=0):
        return [line for line in self.events("memory")
                if line["device"] == device and moment in (None, line["moment"])]


class HookTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="hook-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.marks = os.path.join(self.folder, "marks")
        # as it is unpacked: a private folder of its own
        self.hook = os.path.join(self.folder, "agents", "python")
        shutil.copytree(HOOK, self.hook, ignore=shutil.ignore_patterns("__pycache__"))

    def environment(self, with_hook, variables):
        environment = {"PATH": os.environ["PATH"], "HOME": self.folder, "LC_ALL": "C.UTF-8"}
        environment.update(variables)
        if with_hook:
            open(self.marks, "w").close()
            environment.setdefault("PROBELAUF_MARKS", self.marks)
            given = environment.get("PYTHONPATH")
            environment["PYTHONPATH"] = self.hook + (":" + given if given else "")
        return environment

    def start(self, python, arguments, with_hook, variables, stdin=None):
        for name in os.listdir(self.folder):
            if name.startswith("made-"):
                os.unlink(os.path.join(self.folder, name))
        return subprocess.run([python, *arguments], env=self.environment(with_hook, variables), cwd=self.folder,
                              input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              timeout=LIMIT_S)

    def both(self, python, arguments, variables=None, stdin=None, code=0):
        """Without and with: nothing that the program does differs. Returns (with, what was said)."""
        variables = {"PYTHONPATH": STUB} if variables is None else variables
        bare = self.start(python, arguments, False, variables, stdin)
        done = self.start(python, arguments, True, variables, stdin)
        self.assertEqual((bare.stdout, bare.stderr, bare.returncode), (done.stdout, done.stderr, done.returncode))
        self.assertEqual(done.returncode, code, done.stderr)
        return done, Said(self.marks)

    def script(self, text, name="work.py"):
        path = os.path.join(self.folder, name)
        with open(path, "w") as target:
            target.write(textwrap.dedent(text))
        return path

    def weights(self, name, size):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as target:
            target.write(b"w" * size)
        return path

    def each(self, versions=None):
        return list((FOLLOWED if versions is None else versions).values())


def main():
    atexit.register(shutil.rmtree, STUB)
    shutil.copytree(os.path.join(HERE, "stub"), STUB, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    print("interpreters:", ", ".join("%d.%d" % version for version in sorted(ALL)), file=sys.stderr)
    unittest.main()
