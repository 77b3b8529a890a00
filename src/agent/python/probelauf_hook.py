# SPDX-License-Identifier: GPL-3.0-or-later
"""What probelauf's Python hook does to the modules that sitecustomize.py watches for.

It wraps the calls that load models (phase load), download (transfer) or compute (phase compute),
waits for torch's first forward, and reads what torch's allocator counted: when a phase ends, before
the program resets the peaks, and at the end of the process. It must not change the program: it never
resets anything, never starts CUDA, prints and raises nothing, and leaves no trace in the tracebacks
and warnings of what it wraps. What the program's signal handlers raise and other threads throw in
while the hook works reaches the program, and leaves the counts right. Of foreign objects nothing is
touched but the names that are followed. Reports: docs/journal-format.md, "Agents".
"""
import _thread
import os
import posix
import sys

# What sitecustomize.py has bound before the program could replace it.
BASE = globals()["BASE"]
NOW_NS, GETPID, MODULES = BASE["NOW_NS"], BASE["GETPID"], BASE["MODULES"]
MODULE_TYPE, FUNCTION_TYPE = BASE["MODULE_TYPE"], BASE["FUNCTION_TYPE"]
TYPE_NAME, TYPE_MODULE, TYPE_DICT = BASE["TYPE_NAME"], BASE["TYPE_MODULE"], BASE["TYPE_DICT"]
module_names, names_of, put = BASE["module_names"], BASE["names_of"], BASE["put"]
is_thrown, plain = BASE["is_thrown"], BASE["plain"]
STAT, GETCWD, FSPATH = posix.stat, posix.getcwd, posix.fspath
VARIABLES = os.environ._data  # by bytes; os.environ itself is Python code that can be replaced
# Kinds of functions, as co_flags tells them.
GENERATOR, COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x200

# Code by this name stands aside in Python's warnings and in logging (both pass over frames of the
# import system when they look for the caller), so that they name the user's line as without it.
ASIDE = "<probelauf, like importlib._bootstrap>"
# What one process may say: phases, resets of one device in one phase, files.
PHASES_MAX = 2000
RESETS_MAX = 64
FILES_MAX = 512

