# SPDX-License-Identifier: GPL-3.0-or-later
"""A training with torch.profiler around its third step: bounds_program.py MODEL TRACE. TRACE may be "-": no profiler, and the step
is a range "third"."""
import sys

import torch
from torch.profiler import ProfilerActivity, profile, record_function

import flops_program

def graph_step():
    """A graph that is replayed, behind an operator that is not."""
    x = torch.zeros(1 << 25, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = (x * 2).relu()

    def step():
        x.add_(1)
        graph.replay()
        return y
    return step


def training_step(name):
    make, autocast, _ = flops_program.CASES[name]
    model, loss = make()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)

    def step():
        # From the beginning of an update to that of the next, as a dry run has it.
        optimizer.step()
        optimizer.zero_grad()
        with torch.autocast("cuda", autocast, enabled=autocast is not None):
            loss().backward()
    return step


def main():
    name, path = sys.argv[1:]
    step = graph_step() if name == "graph" else training_step(name)
    step()
    step()
    torch.cuda.synchronize()
    if path == "-":
        with record_function("third"):
            step()
            torch.cuda.synchronize()
    else:
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
            step()
            torch.cuda.synchronize()
        profiler.export_chrome_trace(path)
    step()  # the third ends where this begins


if __name__ == "__main__":
    main()
