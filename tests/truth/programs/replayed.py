# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a program and keeps what torch counted of its memory on every device, for test_replay.py; torch's own recorder keeps its snapshot.

usage: replayed.py COUNTS.json SNAPSHOT.pickle STACKS SETTINGS PROGRAM.py [ARGUMENTS]...
"""
import json
import os
import runpy
import sys

import torch

target, snapshot, stacks, settings, program = sys.argv[1:6]
sys.argv = sys.argv[5:]
os.environ["PYTORCH_CUDA_ALLOC_CONF"] = settings  # which nobody has asked for yet
sys.path.insert(0, os.path.dirname(os.path.abspath(program)))
torch.cuda.memory._record_memory_history(stacks="python", context=None if stacks == "none" else "all")
kept = runpy.run_path(program, run_name="__main__")  # what it made is still there when the recording ends
torch.cuda.synchronize()

PEAKS = ("requested", "allocated", "active", "reserved")
counted = []
for device in range(torch.cuda.device_count()):
    stats = torch.cuda.memory_stats(device)
    counted.append({
        **{f"{name}_peak": stats.get(f"{name}_bytes.all.peak", 0) for name in PEAKS},
        **{f"{name}_end": stats.get(f"{name}_bytes.all.current", 0) for name in PEAKS},
        "device_mallocs": stats.get("num_device_alloc", 0), "device_frees": stats.get("num_device_free", 0),
        "out_of_memories": stats.get("num_ooms", 0), "retries": stats.get("num_alloc_retries", 0)})
    if counted[-1]["reserved_peak"] and torch.cuda.max_memory_allocated(device) != counted[-1]["allocated_peak"]:
        sys.exit("max_memory_allocated() and memory_stats() tell different peaks")
with open(target, "w", encoding="utf-8") as file:
    json.dump({"torch": torch.__version__, "process": os.getpid(), "devices": counted}, file)
if "torch._inductor" not in sys.modules:
    torch._inductor = type(sys)("torch._inductor")  # asked for by what makes stacks, and a second to import
torch.cuda.memory._dump_snapshot(snapshot)
