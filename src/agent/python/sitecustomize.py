# SPDX-License-Identifier: GPL-3.0-or-later
"""Start of probelauf's Python hook: runs in every Python process of a measured command.

It takes itself out of the way (its folder leaves sys.path, the sitecustomize that would have run
without it runs), says hello, and watches for a few module names; what it does to those modules is in
probelauf_hook.py, which is read when the first of them is imported. It must not change what the
program sees or does, print, raise, start a thread or take time. Any Python can meet this file, so it
is written in what Python 2.7 to 3.14 have in common.
"""
import os
import sys

# The modules whose import is followed: the keys of RULES in probelauf_hook.py (a test compares them).
WANTED = (
    "torch.serialization",
    "torch.jit._serialization",
    "torch.hub",
    "torch.nn.modules.module",
    "torch.cuda.memory",
    "torch.accelerator.memory",
    "torch._dynamo.convert_frame",
    "safetensors",
    "safetensors.torch",
    "huggingface_hub.file_download",
    "transformers.modeling_utils",
    "transformers.modeling_tf_utils",
    "transformers.modeling_flax_utils",
    "transformers.models.auto.auto_factory",
    "transformers.pipelines",
    "accelerate.big_modeling",
    "diffusers.pipelines.pipeline_utils",
    "diffusers.models.modeling_utils",
    "diffusers.loaders.single_file",
    "diffusers.loaders.single_file_model",
    "sentence_transformers.SentenceTransformer",
    "sentence_transformers.cross_encoder.CrossEncoder",
    "vllm.entrypoints.llm",
    "vllm.engine.llm_engine",
    "vllm.engine.async_llm_engine",
    "vllm.v1.engine.llm_engine",
    "vllm.v1.engine.async_llm",
    "vllm.v1.engine.core",
    "vllm.v1.worker.gpu_worker",
    "vllm.worker.worker",
    "llama_cpp.llama",
    "onnxruntime.capi.onnxruntime_inference_collection",
    "keras.src.saving.saving_api",
    "keras.saving.saving_api",
    "keras.src.backend.tensorflow.trainer",
    "keras.src.engine.training",
    "keras.engine.training",
    "tensorflow.python.saved_model.load",
)
# A line of the marks file is one write of at most so many bytes (docs/journal-format.md, "Agents").
LINE_MAX = 4096
# The code that stands between the import system and a module goes by the import system's own name:
# Python leaves such frames out of the traceback of a failed import, and warnings pass over them.
IMPORT_SYSTEM = "<frozen importlib._bootstrap>"


def as_text(value):
    """value as a JSON text in ASCII."""
    out = ['"']
    for char in value:
        code = ord(char)
        if char in '"\\':
            out.append("\\" + char)
        elif 32 <= code < 127:
            out.append(char)
        elif code == 0 or 0xD800 <= code <= 0xDFFF:
            out.append("\\ufffd")  # a byte that is no UTF-8; JSON has no place for it
        elif code > 0xFFFF:
            code -= 0x10000
            out.append("\\u%04x\\u%04x" % (0xD800 + (code >> 10), 0xDC00 + (code & 0x3FF)))
        else:
            out.append("\\u%04x" % code)
    out.append('"')
    return "".join(out)


def now():
    """The moment as it stands in front of a line: CLOCK_MONOTONIC in nanoseconds, or '-'."""
    if sys.version_info < (3, 8):
        return "-"
    import time

    return str(time.monotonic_ns())


class Marks(object):
    """The marks file. It is opened for each line: the program's descriptors stay what they are."""

    def __init__(self, path):
        self.path = path

    def say(self, event, facts, time=None):
        """Appends one report; a fact that is None is left out. Nothing is said about a failure."""
        parts = ['"event":' + as_text(event)]
        for key, value in facts:
            if value is not None:
                shown = str(value) if isinstance(value, int) else as_text(value)
                parts.append(as_text(key) + ":" + shown)
        line = "%s@%d agent python-hook {%s}\n" % (time or now(), os.getpid(), ",".join(parts))
        if len(line) > LINE_MAX:
            return
        # No O_CREAT: a run that is over wants no file. O_NONBLOCK: whatever lies there, nobody waits.
        flags = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY
        try:
            fd = os.open(self.path, flags | getattr(os, "O_CLOEXEC", 0))
        except (OSError, ValueError):
            return
        try:
            if os.fstat(fd).st_mode & 0o170000 == 0o100000:
                os.write(fd, line if isinstance(line, bytes) else line.encode("ascii"))
        except OSError:
            pass
        finally:
            os.close(fd)


