# SPDX-License-Identifier: GPL-3.0-or-later
"""How recordings of real programs end: killed, out of memory, on disks that take no more, and what cannot be recorded.

usage: test_record_ends.py STRATA [--python PYTHON]... [--kills N]

Runs with the newest PyTorch at hand. Without one the test is skipped (exit 77) and says so.
"""
import argparse
import glob
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

import record_tools
from running import LONG, SKIPPED, Failures, pythons, strata_json

BEGIN = """
import os, sys, time, torch
def churn(seconds):
    end = time.time() + seconds
    while time.time() < end:
        blocks = [torch.empty(100 + i, device="cuda") for i in range(200)]
        del blocks
"""
SIMULATED = ["--simulated", "T4-16GB"]


def run(strata, python, program, folder, failures, options=(), **more):
    """The session's path, and the finished process."""
    session = os.path.join(folder, "out.strata")
    done = record_tools.record(strata, ["-o", session, *SIMULATED, *options], [python, "-c", BEGIN + program], **more)
    return session, done


def figures(strata, session):
    _, summary = strata_json(strata, ["summary", "--json", session])
    return summary["devices"][0] if summary and summary["devices"] else None


def says(failures, name, done, text):
    count = done.stderr.count(text)
    failures.expect(name, f"says '{text}' once", count if count != 1 else 1, 1)
    if count != 1:
        print(done.stderr[-1500:])