# module: (what (one or several), action[, parameter that names a file: its place, its name]). The actions: "load" and
# "transfer" last as long as the call; "early" is a load only before the first forward; "compute"
# begins with the call and holds; "reset" is read before; "forward" is torch's Module, "compile"
# torch.compile. A name that a version does not have is passed over.
RULES = {
    "torch.serialization": (("load", "load", 0, "f"),),
    "torch.jit._serialization": (("load", "load", 0, "f"),),
    "torch.hub": (("download_url_to_file", "transfer"),),
    "torch.nn.modules.module": (
        ("Module.to Module.cuda Module.load_state_dict", "early"),
        ("Module", "forward"),
    ),
    "torch.cuda.memory": (
        ("reset_peak_memory_stats reset_max_memory_allocated reset_max_memory_cached", "reset"),
        ("reset_accumulated_memory_stats", "reset"),
    ),
    "torch.accelerator.memory": (
        ("reset_peak_memory_stats reset_accumulated_memory_stats", "reset"),
    ),
    "torch._dynamo.convert_frame": (("_compile", "compile"),),
    "safetensors": (("safe_open", "load", 0, "filename"),),
    "safetensors.torch": (
        ("load_file", "load", 0, "filename"),
        ("load_model", "load", 1, "filename"),
    ),
    "huggingface_hub.file_download": (("http_get xet_get", "transfer"),),
    "transformers.modeling_utils": (("PreTrainedModel.from_pretrained", "load"),),
    "transformers.modeling_tf_utils": (("TFPreTrainedModel.from_pretrained", "load"),),
    "transformers.modeling_flax_utils": (("FlaxPreTrainedModel.from_pretrained", "load"),),
    "transformers.models.auto.auto_factory": (("_BaseAutoModelClass.from_pretrained", "load"),),
    "transformers.pipelines": (("pipeline", "load"),),
    "accelerate.big_modeling": (
        ("load_checkpoint_and_dispatch", "load"),
        ("dispatch_model", "early"),
    ),
    "diffusers.pipelines.pipeline_utils": (
        ("DiffusionPipeline.from_pretrained", "load"),
        ("DiffusionPipeline.to", "early"),
    ),
    "diffusers.models.modeling_utils": (("ModelMixin.from_pretrained", "load"),),
    "diffusers.loaders.single_file": (("FromSingleFileMixin.from_single_file", "load"),),
    "diffusers.loaders.single_file_model": (("FromOriginalModelMixin.from_single_file", "load"),),
    "sentence_transformers.SentenceTransformer": (("SentenceTransformer.__init__", "load"),),
    "sentence_transformers.cross_encoder.CrossEncoder": (("CrossEncoder.__init__", "load"),),
    "vllm.entrypoints.llm": (
        ("LLM.__init__", "load"),
        ("LLM.generate LLM.chat LLM.encode LLM.beam_search", "compute"),
    ),
    "vllm.engine.llm_engine": (("LLMEngine.__init__", "load"), ("LLMEngine.step", "compute")),
    "vllm.engine.async_llm_engine": (("AsyncLLMEngine.__init__", "load"),),
    "vllm.v1.engine.llm_engine": (("LLMEngine.__init__", "load"),),
    "vllm.v1.engine.async_llm": (("AsyncLLM.__init__", "load"),),
    "vllm.v1.engine.core": (("EngineCore.__init__", "load"),),
    "vllm.v1.worker.gpu_worker": (
        ("Worker.init_device Worker.load_model Worker.determine_available_memory", "load"),
        ("Worker.initialize_from_config Worker.compile_or_warm_up_model", "load"),
        ("Worker.execute_model", "compute"),
    ),
    "vllm.worker.worker": (
        ("Worker.load_model Worker.determine_num_available_blocks", "load"),
        ("Worker.initialize_cache", "load"),
        ("Worker.execute_model", "compute"),
    ),
    "llama_cpp.llama": (
        ("Llama.__init__", "load", 1, "model_path"),
        ("Llama.eval Llama.generate Llama.embed", "compute"),
    ),
    "onnxruntime.capi.onnxruntime_inference_collection": (
        ("InferenceSession.__init__", "load", 1, "path_or_bytes"),
        ("Session.run Session.run_with_iobinding", "compute"),
    ),
    "keras.src.saving.saving_api": (("load_model", "load", 0, "filepath"),),
    "keras.saving.saving_api": (("load_model", "load", 0, "filepath"),),
    "keras.src.backend.tensorflow.trainer": (
        ("TensorFlowTrainer.fit TensorFlowTrainer.predict TensorFlowTrainer.evaluate", "compute"),
    ),
    "keras.src.engine.training": (("Model.fit Model.predict Model.evaluate", "compute"),),
    "keras.engine.training": (("Model.fit Model.predict Model.evaluate", "compute"),),
    "tensorflow.python.saved_model.load": (("load", "load"),),
}


class State(object):
    """Where this process stands. A forked child begins anew."""

    def __init__(self):
        self.marks = None
        self.finder = None
        self.hook = None  # torch's handle of the forward pre-hook
        self.module = None  # torch.nn.modules.module
        self.compiled = False  # torch.compile has been here: no forward pre-hook any more
        self.undo = []  # (action, owner, name, ours, original): what is of no more use once computing
        self.identity = {}  # device: (uuid, bus id)
        self.exit_known = False
        self.begin()

    def begin(self):
        # Reentrant: a signal handler may load a model while this thread is in here.
        self.lock = _thread.RLock()
        self.pid = GETPID()
        self.parent = None  # of a forked child that has said nothing yet
        self.held = {"loads": set(), "transfers": set()}
        self.computing = False
        self.phase = None
        self.pending = []  # what is to be said, oldest first
        self.changes = 0
        self.files = set()
        self.resets = {}  # (phase, device): [how many, highest allocated, highest reserved]
        self.last = {}  # device: what was said of it last
        self.troubles = set()
        self.ended = False


state = State()


def say(event, facts, at=None, written=None):
    if state.parent is not None:
        parent, state.parent = state.parent, None
        state.marks.say("hello", [("version", 1), ("parent", parent)])
    state.marks.say(event, facts, at, written)


def trouble(reason):
    if reason not in state.troubles:
        state.troubles.add(reason)
        say("trouble", [("reason", reason)])


def name_of(error):
    return TYPE_NAME(type(error))


def attempt(what, step, *args, roots=("builtins", "torch")):
    """Does what may fail, in torch or here; a failure is said and None."""
    try:
        return step(*args)
    except Exception as error:
        if is_thrown(error, roots):
            raise
        trouble("%s: %s" % (what, name_of(error)))
        return None


