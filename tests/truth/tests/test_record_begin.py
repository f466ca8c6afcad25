# SPDX-License-Identifier: GPL-3.0-or-later
"""Where recordings begin: programs whose threads all use CUDA for the first time at once lose nothing, however the recorder
came into them, and keep what they said before.

Ways: "preload" (`strata record`), "linked" (the program records itself; the recorder linked before LibTorch or behind it; "open":
its end ends the recording), "both" (`strata record` of such a program), "python" (the package strata_capture); "alone": one
thread, so that LibTorch makes nothing before the recorder is there. The long form runs each three times.
"""
import os
import subprocess

import pytest

import record_tools
from cpp import compiled
from running import LONG, PROGRAMS

SOURCE = os.path.join(PROGRAMS, "begin.cpp")
THREADS = 8
MIB = 1 << 20
SIMULATED = "T4-16GB"
PROGRAM = """
import sys, threading, torch, strata_capture
recording = strata_capture.start(sys.argv[1])
strata_capture.note("before anything")
strata_capture.mark("early mark")
barrier, kept = threading.Barrier({threads}), []
def allocate():
    barrier.wait()
    for mebibytes in (1, 2, 3):
        kept.append(torch.empty(mebibytes << 20, dtype=torch.uint8, device="cuda"))
with strata_capture.scope("whole program"):
    threads = [threading.Thread(target=allocate) for _ in range({threads})]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    strata_capture.mark("late mark")
strata_capture.stop()
"""
SAID = [("MARK", "note: before anything"), ("MARK", "early mark"), ("START", "whole program"), ("MARK", "late mark"),
        ("END", "whole program")]
#: What each thread of begin.cpp says.
STEPS = [said for number in range(10) for said in (
    ("START", f"step {number}"), ("START", "forward"), ("START", "inner"),
    ("END", "inner"), ("END", "forward"), ("END", f"step {number}"))]


def first_events(strata, name, session, threads, annotations, folder, failures):
    """A session that lacks nothing."""
    device = record_tools.first_device(strata, session)
    if device is None:
        failures.expect(name, "session", device, "one with a device")
        return
    failures.expect(name, "at its beginning", (device["requested_bytes_start"], device["actions"].get("alloc", 0)), (0, 3 * threads))
    failures.expect(name, "peak", device["requested_bytes_peak"], 6 * MIB * threads)
    failures.expect(name, "exact", device["integrity"]["exact"], True)
    if "preload" in name:
        about = device["settings"].get("simulated_device") or {}
        failures.expect(name, "simulated device", (about.get("device"), about.get("devices")), (SIMULATED, 1))
    snapshot = record_tools.as_snapshot(strata, session, folder)
    events = snapshot["device_traces"][0]
    failures.expect(name, "first event", events[0]["action"] if events else None, "segment_alloc")
    failures.expect(name, "without a stack", [e for e in events if e["action"] == "alloc" and not e.get("frames")], [])
    if not annotations:
        return
    by_thread = {}
    for each in snapshot["external_annotations"]:
        by_thread.setdefault(each["thread_id"], []).append((each.get("stage", "MARK"), each["name"]))
    failures.expect(name, "said", SAID in by_thread.values())
    if "linked" in name:
        failures.expect(name, "steps of each thread", sorted(by_thread.values(), key=len)[1:], [STEPS] * threads)


def try_way(name, command, threads, records_itself, strata, build, folder, failures):
    session = str(folder / "out.strata")
    for number in range(3 if LONG else 1):
        run = subprocess.run([session if word == "SESSION" else word for word in command], env=record_tools.with_package(build),
                             capture_output=True, text=True)
        failures.expect(f"{name} {number}", "exit and complaints", (run.returncode, "could begin" in run.stderr), (0, False))
        first_events(strata, f"{name} {number}", session, threads, records_itself, str(folder), failures)
        if os.path.exists(session):
            os.remove(session)


@pytest.mark.torch("older")
def test_python(strata, simgpu, build, python, tmp_path, failures):
    try_way("python", [simgpu, "--", python, "-c", PROGRAM.format(threads=THREADS), "SESSION"], THREADS, True, strata, build, tmp_path, failures)


@pytest.mark.torch("older")
@pytest.mark.parametrize("threads", [THREADS, pytest.param(1, marks=pytest.mark.long)])
def test_preload(strata, build, python, threads, tmp_path, failures):
    if program := compiled(python, failures, SOURCE, ("-O1", "-pthread")):
        command = [strata, "record", "-o", "SESSION", "--simulated", SIMULATED, "--", program, str(threads)]
        try_way("preload", command, threads, False, strata, build, tmp_path, failures)


EARLY_RANGE = """
import torch
kept = []
for i in range(12):
    with torch.profiler.record_function(f"step {i}"):
        kept.append(torch.zeros(1 << 20, device="cuda")[:1])
"""


def test_range_that_is_open_at_the_first_allocation(strata, python, tmp_path, failures):
    program, session = tmp_path / "early.py", str(tmp_path / "early.strata")
    program.write_text(EARLY_RANGE)
    run = record_tools.record(strata, ["-o", session, "--simulated", SIMULATED], [python, str(program)])
    if run.returncode != 0:
        failures.expect("early range", "record", run.stderr, "no error")
        return
    _, answer = record_tools.strata_json(strata, ["steps", "--json", session])
    steps = [step for step in answer["devices"][0]["steps"] if step["step"] is not None]
    failures.expect("early range", "numbers", [step["step"] for step in steps], list(range(12)))
    failures.expect("early range", "kinds", {step["kind"] for step in steps}, {"loop"})


@pytest.mark.parametrize("order, how", [
    ("first", ""), ("last", "open alone"), ("first", "both"),
    *(pytest.param(*case, marks=pytest.mark.long) for case in (("first", "open"), ("first", "open alone"), ("last", ""), ("last", "open")))])
def test_linked(strata, simgpu, build, python, order, how, tmp_path, failures):
    header, *library = record_tools.linked(build)
    options = ("-O1", "-pthread", "-DSTRATA_LINKED", header)
    program = compiled(python, failures, SOURCE, options + tuple(library)) if order == "first" else \
        compiled(python, failures, SOURCE, options, tuple(library))
    if not program:
        return
    if how == "both":
        command = [strata, "record", "-o", "SESSION", "--simulated", SIMULATED, "--", program, str(THREADS)]
        try_way("both", command, THREADS, False, strata, build, tmp_path, failures)
        return
    threads = 1 if "alone" in how else THREADS
    command = [simgpu, "--", program, str(threads), "SESSION", *(["open"] if "open" in how else [])]
    try_way(f"linked {order} {how}", command, threads, True, strata, build, tmp_path, failures)
