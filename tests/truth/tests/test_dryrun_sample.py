# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the program of the samples again and holds the recording against the one that is kept, event by event.

usage: test_sample.py STRATA_SIMGPU [--python PYTHON]...

The device of the samples was a mixture that no card is: capability 8.0, 132 multiprocessors, kernels compiled for 9.0.

Skipped (exit 77) without the version of PyTorch that the samples were made with. What is freed in one go by PyTorch's autocast cache
comes in the order of a set of addresses, so runs of consecutive frees are compared as multisets.
"""
import collections
import itertools
import os
import subprocess
import sys
import tempfile

from running import PROJECT, main, version

import recordings  # found by running

SAMPLES = os.path.join(PROJECT, "tests", "data", "samples")
PROGRAM = os.path.join(PROJECT, "resources", "samples", "train_gpt2.py")
VERSION = [2, 15]
DEVICE = "cc=8.0;sms=132;code=90;addresses=ascending;capacity="
CASES = [("gpt2_124m_bf16_train.pickle.gz", "8", 80 << 30),
         ("gpt2_124m_bf16_oom_16gib.pickle.gz", "20", 16 << 30)]


def end(snapshot):
    """Totals by state, and the segments as a multiset, when the recording ended."""
    return recordings.totals(snapshot), collections.Counter((s["total_size"], s["segment_type"]) for s in snapshot["segments"])


def check(launcher, python, case, failures):
    name, batch, capacity = case
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.pickle")
        run = subprocess.run([launcher, f"{DEVICE}{capacity}", "--", python, PROGRAM, path, batch, "5"],
                             capture_output=True, text=True)
        if run.returncode != 0 or not os.path.exists(path):
            failures.expect(name, "output", run.stderr[-2000:], "a recording")
            return
        again = recordings.load(path)
    kept = recordings.load(os.path.join(SAMPLES, name))
    wanted, got = (recordings.runs(recordings.events(snapshot)) for snapshot in (kept, again))
    same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(wanted, got)))
    if not same == len(wanted) == len(got):
        failures.expect(name, f"event or run {same}", got[same:same + 1], wanted[same:same + 1])
    failures.expect(name, "end", end(again), end(kept))
    print(f"{name}: {len(kept['device_traces'][0])} events in {len(wanted)} runs, {same} equal", flush=True)


def test(arguments, python, failures):
    if version(python)[:2] != VERSION:
        return "the samples were made with PyTorch 2.15"
    for case in CASES:
        check(arguments.launcher, python, case, failures)
    return None


if __name__ == "__main__":
    sys.exit(main(test, ("launcher",)))
