# SPDX-License-Identifier: GPL-3.0-or-later
"""What training rarely does with the allocator, in one program: private pools, graphs, several streams and threads, frees
that wait, backward that calls Python and comes back, an emptied cache, an out-of-memory, snapshots in between, annotations.

usage: corners.py
"""
import random
import threading

import torch
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop


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


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(context, gradient):
        x, = context.saved_tensors
        with torch.enable_grad():  # backward within backward, on the same thread
            inner = x.detach().requires_grad_()
            more, = torch.autograd.grad((inner.exp() * 3).sum(), inner)
        return gradient * 2 + more


def goes_back_through_python():
    """On autograd's thread C++ and Python take turns."""
    weight = torch.zeros(300, 300, device="cuda", requires_grad=True)
    kept = []
    weight.register_hook(lambda gradient: gradient * 0.5)
    if hasattr(weight, "register_post_accumulate_grad_hook"):
        weight.register_post_accumulate_grad_hook(lambda tensor: kept.append(tensor.grad.clone()))

    def layer(x):
        return Doubled.apply((x @ weight).relu())

    def back(reentrant):
        x = torch.zeros(200, 300, device="cuda", requires_grad=True)
        x.register_hook(lambda gradient: kept.append(gradient + 1))
        out = checkpoint(layer, checkpoint(layer, x, use_reentrant=reentrant), use_reentrant=reentrant)
        torch.nn.functional.layer_norm(out, (300,)).sum().backward()
    # Checkpointing ends early by an exception, which torch 2.11 loses while its own recorder is on.
    with set_checkpoint_early_stop(False):
        for reentrant in (True, False):
            back(reentrant)
        thread = threading.Thread(target=back, args=(False,))
        thread.start()
        thread.join()
    return weight, kept


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
    kept.append(goes_back_through_python())
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
