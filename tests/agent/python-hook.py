# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python hook once the packages that it follows are imported.

    python-hook.py [UNITTEST ARGUMENTS]
"""
import os
import shutil

from hooktest import STUB, HookTest, Said, main


class Phases(HookTest):
    def test_from_pretrained_then_forward(self):
        self.weights("model.safetensors", 5000)
        script = self.script("""
            import time
            from transformers import AutoModelForCausalLM
            time.sleep(0.05)
            model = AutoModelForCausalLM.from_pretrained("model.safetensors")
            time.sleep(0.05)
            print(model.generate(1), type(model).__mro__)
            print(model.generate(1))
        """)
        for python in self.each():
            _, said = self.both(python, [script])
            self.assertEqual(said.phases(), ["begin load", "end load", "begin compute"])
            load, end, compute = said.events("begin", "end")
            self.assertEqual(load["what"], "AutoModelForCausalLM.from_pretrained")
            self.assertEqual(compute["what"], "forward of PreTrainedModel")
            self.assertGreaterEqual(end["at"] - load["at"], 50_000_000)
            self.assertGreaterEqual(compute["at"] - end["at"], 50_000_000)
            self.assertEqual([(line["path"], line["bytes"]) for line in said.events("file")],
                             [(os.path.join(self.folder, "model.safetensors"), 5000)])
            self.assertEqual(said.events("memory", "trouble", "limit"), [])

    def test_each_way_to_load(self):
        cases = {
            "from transformers import pipeline; print(pipeline('x', model='w.bin')(1))": "transformers.pipeline",
            "import torch; m = torch.nn.Linear(5); m.load_state_dict({}); print(m(1))": "Linear.load_state_dict",
            "from diffusers import DiffusionPipeline as D; print(D.from_pretrained('x')('p'))":
                "DiffusionPipeline.from_pretrained",
            "from sentence_transformers import SentenceTransformer as S; print(S('x').encode('ab'))":
                "SentenceTransformer",
            "from vllm import LLM; print(LLM(model='x').generate([1, 2]))": "LLM",
            "from llama_cpp import Llama; print(Llama('w.bin')([1, 2]))": "Llama",
            "from llama_cpp import Llama; print(Llama(model_path='w.bin')([1, 2]))": "Llama",
            "from onnxruntime import InferenceSession as I; print(I('w.bin').run([], 1))": "InferenceSession",
        }
        self.weights("w.bin", 20)
        for python in self.each():
            for text, what in cases.items():
                with self.subTest(text):
                    _, said = self.both(python, ["-c", text])
                    self.assertEqual(said.phases(), ["begin load", "end load", "begin compute"])
                    self.assertEqual(what, said.events("begin")[0]["what"])
                    self.assertEqual(said.events("trouble"), [])

    def test_what_is_no_computing(self):
        script = self.script("""
            import torch
            print(torch.nn.ReLU()(-1))
            model = torch.nn.Linear(100)
            model.weight.device = torch.device("meta")
            print(model(1))
        """)
        for python in self.each():
            _, said = self.both(python, [script])
            self.assertEqual(said.phases(), [])

    def test_training_without_loading(self):
        script = self.script("""
            import torch
            model = torch.nn.Linear(100)
            for step in range(5):
                print(model(step))
            model.to("cpu")
            print(vars(torch.nn.modules.module)["_global_forward_pre_hooks"])
        """)
        for python in self.each():
            _, said = self.both(python, [script])
            self.assertEqual(said.phases(), ["begin compute"])

    def test_a_second_model_is_loaded_later(self):
        self.weights("a", 50)
        script = self.script("""
            from transformers import PreTrainedModel
            first = PreTrainedModel.from_pretrained("a").to("cpu")
            print(first(1))
            second = PreTrainedModel.from_pretrained("a").to("cpu")
            print(second(1))
        """)
        for python in self.each():
            _, said = self.both(python, [script])
            self.assertEqual(said.phases(), ["begin load", "end load", "begin load", "end load", "begin compute",
                                             "begin load", "begin compute"])

    def test_downloads_are_apart(self):
        script = self.script("""
            from transformers import PreTrainedModel
            print(PreTrainedModel.from_pretrained("made-here")(1))
        """)
        for python in self.each():
            _, said = self.both(python, [script])
            self.assertEqual(said.phases(), ["begin load", "begin transfer", "begin load", "end load",
                                             "begin compute"])

    def test_compiled_functions_see_no_hook(self):
        script = self.script("""
            import torch
            model = torch.nn.Linear(10)
            fast = torch.compile(lambda x: model(x))
            print(fast(1), fast(2))
        """)
        for python in self.each():
            done, said = self.both(python, [script])
            self.assertIn(b"with 0 global hooks", done.stdout)
            self.assertEqual(said.phases(), ["begin compute"])

    def test_compiled_while_loading(self):
        script = self.script("""
            import torch
            from transformers import PreTrainedModel
            class Mine(PreTrainedModel):
                def to(self, where):
                    print(torch.compile(lambda x: x)(1), torch.nn.Module.to.__code__.co_argcount)
                    return self
            open("made-w", "w").write("w")
            model = Mine.from_pretrained("made-w", device_map="cpu")
            print(torch.compile(lambda x: model(x))(1))
        """)
        for python in self.each():
            done, said = self.both(python, [script])
            self.assertEqual(done.stdout.count(b"with 0 global hooks"), 2)
            self.assertEqual(said.phases(), ["begin load", "end load", "begin compute"])

    def test_storm_of_loads_is_bounded(self):
        script = self.script("""
            import torch
            model = torch.nn.Linear(10)
            for _ in range(5000):
                model.to("cpu")
            print(model(1))
        """)
        for python in self.each():
            _, said = self.both(python, [script])
            self.assertEqual(len(said.events("limit")), 1)
            self.assertLess(len(said.lines), 2100)
            self.assertEqual(said.phases()[-2:], ["end load", "begin compute"])


class Unchanged(HookTest):
    def test_wrapped_functions_look_the_same(self):
        script = self.script("""
            import inspect, pickle, torch, transformers, safetensors
            for it in (torch.load, torch.cuda.reset_peak_memory_stats, transformers.PreTrainedModel.from_pretrained,
                       transformers.pipeline, torch.nn.Module.to):
                print(it.__name__, it.__qualname__, it.__module__, it.__doc__, inspect.signature(it),
                      inspect.isfunction(it), inspect.ismethod(it), type(it), inspect.getsource(it))
            print(pickle.loads(pickle.dumps(torch.load)) is torch.load, torch.load is torch.serialization.load)
            print(torch.cuda.reset_peak_memory_stats is torch.cuda.memory.reset_peak_memory_stats)
            print(type(vars(transformers.PreTrainedModel)["from_pretrained"]))
            kind = safetensors.safe_open
            with kind("work.py") as it:
                print(isinstance(it, kind), isinstance(kind, type), issubclass(type(it), kind), kind == type(it))
                print(kind, kind.__name__, type(it))
            spec = torch.serialization.__spec__
            print(type(torch.__loader__), vars(torch.serialization.__loader__), type(spec.loader), spec.origin)
        """)
        for python in self.each():
            self.both(python, [script])

    def test_tracebacks_and_warnings(self):
        script = self.script("""
            import sys, traceback, warnings, torch
            from transformers import AutoModelForCausalLM, pipeline
            open("empty", "w").close()
            def attempt(call):
                try:
                    call()
                except BaseException:
                    traceback.print_exc()
                    print(sys.exc_info()[1].__context__, sys.exc_info()[1].__cause__)
            attempt(lambda: AutoModelForCausalLM.from_pretrained("empty"))
            attempt(lambda: pipeline("x", model="empty"))
            attempt(lambda: torch.load("absent", weights_only=True))
            attempt(lambda: torch.load())
            attempt(lambda: torch.load(wrong=1))
            attempt(lambda: torch.nn.Linear(10).to("cuda:0"))
            import safetensors
            attempt(lambda: safetensors.safe_open("absent"))
            attempt(lambda: torch.nn.Module.to(3))
            class Sly(object):
                @property
                def __class__(self):
                    raise RuntimeError("nobody asks")
            attempt(lambda: torch.nn.Module.to(Sly(), "cpu"))
            def generator():
                try:
                    torch.load("absent", weights_only=True)
                except FileNotFoundError:
                    yield 1
                    raise
            attempt(lambda: list(generator()))
            torch.save(1, "made-w")
            for _ in range(2):
                torch.load("made-w")
            for _ in range(2):
                warnings.warn("mine")
            model = torch.nn.Linear(10)
            model.to("cpu")
            print(sys.exc_info())
            AutoModelForCausalLM.from_pretrained("empty")
        """)
        for python in self.each():
            done, said = self.both(python, [script], code=1)
            self.assertNotIn(b"probelauf", done.stderr)
            self.assertIn("ValueError", [line.get("failed") for line in said.events("end")])

    def test_references_are_kept_right(self):
        """The traceback is set by hand before 3.11: ten thousand failures leave nothing behind."""
        script = self.script("""
            import gc, sys, torch
            class Odd(Exception):
                pass
            class Name(object):
                def __fspath__(self):
                    raise Odd()
            def fail(times):
                for _ in range(times):
                    try:
                        torch.load(3, weights_only=True)
                    except TypeError as error:
                        last = error
                    try:
                        torch.load(Name(), weights_only=True)
                    except Odd as error:
                        last = error
            fail(100)
            gc.collect()
            before = len(gc.get_objects()), sys.getrefcount(Odd)
            fail(10000)
            gc.collect()
            after = len(gc.get_objects()), sys.getrefcount(Odd)
            print(abs(after[0] - before[0]) < 50, after[1] == before[1])
        """)
        for python in self.each():
            done, _ = self.both(python, [script])
            self.assertEqual(done.stdout, b"True True\n")

    def test_imports_that_fail(self):
        place = os.path.join(self.folder, "broken")
        shutil.copytree(STUB, place)
        with open(os.path.join(place, "torch", "serialization.py"), "w") as target:
            target.write("def inner():\n    raise %s\n\ninner()\n")
        for error in ("ImportError('no')", "ValueError('no')", "KeyboardInterrupt()"):
            with open(os.path.join(place, "torch", "serialization.py"), "w") as target:
                target.write("def inner():\n    raise %s\n\ninner()\n" % error)
            for python in self.each():
                code = -2 if error.startswith("Keyboard") else 1
                self.both(python, ["-c", "import torch"], {"PYTHONPATH": place}, code=code)

    def test_import_machinery(self):
        script = self.script("""
            import importlib, importlib.util, pkgutil, sys, zipfile, torch, torch.serialization
            print(importlib.util.find_spec("torch.hub").origin)
            print(importlib.reload(torch.serialization) is torch.serialization, torch.serialization.load)
            print([each.name for each in pkgutil.walk_packages(torch.__path__, "torch.")])
            print(pkgutil.get_data("torch", "hub.py")[:20])
            with zipfile.ZipFile("made-z.zip", "w") as target:
                target.writestr("safetensors/__init__.py", "safe_open = open\\n")
                target.writestr("safetensors/torch.py", "def load_file(filename): return 3\\n")
                target.writestr("safetensors/more.py", "value = 4\\n")
            sys.path.insert(0, "made-z.zip")
            import safetensors.torch, safetensors.more
            print(safetensors.__file__, safetensors.torch.load_file("work.py"), safetensors.more.value)
            spec = importlib.util.find_spec("llama_cpp.llama")
            lazy = importlib.util.LazyLoader(spec.loader)
            spec.loader = lazy
            module = importlib.util.module_from_spec(spec)
            sys.modules["llama_cpp.llama"] = module
            lazy.exec_module(module)
            print(module.Llama("work.py").size)
            class Wrapping(object):  # asks all finders for what it was asked for
                busy = False
                def find_spec(self, name, path=None, target=None):
                    if Wrapping.busy or not name.startswith("diffusers"):
                        return None
                    Wrapping.busy = True
                    try:
                        return importlib.util.find_spec(name)
                    finally:
                        Wrapping.busy = False
            sys.meta_path.insert(1, Wrapping())
            from diffusers import DiffusionPipeline
            print(DiffusionPipeline.from_pretrained("x")("p"))
            function, depth = DiffusionPipeline.from_pretrained, 0
            while hasattr(function, "__wrapped__"):
                function, depth = function.__wrapped__, depth + 1
            open("depth", "w").write(str(depth))
        """)
        for python in self.each():
            bare = self.start(python, [script], False, {"PYTHONPATH": STUB})
            done = self.start(python, [script], True, {"PYTHONPATH": STUB})
            clean = lambda text: [line.split(b" at 0x")[0] for line in text.splitlines()]
            self.assertEqual((clean(bare.stdout), bare.stderr), (clean(done.stdout), done.stderr))
            self.assertEqual(bare.returncode, 0, bare.stderr)
            with open(os.path.join(self.folder, "depth")) as source:
                self.assertEqual(source.read(), "1")
            self.assertIn("DiffusionPipeline.from_pretrained",
                          [line["what"] for line in Said(self.marks).events("begin")])

    def test_fifty_threads(self):
        self.weights("w", 30)
        script = self.script("""
            import threading
            found = []
            gate = threading.Barrier(50)
            def work():
                gate.wait()
                import torch, safetensors.torch
                from transformers.modeling_utils import PreTrainedModel
                found.append(PreTrainedModel.from_pretrained("w"))
            threads = [threading.Thread(target=work) for _ in range(50)]
            [each.start() for each in threads]
            [each.join() for each in threads]
            print(len(found), found[0](1), threading.active_count())
        """)
        for python in self.each():
            _, said = self.both(python, [script])
            phases = said.phases()
            self.assertEqual(phases[-1], "begin compute")
            self.assertEqual(phases[:-1], ["begin load", "end load"] * ((len(phases) - 1) // 2))
            self.assertEqual(said.events("trouble"), [])

    def test_signal_and_interrupt(self):
        script = self.script("""
            import os, signal, torch
            torch.save(1, "made-w")
            def handler(*_):
                torch.load("made-w", weights_only=True)
            signal.signal(signal.SIGALRM, handler)
            signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
            for _ in range(2000):
                torch.load("made-w", weights_only=True)
            signal.setitimer(signal.ITIMER_REAL, 0)
            print("done")
            os.kill(os.getpid(), signal.SIGINT)
        """)
        for python in self.each():
            # What an alarm does to the stub itself may look like trouble of the hook's own, rarely.
            for storm in range(3):
                done, said = self.both(python, [script], code=-2)
                self.assertIn(b"done", done.stdout)
                if said.events("trouble") == []:
                    break
            self.assertEqual(said.events("trouble"), [])


class Memory(HookTest):
    GPUS = {"PYTHONPATH": STUB, "STUB_GPUS": "2", "CUDA_VISIBLE_DEVICES": "3,5", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}

    def test_peaks_at_the_ends_of_phases(self):
        self.weights("w", 1000)
        script = self.script("""
            import torch
            from transformers import PreTrainedModel
            model = PreTrainedModel.from_pretrained("w", device_map="cuda:0")
            print(torch.cuda.max_memory_allocated())
            model(1)
            more = torch.Tensor(5000, "cuda:0")
            del more
            print(torch.cuda.max_memory_allocated(), torch.cuda.memory_allocated())
        """)
        for python in self.each():
            done, said = self.both(python, [script], self.GPUS)
            self.assertEqual(done.stdout, b"CUDA begins\n1000\n6000 1000\n")
            load, exit_ = said.memory("phase-end")[0], said.memory("exit")[0]
            self.assertEqual((load["phase"], load["allocated"], load["allocated_peak"]), ("load", 1000, 1000))
            self.assertEqual((exit_["phase"], exit_["allocated"], exit_["allocated_peak"]), ("compute", 1000, 6000))
            self.assertEqual((load["reserved"], load["reserved_peak"], load["retries"], load["ooms"]),
                             (2 << 20, 2 << 20, 0, 0))
            self.assertEqual((load["visible"], load["order"]), ("3,5", "PCI_BUS_ID"))
            self.assertEqual((load["uuid"], load["bus_id"]),
                             ("00000000-0000-0000-0000-000000000000", "00000000:1b:00.0"))
            self.assertEqual(said.memory("exit", device=1)[0]["allocated_peak"], 0)

    def test_cuda_is_never_started(self):
        script = self.script("import torch\nprint(torch.nn.Linear(1000)(1))\n")
        for python in self.each():
            done, said = self.both(python, [script], self.GPUS)
            self.assertNotIn(b"CUDA begins", done.stdout)
            self.assertEqual(said.events("memory"), [])

    def test_read_before_the_program_resets(self):
        script = self.script("""
            import torch
            def up(nbytes):
                torch.Tensor(nbytes, "cuda:1")
            up(7000)
            torch.cuda.reset_peak_memory_stats(1)
            up(300)
            torch.cuda.memory.reset_max_memory_allocated("cuda:1")
            up(20)
            torch.cuda.reset_max_memory_cached(device=1)
            up(9)
            torch.cuda.reset_peak_memory_stats()
            torch.cuda.reset_accumulated_memory_stats(1)
            print(torch.cuda.max_memory_allocated(1), torch._C.resets)
        """)
        for python in self.each():
            done, said = self.both(python, [script], self.GPUS)
            self.assertEqual(done.stdout, b"CUDA begins\n9 5\n")
            self.assertEqual([line["allocated_peak"] for line in said.memory("reset", 1)], [7000, 300, 20, 9])
            self.assertEqual([line["allocated_peak"] for line in said.memory("reset", 0)], [0])
            self.assertEqual([line["allocated_peak"] for line in said.memory("exit", 1)], [9])

    def test_a_reset_in_each_step_is_bounded(self):
        script = self.script("""
            import torch
            for step in range(1000):
                torch.Tensor(7000 if step == 500 else 10 + step % 7, "cuda:0")
                torch.cuda.reset_peak_memory_stats(0)
        """)
        for python in self.each():
            _, said = self.both(python, [script], self.GPUS)
            peaks = [line["allocated_peak"] for line in said.memory("reset")]
            self.assertEqual(len(peaks), 65)
            self.assertEqual(peaks[-1], 7000)

    def test_an_out_of_memory_that_was_caught(self):
        script = self.script("""
            import torch
            try:
                torch.Tensor(20000, "cuda:0")
            except torch.OutOfMemoryError:
                print("smaller")
            torch.Tensor(2000, "cuda:0")
        """)
        for python in self.each():
            _, said = self.both(python, [script], dict(self.GPUS, STUB_CAPACITY="10000"))
            last = said.memory("exit")[0]
            self.assertEqual((last["ooms"], last["retries"], last["allocated_peak"]), (1, 1, 2000))

    def test_load_that_runs_out_of_memory(self):
        self.weights("w", 3000)
        script = self.script("""
            from transformers import PreTrainedModel
            PreTrainedModel.from_pretrained("w", device_map="cuda:0")
        """)
        for python in self.each():
            _, said = self.both(python, [script], dict(self.GPUS, STUB_CAPACITY="2000"), code=1)
            self.assertEqual(said.events("end")[-1]["failed"], "OutOfMemoryError")
            self.assertEqual(said.memory("phase-end")[0]["ooms"], 1)

    def test_an_allocator_that_tells_nothing(self):
        script = self.script("""
            import torch
            def refuse(index):
                raise RuntimeError("does not support getDeviceStats")
            torch._C._cuda_memoryStats = refuse
            model = torch.nn.Linear(10).to("cuda:0")
            print(model(1))
        """)
        for python in self.each():
            _, said = self.both(python, [script], self.GPUS)
            self.assertEqual(said.events("memory"), [])
            self.assertEqual([line["reason"] for line in said.events("trouble")], ["memory of torch: RuntimeError"])
            self.assertEqual(said.phases(), ["begin load", "end load", "begin compute"])


class Workers(HookTest):
    GPUS = {"PYTHONPATH": STUB, "STUB_GPUS": "1"}
    WORK = """
        import multiprocessing, os, sys, time
        def work(nbytes):
            import torch
            from transformers import PreTrainedModel
            model = PreTrainedModel.from_pretrained("w", device_map="cuda:0")
            model(1)
            torch.Tensor(nbytes, "cuda:0")
        if __name__ == "__main__":
            context = multiprocessing.get_context(sys.argv[1])
            if sys.argv[2] == "before":
                import torch
            workers = [context.Process(target=work, args=(nbytes,)) for nbytes in (100, 2000)]
            for each in workers:
                each.start()
                each.join()
            print([each.exitcode for each in workers])
    """

    def test_forked_and_spawned(self):
        self.weights("w", 10)
        script = self.script(self.WORK)
        for python in self.each():
            for method in ("fork", "spawn", "forkserver"):
                for when in ("before", "inside"):
                    with self.subTest(method=method, when=when):
                        done, said = self.both(python, [script, method, when], self.GPUS)
                        self.assertTrue(done.stdout.endswith(b"[0, 0]\n"), done)
                        self.assertEqual(sorted(line["allocated_peak"] for line in said.memory("exit")), [110, 2010])
                        pids = {line["pid"] for line in said.events("begin")}
                        self.assertEqual(len(pids), 2)
                        for pid in pids:
                            self.assertEqual(said.phases(pid), ["begin load", "end load", "begin compute"])
                            self.assertEqual(len(said.events("memory", pid=pid)), 3)

    def test_killed_worker_leaves_its_last_report(self):
        self.weights("w", 10)
        script = self.script("""
            import os, signal, torch
            from transformers import PreTrainedModel
            child = os.fork()
            if child == 0:
                model = PreTrainedModel.from_pretrained("w", device_map="cuda:0")
                model(1)
                os.kill(os.getpid(), signal.SIGKILL)
            print(os.waitpid(child, 0)[1])
        """)
        for python in self.each():
            _, said = self.both(python, [script], self.GPUS)
            self.assertEqual([(line.get("phase"), line["allocated_peak"]) for line in said.memory()],
                             [("load", 10), (None, 10)])

    def test_child_of_a_computing_parent(self):
        script = self.script("""
            import os, sys, torch
            model = torch.nn.Linear(10)
            print(model(1))
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                print(model(2))
                sys.exit(0)
            os.waitpid(child, 0)
            print(torch.nn.modules.module._global_forward_pre_hooks)
        """)
        for python in self.each():
            _, said = self.both(python, [script])
            pids = [line["pid"] for line in said.events("begin")]
            self.assertEqual(len(set(pids)), 2)

    def test_fork_inside_of_a_load(self):
        script = self.script("""
            import os, sys, torch
            class Model(torch.nn.Module):
                def load_state_dict(self, state):
                    super().load_state_dict(state)
            class Forks(object):
                def keys(self):
                    global child
                    child = os.fork()
                    return []
            Model().load_state_dict(Forks())
            if child:
                print(os.waitpid(child, 0)[1])
            else:
                torch.save(1, "made-w")
                torch.load("made-w", weights_only=True)
        """)
        for python in self.each():
            _, said = self.both(python, [script])
            for pid in {line["pid"] for line in said.events("begin")}:
                self.assertEqual(said.phases(pid), ["begin load", "end load"])
            self.assertEqual(len(said.phases()), 4)
            self.assertEqual(said.events("trouble"), [])

    def test_executed_children(self):
        script = self.script("""
            import os, subprocess, sys
            text = "import torch; print(torch.nn.Linear(10)(1))"
            print(subprocess.run([sys.executable, "-c", text], stdout=subprocess.PIPE).stdout)
            sys.stdout.flush()
            os.execv(sys.executable, [sys.executable, "-c", text])
        """)
        for python in self.each():
            _, said = self.both(python, [script])
            self.assertEqual(len(said.events("hello")), 3)
            self.assertEqual(said.phases(), ["begin compute"] * 2)


if __name__ == "__main__":
    main()
