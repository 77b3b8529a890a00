# SPDX-License-Identifier: GPL-3.0-or-later
"""What probelauf's Python hook does to the modules that sitecustomize.py watches for.

It wraps the calls that load models (phase load), download (transfer) or compute (phase compute),
waits for torch's first forward, and reads what torch's allocator counted: when a phase ends, before
the program resets the peaks, and at the end of the process. It must not change the program: it never
resets anything, never starts CUDA, prints and raises nothing, and leaves no trace in the tracebacks
and warnings of what it wraps. Reports: docs/journal-format.md, "Agents".
"""
import _thread
import atexit
import os
import sys
import time
import types

# Code by this name stands aside in Python's warnings and in logging (both pass over frames of the
# import system when they look for the caller), so that they name the user's line as without it.
ASIDE = "<probelauf, like importlib._bootstrap>"
# What one process may say: phases, resets of one device in one phase, files.
PHASES_MAX = 2000
RESETS_MAX = 64
FILES_MAX = 512

# module: (what, action[, parameter that names a file: its place, its name]). The actions: "load" and
# "transfer" last as long as the call; "early" is a load only before the first forward; "compute"
# begins with the call and holds; "reset" is read before; "forward" is torch's Module, "compile"
# torch.compile. A name that a version does not have is passed over.
RULES = {
    "torch.serialization": (("load", "load", 0, "f"),),
    "torch.jit._serialization": (("load", "load", 0, "f"),),
    "torch.hub": (("download_url_to_file", "transfer"),),
    "torch.nn.modules.module": (
        ("Module.to", "early"),
        ("Module.cuda", "early"),
        ("Module.load_state_dict", "early"),
        ("Module", "forward"),
    ),
    "torch.cuda.memory": (
        ("reset_peak_memory_stats", "reset"),
        ("reset_max_memory_allocated", "reset"),
        ("reset_max_memory_cached", "reset"),
        ("reset_accumulated_memory_stats", "reset"),
    ),
    "torch.accelerator.memory": (
        ("reset_peak_memory_stats", "reset"),
        ("reset_accumulated_memory_stats", "reset"),
    ),
    "torch._dynamo.convert_frame": (("_compile", "compile"),),
    "safetensors": (("safe_open", "load", 0, "filename"),),
    "safetensors.torch": (
        ("load_file", "load", 0, "filename"),
        ("load_model", "load", 1, "filename"),
    ),
    "huggingface_hub.file_download": (("http_get", "transfer"), ("xet_get", "transfer")),
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
        ("LLM.generate", "compute"),
        ("LLM.chat", "compute"),
        ("LLM.encode", "compute"),
        ("LLM.beam_search", "compute"),
    ),
    "vllm.engine.llm_engine": (("LLMEngine.__init__", "load"), ("LLMEngine.step", "compute")),
    "vllm.engine.async_llm_engine": (("AsyncLLMEngine.__init__", "load"),),
    "vllm.v1.engine.llm_engine": (("LLMEngine.__init__", "load"),),
    "vllm.v1.engine.async_llm": (("AsyncLLM.__init__", "load"),),
    "vllm.v1.engine.core": (("EngineCore.__init__", "load"),),
    "vllm.v1.worker.gpu_worker": (
        ("Worker.init_device", "load"),
        ("Worker.load_model", "load"),
        ("Worker.determine_available_memory", "load"),
        ("Worker.initialize_from_config", "load"),
        ("Worker.compile_or_warm_up_model", "load"),
        ("Worker.execute_model", "compute"),
    ),
    "vllm.worker.worker": (
        ("Worker.load_model", "load"),
        ("Worker.determine_num_available_blocks", "load"),
        ("Worker.initialize_cache", "load"),
        ("Worker.execute_model", "compute"),
    ),
    "llama_cpp.llama": (
        ("Llama.__init__", "load", 1, "model_path"),
        ("Llama.eval", "compute"),
        ("Llama.generate", "compute"),
        ("Llama.embed", "compute"),
    ),
    "onnxruntime.capi.onnxruntime_inference_collection": (
        ("InferenceSession.__init__", "load", 1, "path_or_bytes"),
        ("Session.run", "compute"),
        ("Session.run_with_iobinding", "compute"),
    ),
    "keras.src.saving.saving_api": (("load_model", "load", 0, "filepath"),),
    "keras.saving.saving_api": (("load_model", "load", 0, "filepath"),),
    "keras.src.backend.tensorflow.trainer": (
        ("TensorFlowTrainer.fit", "compute"),
        ("TensorFlowTrainer.predict", "compute"),
        ("TensorFlowTrainer.evaluate", "compute"),
    ),
    "keras.src.engine.training": (
        ("Model.fit", "compute"),
        ("Model.predict", "compute"),
        ("Model.evaluate", "compute"),
    ),
    "keras.engine.training": (
        ("Model.fit", "compute"),
        ("Model.predict", "compute"),
        ("Model.evaluate", "compute"),
    ),
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
        self.generation = object()
        self.loads = 0
        self.transfers = 0
        self.computing = False
        self.phase = None
        self.changes = 0
        self.files = set()
        self.resets = {}  # (phase, device): [how many, highest allocated, highest reserved]
        self.last = {}  # device: what was said of it last
        self.troubles = set()
        self.ended = False


