# SPDX-License-Identifier: GPL-3.0-or-later
"""Where recordings begin: programs whose threads all use CUDA for the first time at once lose nothing, however the recorder
came into them, and keep what they said before.

usage: test_record_begin.py STRATA STRATA_SIMGPU BUILD_FOLDER [--python PYTHON]... [--runs N]

Ways: "preload" (`strata record`), "linked" (the program records itself; the recorder linked before LibTorch or behind it; "open":
its end ends the recording), "both" (`strata record` of such a program), "python" (the package strata_capture); "alone": one
thread, so that LibTorch makes nothing before the recorder is there. N runs of each, with every PyTorch at hand.
Skipped (exit 77) without PyTorch.
"""
import os
import subprocess
import sys
import tempfile

import record_tools
from running import LONG, PROGRAMS, PROJECT, main, strata_json
from cpp import compiled

SOURCE = os.path.join(PROGRAMS, "begin.cpp")
CAPTURE = os.path.join(PROJECT, "capture")
THREADS = 8
MIB = 1 << 20
SIMULATED = "T4-16GB"
OF_OLDER = ("python", "preload", "linked first open")  # ways of the short form with another PyTorch than the newest
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


def programs(python, folder, failures):
    """By how the recorder comes into them; None where they cannot be built."""
    library = os.path.join(folder, "lib", "strata")
    recorder = ("-L" + library, "-Wl,-rpath," + library, "-Wl,--no-as-needed", "-lstrata_capture")
    plain, linked = ("-O1", "-pthread"), ("-O1", "-pthread", "-DSTRATA_LINKED", "-I" + os.path.join(CAPTURE, "include"))
    return {"none": compiled(python, failures, SOURCE, plain), "first": compiled(python, failures, SOURCE, linked + recorder),
            "last": compiled(python, failures, SOURCE, linked, recorder)}


def ways(arguments, python, programs, session):
    """Name, command, threads, whether the program records itself."""
    record = [arguments.strata, "record", "-o", session, "--simulated", SIMULATED, "--"]
    yield "python", [arguments.simgpu, "--", python, "-c", PROGRAM.format(threads=THREADS), session], THREADS, True
    if all(programs.values()):
        yield "preload", [*record, programs["none"], str(THREADS)], THREADS, False
        yield "preload alone", [*record, programs["none"], "1"], 1, False
        for order in ("first", "last"):
            itself = [arguments.simgpu, "--", programs[order]]
            yield "linked " + order, [*itself, str(THREADS), session], THREADS, True
            yield f"linked {order} open", [*itself, str(THREADS), session, "open"], THREADS, True
            yield f"linked {order} open alone", [*itself, "1", session, "open"], 1, True
        yield "both", [*record, programs["first"], str(THREADS)], THREADS, False


def first_events(strata, name, session, threads, annotations, folder, failures):
    """A session that lacks nothing."""
    _, summary = strata_json(strata, ["summary", "--json", session])
    device = summary["devices"][0] if summary and summary["devices"] else None
    if device is None:
        failures.expect(name, "session", summary, "one with a device")
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


def test(arguments, python, failures):
    for name in ("strata", "simgpu", "build"):
        setattr(arguments, name, os.path.abspath(getattr(arguments, name)))
    found = programs(python, arguments.build, failures)
    environment = {**os.environ, "PYTHONPATH": os.path.join(CAPTURE, "python"),
                   "STRATA_CAPTURE_LIBRARY": os.path.join(arguments.build, "lib", "strata", "libstrata_capture.so")}
    version = os.path.basename(os.path.dirname(os.path.dirname(python)))
    for number in range(arguments.runs):
        with tempfile.TemporaryDirectory() as folder:
            for way, command, threads, records_itself in ways(arguments, python, found, os.path.join(folder, "out.strata")):
                if not LONG and python != arguments.found[0] and way not in OF_OLDER:
                    continue
                name = f"{version} {way} {number}"
                session = os.path.join(folder, "out.strata")
                run = subprocess.run(command, env=environment, capture_output=True, text=True)
                failures.expect(name, "exit", run.returncode, 0)
                failures.expect(name, "complaints", "could begin" in run.stderr, False)
                first_events(arguments.strata, name, session, threads, records_itself, folder, failures)
                if os.path.exists(session):
                    os.remove(session)


def add_options(parser):
    parser.add_argument("--runs", type=int, default=3 if LONG else 1)


if __name__ == "__main__":
    sys.exit(main(test, ("strata", "simgpu", "build"), add_options=add_options, older=True))
