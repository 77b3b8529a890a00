# SPDX-License-Identifier: GPL-3.0-or-later
"""The NVTX receiver as NVTX loads it, driven by nvtx-client.c: what it writes into the marks file, and that the program
around it is as without it.

    nvtx-receiver.py RECEIVER.so CLIENT [own|real]
"""
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

RECEIVER, CLIENT, SIDE = None, None, "own"
LIMIT_S = 120
LINE = re.compile(rb"(\d+)@(\d+) agent nvtx (\{.*\})")


def content(path):
    if os.path.islink(path) or not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return file.read()


class Run:
    def __init__(self, *words, map=None, marks=None, receiver=True, **more):
        self.folder = tempfile.mkdtemp(prefix="nvtx-")
        self.marks = os.path.join(self.folder, "marks") if marks is None else marks
        if marks is None:
            with open(self.marks, "wb"):
                pass
        environment = {"PATH": os.environ["PATH"], "PROBELAUF_MARKS": self.marks}
        if receiver:
            environment["NVTX_INJECTION64_PATH"] = RECEIVER
        if map is not None:
            environment["PROBELAUF_NVTX"] = map
        done = subprocess.run([CLIENT, *words], env=environment, cwd=self.folder, capture_output=True, check=False,
                              timeout=LIMIT_S, **more)
        self.code, self.out, self.err = done.returncode, done.stdout.decode(), done.stderr.decode()
        self.raw = content(self.marks) or b""
        self.said = []
        for line in self.raw.splitlines():
            match = LINE.fullmatch(line)
            assert match and len(line) <= 4096, line
            self.said.append((int(match[1]), int(match[2]), json.loads(match[3])))
        self.mine = content(os.path.join(self.folder, "mine"))
        shutil.rmtree(self.folder)

    def events(self, *names):
        """["begin load", "end load"] of begin and end, or what is asked for."""
        wanted = names or ("begin", "end")
        return [" ".join([data["event"], data["phase"]]) for _, _, data in self.said if data["event"] in wanted]

    def last(self, event):
        found = [data for _, _, data in self.said if data["event"] == event]
        return found[-1] if found else None