state = State()


def say(event, facts, at=None):
    state.marks.say(event, facts, at)


def trouble(reason):
    if reason not in state.troubles:
        state.troubles.add(reason)
        say("trouble", [("reason", reason)])


def name_of(error):
    return type(error).__name__


# ---- what torch's allocator counted ----


def torch_cuda():
    """torch.cuda where the program itself has started CUDA in this process, else None."""
    cuda = sys.modules.get("torch.cuda")
    started = getattr(cuda, "is_initialized", None)
    return cuda if started is not None and started() else None


def device_count(cuda):
    # The runtime's own count: torch.cuda.device_count() may ask NVML.
    count = getattr(sys.modules["torch"]._C, "_cuda_getDeviceCount", None)
    return (count or cuda.device_count)()


def identity(cuda, device):
    """(uuid, bus id) as far as this torch tells them."""
    if device not in state.identity:
        uuid = bus_id = None
        try:
            properties = cuda.get_device_properties(device)
            uuid = getattr(properties, "uuid", None)
            uuid = None if uuid is None else str(uuid)
            bus = getattr(properties, "pci_bus_id", None)
            if isinstance(bus, int):
                domain = getattr(properties, "pci_domain_id", 0)
                slot = getattr(properties, "pci_device_id", 0)
                bus_id = "%08x:%02x:%02x.0" % (domain, bus, slot)
        except Exception as error:
            trouble("properties of device %d: %s" % (device, name_of(error)))
        state.identity[device] = (uuid, bus_id)
    return state.identity[device]


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
    cuda = torch_cuda()
    if cuda is None:
        return
    try:
        devices = range(device_count(cuda)) if only is None else (only,)
        for device in devices:
            report_device(cuda, device, moment, phase, at)
    except Exception as error:
        trouble("memory of torch: " + name_of(error))


def report_device(cuda, device, moment, phase, at):
    stats = cuda.memory_stats(device)
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
        ("visible", os.environ.get("CUDA_VISIBLE_DEVICES")),
        ("order", os.environ.get("CUDA_DEVICE_ORDER")),
    ]
    say("memory", facts + counts, at)


def before_reset(args, kwargs):
    """The program is about to reset the counters of a device."""
    if torch_cuda() is None:
        return
    device = args[0] if args else kwargs.get("device")
    index = sys.modules["torch.cuda.memory"]._get_device_index(device, optional=True)
    report_memory("reset", state.phase, now(), index)


# ---- phases ----


