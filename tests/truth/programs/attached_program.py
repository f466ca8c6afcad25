# SPDX-License-Identifier: GPL-3.0-or-later
"""A training that goes on until it is told otherwise, for recordings that begin amid it: attached_program.py MODEL.

Each line on stdin is done and answered by a line of JSON, how many records of each kind the simulated device has made by then: "go" goes
on training, "hold" stops, "profile TRACE" makes three steps under torch.profiler, "end" ends."""
import json
import select
import sys

import torch
from torch.profiler import ProfilerActivity, profile

import profiler_program
from kernels_program import STEPS, made


def profiled(step, path):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        for _ in range(STEPS):
            step()
        torch.cuda.synchronize()
    profiler.export_chrome_trace(path)


def main():
    step = profiler_program.MODELS[sys.argv[1]]()
    goes = False
    print("ready", flush=True)
    while True:
        if goes and not select.select([sys.stdin], [], [], 0.005)[0]:
            step()
            continue
        word, _, path = sys.stdin.readline().strip().partition(" ")
        if word in ("go", "hold"):
            goes = word == "go"
        elif word == "profile":
            profiled(step, path)
        torch.cuda.synchronize()
        print(json.dumps(made()), flush=True)
        if word in ("end", ""):
            return


if __name__ == "__main__":
    main()
