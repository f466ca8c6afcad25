# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls of the allocator besides memory, from Python and C++: each in the session, between the right events.

Programs that make them at known places (calls.py, calls.cpp) say before how many events they do, on two devices. Of threads
that make them while others allocate nobody knows the place, but what the allocator did there: an empty_cache() gives back
exactly the segments in which no block lives, and nothing else gives back any.
"""
import bisect
import collections
import json
import os
import subprocess

import pytest

import record_tools
from cpp import compiled
from running import LONG, PROGRAMS, strata_json, version, with_environment

SIMULATED = ["--simulated", "H100-80GB", "--devices", "2", "--capacity", "2GiB", "--stacks", "none"]
DEVICES = (0, 1)
CALLS = [os.path.join(PROGRAMS, "calls.py")]
ROUNDS = 5000 if LONG else 150


def recorded(strata, session, device):
    """Events and calls of a device, one behind the other."""
    run = subprocess.run([strata, "events", session, "--json", "--annotations", "--device", str(device)], capture_output=True, text=True)
    return [json.loads(line) for line in run.stdout.splitlines()[1:]]


def calls(rows, device):
    """[device, events before it, call, value] of each; whoever counts in the program does not count snapshots."""
    events, found = 0, []
    for row in rows:
        if "allocator_call" in row:
            found.append([device, events, row["allocator_call"], row["value"]])
        elif "action" in row:
            events += row["action"] != "snapshot"
    return found


def facts(session):
    return {key: value for chunk in record_tools.pairs(session, 1) for key, value in chunk.items()}


def look_at_places(strata, name, said, session, failures):
    """`said`: what the program printed."""
    told = [json.loads(line) for line in said.splitlines() if line.startswith("[")]
    failures.expect(name, "calls", len(told) > 12)
    for device in DEVICES:
        is_, made = calls(recorded(strata, session, device), device), [each for each in told if each[0] == device]
        for mine, its in zip(is_, made):
            if mine != its:
                failures.expect(name, f"device {device}", mine, its)
                break
        failures.expect(name, f"device {device}: number of calls", len(is_), len(made))


def look_at_parts(strata, name, session, folder, failures):
    """They go through a conversion as they are, and with a part, whose events they are numbered by."""
    copy, part = os.path.join(folder, "copy.strata"), os.path.join(folder, "part.strata")
    for command in (["convert", session, "-o", copy], ["share", session, "-o", part, "--from", "4"]):
        run = subprocess.run([strata, *command], capture_output=True, text=True)
        failures.expect(name, command[0], (run.returncode, run.stderr), (0, ""))
    for device in DEVICES:
        failures.expect(name, f"device {device}: converted", recorded(strata, copy, device), recorded(strata, session, device))
    whole = calls(recorded(strata, session, 0), 0)
    behind = calls(recorded(strata, part, 0), 0)
    cut = len(behind) - len([c for c in behind if c[1] == 0])
    failures.expect(name, "a part has those of its events", [c[2:] for c in behind[-cut:]], [c[2:] for c in whole[-cut:]])
    failures.expect(name, "a part has some", cut > 3)


class Segments:
    """Of one device: which hold a living block."""

    def __init__(self):
        self.starts, self.bytes, self.blocks, self.living = [], {}, {}, collections.Counter()

    def segment_of(self, address):
        at = bisect.bisect_right(self.starts, address) - 1
        return self.starts[at] if at >= 0 and address < self.starts[at] + self.bytes[self.starts[at]] else None

    def take(self, event):
        address, action = event["address"], event["action"]
        if action == "segment_alloc":
            bisect.insort(self.starts, address)
            self.bytes[address] = event["bytes"]
        elif action == "segment_free":
            self.starts.remove(address)
            del self.bytes[address]
        elif action == "alloc":
            self.blocks[address] = self.segment_of(address)
            self.living[self.blocks[address]] += 1
        elif action == "free_completed":
            self.living[self.blocks.pop(address)] -= 1

    def free(self):
        return {start for start in self.starts if not self.living[start]}


def effects(name, rows, failures):
    """How many of the calls released something, and how many nothing."""
    segments, counts, index = Segments(), collections.Counter(), 0
    while index < len(rows):
        row = rows[index]
        index += 1
        if "action" in row:
            if row["action"] == "segment_free":
                failures.expect(name, f"event {row['event']}: released by a call", False)
                return counts
            segments.take(row)
        elif row.get("allocator_call") == "empty_cache":
            expected, released = segments.free(), set()
            while index < len(rows) and rows[index].get("action") == "segment_free":
                released.add(rows[index]["address"])
                segments.take(rows[index])
                index += 1
            if released != expected:
                failures.expect(name, f"behind event {row['after_event']}: released", released, expected)
                return counts
            counts["something" if released else "nothing"] += 1
    return counts


SETTINGS = "garbage_collection_threshold:0.75,max_split_size_mb:200,roundup_power2_divisions:4"
CHANGE = """
import torch
kept = torch.empty(1000, device="cuda")
torch.cuda.memory._set_allocator_settings("max_split_size_mb:300")
more = torch.empty(1000, device="cuda")
"""


def look_at_settings(strata, name, python, session, failures):
    """Of the beginning those of the environment as torch read them, with version and capacity, whoever records."""
    begin, *later = record_tools.pairs(session, 11)
    known = {key: json.loads(begin[key]) for key in ("PYTORCH_CUDA_ALLOC_CONF", "max_split_size", "garbage_collection_threshold")}
    failures.expect(name, "settings of the beginning", known,
                    {"PYTORCH_CUDA_ALLOC_CONF": SETTINGS, "max_split_size": 200 << 20, "garbage_collection_threshold": 0.75})
    failures.expect(name, "divisions", set(json.loads(begin["roundup_power2_divisions"]).values()), {4})
    failures.expect(name, "settings of the end", [json.loads(each["max_split_size"]) for each in later], [300 << 20])
    failures.expect(name, "calls", calls(recorded(strata, session, 0), 0), [[0, 2, "settings", "max_split_size_mb:300"]])
    told = facts(session)
    failures.expect(name, "version", told["torch"].split("+")[0], ".".join(map(str, version(python)[:3])))
    failures.expect(name, "capacity", told["device.0.capacity"], str(2 << 30))
    failures.expect(name, "all calls are told", told["allocator_calls"], "1")


@pytest.mark.torch("older")
def test_python_and_parts(strata, python, tmp_path, failures):
    session = str(tmp_path / "places.strata")
    run = record_tools.record(strata, [*SIMULATED, "-o", session], [python, *CALLS])
    failures.expect("Python", "exit", (run.returncode, run.stderr[-1000:] if run.returncode else ""), (0, ""))
    look_at_places(strata, "Python", run.stdout.decode(), session, failures)
    look_at_parts(strata, "Python", session, str(tmp_path), failures)


@pytest.mark.parametrize("command, options", [("record", SIMULATED),
                                              ("dryrun", ["--device", "H100-80GB", "--devices", "2", "--capacity", "2GiB"])])
def test_settings(strata, python, command, options, tmp_path, failures):
    session = str(tmp_path / "out.strata")
    run = subprocess.run([strata, command, *options, "-o", session, "--", python, "-c", CHANGE],
                         env=with_environment(PYTORCH_CUDA_ALLOC_CONF=SETTINGS), capture_output=True, text=True)
    failures.expect(command, "exit", (run.returncode, run.stderr[-1000:] if run.returncode else ""), (0, ""))
    look_at_settings(strata, command, python, session, failures)


def program_of(python, failures):
    return compiled(python, failures, os.path.join(PROGRAMS, "calls.cpp"), ("-O1", "-pthread"))


def test_cpp(strata, python, tmp_path, failures):
    if program := program_of(python, failures):
        session = str(tmp_path / "places.strata")
        run = record_tools.record(strata, [*SIMULATED, "-o", session], [program, "places"])
        failures.expect("C++", "exit", (run.returncode, run.stderr[-1000:] if run.returncode else ""), (0, ""))
        look_at_places(strata, "C++", run.stdout.decode(), session, failures)


def test_set_before_the_recording(strata, python, tmp_path, failures):
    """What was set before the recording could begin: by a call, or else as a fact."""
    if program := program_of(python, failures):
        session = str(tmp_path / "early.strata")
        record_tools.record(strata, [*SIMULATED, "-o", session], [program, "early"])
        fact = facts(session).get("device.0.memory_fraction") == "0.5"
        marked = calls(recorded(strata, session, 0), 0) == [[0, 0, "memory_fraction", "0.5"]]
        failures.expect("early", "the fraction is known, once", fact + marked, 1)


def test_threads(strata, python, tmp_path, failures):
    program = program_of(python, failures)
    if not program:
        return
    session = str(tmp_path / "threads.strata")
    run = record_tools.record(strata, [*SIMULATED, "--memory", "1GiB", "--ring", str(1 << 22), "-o", session],
                              [program, "threads", str(ROUNDS)])
    assert run.returncode == 0, run.stderr[-1000:]
    told = json.loads(run.stdout)
    _, summary = strata_json(strata, ["summary", "--json", session])
    for device in DEVICES:
        name, rows = f"device {device}", recorded(strata, session, device)
        counts = collections.Counter(row["allocator_call"] for row in rows if "allocator_call" in row)
        wanted = {call: count for call, count in told.items() if call != "memory_fraction" or device == 0}
        failures.expect(name, "calls", dict(counts), wanted)
        failures.expect(name, "exact", summary["devices"][device]["integrity"]["exact"], True)
        released = effects(name, rows, failures)
        failures.expect(name, "calls that released something, and nothing", all(released[which] > 2 for which in ("something", "nothing")))
        print(f"{name}: {len(rows)} rows, {dict(released)}")