def now():
    return str(time.monotonic_ns())


def change(what, failed=None):
    """Called with the lock held, after a count has changed: says so where the phase is another."""
    new = (
        "transfer"
        if state.transfers > 0
        else "load" if state.loads > 0 else "compute" if state.computing else None
    )
    old = state.phase
    if new == old:
        return
    if state.changes >= PHASES_MAX and new != "compute":
        if old is None:
            return  # nothing new begins; what has begun still ends
        if new is not None:
            return
    at = now()
    state.phase = new
    state.changes += 1
    report_memory("phase-end", old, at)
    if failed is not None or new is None:
        say("end", [("phase", old), ("what", what), ("failed", failed)], at)
    if new is not None:
        say("begin", [("phase", new), ("what", what)], at)
    if state.changes == PHASES_MAX:
        say("limit", [("reason", "more than %d changes of the phase" % PHASES_MAX)])


def enter(counter, what):
    """A call begins; returns what leave() wants. None: it does not count."""
    try:
        with state.lock:
            setattr(state, counter, getattr(state, counter) + 1)
            change(what)
        return state.generation
    except Exception as error:
        trouble("%s: %s" % (what, name_of(error)))
        return None


def leave(counter, generation, what, error=None):
    if generation is not state.generation:
        return  # a forked child unwinds what its parent began
    try:
        with state.lock:
            setattr(state, counter, getattr(state, counter) - 1)
            change(what, None if error is None else name_of(error))
    except Exception as inner:
        trouble("%s: %s" % (what, name_of(inner)))


def computes(what):
    """The first sign of computing outside of loading: from here on that is what the process does."""
    try:
        with state.lock:
            if state.computing or state.loads > 0:
                return
            state.computing = True
            change(what)
            disarm()
            undo("early", "compute", "compile")
    except Exception as error:
        trouble("%s: %s" % (what, name_of(error)))


def undo(*actions):
    for action, owner, name, ours, original in state.undo:
        if action in actions and vars(owner).get(name) is ours:
            setattr(owner, name, original)
    state.undo = [each for each in state.undo if each[0] not in actions]


# ---- torch's first forward ----


def before_forward(module, inputs):
    """torch's global forward pre-hook. Returns None: the inputs stay what they are."""
    try:
        if state.computing or state.loads > 0:
            return
        # A transform or a loss without parameters is no model; one on "meta" computes nothing.
        first = next(module.parameters(), None)
        if first is not None and first.device.type != "meta":
            computes("forward of " + type(module).__name__)
    except Exception as error:
        trouble("forward: " + name_of(error))


def arm():
    if state.hook is None and state.module is not None and not state.compiled:
        state.hook = state.module.register_module_forward_pre_hook(before_forward)


def disarm():
    if state.hook is not None:
        state.hook.remove()
        state.hook = None


def before_compile(args, kwargs):
    """torch.compile is about to look at a frame: what it could see of us would change its graph."""
    with state.lock:
        state.compiled = True
        disarm()
        undo("early")
    computes("torch.compile")


# ---- files ----


def see_file(value, what):
    """A file of weights that is being read: its name and size, once."""
    try:
        if not isinstance(value, (str, os.PathLike)):
            value = getattr(value, "name", None)
        if isinstance(value, (bytes, int)) or value is None:
            return
        path = os.path.abspath(os.fspath(value))
        if path in state.files or len(state.files) >= FILES_MAX:
            return
        facts = os.stat(path)
        if facts.st_mode & 0o170000 == 0o100000:
            state.files.add(path)
            say("file", [("path", path), ("bytes", facts.st_size), ("what", what)])
    except Exception:
        pass  # not there: the call itself will say so


def file_of(args, kwargs, place, key):
    return args[place] if len(args) > place else kwargs.get(key)


# ---- wrapping ----


