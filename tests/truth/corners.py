# SPDX-License-Identifier: GPL-3.0-or-later
"""What training rarely does with the allocator, in one program: private pools, graphs, several streams and threads, frees
that wait, an emptied cache, an out-of-memory, snapshots in between, annotations.

usage: corners.py
"""
import random
import threading

import torch


def waits_for_streams():
    side = torch.cuda.Stream()
    for turn in range(20):
        block = torch.empty(100_000 + turn, device="cuda")
        with torch.cuda.stream(side):
            block.record_stream(side)
            other = torch.empty(7_000_000 + turn, dtype=torch.uint8, device="cuda")
        del block, other


def captures():
    static = torch.zeros(1000, 100, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = (static * 2 + 1).relu()
    for _ in range(3):
        graph.replay()
    return graph, result


def uses_a_pool():
    if not hasattr(torch.cuda, "MemPool"):
        return None
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        kept = [torch.empty(1_000_000, device="cuda") for _ in range(3)]
    return pool, kept


def in_threads():
    def work(seed):
        draw, mine = random.Random(seed), []
        for _ in range(300):
            if mine and draw.random() < 0.5:
                mine.pop(draw.randrange(len(mine)))
            else:
                mine.append(torch.empty(draw.randrange(1, 3_000_000), dtype=torch.uint8, device="cuda"))
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def runs_out():
    try:
        torch.empty(1 << 45, dtype=torch.uint8, device="cuda")
    except torch.cuda.OutOfMemoryError:
        pass


def main():
    kept = [torch.empty(600_000, device="cuda") for _ in range(10)]
    del kept[::2]
    waits_for_streams()
    kept.append(uses_a_pool())
    kept.append(captures())
    in_threads()
    torch.cuda.memory._snapshot()
    runs_out()
    torch.cuda.empty_cache()
    with torch.profiler.record_function("after"):
        kept.append(torch.empty(30_000_000, device="cuda"))
    if hasattr(torch.cuda.memory, "_set_memory_metadata"):
        torch.cuda.memory._set_memory_metadata("mine \"quoted\" ü")
        kept.append(torch.empty(5, device="cuda"))
        torch.cuda.memory._set_memory_metadata("")
    torch.cuda.synchronize()
    return kept


if __name__ == "__main__":
    held = main()
