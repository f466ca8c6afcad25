# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a program with PyTorch's own recorder, as its users switch it on, and keeps the snapshot: at its end, or where its first
out-of-memory comes, which is then not an error.

usage: roles_snapshot.py SNAPSHOT STACKS PROGRAM.py [ARGUMENTS]...   (STACKS: all, python or none)
"""
import os
import pickle
import runpy
import sys

os.environ.setdefault("TORCH_SYMBOLIZE_MODE", "dladdr")  # names of C++ frames in milliseconds instead of minutes
import device_options  # noqa: F401, E402  before torch
import torch  # noqa: E402


def keep(path):
    if "torch._inductor" not in sys.modules:
        torch._inductor = type(sys)("torch._inductor")  # asked for by what makes stacks, and a second to import
    with open(path, "wb") as file:
        pickle.dump(torch.cuda.memory._snapshot(), file)


def main():
    target, stacks, program = sys.argv[1:4]
    sys.argv = sys.argv[3:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(program)))
    kept = []

    def refused(*_):
        if not kept:
            kept.append(True)
            keep(target)
    if stacks == "none":
        torch.cuda.memory._record_memory_history(context=None, stacks="python")
    else:
        torch.cuda.memory._record_memory_history(stacks=stacks)
    torch._C._cuda_attach_out_of_memory_observer(refused)
    try:
        made = runpy.run_path(program, run_name="__main__")  # what it holds is still there when the snapshot is taken
    except torch.cuda.OutOfMemoryError:
        made = None
    if not kept:
        torch.cuda.synchronize()
        keep(target)
    return made


if __name__ == "__main__":
    kept = main()
