# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a program of the corpus with torch's own recorder on and keeps what torch saw, for test_record.py.

usage: recorded.py SNAPSHOT.pickle PROGRAM.py [ARGUMENTS]...
"""
import pickle
import runpy
import sys

import torch

target, program = sys.argv[1:3]
sys.argv = sys.argv[2:]
torch.cuda.memory._record_memory_history(stacks="python")
kept = runpy.run_path(program, run_name="__main__")  # what it made is still there when the recording ends
torch.cuda.synchronize()
if "torch._inductor" not in sys.modules:
    torch._inductor = type(sys)("torch._inductor")  # asked for by what makes stacks, and a second to import
with open(target, "wb") as file:
    pickle.dump(torch.cuda.memory._snapshot(), file)