def surely(what, step, *args):
    """Does a step that must not stay half done, whatever is thrown in meanwhile: steps can be done
    again. What came first is raised then."""
    thrown = None
    try:
        for _ in range(100):
            try:
                attempt(what, step, *args)
                break
            except BaseException as error:
                if thrown is None:
                    thrown = error
        if thrown is not None:
            raise thrown
    finally:
        thrown = None  # no cycle with the frame


# ---- what torch's allocator counted ----


def torch_cuda():
    """torch.cuda where the program itself has started CUDA in this process, else None."""
    cuda = module_names(MODULES.get("torch.cuda"))
    started = cuda.get("is_initialized")
    return cuda if started is not None and started() else None


def device_count(cuda):
    # The runtime's own count: torch.cuda.device_count() may ask NVML.
    core = module_names(MODULES.get("torch._C"))
    return (core.get("_cuda_getDeviceCount") or cuda["device_count"])()


def identity(cuda, device):
    """(uuid, bus id) as far as this torch tells them."""
    if device not in state.identity:
        found = attempt("properties of device %d" % device, read_identity, cuda, device)
        state.identity[device] = found or (None, None)
    return state.identity[device]


def read_identity(cuda, device):
    properties = cuda["get_device_properties"](device)
    bus_id = None
    uuid = getattr(properties, "uuid", None)
    bus = getattr(properties, "pci_bus_id", None)
    if isinstance(bus, int):
        domain = getattr(properties, "pci_domain_id", 0)
        slot = getattr(properties, "pci_device_id", 0)
        bus_id = "%08x:%02x:%02x.0" % (domain, bus, slot)
    return (None if uuid is None else str(uuid), bus_id)


def counted(stats, key):
    value = stats.get(key)
    return value if isinstance(value, int) and value >= 0 else None


def is_news(device, phase, allocated, reserved):
    """Programs may reset at each step: after the first ones only what is higher is worth a line."""
    known = state.resets.setdefault((phase, device), [0, -1, -1])
    known[0] += 1
    higher = (allocated or 0) > known[1] or (reserved or 0) > known[2]
    known[1] = max(known[1], allocated or 0)
    known[2] = max(known[2], reserved or 0)
    return higher or known[0] <= RESETS_MAX


def report_memory(moment, phase, at, only=None):
    """One line for each device of torch, or for the only one that is named."""
    attempt("memory of torch", read_memory, moment, phase, at, only)


def read_memory(moment, phase, at, only):
    cuda = torch_cuda()
    if cuda is not None:
        for device in range(device_count(cuda)) if only is None else (only,):
            report_device(cuda, device, moment, phase, at)


def variable(name):
    value = VARIABLES.get(name)
    return None if value is None else value.decode("utf-8", "surrogateescape")


def report_device(cuda, device, moment, phase, at):
    stats = cuda["memory_stats"](device)
    if not stats:
        return
    allocated = counted(stats, "allocated_bytes.all.peak")
    reserved = counted(stats, "reserved_bytes.all.peak")
    counts = [
        ("allocated", counted(stats, "allocated_bytes.all.current")),
        ("reserved", counted(stats, "reserved_bytes.all.current")),
        ("allocated_peak", allocated),
        ("reserved_peak", reserved),
        ("retries", counted(stats, "num_alloc_retries")),
        ("ooms", counted(stats, "num_ooms")),
    ]
    if moment == "reset":
        # one reset function calls another
        if state.last.get(device) == (phase, counts) or not is_news(
            device, phase, allocated, reserved
        ):
            return
    state.last[device] = (phase, counts)
    uuid, bus_id = identity(cuda, device)
    facts = [
        ("phase", phase),
        ("moment", moment),
        ("device", device),
        ("uuid", uuid),
        ("bus_id", bus_id),
        ("visible", variable(b"CUDA_VISIBLE_DEVICES")),
        ("order", variable(b"CUDA_DEVICE_ORDER")),
    ]
    say("memory", facts + counts, at)


def before_reset(args, kwargs):
    """The program is about to reset the counters of a device."""
    attempt("before a reset", read_before_reset, args, kwargs)


def read_before_reset(args, kwargs):
    if torch_cuda() is None:
        return
    device = args[0] if args else kwargs.get("device")
    index = module_names(MODULES.get("torch.cuda.memory"))["_get_device_index"]
    report_memory("reset", state.phase, now(), index(device, optional=True))


# ---- phases ----


def now():
    return str(NOW_NS())


