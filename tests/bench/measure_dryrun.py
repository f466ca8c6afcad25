# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures dry runs, from command to answer: wall seconds, CPU seconds, highest resident memory of any process.

usage: measure_dryrun.py STRATA [PYTHON]   (prints; a benchmark, not a test)
"""
import os
import resource
import subprocess
import sys
import time

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth", "programs")
SEVEN_BILLION = ["ranks.py", "fsdp2", "--layers", "32", "--width", "4096", "--heads", "32", "--steps", "4"]
CASES = [
    ("GPT-2 124M, 4 steps of AdamW, bf16 autocast", [],
     ["train.py", "gpt2_124m", "--precision", "autocast", "--steps", "4"]),
    ("7B, rank 0 of 64, FSDP2, made on the device", ["--rank", "0", "--world-size", "64"],
     [*SEVEN_BILLION, "--made-on", "cuda"]),
    ("7B, rank 0 of 64, FSDP2, made on the CPU", ["--rank", "0", "--world-size", "64"],
     [*SEVEN_BILLION, "--made-on", "cpu"]),
]


def measure(command):
    """In a process of its own, so that the highest resident memory is that of this command's processes alone."""
    begin = time.monotonic()
    run = subprocess.run(command, capture_output=True, text=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return run, time.monotonic() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / (1 << 20)


def main():
    if sys.argv[1] == "--one":
        run, wall, cpu, resident = measure(sys.argv[2:])
        print(f"{wall:.1f} s wall, {cpu:.1f} s CPU, {resident:.2f} GiB resident, exit {run.returncode}")
        if run.returncode != 0:
            print(run.stderr[-2000:])
        return
    strata, python = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "python3"
    for name, options, (script, *words) in CASES:
        command = [strata, "dryrun", "--json", *options, "--", python, os.path.join(PROGRAMS, script), *words]
        one = subprocess.run([sys.executable, __file__, "--one", *command], capture_output=True, text=True)
        print(f"{name}: {one.stdout.strip()}{one.stderr}", flush=True)


main()
