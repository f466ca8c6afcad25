# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls of the allocator besides memory, from Python and C++: each in the session, between the right events.

usage: test_record_calls.py STRATA [--python PYTHON]... [--rounds N]

Programs that make them at known places (calls.py, calls.cpp) say before how many events they do, on two devices. Of threads
that make them while others allocate nobody knows the place, but what the allocator did there: an empty_cache() gives back
exactly the segments in which no block lives, and nothing else gives back any. With every PyTorch at hand on the simulated
device. Skipped (exit 77) without PyTorch.
"""
import bisect
import collections
import json
import os
import subprocess
import sys
import tempfile

import record_tools
from running import LONG, PROGRAMS, main, strata_json
from cpp import compiled

SIMULATED = ["--simulated", "H100-80GB", "--devices", "2", "--capacity", "2GiB", "--stacks", "none"]
DEVICES = (0, 1)


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


def places(arguments, name, command, failures, folder):
    session = os.path.join(folder, "places.strata")
    run = record_tools.record(arguments.strata, [*SIMULATED, "-o", session], command)
    failures.expect(name, "exit", (run.returncode, run.stderr[-1000:] if run.returncode else ""), (0, ""))
    told = [json.loads(line) for line in run.stdout.decode().splitlines() if line.startswith("[")]
    failures.expect(name, "calls", len(told) > 12)
    for device in DEVICES:
        is_, made = calls(recorded(arguments.strata, session, device), device), [each for each in told if each[0] == device]
        for mine, its in zip(is_, made):
            if mine != its:
                failures.expect(name, f"device {device}", mine, its)
                break
        failures.expect(name, f"device {device}: number of calls", len(is_), len(made))
    return session


def early(arguments, name, program, failures, folder):
    """What was set before the recording could begin: by a call, or else as a fact."""
    session = os.path.join(folder, "early.strata")
    record_tools.record(arguments.strata, [*SIMULATED, "-o", session], [program, "early"])
    fact = facts(session).get("device.0.memory_fraction") == "0.5"
    marked = calls(recorded(arguments.strata, session, 0), 0) == [[0, 0, "memory_fraction", "0.5"]]
    failures.expect(name, "the fraction is known, once", fact + marked, 1)


def parts(arguments, name, session, failures, folder):
    """They go through a conversion as they are, and with a part, whose events they are numbered by."""
    copy, part = os.path.join(folder, "copy.strata"), os.path.join(folder, "part.strata")
    for command in (["convert", session, "-o", copy], ["share", session, "-o", part, "--from", "4"]):
        run = subprocess.run([arguments.strata, *command], capture_output=True, text=True)
        failures.expect(name, command[0], (run.returncode, run.stderr), (0, ""))
    for device in DEVICES:
        whole = recorded(arguments.strata, session, device)
        failures.expect(name, f"device {device}: converted", recorded(arguments.strata, copy, device), whole)
    whole = [c for c in calls(recorded(arguments.strata, session, 0), 0)]
    behind = calls(recorded(arguments.strata, part, 0), 0)
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


def threads(arguments, name, program, failures, folder):
    session = os.path.join(folder, "threads.strata")
    run = record_tools.record(arguments.strata, [*SIMULATED, "--memory", "1GiB", "--ring", str(1 << 22), "-o", session],
                              [program, "threads", str(arguments.rounds)])
    failures.expect(name, "exit", (run.returncode, run.stderr[-1000:] if run.returncode else ""), (0, ""))
    if run.returncode != 0:
        return
    told = json.loads(run.stdout)
    _, summary = strata_json(arguments.strata, ["summary", "--json", session])
    for device in DEVICES:
        rows = recorded(arguments.strata, session, device)
        counts = collections.Counter(row["allocator_call"] for row in rows if "allocator_call" in row)
        wanted = {call: count for call, count in told.items() if call != "memory_fraction" or device == 0}
        failures.expect(name, f"device {device}: calls", dict(counts), wanted)
        failures.expect(name, f"device {device}: exact", summary["devices"][device]["integrity"]["exact"], True)
        released = effects(f"{name}, device {device}", rows, failures)
        failures.expect(name, f"device {device}: calls that released something, and nothing",
                        all(released[which] > 2 for which in ("something", "nothing")))
        print(f"{name}, device {device}: {len(rows)} rows, {dict(released)}", flush=True)


SETTINGS = "garbage_collection_threshold:0.75,max_split_size_mb:200,roundup_power2_divisions:4"
CHANGE = """
import torch
kept = torch.empty(1000, device="cuda")
torch.cuda.memory._set_allocator_settings("max_split_size_mb:300")
more = torch.empty(1000, device="cuda")
"""


def settings(arguments, name, python, failures, folder):
    """Of the beginning those of the environment as torch read them, with version and capacity, whoever records."""
    for command, options in (("record", SIMULATED), ("dryrun", ["--device", "H100-80GB", "--devices", "2", "--capacity", "2GiB"])):
        session = os.path.join(folder, command + ".strata")
        run = subprocess.run([arguments.strata, command, *options, "-o", session, "--", python, "-c", CHANGE],
                             env={**os.environ, "PYTORCH_CUDA_ALLOC_CONF": SETTINGS}, capture_output=True, text=True)
        failures.expect(f"{name} {command}", "exit", (run.returncode, run.stderr[-1000:] if run.returncode else ""), (0, ""))
        begin, *later = record_tools.pairs(session, 11)
        known = {key: json.loads(begin[key]) for key in ("PYTORCH_CUDA_ALLOC_CONF", "max_split_size", "garbage_collection_threshold")}
        failures.expect(f"{name} {command}", "settings of the beginning", known,
                        {"PYTORCH_CUDA_ALLOC_CONF": SETTINGS, "max_split_size": 200 << 20, "garbage_collection_threshold": 0.75})
        failures.expect(f"{name} {command}", "divisions", set(json.loads(begin["roundup_power2_divisions"]).values()), {4})
        failures.expect(f"{name} {command}", "settings of the end", [json.loads(each["max_split_size"]) for each in later], [300 << 20])
        failures.expect(f"{name} {command}", "calls", calls(recorded(arguments.strata, session, 0), 0),
                        [[0, 2, "settings", "max_split_size_mb:300"]])
        told = facts(session)
        failures.expect(f"{name} {command}", "version", told["torch"].split("+")[0], name.split("-")[1])
        failures.expect(f"{name} {command}", "capacity", told["device.0.capacity"], str(2 << 30))
        failures.expect(f"{name} {command}", "all calls are told", told["allocator_calls"], "1")


def test(arguments, python, failures):
    version = os.path.basename(os.path.dirname(os.path.dirname(python)))
    program = compiled(python, failures, os.path.join(PROGRAMS, "calls.cpp"), ("-O1", "-pthread"))
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(PROGRAMS, "calls.py")
        session = places(arguments, f"{version} Python", [python, script], failures, folder)
        if LONG or python == arguments.found[0]:
            settings(arguments, version, python, failures, folder)
        parts(arguments, f"{version} Python", session, failures, folder)
        if program:
            places(arguments, f"{version} C++", [program, "places"], failures, folder)
            early(arguments, f"{version} C++", program, failures, folder)
            if LONG or python == arguments.found[0]:
                threads(arguments, f"{version} threads", program, failures, folder)


def add_options(parser):
    parser.add_argument("--rounds", type=int, default=5000 if LONG else 300)


if __name__ == "__main__":
    sys.exit(main(test, add_options=add_options, older=True))