def wanted_phase():
    held = state.held
    return (
        "transfer"
        if held["transfers"]
        else "load" if held["loads"] else "compute" if state.computing else None
    )


def change(what, failed=None):
    """Called with the lock held, after a count has changed: says so where the phase is another. Done
    again it does nothing."""
    new, old = wanted_phase(), state.phase
    full = state.changes >= PHASES_MAX and new != "compute"
    # where nothing new begins what has begun still ends
    if new != old and not (full and (old is None or new is not None)):
        at = now()
        report_memory("phase-end", old, at)
        lines = []
        if failed is not None or new is None:
            lines.append(("end", [("phase", old), ("what", what), ("failed", failed)], at, []))
        if new is not None:
            lines.append(("begin", [("phase", new), ("what", what)], at, []))
        if state.changes + 1 == PHASES_MAX:
            reason = "more than %d changes of the phase" % PHASES_MAX
            lines.append(("limit", [("reason", reason)], None, []))
        # one step: nothing is thrown in between
        pending, changes = state.pending + lines, state.changes + 1
        state.__dict__.update(pending=pending, phase=new, changes=changes)
    while state.pending:  # a signal handler that loads may come in here, and says all of it
        entry = state.pending[0]
        if not entry[3]:
            say(*entry)
        state.pending = [each for each in state.pending if each is not entry]


class Held(object):
    """One call that is a phase while it lasts. A forked child unwinds what its parent began: there it
    is held by nobody."""

    def __init__(self, counter):
        self.counter = counter
        self.what = ""
        self.on = False
        self.failed = None


def enter(held, title, args):
    held.on = True
    held.what = title(args)
    with state.lock:
        state.held[held.counter].add(held)
        change(held.what)


def leave(held):
    with state.lock:
        state.held[held.counter].discard(held)
        change(held.what, held.failed)
    held.on = False


def begin(held, title, args):
    attempt("begin of a call", enter, held, title, args)


def finish(held, error=None):
    if held.on:
        if error is not None:
            held.failed = name_of(error)
        surely(held.what, leave, held)


def computes(what):
    """The first sign of computing outside of loading: from here on that is what the process does."""
    if not state.computing and not state.held["loads"]:
        surely(what, begin_to_compute, what)


def begin_to_compute(what):
    with state.lock:
        if state.held["loads"]:
            return
        state.computing = True
        change(what)
        disarm()
        undo("early", "compute", "compile")


def undo(*actions):
    for action, owner, name, ours, original in state.undo:
        if action in actions and names_of(owner).get(name) is ours:
            put(owner, name, original)
    state.undo = [each for each in state.undo if each[0] not in actions]


# ---- torch's first forward ----


def before_forward(module, inputs):
    """torch's global forward pre-hook. Returns None: the inputs stay what they are."""
    if not state.computing and not state.held["loads"]:
        attempt("forward", look_at_forward, module, roots=None)


def look_at_forward(module):
    # A transform or a loss without parameters is no model; one on "meta" computes nothing.
    first = next(module.parameters(), None)
    if first is not None and first.device.type != "meta":
        computes("forward of " + TYPE_NAME(type(module)))


def arm():
    if state.hook is None and state.module is not None and not state.compiled:
        state.hook = state.module["register_module_forward_pre_hook"](before_forward)


def disarm():
    if state.hook is not None:
        state.hook.remove()
        state.hook = None


def before_compile(args, kwargs):
    """torch.compile is about to look at a frame: what it could see of us would change its graph."""
    surely("torch.compile", stand_aside)
    computes("torch.compile")


def stand_aside():
    with state.lock:
        state.compiled = True
        disarm()
        undo("early")


# ---- files ----


def text_of(value):
    """The path that a str, a pathlib.Path or a file of Python's own stands for, else None: other
    objects may be code of the program."""
    kind = type(value)
    if issubclass(kind, str):
        return str.__str__(value)
    module = TYPE_MODULE(kind)
    if module in ("pathlib", "pathlib._local"):
        return FSPATH(value)
    if module == "_io" and kind.__name__ in ("FileIO", "BufferedReader", "BufferedRandom"):
        name = value.name
        return name if type(name) is str else None
    return None


