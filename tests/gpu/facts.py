# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints what the runtime and the driver answer where the simulated device answers by rule, as JSON, for tests/gpu/run: attributes,
what an allocation is charged with, in which order addresses come, how finely memory without addresses is made."""
import ctypes
import json

import torch

MIB = 1 << 20
#: What PyTorch asks for at the beginning of a training, some that do not fill a chunk, and what comes after blocks went back.
ASKED = [2, 20, 2, 2, 20, 38, 2, 140, 20, 2, 64, 6, 20, 30, 2, 512, 20, 34, 2, 20]
CHARGED = [1, 512, 4096, 65536, MIB - 1, MIB, MIB + 1, 2 * MIB, 3 * MIB, 20 * MIB, 21 * MIB + 512]
LAST_ATTRIBUTE = 145


def loaded(name):
    """A library that LibTorch has loaded already."""
    with open("/proc/self/maps") as maps:
        return ctypes.CDLL(sorted({line.split()[-1] for line in maps if f"/{name}" in line})[0])


def used():
    free, total = torch.cuda.mem_get_info()
    return total - free


class Property(ctypes.Structure):
    """CUmemAllocationProp."""
    _fields_ = [("type", ctypes.c_uint), ("handles", ctypes.c_uint), ("place", ctypes.c_uint), ("device", ctypes.c_int),
                ("metadata", ctypes.c_void_p), ("flags", ctypes.c_uint64)]


def main():
    torch.cuda.init()
    torch.cuda.synchronize()
    runtime = loaded("libcudart.so")
    out = {"attributes": {}, "charged": {}}
    for number in range(1, LAST_ATTRIBUTE + 1):
        value = ctypes.c_int()
        if runtime.cudaDeviceGetAttribute(ctypes.byref(value), number, 0) == 0:
            out["attributes"][number] = value.value

    def take(size):
        pointer = ctypes.c_void_p()
        assert runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)) == 0
        return pointer

    for size in CHARGED:
        before, kept = used(), []
        for _ in range(16):
            kept.append(take(size))
        out["charged"][size] = (used() - before) / 16
        for pointer in kept:
            assert runtime.cudaFree(pointer) == 0
    kept = [take(mib * MIB) for mib in ASKED]
    for pointer in kept[1::3]:
        assert runtime.cudaFree(pointer) == 0
    again = [take(mib * MIB) for mib in ASKED]
    base = min(pointer.value for pointer in kept + again)
    out["addresses, MiB"] = [[(p.value - base) / MIB for p in some] for some in (kept, again)]
    driver = ctypes.CDLL("libcuda.so.1")
    wanted, size = Property(1, 0, 1, 0, None, 0), ctypes.c_size_t()
    out["granularity"] = [size.value if driver.cuMemGetAllocationGranularity(ctypes.byref(size), ctypes.byref(wanted), kind) == 0
                          else None for kind in (0, 1)]
    print(json.dumps(out))


main()