class Receiver(unittest.TestCase):
    def check(self, words, map, expected):
        run = Run(*words.split(), map=map)
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertEqual(run.events(), expected, words)
        return run

    def lasts(self, run):
        """The one range, whose program does something else for 100 ms in it."""
        times = [at for at, _, data in run.said if data["event"] in ("begin", "end")]
        self.assertGreaterEqual(times[1] - times[0], 100_000_000)

    def test_hello_and_off(self):
        run = Run("loaded", "push=a", "pop")
        self.assertEqual(run.said[0][2], {"event": "hello", "version": 1})
        self.assertEqual(sum(data["event"] == "hello" for _, _, data in run.said), 1)
        if SIDE == "own":
            self.assertEqual(run.out, "yes\n")
            self.assertEqual(Run("loaded", receiver=False).out, "no\n")
            self.assertEqual(Run("loaded", map="0").out, "no\n")
            self.assertEqual(Run("loaded", marks="").out, "no\n")
            self.assertEqual(Run("loaded", marks="relative").out, "no\n")
        self.assertEqual(Run("push=a", "pop", map="0").raw, b"")

    def test_ranges(self):
        both = ["begin load", "end load"]
        run = self.check("push=weights sleep=20 pop", "weights=load", both)
        self.assertGreaterEqual(run.said[-2][0] - run.said[1][0], 20_000_000)
        self.assertEqual(run.said[1][2]["what"], "weights")
        for words in ("pushex=w pop", "pushw=w pop", "start=w end", "startex=w end",
                      "domain=d dpush=w dpop", "domain=d dstart=w dend", "domain=d reg=w dpushreg dpop",
                      "domain=d reg=w dstartreg dend"):
            self.check(words, "w=load", both)
            self.check(words.replace("=w", "=v"), "w=load", [])
        self.check("mark=w markex=v mark=w domain=d dmark=w", "w=load;v=compute",
                   ["begin load", "begin compute", "begin load"])
        self.check("pushw=smile-@ pop", "smile-\U0001F600=load", both)

    def test_domains(self):
        # DOMAIN:NAME, and each domain has a stack of its own
        self.check("domain=d dpush=w dpop push=w pop", "d:w=load", ["begin load", "end load"])
        self.check("domain=e dpush=w dpop", "d:w=load", [])
        self.lasts(self.check("domain=d push=w dpop dpop sleep=100 pop", "w=load", ["begin load", "end load"]))
        self.check("domain=d reg=w dpushreg dpop", "d:w=load", ["begin load", "end load"])

    def test_overlapping(self):
        self.check("push=w push=w pop pop", "w=load", ["begin load", "end load"])
        self.check("push=w push=v pop pop", "w=load;v=load", ["begin load", "end load"])
        self.check("push=w push=v pop pop", "w=load;v=compute",
                   ["begin load", "begin compute", "end compute", "end load"])
        self.check("start=w start=v end end pop pop end", "w=load;v=compute",
                   ["begin load", "begin compute", "end compute", "end load"])
        self.check("push=w quit", "w=load", ["begin load"])  # the end of the process is the recorder's to see

    def test_threads(self):
        run = self.check("threads=16", "load=load", ["begin load", "end load"])
        self.assertEqual(run.last("ranges")["seen"], 16 * 1001)

        # what one thread pops is its own
        self.lasts(self.check("beside=w pop push=v pop pop", "w=load", ["begin load", "end load"]))

    def test_map(self):
        self.check("push=a=b;%c pop", "a%3Db%3B%25c=compute/decode", ["begin compute/decode", "end compute/decode"])
        for broken in ("", "=", "a", ";;;", "a=;b=load", "=load;b=load", "%", "b=load;%4", "x=" + 100 * "y" + ";b=load",
                       200 * "z" + "=load;b=load"):
            run = Run("push=b", "pop", map=broken)
            self.assertEqual(run.code, 0)
            self.assertEqual(run.events(), ["begin load", "end load"] if "b=load" in broken else [], broken)
        many = ";".join("n%d=load" % i for i in range(100))
        self.assertEqual(Run("push=n63", "pop", map=many).events(), ["begin load", "end load"])
        self.assertEqual(Run("push=n99", "pop", map=many).events(), [])

    def test_names(self):
        run = Run("push=forward", "pop", "push=forward", "pop", "start=optimizer", "end", "domain=d", "reg=third",
                  "dpushreg", "dpop", map="w=load")
        self.assertEqual(run.last("ranges"), {"event": "ranges", "seen": 4, "names": ["forward", "optimizer", "third"]})
        hostile = ["push=a\"b\\c", "push=\x01\x1b[31m", b"push=\xff\xfe", "push=" + 500 * "x", "push=", "push=\xe4\u2028"]
        run = Run(*hostile, map="w=load")
        self.assertEqual(run.code, 0)
        self.assertEqual(run.last("ranges")["names"], ["a\"b\\c", "\x01\x1b[31m", "??", 80 * "x", "\xe4\u2028"])
        run = Run(*["push=name-%d" % i for i in range(100)])
        self.assertEqual(run.last("ranges")["names"], ["name-%d" % i for i in range(32)])
        run = Run(*["push=" + 70 * "\x01" + str(i) for i in range(40)])
        self.assertGreater(len(run.last("ranges")["names"]), 3)  # as many as one line holds
        # a process that is killed has said what came first
        self.assertEqual(Run("push=forward", "pop", "quit").last("ranges")["names"], ["forward"])

    def test_fork(self):
        run = Run("push=w", "fork", "sleep=1", "push=v", "pop", "pop", "push=w", "pop", "wait", "pop",
                  map="w=load;v=compute")
        self.assertEqual(run.code, 0)
        parent = run.said[0][1]
        of = {True: [], False: []}
        for _, pid, data in run.said:
            of[pid == parent].append(data["event"] + " " + data.get("phase", ""))
        self.assertEqual([each for each in of[True] if "ranges" not in each], ["hello ", "begin load", "end load"])
        self.assertEqual([each for each in of[False] if "ranges" not in each],
                         ["hello ", "begin compute", "end compute", "begin load", "end load"])

    def test_vfork(self):
        # what a child does in its parent's memory is not the parent's, nor told
        run = self.check("push=w start=w vfork=w vfork=v end pop push=v pop", "w=load;v=compute",
                         ["begin load", "end load", "begin compute", "end compute"])
        self.assertEqual({pid for _, pid, _ in run.said}, {run.said[0][1]})

    def test_a_thread_at_the_place_of_another(self):
        self.check("after", "first=load;second=compute", ["begin load", "begin compute", "end compute"])
        self.check("after", "second=compute", ["begin compute", "end compute"])

    def test_many(self):
        # two phases that alternate cannot be joined: it says so and stops
        run = Run("many=200000", map="load=load;work=compute")
        self.assertEqual(run.code, 0)
        self.assertIsNotNone(run.last("limit"))
        self.assertLess(len(run.said), 5000)
        after = [data["event"] for _, _, data in run.said]
        after = after[after.index("limit"):]
        self.assertNotIn("begin", after)
        # one phase is joined: from the first to the last
        run = Run("many=200000", map="load=load;work=load")
        self.assertIsNone(run.last("limit"))
        self.assertLess(len(run.said), 2100)
        times = [(at, data["event"]) for at, _, data in run.said if data["event"] in ("begin", "end")]
        self.assertEqual(times[-1][1], "end")
        self.assertEqual(sum(event == "begin" for _, event in times), sum(event == "end" for _, event in times))

    def test_leaves_the_program_alone(self):
        run = Run("push=w", "closeall", "pop", "push=w", "pop", map="w=load")
        self.assertEqual((run.code, run.mine), (0, b""))
        self.assertEqual(run.events(), ["begin load", "end load", "begin load", "end load"])
        # a write beyond the limit would be a signal
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))  # noqa: E731
        self.assertEqual(Run("push=w", "pop", "push=x", map="w=load", preexec_fn=limit).code, 0)
        # somebody else's things under the name of the marks file
        with tempfile.TemporaryDirectory() as folder:
            fifo, link, gone = (os.path.join(folder, name) for name in ("fifo", "link", "gone"))
            os.mkfifo(fifo)
            os.symlink("/etc/hostname", link)
            for marks in (fifo, link, gone, folder, "/" + 5000 * "x"):
                self.assertEqual(Run("push=w", "pop", "push=x", map="w=load", marks=marks).code, 0)
            self.assertFalse(os.path.exists(gone))
        run = Run("push=w", "pop", map="w=load")
        self.assertEqual((run.out, run.err), ("", ""))
        # more pops than pushes, deeper than it keeps
        run = Run(*(["pop"] * 3 + ["push=x"] * 70 + ["push=w", "pop"] + ["pop"] * 80), map="w=load")
        self.assertEqual((run.code, run.events()), (0, []))

    def test_symbols(self):
        """It loads on old systems: nothing but libc, and nothing of it that glibc 2.17 does not have."""
        if shutil.which("readelf") is None:
            self.skipTest("no readelf")
        read = lambda *options: subprocess.run(["readelf", *options, "-W", RECEIVER], check=True,  # noqa: E731
                                               capture_output=True, text=True).stdout
        versions = re.findall(r"Name: GLIBC_([0-9.]+)\s+Flags", read("-V"))
        self.assertTrue(versions)
        self.assertEqual([each for each in versions if tuple(map(int, each.split("."))) > (2, 17)], [])
        self.assertEqual(re.findall(r"\(NEEDED\).*\[(.*)\]", read("-d")), ["libc.so.6"])
        exported = [line.split()[7] for line in read("--dyn-syms").splitlines()
                    if " GLOBAL DEFAULT " in line and " UND " not in line]
        self.assertEqual(exported, ["InitializeInjectionNvtx2"])

    def test_cost(self):
        run = Run("cost=200000", map="w=load;v=compute")
        self.assertLess(float(run.out), 600)  # about 30 ns for push and pop together


if __name__ == "__main__":
    RECEIVER, CLIENT = (os.path.abspath(path) for path in sys.argv[1:3])
    SIDE = sys.argv[3] if len(sys.argv) > 3 else SIDE
    unittest.main(argv=sys.argv[:1])
