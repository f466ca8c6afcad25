# SPDX-License-Identifier: GPL-3.0-or-later
"""A snapshot joins a trace of the same run: `strata timeline TRACE SNAPSHOT`. Both count time from the same epoch, so what is
found without a look at that has to come out as next to nothing, or as what the trace's clock was moved by; and memory on the
trace's clock is that of the snapshot. A snapshot of another run is refused. A recording of the same process joins it, too, and
is no rank; its steps are those that the program names, and where the profiler had the GPU's records nobody knows how busy it was.
"""
import json
import os
import pickle
import subprocess

import pytest

from forks import TRAINING, forked
from running import PROGRAMS, strata_json

PROGRAM = os.path.join(PROGRAMS, "join_program.py")
MOVED_NS = 12_345_678_901
NEAR_NS = 100_000  # both stamps are taken within one call of the allocator
NEAR_STEP_NS = 1_000_000  # of a step: what both observers take for themselves


@pytest.fixture(scope="module")
def runs(simgpu, python, tmp_path_factory):
    """Trace and snapshot of two runs, of which the second has no memory in its trace."""
    folders = [tmp_path_factory.mktemp(name) for name in ("one", "other")]
    run, ended = forked([simgpu, "--"], python, [[PROGRAM, str(folders[0])], [PROGRAM, str(folders[1]), "--no-memory"]], folders[0], TRAINING, timeout=300)
    assert [each["status"] for each in ended] == [0, 0], run.stderr
    return [(str(folder / "trace.json"), str(folder / "snapshot.pickle")) for folder in folders]


def memory_rows(trace):
    return [row for row in trace["traceEvents"] if row.get("name") == "[memory]" and row["args"]["Device Type"] == 1]


def requested_after(snapshot):
    """Requested bytes after each event, from the end back; and what each event changes them by."""
    total = sum(block["requested_size"] for segment in snapshot["segments"] for block in segment["blocks"]
                if block["state"] != "inactive")
    totals, changes = [], []
    for event in reversed(snapshot["device_traces"][0]):
        change = {"alloc": 1, "free_completed": -1}.get(event["action"], 0) * event["size"]
        totals.append(total)
        changes.append(change)
        total -= change
    return totals[::-1], changes[::-1]


def joined(strata, trace_path, snapshot_path):
    _, told = strata_json(strata, ["timeline", trace_path, snapshot_path, "--json"])
    assert told and len(told["ranks"][0]["joined"]) == 1
    return told["ranks"][0]["joined"][0]


@pytest.mark.parametrize("index, by", [(0, "allocations"), (1, "annotations")], ids=["allocations", "annotations"])
def test_joined(strata, runs, index, by, failures):
    trace_path, snapshot_path = runs[index]
    found = joined(strata, trace_path, snapshot_path)
    with open(snapshot_path, "rb") as file:
        totals, _ = requested_after(pickle.load(file))
    failures.expect(by, "by", found["by"], by)
    if by == "allocations":
        with open(trace_path, encoding="utf-8") as file:
            allocations = len(memory_rows(json.load(file)))
        # A thread that loses its core between the two stamps of an allocation has it unmatched.
        failures.expect(by, f"{found['matches']} of {allocations} allocations", 0.99 * allocations <= found["matches"] <= allocations)
    failures.expect(by, f"offset of {found['offset_ns']} ns", abs(found["offset_ns"]) <= NEAR_NS)
    failures.expect(by, f"error of {found['error_ns']} ns", found["error_ns"] <= NEAR_NS)
    [device] = found["devices"]
    failures.expect(by, "peak", device["requested_bytes_peak"], totals[device["requested_peak_event"]])


def test_a_clock_that_was_moved(strata, runs, tmp_path):
    trace_path, snapshot_path = runs[0]
    with open(trace_path, encoding="utf-8") as file:
        trace = json.load(file)
    trace["baseTimeNanoseconds"] += MOVED_NS
    moved = tmp_path / "moved.json"
    moved.write_text(json.dumps(trace))
    assert joined(strata, str(moved), snapshot_path)["offset_ns"] == joined(strata, trace_path, snapshot_path)["offset_ns"] + MOVED_NS


def test_a_snapshot_of_another_run_is_refused(strata, runs):
    run, told = strata_json(strata, ["timeline", runs[0][0], runs[1][1], "--json"])
    assert run.returncode != 0 and told is None
    assert "not of the same run" in run.stderr


def test_written_as_a_trace(strata, runs, tmp_path):
    """Each change of the snapshot within the trace's time, with the totals behind it."""
    (trace_path, snapshot_path), path = runs[0], str(tmp_path / "joined.json")
    subprocess.run([strata, "timeline", trace_path, snapshot_path, "-o", path], stdout=subprocess.DEVNULL, check=True)
    with open(path, encoding="utf-8") as file:
        held, *rows = memory_rows(json.load(file))
    with open(snapshot_path, "rb") as file:
        totals, changes = requested_after(pickle.load(file))
    events = [(change, total) for change, total in zip(changes, totals) if change]
    got = [(row["args"]["Bytes"], row["args"]["Total Allocated"]) for row in rows]
    begins = [at for at in range(len(events)) if events[at:at + len(got)] == got]
    assert len(begins) == 1, "the snapshot's changes in the written trace"
    assert held["args"]["Total Allocated"] == events[begins[0] - 1][1], "what held before"


def test_recording(strata, python, tmp_path, failures):
    recording, trace_path, name = str(tmp_path / "run.strata"), str(tmp_path / "trace.json"), "recording"
    run = subprocess.run([strata, "record", "--simulated", "A100-80GB", "--kernels", "-o", recording, "--", python, PROGRAM, str(tmp_path)],
                         capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    _, told = strata_json(strata, ["timeline", trace_path, recording, "--json"])
    failures.expect(name, "a trace of a card that strata record simulates says so", told["simulated"])
    failures.expect(name, "a recording of its process is no rank", (len(told["ranks"]), "ranks_verdict" in told), (1, False))
    failures.expect(name, "but joins it", len(told["ranks"][0]["joined"]), 1)
    failures.expect(name, "offset of the recording", abs(told["ranks"][0]["joined"][0]["offset_ns"]) <= NEAR_NS)
    _, own = strata_json(strata, ["timeline", recording, "--json"])
    steps = own["ranks"][0]["steps"]
    failures.expect(name, "names of steps", [step["name"] for step in steps], [f"step {number}" for number in range(13)])
    with open(trace_path, encoding="utf-8") as file:
        profiled = {row["name"]: row["dur"] * 1e3 for row in json.load(file)["traceEvents"]
                    if row.get("cat") == "user_annotation" and row["name"].startswith("step ")}
    failures.expect(name, "steps that both saw", len(profiled), 8)
    far = [step for step in steps if abs(step["duration_ns"] - profiled.get(step["name"], step["duration_ns"])) > NEAR_STEP_NS]
    failures.expect(name, "times of steps that are not the profiler's", far, [])
    failures.expect(name, "steps of which nobody knows how busy the GPU was",
                    [step["name"] for step in steps if step["gpu_busy_ns"] is None], sorted(profiled, key=lambda step: int(step[5:])))