def see_file(value, what):
    """A file of weights that is being read: its name and size, once."""
    path = text_of(value)
    if not path or len(state.files) >= FILES_MAX:
        return
    try:
        if not path.startswith("/"):
            path = GETCWD() + "/" + path
        facts = STAT(path)
    except OSError as error:
        if error.__traceback__.tb_next is not None or error.errno is None:
            raise
        return  # not there: the call itself will say so
    path = plain(path)
    if path not in state.files and facts.st_mode & 0o170000 == 0o100000:
        state.files.add(path)
        say("file", [("path", path), ("bytes", facts.st_size), ("what", what)])


def file_of(args, kwargs, place, key):
    return args[place] if len(args) > place else kwargs.get(key)


# ---- wrapping ----


# Takes the wrapper's own frame off the traceback of an error that passes through it. To be followed by
# a bare `raise`, which adds none.
trim = BASE["new_trim"] if sys.version_info >= (3, 11) else BASE["old_trim"]()


def title_of(module, path):
    """How a call is called in the reports, by its arguments: "torch.load", "Llama", "Net.to"."""
    kind, _, name = path.rpartition(".")
    root = "torch.jit" if module.startswith("torch.jit.") else module.partition(".")[0]

    def title(args):
        if not kind or not args:
            return root + "." + path
        # not isinstance(): it asks the object, which may answer with an error
        owner = args[0] if issubclass(type(args[0]), type) else type(args[0])
        return TYPE_NAME(owner) if name == "__init__" else TYPE_NAME(owner) + "." + name

    return title


def began(held, title, file, args, kwargs):
    begin(held, title, args)
    if file is not None:
        attempt("a file", see_file, file_of(args, kwargs, *file), held.what)


def lasting(function, counter, title, file):
    """A wrapper for what is a phase while it runs: a function, a coroutine while it is awaited, a
    generator from its first item to its end. The wrapper is of the same kind."""

    def call(*args, **kwargs):
        held = Held(counter)
        try:
            try:
                began(held, title, file, args, kwargs)
                result = function(*args, **kwargs)
            except BaseException as error:
                finish(held, error)
                trim(error)
                raise
            finish(held)
            return result
        finally:
            finish(held)

    def items(*args, **kwargs):
        held = Held(counter)
        try:
            try:
                began(held, title, file, args, kwargs)
                result = yield from function(*args, **kwargs)
            except BaseException as error:
                finish(held, None if type(error) is GeneratorExit else error)
                trim(error)
                raise
            finish(held)
            return result
        finally:
            finish(held)

    async def awaited(*args, **kwargs):
        held = Held(counter)
        try:
            try:
                began(held, title, file, args, kwargs)
                result = await function(*args, **kwargs)
            except BaseException as error:
                finish(held, error)
                trim(error)
                raise
            finish(held)
            return result
        finally:
            finish(held)

    return of_kind(function, call, items, awaited)


def preceded(function, before):
    """A wrapper for what something is done before: when it really begins."""

    def call(*args, **kwargs):
        try:
            before(args, kwargs)
            return function(*args, **kwargs)
        except BaseException as error:
            trim(error)
            raise

    def items(*args, **kwargs):
        try:
            before(args, kwargs)
            return (yield from function(*args, **kwargs))
        except BaseException as error:
            trim(error)
            raise

    async def awaited(*args, **kwargs):
        try:
            before(args, kwargs)
            return await function(*args, **kwargs)
        except BaseException as error:
            trim(error)
            raise

    return of_kind(function, call, items, awaited)


def of_kind(function, call, items, awaited):
    flags = function.__code__.co_flags if type(function) is FUNCTION_TYPE else 0
    return items if flags & GENERATOR else awaited if flags & COROUTINE else call


class Stand(object):
    """Stands for a class that is made in C, where only its call is to be seen."""

    def __init__(self, original):
        self.__dict__["_original"] = original

    def __getattr__(self, name):
        return getattr(self._original, name)

    def __instancecheck__(self, instance):
        return isinstance(instance, self._original)

    def __subclasscheck__(self, kind):
        return issubclass(kind, self._original)

    def __eq__(self, other):
        return self is other or self._original is other

    def __hash__(self):
        return hash(self._original)

    def __repr__(self):
        return repr(self._original)

    def __mro_entries__(self, bases):
        return (self._original,)

    def __reduce__(self):
        return self._original.__name__

    @property
    def __class__(self):
        return type(self._original)


