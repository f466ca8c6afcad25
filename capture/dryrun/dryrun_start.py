# SPDX-License-Identifier: Apache-2.0
"""Python's side of a dry run: runs while torch is being imported, before its Python modules, in a namespace of its own.

Stops after a number of optimizer steps, tells what ended the program. Where Strata's recorder cannot do it, torch's own is
kept on and its snapshot written at the end. A mistake here must
never end the program: everything is caught, said once, and the program goes on.
"""
import atexit
import ctypes
import functools
import itertools
import json
import os
import pickle
import sys
import weakref

FOLDER = os.environ.get("STRATA_DRYRUN_FOLDER", "")
STEPS = int(os.environ.get("STRATA_DRYRUN_STEPS") or 0)
RECORD = os.environ.get("STRATA_DRYRUN_RECORD") != "0"
SKIP_INIT = os.environ.get("STRATA_DRYRUN_SKIP_INIT") == "1"
SIMULATED = os.environ.get("STRATA_RECORD_SIMULATED")
CHANGES = [c for c in os.environ.get("STRATA_DRYRUN_CHANGES", "").split("\n") if c]
PRELOADED = ctypes.CDLL(None)
PRELOADED.strata_dryrun_python()
said = set()


def strata_records():
    """If its recorder can read the frames of this Python: record_start.py has tried before."""
    agent = os.environ.get("STRATA_RECORD_AGENT")
    if agent and ctypes.CDLL(agent).strata_capture_reads_python():
        return True
    os.environ.pop("STRATA_RECORD_FILE", None)
    return False


TORCH_RECORDS = RECORD and not strata_records()


def say(text):
    if text not in said:
        said.add(text)
        print("strata: " + text, file=sys.stderr, flush=True)


def guarded(function):
    def call(*arguments):
        try:
            return function(*arguments)
        except Exception as error:
            say(f"{function.__name__} failed: {error!r}")
            return None
    return call


def beside(name):
    """A module that lies beside this script, without a trace in sys.modules. Its frames in stacks count as a library's."""
    path = os.path.join(os.path.dirname(os.environ["STRATA_DRYRUN_SCRIPT"]), name + ".py")
    module = type(sys)("strata_" + name)
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), f"<frozen strata_{name}>", "exec"), module.__dict__)
    return module


recording_process = None


@guarded
def start_recorder():
    import torch

    global recording_process
    recording_process = os.getpid()
    PRELOADED.strata_dryrun_torch_version(torch.__version__.encode())
    if TORCH_RECORDS:
        # Taking the stack of a free forgets the exception that ends a recomputed forward early in 2.11 (2.6, 2.8, 2.15 do not):
        # SystemError from backward with checkpointing, https://github.com/pytorch/pytorch/issues/179536.
        context = "alloc" if torch.__version__.startswith("2.11.") else "all"
        torch.cuda.memory._record_memory_history(context=context, stacks="python")


def take_snapshot(torch):
    """Asking torch for stacks looks for torch._inductor, which would import it for that alone, more than a second of work."""
    stand_in = "torch._inductor" not in sys.modules
    if stand_in:
        torch._inductor = type(sys)("torch._inductor")
    try:
        return torch.cuda.memory._snapshot()
    finally:
        if stand_in:
            del torch._inductor


@guarded
def write_snapshot():
    torch = sys.modules.get("torch")
    if not TORCH_RECORDS or os.getpid() != recording_process or not torch or not torch.cuda.is_initialized():
        return
    snapshot = take_snapshot(torch)
    snapshot.setdefault("allocator_settings", {})["simulated_device"] = json.loads(
        os.environ.get("STRATA_RECORD_SIMULATED") or "{}")
    path = os.path.join(FOLDER, f"snapshot.{os.getpid()}.pickle")
    with open(path + ".partial", "wb") as file:
        pickle.dump(snapshot, file, protocol=4)
    os.rename(path + ".partial", path)


