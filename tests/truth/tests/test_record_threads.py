# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranges of many threads at once: each on its thread, as often and in the order that the program itself counted, around the
allocations that were made in it.

threads.cpp, linked with the recorder, and the same from Python, with 16 threads; the long form has other numbers too.
"""
import collections
import json
import os
import subprocess

import pytest

import record_tools
from cpp import compiled
from running import PROGRAMS, strata_json

SOURCE = os.path.join(PROGRAMS, "threads.cpp")
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


@pytest.mark.parametrize("count", [16, *(pytest.param(count, marks=pytest.mark.long) for count in (2, 3, 4, 8))])
@pytest.mark.parametrize("language", ["C++", "Python"])
def test_ranges(strata, simgpu, build, python, language, count, tmp_path, failures):
    program = None
    if language == "C++":
        program = compiled(python, failures, SOURCE, ("-O1", "-pthread", *record_tools.linked(build)))
        if not program:
            return
    session = str(tmp_path / "out.strata")
    run = subprocess.run([simgpu, "--", *([program] if program else [python, "-c", PROGRAM]), str(count), session],
                         env=record_tools.with_package(build), capture_output=True, text=True)
    failures.expect(language, "exit", run.returncode, 0)
    told = [json.loads(line) for line in run.stdout.splitlines()]
    failures.expect(language, "threads that told", len(told), count)
    print(f"{look(language, strata, session, told, str(tmp_path), failures)} ranges")
