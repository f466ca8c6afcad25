# SPDX-License-Identifier: GPL-3.0-or-later
"""Small programs that do with a device what programs do: source text for `python -c`."""

#: Worker processes, pinned memory, copies of both kinds.
LOADER = """
import torch
from torch.utils.data import DataLoader, TensorDataset
if __name__ == "__main__":
    data = DataLoader(TensorDataset(torch.arange(4096.0).view(64, 64)), batch_size=8, num_workers=2, pin_memory=True)
    for epoch in range(2):
        for (batch,) in data:
            there = batch.to("cuda", non_blocking=True)
            assert torch.equal(there.cpu(), batch)
    torch.ones(1 << 20, device="cuda")
"""

CUDA_GRAPH = """
import torch
x = torch.zeros(1 << 18, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = (x * 2).relu()
for _ in range(3):
    graph.replay()
torch.cuda.synchronize()
"""

MULTI_STREAM = """
import torch
streams = [torch.cuda.Stream() for _ in range(4)]
for _ in range(20):
    for stream in streams:
        with torch.cuda.stream(stream):
            x = torch.ones(1 << 20, device="cuda")
            x.record_stream(torch.cuda.current_stream())
            event = torch.cuda.Event()
            event.record()
        event.wait()
torch.cuda.synchronize()
assert torch.cuda.memory_allocated() <= 5 << 22
"""

#: Resident bytes after a hundred steps and after all of as many as are asked for, on standard output.
LEAK = """
import sys, torch
steps, early = int(sys.argv[1]), 100
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(),
                            torch.nn.Linear(8 * 900, 64)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(steps):
    x = torch.randn(4, 3, 32, 32).pin_memory().cuda(non_blocking=True)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(x).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    event.synchronize()
    if step % 50 == 49:
        float(loss)
        torch.cuda.empty_cache()
    if step + 1 == early:
        first = resident()
print("RESIDENT", first, resident())
"""

#: Ends with tensors in globals, right after its backward.
ENDS = """
import torch
x = torch.ones(9, device="cuda", requires_grad=True)
y = x * 2
y.sum().backward()
"""
