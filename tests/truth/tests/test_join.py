# SPDX-License-Identifier: GPL-3.0-or-later
"""A snapshot joins a trace of the same run: `strata timeline TRACE SNAPSHOT`. Both count time from the same epoch, so what is
found without a look at that has to come out as next to nothing, or as what the trace's clock was moved by; and memory on the
trace's clock is that of the snapshot. A snapshot of another run is refused. A recording of the same process joins it, too, and
is no rank; its steps are those that the program names, and where the profiler had the GPU's records nobody knows how busy it was.

usage: test_join.py STRATA STRATA_SIMGPU [--python PYTHON]...

Skipped (exit 77) without PyTorch.
"""
import json
import os
import pickle
import subprocess
import sys
import tempfile

from running import PROGRAMS, main, strata_json

PROGRAM = os.path.join(PROGRAMS, "join_program.py")
MOVED_NS = 12_345_678_901
NEAR_NS = 100_000  # both stamps are taken within one call of the allocator
NEAR_STEP_NS = 1_000_000  # of a step: what both observers take for themselves


def made(arguments, python, folder, *options):
    os.makedirs(folder)
    run = subprocess.run([arguments.simgpu, "--", python, PROGRAM, folder, *options], capture_output=True, text=True, timeout=300)
    return run, os.path.join(folder, "trace.json"), os.path.join(folder, "snapshot.pickle")


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


def look(arguments, name, trace_path, snapshot_path, by, failures):
    _, told = strata_json(arguments.strata, ["timeline", trace_path, snapshot_path, "--json"])
    failures.expect(name, "joined", told is not None and len(told["ranks"][0]["joined"]), 1)
    if not told:
        return None
    [joined] = told["ranks"][0]["joined"]
    with open(trace_path, encoding="utf-8") as file:
        trace = json.load(file)
    with open(snapshot_path, "rb") as file:
        snapshot = pickle.load(file)
    failures.expect(name, "by", joined["by"], by)
    if by == "allocations":
        failures.expect(name, "all of the trace's allocations", joined["matches"], len(memory_rows(trace)))
    failures.expect(name, f"offset of {joined['offset_ns']} ns", abs(joined["offset_ns"]) <= NEAR_NS)
    failures.expect(name, f"error of {joined['error_ns']} ns", joined["error_ns"] <= NEAR_NS)
    totals, _ = requested_after(snapshot)
    [device] = joined["devices"]
    failures.expect(name, "peak", device["requested_bytes_peak"], totals[device["requested_peak_event"]])
    print(f"{name}: offset {joined['offset_ns']} ns within {joined['error_ns']} ns by {joined['matches']} {by}", flush=True)
    return joined, trace, snapshot


def written(arguments, name, trace_path, snapshot_path, folder, failures):
    """As a trace: each change of the snapshot within the trace's time, with the totals behind it."""
    path = os.path.join(folder, "joined.json")
    subprocess.run([arguments.strata, "timeline", trace_path, snapshot_path, "-o", path], stdout=subprocess.DEVNULL, check=True)
    with open(path, encoding="utf-8") as file:
        held, *rows = memory_rows(json.load(file))
    with open(snapshot_path, "rb") as file:
        totals, changes = requested_after(pickle.load(file))
    events = [(change, total) for change, total in zip(changes, totals) if change]
    got = [(row["args"]["Bytes"], row["args"]["Total Allocated"]) for row in rows]
    begins = [at for at in range(len(events)) if events[at:at + len(got)] == got]
    failures.expect(name, "the snapshot's changes in the written trace", len(begins), 1)
    if begins:
        failures.expect(name, "what held before", held["args"]["Total Allocated"], events[begins[0] - 1][1])


def test(arguments, python, failures):
    version = os.path.basename(os.path.dirname(os.path.dirname(python)))
    with tempfile.TemporaryDirectory() as folder:
        run, trace_path, snapshot_path = made(arguments, python, os.path.join(folder, "one"))
        failures.expect(version, f"exit: {run.stderr[-500:]}", run.returncode, 0)
        if run.returncode != 0:
            return
        found = look(arguments, version, trace_path, snapshot_path, "allocations", failures)
        if not found:
            return
        joined, trace, _ = found
        written(arguments, version, trace_path, snapshot_path, folder, failures)

        trace["baseTimeNanoseconds"] += MOVED_NS
        moved = os.path.join(folder, "moved.json")
        with open(moved, "w", encoding="utf-8") as file:
            json.dump(trace, file)
        _, told = strata_json(arguments.strata, ["timeline", moved, snapshot_path, "--json"])
        failures.expect(version, "offset of a clock that was moved", told and told["ranks"][0]["joined"][0]["offset_ns"],
                        joined["offset_ns"] + MOVED_NS)

        _, unmeasured, other = made(arguments, python, os.path.join(folder, "other"), "--no-memory")
        look(arguments, f"{version} without memory", unmeasured, other, "annotations", failures)
        run, told = strata_json(arguments.strata, ["timeline", trace_path, other, "--json"])
        failures.expect(version, "a snapshot of another run", (run.returncode != 0, told), (True, None))
        failures.expect(version, "why it is refused", "not of the same run" in run.stderr)
        check_recording(arguments, version, python, os.path.join(folder, "recorded"), failures)


def check_recording(arguments, version, python, folder, failures):
    os.makedirs(folder)
    recording, trace_path = os.path.join(folder, "run.strata"), os.path.join(folder, "trace.json")
    run = subprocess.run([arguments.strata, "record", "--simulated", "A100-80GB", "--kernels", "-o", recording, "--", python, PROGRAM, folder],
                         capture_output=True, text=True, timeout=300)
    failures.expect(version, f"recorded: {run.stderr[-500:]}", run.returncode, 0)
    if run.returncode != 0:
        return
    _, told = strata_json(arguments.strata, ["timeline", trace_path, recording, "--json"])
    failures.expect(version, "a trace of a card that strata record simulates says so", told["simulated"])
    failures.expect(version, "a recording of its process is no rank", (len(told["ranks"]), "ranks_verdict" in told), (1, False))
    failures.expect(version, "but joins it", len(told["ranks"][0]["joined"]), 1)
    failures.expect(version, "offset of the recording", abs(told["ranks"][0]["joined"][0]["offset_ns"]) <= NEAR_NS)
    _, own = strata_json(arguments.strata, ["timeline", recording, "--json"])
    steps = own["ranks"][0]["steps"]
    failures.expect(version, "names of steps", [step["name"] for step in steps], [f"step {number}" for number in range(13)])
    with open(trace_path, encoding="utf-8") as file:
        profiled = {row["name"]: row["dur"] * 1e3 for row in json.load(file)["traceEvents"]
                    if row.get("cat") == "user_annotation" and row["name"].startswith("step ")}
    failures.expect(version, "steps that both saw", len(profiled), 8)
    far = [step for step in steps if abs(step["duration_ns"] - profiled.get(step["name"], step["duration_ns"])) > NEAR_STEP_NS]
    failures.expect(version, "times of steps that are not the profiler's", far, [])
    failures.expect(version, "steps of which nobody knows how busy the GPU was",
                    [step["name"] for step in steps if step["gpu_busy_ns"] is None], sorted(profiled, key=lambda name: int(name[5:])))


if __name__ == "__main__":
    sys.exit(main(test, ("strata", "simgpu")))
