# SPDX-License-Identifier: GPL-3.0-or-later
"""A training under torch.profiler and with its allocator recorded: writes FOLDER/trace.json and FOLDER/snapshot.pickle.

usage: join_program.py FOLDER [--no-memory]
"""
import itertools
import os
import sys

import torch
from torch.profiler import ProfilerActivity, profile, record_function

torch.cuda.memory._record_memory_history(max_entries=1_000_000)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 64)).cuda()
optimizer = torch.optim.Adam(model.parameters())


steps = itertools.count()


def step(number):
    with record_function(f"step {next(steps)}"):
        with record_function("forward"):
            loss = model(torch.randn(32 + number, 256, device="cuda")).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


for number in range(3):
    step(number)
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory="--no-memory" not in sys.argv) as profiler:
    for number in range(8):
        step(number)
        profiler.step()
for number in range(2):
    step(number)
profiler.export_chrome_trace(os.path.join(sys.argv[1], "trace.json"))
if "torch._inductor" not in sys.modules:
    torch._inductor = type(sys)("torch._inductor")  # asked for by what makes stacks, and a second to import
torch.cuda.memory._dump_snapshot(os.path.join(sys.argv[1], "snapshot.pickle"))
