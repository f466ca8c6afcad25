# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the program of the samples again and holds the recording against the one that is kept, event by event.

usage: test_sample.py STRATA_SIMGPU [--python PYTHON]...

The device of the samples was a mixture that no card is: capability 8.0, 132 multiprocessors, kernels compiled for 9.0.

Skipped (exit 77) without the version of PyTorch that the samples were made with. What is freed in one go by PyTorch's autocast cache
comes in the order of a set of addresses, so runs of consecutive frees are compared as multisets.
"""
import argparse
import collections
import gzip
import itertools
import os
import pickle
import subprocess
import sys
import tempfile

from running import PROJECT, SKIPPED, Failures, pythons

SAMPLES = os.path.join(PROJECT, "resources", "samples")
VERSION = "2.15."
FREES = ("free_requested", "free_completed")
DEVICE = "cc=8.0;sms=132;code=90;addresses=ascending;capacity="
CASES = [("gpt2_124m_bf16_train.pickle.gz", "8", 80 << 30),
         ("gpt2_124m_bf16_oom_16gib.pickle.gz", "20", 16 << 30)]


class DataOnly(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"{module}.{name}: refused")


def load(path):
    with (gzip.open(path) if path.endswith(".gz") else open(path, "rb")) as file:
        return DataOnly(file).load()


def runs(snapshot):
    """The trace as a list of single events and of multisets of consecutive frees; streams by first appearance."""
    streams = {}
    out = []
    for frees, events in itertools.groupby(snapshot["device_traces"][0], lambda e: e["action"] in FREES):
        rows = [(e["action"], e["size"], streams.setdefault(e["stream"], len(streams))) for e in events]
        out += [collections.Counter(rows)] if frees else rows
    return out


def end(snapshot):
    """Totals by state, and the segments as a multiset, when the recording ended."""
    totals = collections.Counter()
    for segment in snapshot["segments"]:
        totals["reserved"] += segment["total_size"]
        for block in segment["blocks"]:
            totals[block["state"]] += block["size"]
            totals["requested"] += block["requested_size"] if block["state"] != "inactive" else 0
    return totals, collections.Counter((s["total_size"], s["segment_type"]) for s in snapshot["segments"])


def version(python):
    return subprocess.run([python, "-c", "from importlib.metadata import version; print(version('torch'))"],
                          capture_output=True, text=True).stdout.strip()


def check(launcher, python, case, failures):
    name, batch, capacity = case
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.pickle")
        run = subprocess.run([launcher, f"{DEVICE}{capacity}", "--", python, os.path.join(SAMPLES, "train_gpt2.py"),
                              path, batch, "5"], capture_output=True, text=True)
        if run.returncode != 0 or not os.path.exists(path):
            failures.expect(name, "output", run.stderr[-2000:], "a recording")
            return
        again = load(path)
    kept = load(os.path.join(SAMPLES, name))
    wanted, got = runs(kept), runs(again)
    same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(wanted, got)))
    if not same == len(wanted) == len(got):
        failures.expect(name, f"event or run {same}", got[same:same + 1], wanted[same:same + 1])
    failures.expect(name, "end", end(again), end(kept))
    print(f"{name}: {len(kept['device_traces'][0])} events in {len(wanted)} runs, {same} equal", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("launcher")
    parser.add_argument("--python", action="append", default=[])
    arguments = parser.parse_args()
    fitting = [p for p in pythons(arguments.python) if version(p).startswith(VERSION)]
    if not fitting:
        print(f"skipped: the samples were made with PyTorch {VERSION}x, which is not here: "
              "tests/truth/environment.sh makes it")
        return SKIPPED
    failures = Failures()
    for case in CASES:
        check(arguments.launcher, fitting[0], case, failures)
    print(f"{failures.count} failures")
    return 1 if failures.count else 0


if __name__ == "__main__":
    sys.exit(main())
