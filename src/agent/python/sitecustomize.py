# SPDX-License-Identifier: GPL-3.0-or-later
"""Start of probelauf's Python hook: runs in every Python process of a measured command.

It takes itself out of the way (its folder leaves sys.path, the sitecustomize that would have run
without it runs), says hello, and watches for a few module names; what it does to those modules is in
probelauf_hook.py, which is read when the first of them is imported. It must not change what the
program sees or does, print, raise, start a thread or take time. Any Python can meet this file, so it
is written in what Python 2.7 to 3.14 have in common.
"""
import os
import posix
import sys

# What is called later is bound now: a program may replace these functions by its own, which must
# neither be called nor believed.
OPEN, WRITE, READ, CLOSE, FSTAT = posix.open, posix.write, posix.read, posix.close, posix.fstat
GETPID = posix.getpid
MODULES = sys.modules
IS_FOLLOWED = sys.version_info >= (3, 8)
if IS_FOLLOWED:
    import _signal
    import time

    NOW_NS, GETSIGNAL = time.monotonic_ns, _signal.getsignal
    SIGXFSZ, SIGNALS = _signal.SIGXFSZ, range(1, _signal.NSIG)
# Type-level: what a foreign object says of itself may be code of the program.
MODULE_TYPE = type(sys)
FUNCTION_TYPE = type(lambda: None)
TYPE_NAME = type.__dict__["__name__"].__get__
TYPE_MODULE = type.__dict__["__module__"].__get__
TYPE_DICT = type.__dict__["__dict__"].__get__
# Errors that may come up in the hook's own frames.
OWN_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    MemoryError,
    NameError,
    RuntimeError,
    TypeError,
    ValueError,
)

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
TEXT_MAX = 3000
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
    return str(NOW_NS()) if IS_FOLLOWED else "-"


