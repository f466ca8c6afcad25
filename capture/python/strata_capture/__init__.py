# SPDX-License-Identifier: Apache-2.0
"""Records the GPU memory of this process into a session file that Strata opens.

    import strata_capture

    with strata_capture.record("run.strata"):
        for number, batch in enumerate(batches):
            with strata_capture.step(number):
                train(batch)

Nothing here ends the program: what fails is said once on stderr. The recorder itself, libstrata_capture.so, comes with
Strata; set STRATA_CAPTURE_LIBRARY to its path if it is not found beside the program `strata`.
"""
import atexit
import contextlib
import ctypes
import importlib.abc
import os
import shutil
import sys

__all__ = ["record", "start", "stop", "step", "phase", "scope", "mark", "note"]

_STACKS = {"none": 0, "native": 1, "python": 2, "auto": 3}
_EXISTING = {"refuse": 0, "replace": 1, "number": 2}
_STATES = ("off", "waiting", "recording")
_KERNELS = {False: 0, True: 1, "shared": 2}
_BEGIN, _END, _MARK = 0, 1, 2
_TCP = 0x10000


class _Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("stacks", ctypes.c_uint32), ("file", ctypes.c_char_p),
                ("ring_events", ctypes.c_uint64), ("memory_limit", ctypes.c_uint64), ("shared", ctypes.c_uint32),
                ("list_file", ctypes.c_char_p), ("simulated_device", ctypes.c_char_p), ("aside", ctypes.c_uint32),
                ("existing", ctypes.c_uint32), ("live", ctypes.c_uint32), ("live_port", ctypes.c_uint32),
                ("live_memory", ctypes.c_uint64), ("kernels", ctypes.c_uint32), ("operators", ctypes.c_uint32)]


def _places():
    yield os.environ.get("STRATA_CAPTURE_LIBRARY") or ""
    program = shutil.which("strata")
    if program:
        prefix = os.path.dirname(os.path.dirname(os.path.realpath(program)))
        for folder in ("lib", "lib64", "lib/x86_64-linux-gnu"):
            yield os.path.join(prefix, folder, "strata", "libstrata_capture.so")


_library = _path = None


def _load():
    global _library, _path
    if _library is None:
        try:  # that of `strata record`, which may lie elsewhere: two would both record
            _library = ctypes.CDLL("libstrata_capture.so", mode=os.RTLD_NOW | os.RTLD_NOLOAD)
        except OSError:
            path = next((place for place in _places() if os.path.exists(place)), None)
            if path is None:
                raise OSError("libstrata_capture.so: not found: install Strata, or set STRATA_CAPTURE_LIBRARY to its path") from None
            _library, _path = ctypes.CDLL(path), path
            _name_tensors(path)
        _check_frames(_library)
        # As the interpreter begins to end: what lives then is seen alive.
        atexit.register(stop)
    return _library


_listener = None


def _beside(library, name):
    """A script of Strata's that lies beside the library; its frames in stacks count as a library's."""
    module = type(sys)("strata_" + name)
    with open(os.path.join(os.path.dirname(library), name + ".py"), encoding="utf-8") as file:
        exec(compile(file.read(), f"<frozen strata_{name}>", "exec"), module.__dict__)
    return module


def _name_tensors(library):
    """From now on the recorder is told which tensors are parameters, gradients, states of optimizers."""
    global _listener
    try:
        _listener = _beside(library, "record_roles").Listener(_library)
        _beside(library, "patch_imports").install(_listener.patches)
    except OSError as error:
        print(f"strata: {error}: the names of tensors are not recorded: install Strata again", file=sys.stderr)


def _list_tensors():
    if _listener is not None and "torch.nn.modules.module" in sys.modules:
        _listener.list_all()


def _check_frames(library):
    """The recorder reads frames by itself, but only if it reads what Python says of this very call, whose first local variable
    is `library`."""
    expected, frame = [], sys._getframe()
    line = frame.f_lineno + 6
    while frame is not None:
        code = frame.f_code
        expected.append(f"{code.co_filename}\t{code.co_name}\t{line or frame.f_lineno}\n")
        frame, line = frame.f_back, None
    text = "".join(expected).encode("utf-8", "surrogatepass")
    if library.strata_capture_check_python(text):
        library.strata_capture_check_local(ctypes.c_uint64(id(library)))