class ProbelaufFinder(object):
    """Stands first in sys.meta_path, lets the finders behind it find a wanted module, and has it
    looked at once it has been executed."""

    def __init__(self, folder, marks):
        import _thread

        self.folder = folder
        self.marks = marks
        self.wanted = set(WANTED)
        self.busy = set()
        self.thread = _thread.get_ident
        self.hook = None

    def find_spec(self, name, path=None, target=None):
        if name not in self.wanted:
            return None
        # a finder behind this one may ask all finders for the same name
        key = (name, self.thread())
        if key in self.busy:
            return None
        self.busy.add(key)
        try:
            spec = self.find_behind(name, path, target)
        finally:
            self.busy.discard(key)
        if spec is not None:
            try:
                self.follow(name, spec.loader)
            except Exception:
                pass
        return spec

    def find_behind(self, name, path, target):
        behind = False
        for finder in list(sys.meta_path):
            if finder is self:
                behind = True
            elif behind:
                find_spec = getattr(finder, "find_spec", None)
                if find_spec is None:
                    return None
                spec = find_spec(name, path, target)
                if spec is not None:
                    return spec
        return None

    def follow(self, name, loader):
        """The loader stays the one that was found; for one execution its exec_module is ours."""
        if loader is None or isinstance(loader, type) or not hasattr(loader, "exec_module"):
            return
        original = loader.exec_module

        def exec_module(module):
            if module.__spec__ is None or module.__spec__.name != name:
                return original(module)
            if loader.__dict__.get("exec_module") is exec_module:
                del loader.exec_module
            original(module)
            self.loaded(name, sys.modules.get(name, module))

        exec_module.__code__ = exec_module.__code__.replace(co_filename=IMPORT_SYSTEM)
        loader.exec_module = exec_module

    def loaded(self, name, module):
        """A wanted module is there."""
        try:
            if self.hook is None:
                self.hook = read_hook(self.folder, self)
            self.hook["loaded"](name, module)
            self.wanted.discard(name)
            if not self.wanted and self in sys.meta_path:
                sys.meta_path.remove(self)
        except Exception as error:
            self.marks.say("trouble", [("reason", "%s: %s" % (name, type(error).__name__))])


def read_hook(folder, finder):
    """Executes probelauf_hook.py. It is no entry of sys.modules."""
    path = os.path.join(folder, "probelauf_hook.py")
    with open(path, "rb") as source:
        code = compile(source.read(), path, "exec", 0, True)
    hook = {"__name__": "probelauf_hook", "__file__": path}
    exec(code, hook)
    hook["start"](finder.marks, finder)
    return hook


def why_off():
    """None, or why nothing is told of this process."""
    if os.environ.get("PROBELAUF_PYTHON") == "0":
        return "PROBELAUF_PYTHON is 0"
    if sys.version_info < (3, 8):
        return "Python %d.%d is older than 3.8" % tuple(sys.version_info[:2])
    if sys.implementation.name != "cpython":
        return "this Python is not CPython but " + sys.implementation.name
    return None


def start(folder):
    path = os.environ.get("PROBELAUF_MARKS")
    if not path or any(type(each).__name__ == "ProbelaufFinder" for each in sys.meta_path):
        return
    marks = Marks(path)
    reason = why_off()
    if reason is not None:
        marks.say("off", [("reason", reason)])
        return
    marks.say("hello", [("version", 1), ("python", "%d.%d.%d" % tuple(sys.version_info[:3])),
                        ("prefix", sys.prefix), ("executable", sys.executable or None)])
    finder = ProbelaufFinder(folder, marks)
    for method in (ProbelaufFinder.find_spec, ProbelaufFinder.find_behind):
        method.__code__ = method.__code__.replace(co_filename=IMPORT_SYSTEM)
    sys.meta_path.insert(0, finder)
    for name in WANTED:  # what a .pth file has imported already
        if name in sys.modules:
            finder.loaded(name, sys.modules[name])


def leave(folder):
    """sys.path as it is without the folder."""
    sys.path[:] = [entry for entry in sys.path if entry != folder]
    sys.path_importer_cache.pop(folder, None)


_this = sys.modules.pop("sitecustomize", None)  # Python 2 empties a module that nobody holds
try:
    leave(os.path.dirname(__file__))
except Exception:
    pass
try:
    start(os.path.dirname(os.path.abspath(__file__)))
except Exception:
    pass
# The one that would have run without this file, or the same "there is none" that site.py expects.
import sitecustomize  # noqa: E402,F401
