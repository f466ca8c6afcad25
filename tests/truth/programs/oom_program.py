# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the plan of an out-of-memory (oom_plans.py) and tells what torch counted when its last request was refused, or that it was not.

usage: oom_program.py PLAN.json RESULT.json
"""
import ctypes
import json
import os
import re
import sys

import torch

MIB = 1 << 20


def empty(size):
    return torch.empty(size, dtype=torch.uint8, device="cuda")


class Program:
    def __init__(self):
        self.tensors, self.outside, self.pools, self.pending, self.graph = {}, [], [], [], None

    def hold(self, name, size):
        self.tensors[name] = empty(size)

    def free(self, name):
        del self.tensors[name]

    def split(self, name, count, parts, keep):
        """So many segments in parts, of which some are freed: the others pin them."""
        whole = [empty(sum(parts)) for _ in range(count)]
        del whole[:]
        held = [empty(size) for _ in range(count) for size in parts]  # best fit: the rest of a segment first
        for index, tensor in enumerate(held):
            if keep[index % len(parts)]:
                self.tensors[f"{name}.{index}"] = tensor
        del held, tensor

    def pool(self, size, parts):
        """Memory of a pool of the program's own, free but for nobody else."""
        pool = torch.cuda.MemPool()
        self.pools.append(pool)
        with torch.cuda.use_mem_pool(pool):
            for _ in range(parts):
                empty(size // parts)

    def take(self, size):
        """What another library of the process takes for itself."""
        with open("/proc/self/maps", encoding="utf-8") as maps:
            path = re.search(r"\S*/libcudart[^\s]*", maps.read())
        runtime = ctypes.CDLL(path.group(0))
        address = ctypes.c_void_p()
        if runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(size)) != 0:
            sys.exit(f"cudaMalloc of {size} bytes failed")
        self.outside.append(address)

    def pend(self, size):
        self.pending.append(empty(size))

    def capture(self):
        """While a graph is captured, nobody looks whether another stream is done with a block that was freed. The request that
        comes is of the capture, too."""
        side = torch.cuda.Stream()
        self.graph = torch.cuda.graph(torch.cuda.CUDAGraph(), stream=torch.cuda.Stream(), capture_error_mode="relaxed")
        self.graph.__enter__()
        for tensor in self.pending:
            tensor.record_stream(side)
        del self.pending[:], tensor

    def request(self, size):
        try:
            self.tensors["request"] = empty(size)
        except torch.cuda.OutOfMemoryError:
            return False
        return True


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = plan.get("settings", "")  # which nobody has asked for yet
    torch.cuda.init()
    program = Program()
    for name, *words in plan["steps"]:
        getattr(program, name)(*words)
    served = program.request(plan["request"])
    stats = torch.cuda.memory_stats()
    told = {name: stats.get(f"{name}_bytes.all.current", 0) for name in ("requested", "allocated", "active", "reserved")}
    told["free"], told["total"] = torch.cuda.mem_get_info()
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump({"served": served, "torch": torch.__version__, **told}, file)
    return program


if __name__ == "__main__":
    kept = main()