def dress(wrapper, original):
    """The wrapper looks like the original to whoever looks."""
    # from 3.14 on reading __annotations__ evaluates them
    notes = "__annotate__" if sys.version_info >= (3, 14) else "__annotations__"
    for name in ("__module__", "__name__", "__qualname__", "__doc__", notes):
        if hasattr(original, name):
            setattr(wrapper, name, getattr(original, name))
    wrapper.__dict__.update(getattr(original, "__dict__", {}))
    wrapper.__wrapped__ = original
    return wrapper


def make(original, action, title, file):
    function = original
    if isinstance(original, (classmethod, staticmethod)):
        function = original.__func__
    if action in ("load", "early"):
        wrapper = lasting(function, "loads", title, file)
    elif action == "transfer":
        wrapper = lasting(function, "transfers", title, None)
    elif action == "compute":
        wrapper = preceded(function, lambda args, kwargs: computes(title(args)))
    elif action == "compile":
        wrapper = preceded(function, before_compile)
    else:
        wrapper = preceded(function, before_reset)
    wrapper.__code__ = wrapper.__code__.replace(co_filename=ASIDE)
    if isinstance(original, type):
        # static: no frame of ours stands between the caller and the wrapper
        return type("Stand", (Stand,), {"__call__": staticmethod(wrapper)})(original)
    dress(wrapper, function)
    if isinstance(original, (classmethod, staticmethod)):
        return type(original)(wrapper)
    return wrapper


def inner_of(original):
    """The function that is to be called in the place of, or None: another object may be anything."""
    if type(original) in (classmethod, staticmethod):
        original = original.__func__
    kind = type(original)
    if kind is FUNCTION_TYPE:
        # what an import that failed half-way has left is ours already; an asynchronous generator cannot
        # be stood for without being seen
        code = original.__code__
        return None if code.co_filename == ASIDE or code.co_flags & ASYNC_GENERATOR else original
    # classes and functions made in C
    return original if kind is type or kind is type(len) else None


def wrap(module, names, path, action, file):
    owner = module
    kind, _, name = path.rpartition(".")
    if kind:
        owner = names.get(kind)
        if not issubclass(type(owner), type):
            return
    original = names_of(owner).get(name)
    if original is None or inner_of(original) is None:
        return
    title = names.get("__name__")
    ours = make(original, action, title_of(title if type(title) is str else "?", path), file)
    put(owner, name, ours)
    for alias in ("torch", "torch.cuda", "torch.jit"):  # where it has been copied to already
        copies = module_names(MODULES.get(alias))
        if not kind and copies.get(name) is original:
            copies[name] = ours
    if action in ("early", "compute", "compile"):
        state.undo.append((action, owner, name, ours, original))


def loaded(name, module):
    """A module that was waited for has been imported."""
    names = module_names(module)
    if name == "multiprocessing.util":
        follow_workers(names)
        return
    for path, action, *file in [(each, *rest) for what, *rest in RULES[name] for each in what.split()]:
        if action == "forward":
            state.module = names
            if "register_module_forward_pre_hook" in names:
                arm()
            else:
                trouble("this torch has no global forward pre-hook")
        elif action not in ("early", "compute") or not state.computing:
            attempt("%s of %s" % (path, name), wrap, module, names, path, action, tuple(file) or None)
    if name == "torch.cuda.memory":
        know_the_end()


# ---- the end of the process, and forks ----


def at_end(*_):
    if not state.ended:
        state.ended = True
        report_memory("exit", state.phase, now())


def know_the_end():
    """atexit, and for the workers that multiprocessing forks (which leave by os._exit) its own list."""
    if state.exit_known:
        return
    state.exit_known = True
    AT_EXIT(at_end)
    util = module_names(MODULES.get("multiprocessing.util"))
    if util:
        follow_workers(util)
    else:
        state.finder.wanted.add("multiprocessing.util")


def follow_workers(util):
    util["register_after_fork"](state, worker_begins)
    process = module_names(MODULES.get("multiprocessing.process"))
    if process and process["parent_process"]() is not None:
        worker_begins()


def worker_begins(*_):
    attempt("a worker", finish_worker)


def finish_worker():
    module_names(MODULES["multiprocessing.util"])["Finalize"](None, at_end, exitpriority=-1000)


def after_fork():
    attempt("after a fork", begin_in_child)


def begin_in_child():
    # whoever held the lock is not in this process
    was_computing, parent = state.computing, state.pid
    state.begin()
    state.parent = parent
    if was_computing:
        arm()


AT_EXIT = BASE["at_exit"]()


def start(marks, finder):
    state.marks = marks
    state.finder = finder
    os.register_at_fork(after_in_child=after_fork)