def shortened(text, length):
    """Both ends of the text, length characters in all."""
    if len(text) <= length:
        return text
    return text[: length - length // 2 - 5] + " [..] " + text[len(text) - length // 2 + 1 :]


def is_thrown(error, roots=("builtins", "torch")):
    """Whether an error that came up while the hook worked is the program's and has to reach it: its
    signal handler raised it, or another thread (or Ctrl-C) threw it in. What is left is the hook's own,
    or torch's that the hook had asked."""
    kind = type(error)
    if not issubclass(kind, Exception):
        return True
    module = TYPE_MODULE(kind)
    if roots and (type(module) is not str or module.partition(".")[0] not in roots):
        return True
    handlers = codes_of_handlers()
    at = error.__traceback__
    while at is not None:
        if id(at.tb_frame.f_code) in handlers:
            return True
        last = at
        at = at.tb_next
    return last.tb_frame.f_globals.get("PROBELAUF") is IS_OURS and not issubclass(kind, OWN_ERRORS)


PROBELAUF = IS_OURS = object()  # among the globals of the hook's two files


def codes_of_handlers():
    """The code of the program's signal handlers, by id."""
    found = set()
    for number in SIGNALS:
        handler = GETSIGNAL(number)
        for _ in range(8):  # partial objects and methods of partial objects
            kind = type(handler)
            if kind is FUNCTION_TYPE:
                found.add(id(handler.__code__))
                break
            if TYPE_MODULE(kind) == "functools" and TYPE_NAME(kind) == "partial":
                handler = handler.func
            elif kind is type(is_thrown.__get__(1)):
                handler = handler.__func__
            else:
                own = [TYPE_DICT(each)["__call__"] for each in kind.__mro__ if "__call__" in TYPE_DICT(each)]
                if not own or type(own[0]) is not FUNCTION_TYPE:
                    break
                handler = own[0]
    return found


class Marks(object):
    """The marks file. It is opened for each line: the program's descriptors stay what they are."""

    def __init__(self, path):
        self.path = path
        # No O_CREAT: a run that is over wants no file. O_NONBLOCK: whatever lies there, nobody waits.
        self.flags = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY | getattr(os, "O_CLOEXEC", 0)
        if not isinstance(path, bytes):
            self.path = os.fsencode(path)

    def say(self, event, facts, time=None, written=None):
        """Appends one report; a fact that is None is left out. Nothing is said about a failure, and
        nothing raised but what the program throws in. `written` gets an item when it stands there."""
        line = line_of(event, facts, time)
        fds = []
        # Between two steps of Python anything may be thrown in; within one call of C nothing is. So the
        # descriptor comes into the list, and is closed, by one call each.
        closing = map(CLOSE, fds) if IS_FOLLOWED else (CLOSE(fd) for fd in fds)
        try:
            try:
                try:
                    fds.extend(map(OPEN, (self.path,), (self.flags,)))
                    if FSTAT(fds[0]).st_mode & 0o170000 == 0o100000 and may_grow(fds[0], len(line)):
                        written = [] if written is None else written
                        if not written:
                            written.extend(map(WRITE, (fds[0],), (line,)))
                finally:
                    any(closing)
            finally:
                any(closing)  # up to 3.11 something may be thrown in even before the first
        except OSError as error:
            trace = getattr(error, "__traceback__", None)
            # a handler's has frames behind ours; one that is thrown in has no number
            if trace is not None and (trace.tb_next is not None or error.errno is None):
                raise


def line_of(event, facts, time):
    """The whole line; of texts for which it has no room both ends."""
    room = TEXT_MAX
    while True:
        parts = ['"event":' + as_text(event)]
        for key, value in facts:
            if value is not None:
                shown = str(value) if isinstance(value, int) else as_text(shortened(value, room))
                parts.append(as_text(key) + ":" + shown)
        line = "%s@%d agent python-hook {%s}\n" % (time or now(), GETPID(), ",".join(parts))
        if len(line) <= LINE_MAX:
            return line if isinstance(line, bytes) else line.encode("ascii")
        room = room * 3 // 4


def may_grow(fd, length):
    """Beyond RLIMIT_FSIZE a write is a signal. Python ignores it unless the program has changed that."""
    if not IS_FOLLOWED or GETSIGNAL(SIGXFSZ) == 1:
        return True
    fds, text = [], b""
    closing = map(CLOSE, fds)
    try:
        fds.extend(map(OPEN, (b"/proc/self/limits",), (os.O_RDONLY | os.O_CLOEXEC,)))
        text = READ(fds[0], 4096)
    finally:
        any(closing)
    for line in text.split(b"\n"):
        if line.startswith(b"Max file size"):
            limit = line.split()[3]
            return limit == b"unlimited" or FSTAT(fd).st_size + length <= int(limit)
    return False


class ProbelaufFinder(object):
    """Stands first in sys.meta_path, lets the finders behind it find a wanted module, and has it
    looked at once it has been executed."""

    def __init__(self, folder, marks):
        import _thread

        self.source = os.path.join(folder, "probelauf_hook.py")
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
            self.follow(name, spec)
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

    def follow(self, name, spec):
        """The loader stays the one that was found; for one execution its exec_module is ours."""
        if TYPE_NAME(type(spec)) != "ModuleSpec":
            return
        loader = spec.loader
        kind = type(loader)
        if not any("exec_module" in TYPE_DICT(each) for each in kind.__mro__) or issubclass(kind, type):
            return
        original = loader.exec_module

        def exec_module(module):
            spec = module_names(module).get("__spec__")
            if TYPE_NAME(type(spec)) != "ModuleSpec" or spec.name != name:
                return original(module)
            if names.get("exec_module") is exec_module:
                del names["exec_module"]
            original(module)
            self.loaded(name, MODULES.get(name, module))

        exec_module.__code__ = exec_module.__code__.replace(co_filename=IMPORT_SYSTEM)
        try:
            names = object.__getattribute__(loader, "__dict__")
            names["exec_module"] = exec_module
        except (AttributeError, TypeError):
            pass  # a loader that has no room

    def loaded(self, name, module):
        """A wanted module is there."""
        try:
            if self.hook is None:
                self.hook = read_hook(self.source, self)
            self.hook["loaded"](name, module)
            self.wanted.discard(name)
            if not self.wanted:
                sys.meta_path[:] = [each for each in sys.meta_path if each is not self]
        except Exception as error:
            if is_thrown(error, None):
                raise
            self.marks.say("trouble", [("reason", "%s: %s" % (name, TYPE_NAME(type(error))))])


# What a module holds, without asking it.
MODULE_DICT = MODULE_TYPE.__dict__["__dict__"].__get__


def module_names(module):
    return (MODULE_DICT(module) if issubclass(type(module), MODULE_TYPE) else None) or {}


def names_of(owner):
    return TYPE_DICT(owner) if issubclass(type(owner), type) else module_names(owner)


def put(owner, name, value):
    """setattr() that no class of the program hears of."""
    if issubclass(type(owner), type):
        type.__setattr__(owner, name, value)
    else:
        module_names(owner)[name] = value


def plain(path):
    """As os.path.abspath() has it."""
    parts = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def old_trim():
    """Before Python 3.11 a bare `raise` takes the traceback from the thread's state and not from the
    exception; the C interface can set it there."""

    def trim(error):
        ctypes = MODULES.get("ctypes")
        if ctypes is None:
            return
        thing = ctypes.py_object
        set_info = ctypes.PYFUNCTYPE(None, thing, thing, thing)(
            ("PyErr_SetExcInfo", ctypes.pythonapi)
        )
        keep = ctypes.PYFUNCTYPE(None, thing)(("Py_IncRef", ctypes.pythonapi))
        behind = error.__traceback__.tb_next
        for each in (type(error), error, behind):
            keep(each)  # PyErr_SetExcInfo takes the three references
        set_info(type(error), error, behind)
        error.__traceback__ = behind

    return trim


def new_trim(error):
    error.__traceback__ = error.__traceback__.tb_next


def at_exit():
    """atexit.register; the module is in sys.modules only where it was before (3.13 on)."""
    was_there = "atexit" in MODULES
    import atexit

    if not was_there and sys.version_info >= (3, 10):  # before, a second atexit forgets the first
        del MODULES["atexit"]
    return atexit.register


def read_hook(path, finder):
    """Executes probelauf_hook.py. It is no entry of sys.modules."""
    fds, pieces = [], []
    closing = map(CLOSE, fds)
    try:
        fds.extend(map(OPEN, (path,), (os.O_RDONLY | os.O_CLOEXEC,)))
        while not pieces or pieces[-1]:
            pieces.append(READ(fds[0], 1 << 20))
    finally:
        any(closing)
    code = compile(b"".join(pieces), path, "exec", 0, True)
    hook = {"__name__": "probelauf_hook", "__file__": path, "PROBELAUF": IS_OURS, "BASE": globals()}
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
