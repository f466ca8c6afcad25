# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranges of many threads at once: each on its thread, as often and in the order that the program itself counted, around the
allocations that were made in it.

usage: test_record_threads.py STRATA STRATA_SIMGPU BUILD_FOLDER [--python PYTHON]... [--threads N]...

threads.cpp, linked with the recorder, and the same from Python, with 16 threads (STRATA_LONG=1: with 2, 3, 4, 8 and 16). On the
simulated device. Skipped (exit 77) without PyTorch.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

import record_tools
from running import LONG, PROGRAMS, PROJECT, main, strata_json
from cpp import compiled

SOURCE = os.path.join(PROGRAMS, "threads.cpp")
CAPTURE = os.path.join(PROJECT, "capture")
THREADS = (2, 3, 4, 8, 16) if LONG else (16,)
#: threads.cpp again, for the package.
PROGRAM = """
import contextlib, json, sys, threading, torch, strata_capture
count, said, barrier = int(sys.argv[1]), {}, threading.Barrier(int(sys.argv[1]))

@contextlib.contextmanager
def counted(range_, name):
    with range_:
        mine().append(("START", name))
        yield
    mine().append(("END", name))

def mine():
    return said.setdefault(threading.get_native_id(), [])

def layers(bytes_, depth):
    with counted(strata_capture.scope("layer"), "layer"):
        if depth > 1:
            return layers(bytes_, depth - 1)
        torch.empty(bytes_, dtype=torch.uint8, device="cuda")

def train(thread):
    barrier.wait()
    sizes[threading.get_native_id()] = (1 << 20) + thread * 512
    for number in range(4 + thread):
        with counted(strata_capture.step(number), f"step {number}"):
            with counted(strata_capture.phase("forward"), "forward"):
                layers((1 << 20) + thread * 512, thread % 4 + 1)
            with counted(strata_capture.phase("backward"), "backward"), counted(strata_capture.scope("all-reduce"), "all-reduce"):
                pass
            strata_capture.mark("batch done")
            mine().append(("MARK", "batch done"))
            if number % 2 == 1:
                with counted(strata_capture.phase("optimizer"), "optimizer"):
                    pass
    done.wait()

sizes, done = {}, threading.Barrier(count)  # no number is given to two threads
with strata_capture.record(sys.argv[2]):
    threads = [threading.Thread(target=train, args=(thread,)) for thread in range(count)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
for thread, all_ in said.items():
    print(json.dumps({"thread": thread, "bytes": sizes[thread], "said": all_}))
"""


def paired(said):
    """(name, index of the start, of the end) of each range, outermost first; None where one has no other."""
    open_, ranges = [], []
    for index, (kind, name) in enumerate(said):
        if kind == "START":
            open_.append((name, index))
        elif kind == "END":
            if not open_ or open_[-1][0] != name:
                return None
            ranges.append((*open_.pop(), index))
    return None if open_ else sorted(ranges, key=lambda r: r[1])


def look(name, strata, session, told, folder, failures):
    """`told`: what the program says of its threads."""
    _, summary = strata_json(strata, ["summary", "--json", session])
    device = summary["devices"][0] if summary and summary["devices"] else None
    if device is None:
        failures.expect(name, "session", summary, "one with a device")
        return 0
    failures.expect(name, "exact", device["integrity"]["exact"], True)
    failures.expect(name, "ranges and marks", summary["annotations"],
                    sum(kind != "END" for each in told for kind, _ in each["said"]))
    snapshot = record_tools.as_snapshot(strata, session, folder)
    threads = collections.defaultdict(list)
    for each in snapshot["external_annotations"]:
        threads[each["thread_id"]].append((each.get("stage", "MARK"), each["name"], each["time_us"]))
    failures.expect(name, "threads", sorted(threads), sorted(each["thread"] for each in told))
    allocated = collections.defaultdict(list)
    for event in snapshot["device_traces"][0]:
        if event["action"] == "alloc":
            allocated[event["size"]].append(event["time_us"])
    ranges = 0
    for each in told:
        who, found = f"{name} thread of {each['bytes']} B", threads[each["thread"]]
        wanted = [tuple(entry) for entry in each["said"]]
        failures.expect(who, "in the program's order", [entry[:2] for entry in found], wanted)
        for kind in ("START", "END"):
            count = collections.Counter(entry[1] for entry in found if entry[0] == kind)
            failures.expect(who, f"{kind} of each", count, collections.Counter(entry[1] for entry in wanted if entry[0] == kind))
        failures.expect(who, "time goes on", all(a[2] <= b[2] for a, b in zip(found, found[1:])))
        pairs = paired([entry[:2] for entry in found])
        failures.expect(who, "every range ends within its own", pairs is not None)
        inner = [pair for pair in pairs or () if pair[0] == "layer" and (pair[0], pair[1] + 1) not in [(p[0], p[1]) for p in pairs]]
        times = allocated[each["bytes"]]
        failures.expect(who, "allocations", len(times), sum(entry[1].startswith("step ") for entry in wanted) // 2)
        outside = [at for at, (_, start, end) in zip(times, inner) if not found[start][2] <= at <= found[end][2]]
        failures.expect(who, "allocations outside of their layer", (len(inner), outside), (len(times), []))
        ranges += len(pairs or ())
    return ranges


def test(arguments, python, failures):
    for program in ("strata", "simgpu", "build"):
        setattr(arguments, program, os.path.abspath(getattr(arguments, program)))
    library = os.path.join(arguments.build, "lib", "strata")
    program = compiled(python, failures, SOURCE, ("-O1", "-pthread", "-I" + os.path.join(CAPTURE, "include"), "-L" + library,
                                               "-Wl,-rpath," + library, "-Wl,--no-as-needed", "-lstrata_capture"))
    environment = {**os.environ, "PYTHONPATH": os.path.join(CAPTURE, "python"),
                   "STRATA_CAPTURE_LIBRARY": os.path.join(library, "libstrata_capture.so")}
    version = os.path.basename(os.path.dirname(os.path.dirname(python)))
    for language, command, counts in (("C++", [program], THREADS), ("Python", [python, "-c", PROGRAM], THREADS)):
        for count in (arguments.threads or counts) if command[0] else ():
            name = f"{version} {language}, {count} threads"
            with tempfile.TemporaryDirectory() as folder:
                session = os.path.join(folder, "out.strata")
                run = subprocess.run([arguments.simgpu, "--", *command, str(count), session], env=environment, capture_output=True,
                                     text=True)
                failures.expect(name, "exit", run.returncode, 0)
                told = [json.loads(line) for line in run.stdout.splitlines()]
                failures.expect(name, "threads that told", len(told), count)
                print(f"{name}: {look(name, arguments.strata, session, told, folder, failures)} ranges", flush=True)


def add_options(parser):
    parser.add_argument("--threads", type=int, action="append")


if __name__ == "__main__":
    sys.exit(main(test, ("strata", "simgpu", "build"), add_options=add_options, older=True))
