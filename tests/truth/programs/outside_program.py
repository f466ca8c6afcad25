# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the driver for memory beside PyTorch, of each kind, amid segments of PyTorch that come and go: 3, 5 and 2 MiB, then 1 MiB where a
segment may have been. Prints a line of JSON: how many records of each kind the simulated device has made; null on a real one."""
import ctypes
import json

import torch

from kernels_program import made

MIB = 1 << 20
cuda, driver = ctypes.CDLL(None), ctypes.CDLL("libcuda.so.1")


def ask(call, mebibytes, *flags, library=cuda):
    address = ctypes.c_void_p()
    assert getattr(library, call)(ctypes.byref(address), ctypes.c_size_t(mebibytes * MIB), *flags) == 0
    return address


kept = torch.zeros(1 << 20, device="cuda")
first, second, managed = ask("cudaMalloc", 3), ask("cuMemAlloc_v2", 5, library=driver), ask("cudaMallocManaged", 2, 1)
pinned = ask("cudaHostAlloc", 7, 0)
large = torch.zeros(1 << 26, device="cuda")
assert cuda.cudaFree(first) == 0
del large
torch.cuda.empty_cache()
third = ask("cudaMalloc", 1)
more = torch.zeros(1 << 25, device="cuda")
torch.cuda.synchronize()
print(json.dumps(made() if hasattr(cuda, "strata_simgpu_activity_counts") else None), flush=True)
