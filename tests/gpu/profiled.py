# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a program of the corpus under torch.profiler and torch's own recorder at once: two accounts of the same memory.

usage: profiled.py TRACE.json SNAPSHOT.pickle PROGRAM.py [ARGUMENTS]...
"""
import os
import pickle
import runpy
import sys

import torch

trace, snapshot, program = sys.argv[1:4]
sys.argv = sys.argv[3:]
sys.path.insert(0, os.path.dirname(program))
torch.cuda.memory._record_memory_history(stacks="python")
with torch.profiler.profile(profile_memory=True, record_shapes=True) as profiler:
    kept = runpy.run_path(program, run_name="__main__")  # what it made is still there when the recording ends
    torch.cuda.synchronize()
profiler.export_chrome_trace(trace)
with open(snapshot, "wb") as file:
    pickle.dump(torch.cuda.memory._snapshot(), file)
