# SPDX-License-Identifier: GPL-3.0-or-later
"""A training whose kernels are recorded while torch.profiler comes and goes: kernels_program.py MODEL ORDER KERNELS SESSION TRACE.

ORDER is a list of moments with three steps behind each: S+ and S- begin and end the recording, K+ and K- the profiler. KERNELS is
aside, shared, operators (shared, with operators) or none. Prints one line of JSON: how many records of each kind the simulated device has made at each moment."""
import ctypes
import json
import sys

import torch
from torch.profiler import ProfilerActivity, profile

import profiler_program

STEPS = 3
KINDS = 64


def made():
    library = ctypes.CDLL(None)
    counts = (ctypes.c_uint64 * KINDS)()
    library.strata_simgpu_activity_counts(counts, KINDS)
    return list(counts)


def main():
    model, order, kernels, session, trace = sys.argv[1:]
    if kernels != "none":
        import strata_capture
    step = profiler_program.MODELS[model]()
    step()
    torch.cuda.synchronize()
    profiler = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=kernels == "operators")
    moments = []
    for moment in order.split(","):
        if moment == "S+" and kernels != "none":
            state = strata_capture.start(session, existing="replace", stacks="none", operators=kernels == "operators",
                                         kernels=True if kernels == "aside" else "shared")
            assert state == "recording", state
        elif moment == "S-" and kernels != "none":
            strata_capture.stop()
        elif moment == "K+":
            profiler.start()
        elif moment == "K-":
            profiler.stop()
        torch.cuda.synchronize()
        moments.append([moment, made()])
        for _ in range(STEPS):
            step()
        torch.cuda.synchronize()
    if "K-" in order:
        profiler.export_chrome_trace(trace)
    moments.append(["end", made()])
    print(json.dumps(moments))


if __name__ == "__main__":
    main()
