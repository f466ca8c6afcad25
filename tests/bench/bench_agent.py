# SPDX-License-Identifier: GPL-3.0-or-later
"""Cost of the recorder on the thread that allocates, beside that of torch's own, paired in one process.

usage: bench_agent.py STRATA_SIMGPU LIBSTRATA_CAPTURE [--python PYTHON] [--rounds N]

Runs itself with PyTorch on the simulated device. An alloc and a free are three events; rounds of all kinds take turns, each
is short enough for the rings. The allocator alone comes before all others, since nothing detaches from it: on a busy machine
compare the lowest of each. Needs g++ and the headers that tests/truth/environment.sh loads.
"""
import argparse
import ctypes
import glob
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PAIRS = 20_000  # 60,000 events: less than half of a ring
DEPTH = 20


sys.path.insert(0, os.path.join(HERE, "..", "..", "capture", "python"))
import strata_capture  # noqa: E402


def compile_loop(torch, folder):
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "strata")
    cuda = glob.glob(os.path.join(cache, f"headers-{torch.version.cuda.split('.')[0]}", "nvidia", "*", "include"))
    root = os.path.dirname(torch.__file__)
    library = os.path.join(folder, "bench.so")
    subprocess.run(["g++", "-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden",
                    f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
                    "-isystem", os.path.join(root, "include"), *(f"-isystem{path}" for path in cuda),
                    os.path.join(HERE, "bench_agent.cpp"), "-o", library, "-L" + os.path.join(root, "lib"),
                    "-Wl,--no-as-needed,--allow-shlib-undefined", "-lc10_cuda", "-lc10"], check=True)
    loop = ctypes.CDLL(library).bench_pairs
    loop.restype = ctypes.c_double
    return loop


def inside(library, rounds):
    import torch
    torch.cuda.init()
    keep = torch.empty(1 << 20, device="cuda")
    with tempfile.TemporaryDirectory() as folder:
        loop = compile_loop(torch, folder)
        for _ in range(3):
            loop(DEPTH, PAIRS)
        times = {"allocator alone": [loop(DEPTH, PAIRS) for _ in range(rounds)]}
        os.environ["STRATA_CAPTURE_LIBRARY"] = library

        def record(stacks):
            path = os.path.join(folder, f"{time.monotonic_ns()}.strata")
            assert strata_capture.start(path, stacks=stacks) == "recording"
            loop(DEPTH, 1000)
            result = loop(DEPTH, PAIRS)
            strata_capture.stop()
            return result

        def torch_records(stacks, context):
            torch.cuda.memory._record_memory_history("all", stacks=stacks, context=context, max_entries=100_000)
            loop(DEPTH, 1000)
            result = loop(DEPTH, PAIRS)
            torch.cuda.memory._record_memory_history(None)
            return result

        kinds = {"recorder ended": lambda: loop(DEPTH, PAIRS),
                 "recorder, no stacks": lambda: record("none"), "recorder, C++ stacks": lambda: record("native"),
                 "recorder, Python stacks": lambda: record("python"),
                 "torch's, no stacks": lambda: torch_records("python", None),
                 "torch's, C++ and Python stacks": lambda: torch_records("all", "all"),
                 "torch's, Python stacks": lambda: torch_records("python", "all")}
        for _ in range(rounds):
            for name, kind in kinds.items():
                times.setdefault(name, []).append(kind())
        base = statistics.median(times["allocator alone"])
        print(f"torch {torch.__version__}, stacks {DEPTH} calls deep in C++, {rounds} rounds of {PAIRS} pairs")
        for name, each in times.items():
            median = statistics.median(each)
            print(f"{name:32} {median:7.0f} ns a pair  {(median - base) / 3:+7.0f} ns an event  (quarter to quarter "
                  f"{statistics.quantiles(each)[0]:.0f} to {statistics.quantiles(each)[2]:.0f}); lowest {min(each):6.0f}, "
                  f"{(min(each) - min(times['allocator alone'])) / 3:+5.0f}")
    del keep


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("simgpu")
    parser.add_argument("library")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        inside(arguments.library, arguments.rounds)
        return 0
    return subprocess.run([arguments.simgpu, "--", arguments.python, __file__, arguments.simgpu,
                           os.path.abspath(arguments.library), "--rounds", str(arguments.rounds), "--inside"]).returncode


if __name__ == "__main__":
    sys.exit(main())