@guarded
def write_failure():
    """What ended the program, where Python printed it: sys.last_value outlives hooks of the program."""
    error = getattr(sys, "last_value", None)
    if error is None or isinstance(error, (SystemExit, KeyboardInterrupt)):
        return
    where, trace = "", getattr(sys, "last_traceback", None)
    while trace is not None:
        where, trace = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}", trace.tb_next
    with open(os.path.join(FOLDER, f"failure.{os.getpid()}"), "w", encoding="utf-8", errors="replace") as file:
        json.dump({"kind": type(error).__name__, "what": str(error), "where": where, "hint": str(getattr(error, "strata_hint", ""))}, file)


@guarded
def tell_unapplied():
    """Changes that met nothing in the program, to the user and to `strata`."""
    texts = [text for text in (guarded(ask)() for ask in at_ends) if text]
    for text in texts:
        say(text)
    if texts:
        with open(os.path.join(FOLDER, f"unapplied.{os.getpid()}"), "w", encoding="utf-8", errors="replace") as file:
            file.write("; ".join(texts))


@guarded
def tell_end():
    """The program is done, and what Python still takes down is not its own: PyTorch's threads may abort the process then."""
    with open(os.path.join(FOLDER, f"done.{os.getpid()}"), "w", encoding="utf-8"):
        pass


def at_end():
    write_failure()
    write_snapshot()
    tell_unapplied()
    tell_end()


def before(name):
    """What ends or replaces the process at once leaves a snapshot too."""
    original = getattr(os, name)

    def call(*arguments):
        at_end()
        return original(*arguments)
    setattr(os, name, call)


def patch_cuda(module):
    module._lazy_call(start_recorder)


def patch_profiler(module):
    """Traces tell that the device is a simulated one, and what times on it are worth."""
    profiler = module._KinetoProfile
    start_trace = profiler.start_trace

    @guarded
    def tell(profile):
        about = json.loads(SIMULATED)
        if not PRELOADED.strata_dryrun_is_bounded():
            about.pop("durations", None)
        profile.add_metadata_json("simulated_device", json.dumps(about))

    @functools.wraps(start_trace)
    def call(profile):
        start_trace(profile)
        tell(profile)
    profiler.start_trace = call


stops = 0


def stop():
    """SystemExit passes `except Exception`; where something swallows it, it is raised again, then the process ends."""
    global stops
    stops += 1
    PRELOADED.strata_dryrun_ended()
    if stops > 3:
        say("the program goes on after the last step: it is ended")
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    raise SystemExit(0)


def patch_optimizer(module):
    counts, all_steps = weakref.WeakKeyDictionary(), itertools.count(1)

    def before_step(optimizer, *_):
        count = counts[optimizer] = counts.get(optimizer, 0) + 1
        if STEPS and count > STEPS:
            stop()
        PRELOADED.strata_dryrun_steps(count, next(all_steps))

    module.register_optimizer_step_pre_hook(before_step)


PATCHES = {"torch.cuda": [patch_cuda], "torch.optim.optimizer": [patch_optimizer]}
if SIMULATED:
    PATCHES["torch.profiler.profiler"] = [patch_profiler]
at_ends = []


def add_patches(patches):
    for name, patch in patches:
        PATCHES.setdefault(name, []).append(patch)


add_patches(beside("dryrun_dynamo").PATCHES.items())
if SKIP_INIT:
    weights = beside("dryrun_weights")
    weights.told = PRELOADED.strata_dryrun_weights_skipped
    add_patches([("torch.nn.init", weights.patch_init)])
# torchrun inside the command starts real ranks, which meet by themselves.
if os.environ.get("STRATA_DRYRUN_RANK") and "TORCHELASTIC_RUN_ID" not in os.environ:
    add_patches(beside("dryrun_ranks").install(
        int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), say).items())
if CHANGES:
    found, at_ends = beside("dryrun_change").install(CHANGES, say, beside)
    add_patches(found)
atexit.register(at_end)
for name in ("_exit", "execv", "execve"):
    before(name)
beside("patch_imports").install({name: [guarded(patch) for patch in patches] for name, patches in PATCHES.items()})