class _TorchComes(importlib.abc.MetaPathFinder):
    """Tells the recorder as soon as PyTorch's libraries are loaded: torch imports torch.cuda behind them."""

    def find_spec(self, name, path=None, target=None):
        if name == "torch.cuda" and self in sys.meta_path:
            sys.meta_path.remove(self)
            _load().strata_capture_poll()
        return None


def start(file=None, stacks="auto", ring_events=0, memory_limit=0, existing="refuse", live=False, live_port=None, live_memory=0,
          kernels=False, operators=False, deep_step=3):
    """Begins a recording, now or when PyTorch's allocator is ready: "recording", "waiting" or "off".

    file          the session that is made; None, with live: none
    stacks        "python", "native" (C++), "none", or "auto": Python's, and C++ where a thread runs no Python
    ring_events   events that may wait for the disk, for each device; 0: 131072
    memory_limit  bytes of host memory that the recorder may take; 0: 256 MiB
    existing      where the file is there already: "refuse", said on stderr; "replace"; or "number": run.2.strata, ...
    live          `strata list` shows this process, `strata attach` watches it
    live_port     a port of 127.0.0.1 for that too, behind a token: STRATA_TOKEN, else one that is said; 0: one that is free
    live_memory   bytes kept for those who look on, where there is no file; 0: 64 MiB
    kernels       what the GPU does, too, and the calls that have it do so. While torch.profiler runs it alone is told;
                  "shared": both are
    operators     PyTorch's too, with sizes and types of their inputs, and kernels with them: which launched what. Costs
                  microseconds an operator
    deep_step     of the step of the training with that number, counted from here on and 2 or later: every operator with its tensors, what
                  autograd saves, and when each is let go; 0: none
    """
    if stacks not in _STACKS:
        raise ValueError(f"stacks={stacks!r}: one of {', '.join(_STACKS)}")
    if existing not in _EXISTING:
        raise ValueError(f"existing={existing!r}: one of {', '.join(_EXISTING)}")
    if kernels not in _KERNELS:
        raise ValueError(f"kernels={kernels!r}: True, False or 'shared'")
    if deep_step < 0 or deep_step == 1:
        raise ValueError(f"deep_step={deep_step!r}: 2 or later: it begins as the optimizer's step before it ends; 0: none")
    if file is None and not live:
        raise ValueError("file=None: name one, or record for those who look on alone with live=True")
    library = _load()
    options = _Options(ctypes.sizeof(_Options), _STACKS[stacks], None if file is None else os.fsencode(os.path.abspath(file)),
                       ring_events, memory_limit, 0, None, None, 0, _EXISTING[existing], 1 if live else 0,
                       0 if live_port is None else _TCP | live_port, live_memory, _KERNELS[kernels or bool(operators)], 1 if operators else 0)
    state = _STATES[library.strata_capture_start(ctypes.byref(options))]
    if state == "waiting":
        if "torch.cuda" in sys.modules:
            sys.modules["torch.cuda"]._lazy_call(library.strata_capture_poll)
        elif not any(isinstance(each, _TorchComes) for each in sys.meta_path):
            sys.meta_path.insert(0, _TorchComes())
    if _listener is not None and deep_step:
        _listener.see_deeply(_beside(_path, "record_deep").DeepStep(library, deep_step))
    if _listener is not None and "torch.nn.modules.module" in sys.modules:
        _listener.look_around()
        _list_tensors()
    return state


def stop():
    """Ends the recording, with the state of the allocator at this moment."""
    library = _load()
    if _listener is not None:
        _listener.see_deeply(None)
    _list_tensors()
    library.strata_capture_stop()


@contextlib.contextmanager
def record(file=None, **options):
    """A recording of what happens inside; options as start() has them."""
    start(file, **options)
    try:
        yield
    finally:
        stop()


@contextlib.contextmanager
def scope(name):
    """A named range."""
    library, text = _load(), str(name).encode()
    library.strata_capture_annotate(_BEGIN, text)
    try:
        yield
    finally:
        library.strata_capture_annotate(_END, text)


def step(number):
    """One training step."""
    return scope(f"step {number}")


def phase(name):
    """A part of a step: "forward", "backward" or "optimizer"."""
    return scope(name)


def mark(name):
    """An instant with a name."""
    _load().strata_capture_annotate(_MARK, str(name).encode())


def note(text):
    """A remark for whoever opens the recording."""
    mark(f"note: {text}")
