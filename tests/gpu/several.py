# SPDX-License-Identifier: GPL-3.0-or-later
"""What training rarely does with a device, in an order that does not depend on how fast it is: several streams, graphs, a pool of
its own, a limit that is reached and a block that is found only after cached ones went back.

usage: several.py
"""
import sys

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/truth/programs")
import torch  # noqa: E402
import corners  # noqa: E402

MIB = 1 << 20


def size(mib):
    return torch.empty(int(mib * MIB), dtype=torch.uint8, device="cuda")


def streams():
    """Blocks that wait for other streams; each wait is over before the next block is asked for."""
    sides = [torch.cuda.Stream() for _ in range(3)]
    kept = []
    for turn in range(12):
        block = size(3 + turn)
        side = sides[turn % 3]
        with torch.cuda.stream(side):
            kept.append(block[:MIB].clone())
            matrix = torch.ones(300, 300, device="cuda")
            kept.append(matrix @ matrix)  # cuBLAS has a workspace for each stream
            block.record_stream(side)
        del block, matrix
        torch.cuda.synchronize()
    return kept


def graphs():
    """Two graphs that share a pool, replayed in turn."""
    x = torch.ones(256, 512, device="cuda")
    model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.GELU(), torch.nn.Linear(512, 64)).cuda()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        model(x)
    side.synchronize()
    first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(first):
        y = model(x)
    with torch.cuda.graph(second, pool=first.pool()):
        z = model(x) * 2
    for _ in range(3):
        first.replay()
        second.replay()
    torch.cuda.synchronize()
    return model, first, second, y, z


def reaches_a_limit():
    """Out of memory at a limit of PyTorch's own, so that the size of the card does not matter."""
    capacity = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + 512 * MIB) / capacity)
    held = []
    try:
        while True:
            held.append(size(40))
    except torch.cuda.OutOfMemoryError as error:
        print("caught:", str(error).split(".")[0])
    del held[::2]
    held.append(size(130))  # no cached block is large enough: they go back first
    torch.cuda.set_per_process_memory_fraction(1.0)
    return held


def main():
    kept = [streams(), corners.uses_a_pool(), corners.captures(), graphs(), reaches_a_limit()]
    torch.cuda.synchronize()
    return kept


if __name__ == "__main__":
    held = main()