def killed(strata, python, failures, kills):
    """Of each session all is there but the last second, as the program itself says when it had done what."""
    program = """
torch.empty(1, device="cuda")
print("ready", flush=True)
for turn in range(1, 1000000):
    block = torch.empty(turn, device="cuda", dtype=torch.uint8)
    del block
    if turn % 50 == 0:
        print(turn, time.time(), flush=True)
        time.sleep(0.002)
"""
    for number in range(kills):
        with tempfile.TemporaryDirectory() as folder:
            session = os.path.join(folder, "out.strata")
            process = subprocess.Popen([strata, "record", "-o", session, *SIMULATED, "--", python, "-c",
                                        BEGIN + "print(os.getpid(), flush=True)\n" + program],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            victim = int(process.stdout.readline())
            process.stdout.readline()
            time.sleep(random.uniform(0, 2.5))
            end = time.time()
            os.kill(victim, signal.SIGKILL)
            output, _ = process.communicate()
            # The last line may have been cut off.
            told = [line.split() for line in output.splitlines(keepends=True) if line.count(" ") == 1 and line[-1] == "\n"]
            owed = max((int(turn) for turn, when in told if float(when) < end - 1), default=0)
            failures.expect(f"kill {number}", "exit", process.returncode, 128 + signal.SIGKILL)
            found = figures(strata, session) if os.path.exists(session) else None
            kept = found["actions"]["alloc"] - 1 if found else 0
            failures.expect(f"kill {number}", "kept", kept >= owed, True)


def out_of_memory(strata, python, failures):
    """Nobody catches it, and the process ends without a word more."""
    with tempfile.TemporaryDirectory() as folder:
        session, done = run(strata, python, """
kept = [torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(10)]
try:
    torch.empty(1 << 34, dtype=torch.uint8, device="cuda")
finally:
    os.kill(os.getpid(), 9)
""", folder, failures)
        found = figures(strata, session)
        failures.expect("out of memory", "session", found is not None, True)
        if found:
            failures.expect("out of memory", "events", len(found["oom"]), 1)
            failures.expect("out of memory", "exact", found["integrity"]["exact"], True)
            failures.expect("out of memory", "requested at the end", found["requested_bytes_end"], 10 << 30)


def bad_disks(strata, python, failures):
    with tempfile.TemporaryDirectory() as folder:
        limit = 30_000
        session, done = run(strata, python, "churn(3)\nprint('done')", folder, failures,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        failures.expect("full disk", "program", (done.returncode, b"done" in done.stdout), (0, True))
        says(failures, "full disk", done, "File too large")
        failures.expect("full disk", "size", os.path.getsize(session) <= limit, True)
        failures.expect("full disk", "opens", figures(strata, session) is not None, True)
    with tempfile.TemporaryDirectory() as folder:
        session, done = run(strata, python, "churn(1)\nos.remove(os.environ['STRATA_RECORD_FILE'])\nchurn(2)\nprint('done')",
                            folder, failures)
        failures.expect("removed file", "program", (done.returncode, b"done" in done.stdout), (0, True))
        says(failures, "removed file", done, "somebody removed it")
    done = record_tools.record(strata, ["-o", "/proc/out.strata", *SIMULATED], [python, "-c", "print('done')"])
    failures.expect("read-only folder", "exit", done.returncode, 2)
    failures.expect("read-only folder", "names it", "/proc" in done.stderr, True)


def ways_to_end(strata, python, failures):
    for name, program in (("os._exit", "os._exit(3)"), ("sys.exit", "sys.exit(3)"),
                          ("os.execv", "os.execv('/bin/sh', ['sh', '-c', 'exit 3'])")):
        with tempfile.TemporaryDirectory() as folder:
            session, done = run(strata, python, f"kept = torch.empty(1000, device='cuda')\n{program}", folder, failures)
            failures.expect(name, "exit", done.returncode, 3)
            found = figures(strata, session)
            failures.expect(name, "exact", found and found["integrity"]["exact"], True)
            failures.expect(name, "alive at the end", found and found["requested_bytes_end"], 4000)


def beside_others(strata, python, failures):
    """A child of a fork is silent; ranges that the program names are kept."""
    with tempfile.TemporaryDirectory() as folder:
        session, done = run(strata, python, """
a = torch.empty(10, device="cuda")
if os.fork() == 0:
    sys.exit(0)
os.wait()
with torch.profiler.record_function("step 1"):
    b = torch.empty(10, device="cuda")
""", folder, failures)
        failures.expect("fork", "exit", done.returncode, 0)
        failures.expect("fork", "files", [os.path.basename(f) for f in glob.glob(folder + "/*")], ["out.strata"])
        found = figures(strata, session)
        failures.expect("fork", "exact", found and found["integrity"]["exact"], True)
        snapshot = record_tools.as_snapshot(strata, session, folder)
        names = [(a.get("stage"), a["name"]) for a in snapshot["external_annotations"]]
        failures.expect("ranges", "annotations", names, [("START", "step 1"), ("END", "step 1")])


def totals(strata, python, failures):
    """What torch says of pinned memory, and what lies on the device that is not torch's."""
    with tempfile.TemporaryDirectory() as folder:
        session, done = run(strata, python, """
import ctypes, json
a = torch.empty(100 << 20, dtype=torch.uint8, device="cuda")
pinned = [torch.empty(size, dtype=torch.uint8, pin_memory=True) for size in (3 << 20, 5 << 20, 7 << 20)]
del pinned[1]
runtime = ctypes.CDLL(f"libcudart.so.{torch.version.cuda.split('.')[0]}")
assert runtime.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(300 << 20)) == 0
print(json.dumps(torch.cuda.host_memory_stats()))
""", folder, failures)
        failures.expect("totals", "exit", done.returncode, 0)
        _, summary = strata_json(strata, ["summary", "--json", session])
        stats = json.loads(done.stdout)
        host = summary["host_memory"]
        for ours, torchs in (("segments", "allocations.current"), ("reserved_bytes", "allocated_bytes.current"),
                             ("reserved_bytes_peak", "allocated_bytes.peak"), ("allocated_bytes", "active_bytes.current")):
            failures.expect("totals", f"pinned {ours}", host and host[ours], stats[torchs])
        device = summary["devices"][0]
        driver = summary["driver"]
        failures.expect("totals", "outside PyTorch", [each["outside_bytes_peak"] for each in driver], [300 << 20])
        failures.expect("totals", "of this process", [each["process_bytes_peak"] for each in driver],
                        [(300 << 20) + device["reserved_bytes_peak"]])
        # As a session that was converted says.
        copy = session + ".copy.strata"
        subprocess.run([strata, "convert", session, "-o", copy], check=True, capture_output=True)
        _, again = strata_json(strata, ["summary", "--json", copy])
        failures.expect("totals", "after convert", (again["host_memory"], again["driver"]), (host, driver))


def refused(strata, python, failures):
    with tempfile.TemporaryDirectory() as folder:
        session, done = run(strata, python, "a = torch.empty(1 << 30, dtype=torch.uint8, device='cuda')", folder, failures,
                            env={**os.environ, "PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"})
        says(failures, "cudaMallocAsync", done, "cudaMallocAsync")
        _, summary = strata_json(strata, ["summary", "--json", session])
        failures.expect("cudaMallocAsync", "driver", [each["process_bytes_peak"] >= 1 << 30 for each in summary["driver"]],
                        [True])
        failures.expect("cudaMallocAsync", "exact", [each["integrity"]["exact"] for each in summary["devices"]], [False])
    with tempfile.TemporaryDirectory() as folder:
        session, done = run(strata, python, "print(torch.__version__)", folder, failures)
        failures.expect("nothing recorded", "said", "nothing was recorded" in done.stderr, True)
        failures.expect("nothing recorded on a simulated device", "nothing of GPUs", "no GPU" in done.stderr, False)
        # As env ends with a program whose libraries the loader does not find.
        missing = subprocess.run([strata, "record", "-o", os.path.join(folder, "none.strata"), "--simulated", "T4-16GB", "--", "sh", "-c", "exit 127"],
                                 capture_output=True, text=True)
        failures.expect("not started", "what to do", "start it itself" in missing.stderr, True)
        if not os.path.exists("/dev/nvidiactl"):
            bare = subprocess.run([strata, "record", "-o", os.path.join(folder, "bare.strata"), "--", python, "-c", "import torch"],
                                  capture_output=True, text=True)
            failures.expect("nothing recorded without a GPU", "what to do", "--simulated" in bare.stderr, True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("strata")
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--kills", type=int, default=20 if LONG else 1)
    arguments = parser.parse_args()
    found = sorted(pythons(arguments.python),
                   key=lambda path: [int(n) for n in path.split("torch-")[-1].split("/")[0].split(".")[:3]
                                     if n.isdigit()])
    if not found:
        print("skipped: no torch: tests/truth/environment.sh makes an environment")
        return SKIPPED
    python = found[-1]
    failures = Failures()
    if not LONG:
        random.seed(0)  # the short form is always the same
    killed(arguments.strata, python, failures, arguments.kills)
    for test in (out_of_memory, bad_disks, ways_to_end, beside_others, totals, refused):
        test(arguments.strata, python, failures)
    return failures.status()


if __name__ == "__main__":
    sys.exit(main())
