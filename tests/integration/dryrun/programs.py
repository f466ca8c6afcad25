# SPDX-License-Identifier: GPL-3.0-or-later
"""Small programs that behave as programs do, well and badly: source text for `python -c`."""

#: Imports torch late, from a thread, and again.
LATE = """
import threading
def work():
    import importlib, torch
    importlib.import_module("torch")
    globals()["x"] = torch.ones(1 << 20, device="cuda")
thread = threading.Thread(target=work)
thread.start()
thread.join()
import torch
print("late", torch.cuda.memory_allocated())
"""

#: Forks before it uses a device; the child exits by itself.
FORKS = """
import os, torch
child = os.fork()
if child == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
torch.ones(1 << 20, device="cuda")
"""

#: A parent that never touches a device and a child that does.
CHILD = """
import subprocess, sys
subprocess.run([sys.executable, "-I", "-c", "import torch; torch.ones(1 << 20, device='cuda')"], check=True)
"""

EXECS = """
import os, sys, torch
os.execv(sys.executable, [sys.executable, "-c", "import torch; torch.ones(1 << 20, device='cuda')"])
"""

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

#: One more than there are.
MISSING_DEVICE = "import torch; torch.ones(1, device='cuda:5')"

CRASHES = "import ctypes, torch; x = torch.ones(1 << 20, device='cuda'); ctypes.string_at(0)"
KILLED = "import os, torch; x = torch.ones(1 << 20, device='cuda'); os.kill(os.getpid(), 9)"
RAISES = "import torch; x = torch.ones(1 << 20, device='cuda'); raise RuntimeError('ours')"

#: The loops of people who go on whatever happens.
STUBBORN = """
import torch
model = torch.nn.Linear(1000, 1000, device="cuda")
optimizer = torch.optim.Adam(model.parameters())
try:
    for _ in range(50):
        try:
            model(torch.ones(10, 1000, device="cuda")).sum().backward()
            optimizer.step()
        except {caught}:
            pass
finally:
    print("finally", flush=True)
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

#: Resident bytes after a tenth and after all of many steps, on standard output.
LEAK = """
import sys, torch
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(),
                            torch.nn.Linear(8 * 900, 64)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
steps, early = 1000, 100
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
