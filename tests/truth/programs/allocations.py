# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the allocator for what training rarely asks of it, drawn from a seed. What is asked for does not depend on what is given, so
that the same seed under other settings asks for the same.

usage: allocations.py KIND [--seed N] [--turns N]
"""
import argparse
import random

import device_options  # noqa: F401  before torch
import torch

MIB = 1 << 20


def empty(size, device="cuda"):
    return torch.empty(max(1, size), dtype=torch.uint8, device=device)


def share(most, numerator, denominator):
    """So many bytes, or that part of the device."""
    return min(most, torch.cuda.mem_get_info()[1] * numerator // denominator)


class Held:
    """Tensors that live for a while: at most so many bytes of them, the rest goes in drawn order."""

    def __init__(self, draw, most):
        self.draw, self.most, self.bytes, self.tensors = draw, most, 0, []

    def add(self, tensor):
        self.tensors.append(tensor)
        self.bytes += tensor.nbytes
        while self.bytes > self.most:
            self.drop()

    def drop(self):
        if self.tensors:
            self.bytes -= self.tensors.pop(self.draw.randrange(len(self.tensors))).nbytes

    def drop_all(self):
        self.tensors.clear()
        self.bytes = 0


def size_of(draw, largest=60 * MIB):
    """Every way to round and to place a request has its share."""
    kind = draw.random()
    if kind < 0.35:
        return draw.randrange(1, MIB)
    if kind < 0.5:
        return draw.choice((512, 1024, 4096, MIB, 2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB))
    if kind < 0.8:
        return draw.randrange(MIB, 10 * MIB)
    return draw.randrange(10 * MIB, largest)


def variable(draw, turns):
    """Steps of another shape each, beside weights that stay."""
    weights = [empty(size_of(draw, 30 * MIB)) for _ in range(20)]
    for _ in range(turns // 20):
        length = draw.randrange(50, 2000)
        saved = [empty(length * 1024 * draw.choice((1, 2, 4, 12))) for _ in range(14)]
        while saved:
            work = empty(saved[-1].nbytes + 4096)
            saved.pop()
            del work
    return weights


def mixed(draw, turns):
    held = Held(draw, share(700 * MIB, 1, 2))
    for _ in range(turns):
        if draw.random() < 0.45:
            held.drop()
        else:
            held.add(empty(size_of(draw)))
    return held


def sizes_alike(draw, turns):
    """Many free blocks of one size: which of them is taken?"""
    sizes = [3 * MIB, 5 * MIB + 512, 12 * MIB, 700 * 1024, 20 * MIB]
    held = Held(draw, share(900 * MIB, 1, 2))
    for _ in range(turns):
        if draw.random() < 0.5:
            held.drop()
        else:
            held.add(empty(draw.choice(sizes)))
    return held


def large(draw, turns):
    """Around and above max_split_size_mb, with cached segments that a request may take whole or release."""
    held = Held(draw, share(900 * MIB, 3, 10))
    for _ in range(turns):
        if draw.random() < 0.5:
            held.drop()
        else:
            held.add(empty(draw.randrange(15 * MIB, 150 * MIB)))
    return held


def streams(draw, turns):
    sides = [torch.cuda.Stream() for _ in range(3)]
    held = Held(draw, share(500 * MIB, 1, 3))
    for _ in range(turns):
        chance = draw.random()
        if chance < 0.4:
            held.drop()
        else:
            on = draw.choice(sides)
            with torch.cuda.stream(on):
                tensor = empty(size_of(draw))
            if chance < 0.7:
                tensor.record_stream(draw.choice(sides))
            if chance < 0.5:
                tensor.record_stream(torch.cuda.current_stream())
            held.add(tensor)
            del tensor
    torch.cuda.synchronize()
    return held


def streams_apart(draw, turns):
    """Several streams whose frees wait for nothing."""
    sides = [torch.cuda.default_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
    held = Held(draw, share(500 * MIB, 1, 3))
    for _ in range(turns):
        if draw.random() < 0.45:
            held.drop()
        else:
            with torch.cuda.stream(draw.choice(sides)):
                held.add(empty(size_of(draw)))
    return held


def devices(draw, turns):
    held = [Held(draw, share(400 * MIB, 1, 3)), Held(draw, share(300 * MIB, 1, 4))]
    for _ in range(turns):
        device = draw.randrange(2)
        if draw.random() < 0.45:
            held[device].drop()
        else:
            held[device].add(empty(size_of(draw), f"cuda:{device}"))
    return held


def runs_out(draw, turns):
    """Asks for too much again and again, and goes on."""
    held = Held(draw, torch.cuda.mem_get_info()[1] * 3 // 4)
    for _ in range(turns):
        chance = draw.random()
        if chance < 0.4:
            held.drop()
        elif chance < 0.44:
            try:
                empty(draw.choice((1 << 40, torch.cuda.mem_get_info()[1] // 2 + draw.randrange(MIB))))
            except torch.cuda.OutOfMemoryError:
                pass
        else:
            try:
                held.add(empty(size_of(draw)))
            except torch.cuda.OutOfMemoryError:
                held.drop()
    return held


def retries(draw, turns):
    """What is cached fills the device, what lives does not: requests are served after a release, and one is never."""
    held = Held(draw, torch.cuda.mem_get_info()[1] // 3)
    for turn in range(turns):
        phase = turn * 6 // turns % 3
        if draw.random() < 0.45:
            held.drop()
        else:
            held.add(empty((draw.randrange(1, 3 * MIB), draw.randrange(4 * MIB, 18 * MIB),
                            draw.randrange(20 * MIB, 50 * MIB))[phase]))
        if turn % 251 == 250:
            try:
                empty(1 << 41)
            except torch.cuda.OutOfMemoryError:
                pass
    return held


def empties(draw, turns):
    held = Held(draw, share(500 * MIB, 1, 3))
    for _ in range(turns):
        chance = draw.random()
        if chance < 0.03:
            torch.cuda.empty_cache()
        elif chance < 0.06:
            held.drop_all()
        elif chance < 0.4:
            held.drop()
        else:
            held.add(empty(size_of(draw)))
    torch.cuda.empty_cache()
    return held


def pools(draw, turns, ends=False):
    """Blocks of two pools of the program beside the default ones."""
    made = [torch.cuda.MemPool(), torch.cuda.MemPool()]
    held = Held(draw, share(500 * MIB, 1, 3))
    of_pool = Held(draw, share(200 * MIB, 1, 6))
    for turn in range(turns):
        if ends and turn == turns // 2:
            of_pool.drop_all()
            made.pop()
            if draw.random() < 0.5:
                torch.cuda.empty_cache()
        if turn % 10 == 0:
            with torch.cuda.use_mem_pool(draw.choice(made)):
                for _ in range(draw.randrange(4)):
                    of_pool.add(empty(size_of(draw, 30 * MIB)))
        elif draw.random() < 0.45:
            draw.choice((held, of_pool)).drop()
        else:
            held.add(empty(size_of(draw)))
    return made, held, of_pool


def pools_end(draw, turns):
    return pools(draw, turns, True)


def graphs(draw, turns, ends=False):
    """Captures with a pool of their own and a shared one, replayed between ordinary requests."""
    held = Held(draw, share(400 * MIB, 1, 3))
    made, results, shared = [], [], torch.cuda.graph_pool_handle()
    for turn in range(turns // 20):
        for _ in range(20):
            held.drop() if draw.random() < 0.4 else held.add(empty(size_of(draw, 30 * MIB)))
        if turn % 3 == 0:
            graph = torch.cuda.CUDAGraph()
            static = torch.zeros(draw.randrange(1000, 4_000_000), device="cuda")
            with torch.cuda.graph(graph, pool=shared if turn % 2 else None):
                out = static * 2
                for _ in range(draw.randrange(6)):
                    out = out.relu() + 1
                results.append(torch.cat([out, out]).sum())
            made.append(graph)
            del graph, out, static
        for graph in made:
            graph.replay()
        if ends and len(made) > 3:
            made.pop(0)
            results.pop(0)
    return held, made, results


def graphs_end(draw, turns):
    return graphs(draw, turns, True)


def fraction(draw, turns):
    """Around the threshold of garbage collection, for devices whose fraction the settings say."""
    held = Held(draw, torch.cuda.mem_get_info()[1] * 2 // 5)
    for _ in range(turns):
        if draw.random() < 0.47:
            held.drop()
        else:
            held.add(empty(draw.randrange(2 * MIB, 45 * MIB)))
    return held


KINDS = {kind.__name__: kind for kind in (variable, mixed, sizes_alike, large, streams, streams_apart, devices, runs_out, retries,
                                          empties, pools, pools_end, graphs, graphs_end, fraction)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--turns", type=int, default=800)
    arguments = parser.parse_args()
    torch.cuda.init()
    return KINDS[arguments.kind](random.Random(f"{arguments.kind} {arguments.seed}"), arguments.turns)


if __name__ == "__main__":
    kept = main()
