# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the program of the samples again and holds the recording against the one that is kept, event by event.

The device of the samples was a mixture that no card is: capability 8.0, 132 multiprocessors, kernels compiled for 9.0.

Skipped without the version of PyTorch that the samples were made with. What is freed in one go by PyTorch's autocast cache
comes in the order of a set of addresses, so runs of consecutive frees are compared as multisets.
"""
import collections
import itertools
import os
import subprocess

import pytest

import recordings
from running import PROJECT, version

pytestmark = pytest.mark.torch("every")

SAMPLES = os.path.join(PROJECT, "tests", "data", "samples")
PROGRAM = os.path.join(PROJECT, "resources", "samples", "train_gpt2.py")
VERSION = [2, 15]
DEVICE = "cc=8.0;sms=132;code=90;addresses=ascending;capacity="


def end(snapshot):
    """Totals by state, and the segments as a multiset, when the recording ended."""
    return recordings.totals(snapshot), collections.Counter((s["total_size"], s["segment_type"]) for s in snapshot["segments"])


@pytest.mark.parametrize("name, batch, capacity", [("gpt2_124m_bf16_train", "8", 80 << 30), ("gpt2_124m_bf16_oom_16gib", "20", 16 << 30)])
def test_as_it_is_kept(simgpu, python, tmp_path, failures, name, batch, capacity):
    if version(python)[:2] != VERSION:
        pytest.skip("the samples were made with PyTorch 2.15")
    path = str(tmp_path / "out.pickle")
    run = subprocess.run([simgpu, f"{DEVICE}{capacity}", "--", python, PROGRAM, path, batch, "5"], capture_output=True, text=True)
    assert run.returncode == 0 and os.path.exists(path), run.stderr[-2000:]
    kept, again = recordings.load(os.path.join(SAMPLES, name + ".pickle.gz")), recordings.load(path)
    wanted, got = (recordings.runs(recordings.events(snapshot)) for snapshot in (kept, again))
    same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(wanted, got)))
    print(f"{name}: {len(kept['device_traces'][0])} events in {len(wanted)} runs, {same} equal")
    failures.expect(name, f"events or runs from {same} on", (got[same:same + 1], len(got)), ([], len(wanted)))
    failures.expect(name, "end", end(again), end(kept))
