# SPDX-License-Identifier: Apache-2.0
"""Python's side of a dry run: runs while torch is being imported, before its Python modules, in a namespace of its own.

Keeps torch's recorder on, writes the snapshot at the end, stops after a number of optimizer steps. A mistake here must
never end the program: everything is caught, said once, and the program goes on.
"""
import atexit
import ctypes
import importlib.abc
import importlib.machinery
import os
import sys

FOLDER = os.environ.get("STRATA_DRYRUN_FOLDER", "")
STEPS = int(os.environ.get("STRATA_DRYRUN_STEPS") or 0)
SKIP_INIT = os.environ.get("STRATA_DRYRUN_SKIP_INIT") == "1"
HOOK = ctypes.CDLL(None)
PROCESS = os.getpid()


def say(text):
    print("strata: " + text, file=sys.stderr, flush=True)


def guarded(function):
    def call(*arguments):
        try:
            return function(*arguments)
        except Exception as error:
            say(f"{function.__name__} failed: {error!r}")
            return None
    return call


@guarded
def start_recorder():
    import torch

    torch.cuda.memory._record_memory_history(stacks="python")


@guarded
def write_snapshot():
    torch = sys.modules.get("torch")
    if os.getpid() != PROCESS or not torch or not torch.cuda.is_initialized():
        return
    HOOK.strata_hook_torch_version(torch.__version__.encode())
    path = os.path.join(FOLDER, f"snapshot.{PROCESS}.pickle")
    torch.cuda.memory._dump_snapshot(path + ".partial")
    os.rename(path + ".partial", path)


def patch_cuda(module):
    module._lazy_call(start_recorder)
    atexit.register(write_snapshot)


stops = 0


def stop():
    """SystemExit passes `except Exception`; where something swallows it, it is raised again, then the process ends."""
    global stops
    stops += 1
    if stops > 3:
        say("the program goes on after the last step: it is ended")
        write_snapshot()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    raise SystemExit(0)


def patch_optimizer(module):
    counts = {}

    def before_step(optimizer, *_):
        count = counts[id(optimizer)] = counts.get(id(optimizer), 0) + 1
        if STEPS and count > STEPS:
            stop()
        HOOK.strata_hook_steps(count)

    module.register_optimizer_step_pre_hook(before_step)


def patch_init(module):
    import torch

    def skipping(original):
        def initialize(tensor, *arguments, **options):
            if isinstance(tensor, torch.Tensor) and tensor.device.type == "cpu":
                return tensor
            return original(tensor, *arguments, **options)
        initialize.__name__, initialize.__doc__ = original.__name__, original.__doc__
        return initialize

    for name in ("uniform_", "normal_", "trunc_normal_", "constant_", "ones_", "zeros_", "eye_", "dirac_",
                 "xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "orthogonal_", "sparse_"):
        if hasattr(module, name):
            setattr(module, name, skipping(getattr(module, name)))


PATCHES = {"torch.cuda": patch_cuda, "torch.optim.optimizer": patch_optimizer}
if SKIP_INIT:
    PATCHES["torch.nn.init"] = patch_init


def beside(name):
    """A module that lies beside this script, without a trace in sys.modules."""
    path = os.path.join(os.path.dirname(os.environ["STRATA_DRYRUN_SCRIPT"]), name + ".py")
    module = type(sys)("strata_" + name)
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)
    return module


# torchrun inside the command starts real ranks, which meet by themselves.
if os.environ.get("STRATA_DRYRUN_RANK") and "TORCHELASTIC_RUN_ID" not in os.environ:
    PATCHES.update(beside("dryrun_ranks").install(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), say))


class Loader(importlib.abc.Loader):
    """Loads a module as it would be loaded, then patches it."""

    def __init__(self, loader, patch):
        self.loader = loader
        self.patch = guarded(patch)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        module.__spec__.loader = module.__loader__ = self.loader
        self.patch(module)


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        patch = PATCHES.pop(name, None)
        if patch is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = Loader(spec.loader, patch)
        return spec


sys.meta_path.insert(0, Finder())
