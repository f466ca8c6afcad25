# SPDX-License-Identifier: Apache-2.0
"""Python's side of `strata record`: runs while torch is being imported, in a namespace of its own. Of `strata attach --inject`
too: then it runs between two instructions of a program that began without it, as often as that is recorded.

Lets the recorder compare the frames that it reads with those that Python tells, tells it the names of tensors, and ends the recording when the
interpreter begins to finalize, so that what lives at the end is seen alive.
"""
import atexit
import ctypes
import functools
import os
import sys

INJECTED = sys._getframe().f_code.co_filename == "<frozen strata_inject>"


def library():
    """Path of the recorder, which is loaded."""
    if not INJECTED:
        return os.environ["STRATA_RECORD_AGENT"]
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        return next(line.split(None, 5)[5].rstrip("\n") for line in file if line.endswith("/libstrata_capture.so\n"))


path_of_library = library()
agent = ctypes.CDLL(path_of_library)


def check_frames():
    """All in one function: the innermost frame is this one, in the line of the call."""
    expected, frame = [], sys._getframe()
    line = frame.f_lineno + 6
    while frame is not None:
        code = frame.f_code
        expected.append(f"{code.co_filename}\t{code.co_name}\t{line or frame.f_lineno}\n")
        frame, line = frame.f_back, None
    text = "".join(expected).encode("utf-8", "surrogatepass")
    if agent.strata_capture_check_python(text):
        agent.strata_capture_check_local(ctypes.c_uint64(id(expected)))


def beside(name):
    """A module that lies beside this script, without a trace in sys.modules. Its frames in stacks count as a library's."""
    path = os.path.join(os.path.dirname(path_of_library), name + ".py")
    module = type(sys)("strata_" + name)
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), f"<frozen strata_{name}>", "exec"), module.__dict__)
    return module


def mark_traces(module):
    """Traces that torch.profiler writes tell that the device is a simulated one: its times are no card's."""
    profiler = module._KinetoProfile
    start_trace = profiler.start_trace

    @functools.wraps(start_trace)
    def call(profile):
        start_trace(profile)
        profile.add_metadata_json("simulated_device", "{}")
    profiler.start_trace = call


def keep_early_ranges(module):
    """A range that the program opens before its first allocation on a GPU: LibTorch tells the recorder of ranges
    from then on, and of the end of those alone that began since. Until then this tells of both."""
    ranges, off, waiting, recording, begins, ends = module.record_function, 0, 1, 2, 0, 1
    ready = getattr(ctypes.CDLL(None), "strata_inject_ready", None)
    enter, leave = ranges.__enter__, ranges.__exit__
    agent.strata_capture_annotate.argtypes = (ctypes.c_int, ctypes.c_char_p)

    def tell(kind, of):
        agent.strata_capture_annotate(kind, str(of.name).encode("utf-8", "surrogatepass"))

    @functools.wraps(enter)
    def early_enter(self):
        if agent.strata_capture_poll() == off and ready is not None:
            ready()
        state = agent.strata_capture_poll()
        early = state == waiting
        if state == recording:
            ranges.__enter__ = enter
        entered = enter(self)
        if early:
            self._strata_is_early = True
            tell(begins, self)
        return entered

    @functools.wraps(leave)
    def early_leave(self, *arguments):
        if self.__dict__.pop("_strata_is_early", False):
            tell(ends, self)
        return leave(self, *arguments)

    ranges.__enter__, ranges.__exit__ = early_enter, early_leave


listener = None


def end():
    if listener is not None:
        listener.see_deeply(None)
        listener.list_all()
    agent.strata_capture_stop()


def before(name):
    """What ends or replaces the process at once ends the recording too."""
    original = getattr(os, name)

    def call(*arguments):
        end()
        return original(*arguments)
    setattr(os, name, call)


def listen():
    # First: whatever fails behind it, the recording has its end.
    atexit.register(end)
    for name in ("_exit", "execv", "execve"):
        before(name)
    made = beside("record_roles").Listener(agent)
    number = int(os.environ.get("STRATA_RECORD_DEEP") or 0)
    if number > 1:
        made.see_deeply(beside("record_deep").DeepStep(agent, number))
    patches = made.patches
    if hasattr(ctypes.CDLL(None), "strata_simgpu_forget"):
        patches["torch.profiler.profiler"] = [made.guarded(mark_traces)]
    if not INJECTED:
        patches.setdefault("torch.autograd.profiler", []).append(made.guarded(keep_early_ranges))
    beside("patch_imports").install(patches)
    return made


if os.environ.get("STRATA_RECORD_STACKS", "auto") in ("auto", "python") or INJECTED:
    check_frames()
if INJECTED:
    # It may have been recorded before, or by itself.
    listener = getattr(sys, "_strata_listener", None) or getattr(sys.modules.get("strata_capture"), "_listener", None)
listener = listener or listen()
if INJECTED:
    sys._strata_listener = listener
    if agent.strata_capture_injected_ready() and "torch.nn.modules.module" in sys.modules:
        listener.look_around()
        listener.list_all()
