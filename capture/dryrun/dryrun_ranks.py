# SPDX-License-Identifier: Apache-2.0
"""One rank of many on one machine: where PyTorch would meet the other ranks, a store of this process answers for them.

NCCL itself is the simulated one, in which the other ranks hold the same values. A store is asked for little: the name of a
communicator, which rank 0 makes and the others read, and barriers, which count those who came.
"""
import ctypes
import os
import sys
import threading

UNIQUE_ID_BYTES = 128
#: Background threads of ProcessGroupNCCL that would watch over ranks which are not there, and ask the store for it.
QUIET = {"TORCH_NCCL_ENABLE_MONITORING": "0", "TORCH_NCCL_DUMP_ON_TIMEOUT": "0", "TORCH_NCCL_RETHROW_CUDA_ERRORS": "0"}


def make_store_class(distributed):
    class LocalStore(distributed.Store):
        """Answers as if all other ranks had done what they do: never waits. What nobody here has set reads as zeros."""

        def __init__(self, world_size):
            super().__init__()
            self.world_size = world_size
            self.values = {}
            self.queues = {}
            self.lock = threading.RLock()

        def set(self, key, value):
            with self.lock:
                self.values[key] = value if isinstance(value, bytes) else str(value).encode()

        def get(self, key):
            with self.lock:
                return self.values.get(key, bytes(UNIQUE_ID_BYTES))

        def add(self, key, amount):
            with self.lock:
                value = int(self.values.get(key, b"0")) + amount
                self.values[key] = str(value).encode()
                return max(value, self.world_size) if amount > 0 else value

        def compare_set(self, key, expected, desired):
            with self.lock:
                present = self.values.get(key)
                if (present is None and not expected) or present == as_bytes(expected):
                    self.values[key] = as_bytes(desired)
                return self.values.get(key, as_bytes(expected))

        compareSet = compare_set

        def check(self, keys):
            with self.lock:
                return all(key in self.values for key in keys)

        def wait(self, keys, timeout=None):
            pass

        def delete_key(self, key):
            with self.lock:
                return self.values.pop(key, None) is not None

        deleteKey = delete_key

        def num_keys(self):
            return len(self.values)

        getNumKeys = num_keys

        def append(self, key, value):
            with self.lock:
                self.values[key] = self.values.get(key, b"") + as_bytes(value)

        def multi_get(self, keys):
            return [self.get(key) for key in keys]

        multiGet = multi_get

        def multi_set(self, keys, values):
            for key, value in zip(keys, values):
                self.set(key, value)

        multiSet = multi_set

        def has_extended_api(self):
            return True

        hasExtendedApi = has_extended_api

        def clone(self):
            return self

    return LocalStore


def make_gloo_class(say):
    """Gloo needs a connection to every other rank. PyTorch's own group without communication takes its place: gathers
    copy what this rank gives, reductions and broadcasts leave it as it is."""
    from torch._C._distributed_c10d import FakeProcessGroup

    # Asked of every group of gloo, and refused by this one in some versions.
    FakeProcessGroup._set_sequence_number_for_group = lambda group: None
    if not hasattr(FakeProcessGroup, "options"):
        FakeProcessGroup.options = type("Options", (), {})()  # 2.8 writes to those of every group of gloo

    class Looks(type):
        def __instancecheck__(cls, instance):
            return isinstance(instance, FakeProcessGroup)

    class LocalGloo(metaclass=Looks):
        said = False

        def __new__(cls, store, rank, size, *_, **__):
            if not cls.said:
                cls.said = True
                say("gloo: the other ranks are taken to hold the same values, and nothing is sent")
            if not hasattr(FakeProcessGroup, "_create_internal"):
                return FakeProcessGroup(rank, size)
            options = FakeProcessGroup.Options()
            if hasattr(options, "simulate_uniform_ranks"):
                options.simulate_uniform_ranks = True
            return FakeProcessGroup._create_internal(rank, size, options)

    return LocalGloo


def as_bytes(value):
    if isinstance(value, str):
        return value.encode()
    return bytes(value)


def tell_splits(module, tell):
    """A communicator is split by a colour, which says nothing of how many ranks share it until all have met: the simulated
    NCCL is told, by colour where Python chooses it, else for the next split."""
    from torch._C._distributed_c10d import Backend, ProcessGroup

    color_of = getattr(module, "_process_group_color", None)
    if color_of:
        def color_and_tell(ranks, *arguments):
            color = color_of(ranks, *arguments)
            tell(color, len(ranks))
            return color
        module._process_group_color = color_and_tell

    def telling(split):
        def tell_and_split(*arguments, **options):
            for value in (*arguments, *options.values()):
                if isinstance(value, (list, tuple)) and value and all(isinstance(rank, int) for rank in value):
                    tell(-1, len(value))
                    break
            return split(*arguments, **options)
        return tell_and_split

    for owner, name in ((Backend, "split"), (ProcessGroup, "split_group")):
        if hasattr(owner, name):
            setattr(owner, name, telling(getattr(owner, name)))


def install(rank, world_size, say):
    """Gives the patches by module, as dryrun_start.py applies them."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    stores = {}

    def local_store(distributed, real):
        def make(*arguments, **options):
            caller = sys._getframe(1).f_globals.get("__name__", "")
            if caller.startswith("torch.distributed.elastic"):
                return real(*arguments, **options)
            if not stores:
                say(f"rank {rank} of {world_size}: the other ranks are taken to hold the same values")
                stores["one"] = make_store_class(distributed)(world_size)
            return stores["one"]
        return make

    def patch(module):
        import torch.distributed as distributed

        for name in ("TCPStore", "FileStore"):
            if hasattr(module, name):
                setattr(module, name, local_store(distributed, getattr(module, name)))

    def patch_groups(module):
        if hasattr(module, "ProcessGroupGloo"):
            module.ProcessGroupGloo = make_gloo_class(say)
        tell = getattr(ctypes.CDLL(None), "strata_simgpu_split_size", None)
        if tell:
            tell_splits(module, tell)

    return {"torch.distributed.rendezvous": patch, "torch.distributed.distributed_c10d": patch_groups}
