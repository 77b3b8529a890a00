# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python hook at the start of Python.

    python-start.py [UNITTEST ARGUMENTS]
"""
import ast
import os
import shutil
import subprocess

from hooktest import ALL, FOLLOWED, HOOK, STUB, HookTest, Said, main


class Source(HookTest):
    def test_parses_in_every_version(self):
        for name in ("sitecustomize.py", "probelauf_hook.py"):
            with open(os.path.join(HOOK, name)) as source:
                ast.parse(source.read(), name, feature_version=(3, 8))

    def test_names_are_the_same_in_both_files(self):
        found = {}
        for name, variable in (("sitecustomize.py", "WANTED"), ("probelauf_hook.py", "RULES")):
            with open(os.path.join(HOOK, name)) as source:
                for each in ast.parse(source.read()).body:
                    if isinstance(each, ast.Assign) and getattr(each.targets[0], "id", "") == variable:
                        found[variable] = list(ast.literal_eval(each.value))
        self.assertEqual(found["WANTED"], list(found["RULES"]))

    def test_some_interpreter_is_there(self):
        self.assertTrue(FOLLOWED, "no Python of 3.8 or newer")


class Start(HookTest):
    SEES = "import sys; print(sys.path, sorted(sys.modules), sys.argv, sys.flags, __name__)\n"

    def test_hello_and_nothing_else(self):
        for python in self.each():
            done, said = self.both(python, ["-c", "import sys; print(sys.prefix); print(sys.executable)"], {})
            prefix, executable = done.stdout.decode().splitlines()
            self.assertEqual([line["event"] for line in said.lines], ["hello"])
            hello = said.lines[0]
            self.assertEqual((hello["version"], hello["prefix"], hello["executable"]), (1, prefix, executable))

    def test_the_program_sees_the_same(self):
        script = self.script(self.SEES)
        for python in self.each(ALL):
            for arguments in (["-c", self.SEES], [script], ["-m", "work"], ["-B", script], ["-s", script]):
                self.both(python, arguments, {})
                self.both(python, arguments, {"PYTHONPATH": STUB + ":" + self.folder})
                if python != ALL.get((2, 7)):  # there it means the current folder
                    self.both(python, arguments, {"PYTHONPATH": ""})
                self.both(python, arguments, {"PYTHONDONTWRITEBYTECODE": "1"})
            self.both(python, [], {}, self.SEES.encode())

    def test_isolated_says_nothing(self):
        for python in self.each():
            for option in ("-I", "-E", "-S"):
                done = self.start(python, [option, "-c", "print(1)"], True, {})
                self.assertEqual(done.stdout, b"1\n")
                self.assertEqual(Said(self.marks).lines, [])

    def test_old_pythons_are_left_alone(self):
        old = {version: path for version, path in ALL.items() if version < (3, 8)}
        for python in self.each(old):
            _, said = self.both(python, ["-c", "print(1)"], {})
            self.assertEqual([line["event"] for line in said.lines], ["off"])
            self.assertIn("older than 3.8", said.lines[0]["reason"])

    def test_switched_off(self):
        script = self.script("import torch\nprint(torch.nn.Linear(10)(1))\n")
        for python in self.each():
            _, said = self.both(python, [script], {"PYTHONPATH": STUB, "PROBELAUF_PYTHON": "0"})
            self.assertEqual([(line["event"], line["reason"]) for line in said.lines],
                             [("off", "PROBELAUF_PYTHON is 0")])
            self.both(python, [script], {"PYTHONPATH": STUB, "PROBELAUF_MARKS": ""})
            self.assertEqual(Said(self.marks).lines, [])

    def test_marks_that_cannot_be_written(self):
        script = self.script("""
            import os, sys, torch
            print(torch.nn.Linear(10).to("cuda:0")(1), len(os.listdir("/proc/self/fd")))
        """)
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        for python in self.each():
            for path in ("/nowhere/marks", self.folder, pipe, "/dev/full", "x" * 5000):
                self.both(python, [script], {"PYTHONPATH": STUB, "STUB_GPUS": "1", "PROBELAUF_MARKS": path})

    def test_importtime_and_verbose_run(self):
        for python in self.each():
            for option in ("-Ximporttime", "-v", "-Xdev"):
                done = self.start(python, [option, "-c", "import torch; print(torch.nn.Linear(10)(1))"], True,
                                  {"PYTHONPATH": STUB})
                self.assertEqual((done.stdout, done.returncode), (b"2\n", 0), done.stderr)
                self.assertEqual(Said(self.marks).phases(), ["begin compute"])

    def test_text_that_is_not_ascii(self):
        place = os.path.join(self.folder, "größe \U0001f600 \"x\"\\")
        os.mkdir(place)
        script = self.script("import sys, torch\ntorch.save(1, sys.argv[1])\ntorch.load(sys.argv[1], weights_only=True)\n")
        for python in self.each():
            _, said = self.both(python, [script, place + "/w.pt"])
            self.assertEqual([line["path"] for line in said.events("file")], [place + "/w.pt"])
            # bytes that are no text do not spoil the line
            _, said = self.both(python, [script, os.fsencode(place) + b"/\xff.pt"])
            self.assertEqual([line["path"] for line in said.events("file")], [place + "/\ufffd.pt"])


class Chain(HookTest):
    """The sitecustomize that would have run without the hook."""

    def other(self, text):
        place = os.path.join(self.folder, "site")
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, "sitecustomize.py"), "w") as target:
            target.write(text)
        return {"PYTHONPATH": place}

    def test_runs_once(self):
        given = self.other("import sys\nprint('theirs', __name__, __file__, sys.path)\nvalue = 7\n")
        given["PYTHONDONTWRITEBYTECODE"] = "1"  # __file__ of Python 2 tells whether there is a .pyc
        for python in self.each(ALL):
            done, said = self.both(python, ["-c", "import sitecustomize; print(sitecustomize.value)"], given)
            self.assertEqual(done.stdout.count(b"theirs"), 1)
            self.assertIn(b"7\n", done.stdout)
            self.assertIn(said.lines[0]["event"], ("hello", "off"))

    def test_its_errors_are_its_own(self):
        for text in ("raise ValueError('wrong')\n", "import does_not_exist\n", "(\n",
                     "raise ImportError('odd', name='sitecustomize')\n"):
            given = self.other(text)
            for python in self.each():
                self.both(python, ["-c", "print('on')"], given)

    def test_its_exit_is_its_own(self):
        given = self.other("raise SystemExit(3)\n")
        for python in self.each():
            bare = self.start(python, ["-c", "print('on')"], False, given)
            done = self.start(python, ["-c", "print('on')"], True, given)
            self.assertEqual((bare.stdout, bare.returncode), (done.stdout, done.returncode))

    def test_hook_within_a_hook(self):
        second = os.path.join(self.folder, "second")
        shutil.copytree(HOOK, second, ignore=shutil.ignore_patterns("__pycache__"))
        for python in self.each():
            done = self.start(python, ["-c", "import torch; print(torch.nn.Linear(10)(1))"], True,
                              {"PYTHONPATH": second + ":" + STUB})
            self.assertEqual((done.stdout, done.stderr), (b"2\n", b""))
            said = Said(self.marks)
            self.assertEqual([line["event"] for line in said.lines], ["hello", "begin"])

    def test_virtual_environment(self):
        for python in self.each():
            place = os.path.join(self.folder, "venv")
            made = subprocess.run([python, "-m", "venv", "--without-pip", place], check=False, capture_output=True)
            if made.returncode != 0:
                continue  # Debian without python3-venv
            own = os.path.join(place, "bin", "python")
            lib = subprocess.run([own, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True,
                                 capture_output=True, text=True).stdout.strip()
            with open(os.path.join(lib, "sitecustomize.py"), "w") as target:
                target.write("print('of the environment')\n")
            done, said = self.both(own, ["-c", "import sys; print(sys.path, sys.prefix)"], {})
            self.assertEqual(said.lines[0]["prefix"], place)
            if b"of the environment" not in done.stdout:  # Debian's own comes first
                self.assertTrue(python.startswith("/usr/"))
            shutil.rmtree(place)

    def test_torch_of_a_pth_file(self):
        for python in self.each():
            place = os.path.join(self.folder, "venv")
            made = subprocess.run([python, "-m", "venv", "--without-pip", place], check=False, capture_output=True)
            if made.returncode != 0:
                continue
            own = os.path.join(place, "bin", "python")
            lib = subprocess.run([own, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True,
                                 capture_output=True, text=True).stdout.strip()
            with open(os.path.join(lib, "early.pth"), "w") as target:
                target.write("import torch\n")
            script = self.script("import torch\ntorch.save(1, 'made-w')\ntorch.load('made-w', weights_only=True)\n"
                                 "print(torch.nn.Linear(10)(1))\n")
            _, said = self.both(own, [script])
            self.assertEqual(said.phases(), ["begin load", "end load", "begin compute"])
            shutil.rmtree(place)


if __name__ == "__main__":
    main()