def old_trim():
    """Before Python 3.11 a bare `raise` takes the traceback from the thread's state and not from the
    exception; the C interface can set it there."""

    def trim(error):
        ctypes = sys.modules.get("ctypes")
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


# Takes the wrapper's own frame off the traceback of an error that passes through it. To be followed by
# a bare `raise`, which adds none.
trim = new_trim if sys.version_info >= (3, 11) else old_trim()


def title_of(module, path):
    """How a call is called in the reports, by its arguments: "torch.load", "Llama", "Net.to"."""
    kind, _, name = path.rpartition(".")
    root = "torch.jit" if module.startswith("torch.jit.") else module.partition(".")[0]

    def title(args):
        if not kind or not args:
            return root + "." + path
        # not isinstance(): it asks the object, which may answer with an error
        owner = args[0] if issubclass(type(args[0]), type) else type(args[0])
        return owner.__name__ if name == "__init__" else owner.__name__ + "." + name

    return title


def lasting(function, counter, title, file):
    """A wrapper for what is a phase while it runs."""

    def call(*args, **kwargs):
        what = title(args)
        generation = enter(counter, what)
        if file is not None:
            see_file(file_of(args, kwargs, *file), what)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            leave(counter, generation, what, error)
            trim(error)
            raise
        leave(counter, generation, what)
        return result

    return call


def preceded(function, before):
    """A wrapper for what something is done before."""

    def call(*args, **kwargs):
        try:
            before(args, kwargs)
        except Exception as error:
            trouble("before a call: " + name_of(error))
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            trim(error)
            raise

    return call


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


def wrap(module, path, action, file):
    owner = module
    kind, _, name = path.rpartition(".")
    if kind:
        owner = getattr(module, kind, None)
    original = None if owner is None else vars(owner).get(name)
    if original is None or not (callable(original) or hasattr(original, "__func__")):
        return
    ours = make(original, action, title_of(module.__name__, path), file)
    setattr(owner, name, ours)
    for alias in ("torch", "torch.cuda", "torch.jit"):  # where it has been copied to already
        if not kind and vars(sys.modules.get(alias, types)).get(name) is original:
            setattr(sys.modules[alias], name, ours)
    if action in ("early", "compute", "compile"):
        state.undo.append((action, owner, name, ours, original))


def loaded(name, module):
    """A module that was waited for has been imported."""
    if name == "multiprocessing.util":
        follow_workers(module)
        return
    for path, action, *file in RULES[name]:
        if action == "forward":
            state.module = module
            if hasattr(module, "register_module_forward_pre_hook"):
                arm()
            else:
                trouble("this torch has no global forward pre-hook")
        elif action not in ("early", "compute") or not state.computing:
            try:
                wrap(module, path, action, tuple(file) or None)
            except Exception as error:
                trouble("%s of %s: %s" % (path, name, name_of(error)))
    if name == "torch.cuda.memory":
        know_the_end()


# ---- the end of the process, and forks ----


def at_end(*_):
    if not state.ended:
        state.ended = True
        try:
            report_memory("exit", state.phase, now())
        except Exception:
            pass


def know_the_end():
    """atexit, and for the workers that multiprocessing forks (which leave by os._exit) its own list."""
    if state.exit_known:
        return
    state.exit_known = True
    atexit.register(at_end)
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        follow_workers(util)
    else:
        state.finder.wanted.add("multiprocessing.util")


def follow_workers(util):
    util.register_after_fork(state, worker_begins)
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None:
        worker_begins()


def worker_begins(*_):
    try:
        util = sys.modules["multiprocessing.util"]
        util.Finalize(None, at_end, exitpriority=-1000)
    except Exception:
        pass


def after_fork():
    try:
        # whoever held the lock is not in this process
        was_computing = state.computing
        state.begin()
        if was_computing:
            arm()
    except Exception:
        pass


def start(marks, finder):
    state.marks = marks
    state.finder = finder
    os.register_at_fork(after_in_child=after_fork)
