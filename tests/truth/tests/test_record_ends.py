# SPDX-License-Identifier: GPL-3.0-or-later
"""How recordings of real programs end: killed, out of memory, on bad disks. And what cannot be recorded."""
import glob
import json
import os
import random
import signal
import subprocess

import pytest

import forks
import record_tools
from record_tools import first_device
from running import LONG, strata_json, with_environment

pytestmark = pytest.mark.torch("newest")

SIMULATED = ["--simulated", "T4-16GB"]
BEGIN = """
import json, os, resource, sys, time, torch
session = os.environ.get("STRATA_RECORD_FILE", "").replace("{process}", str(os.getpid()))
def churn(seconds):
    end = time.time() + seconds
    while time.time() < end:
        blocks = [torch.empty(100 + i, device="cuda") for i in range(200)]
        del blocks
"""
#: A child kills it, at an instant of which the program itself knows nothing.
KILLED = """
if os.fork() == 0:
    time.sleep(SECONDS)
    print("end", time.time(), flush=True)
    os.kill(os.getppid(), 9)
    os._exit(0)
torch.empty(1, device="cuda")
for turn in range(1, 1000000):
    block = torch.empty(turn, device="cuda", dtype=torch.uint8)
    del block
    if turn % 50 == 0:
        print(turn, time.time(), flush=True)
        time.sleep(0.002)
"""
#: Bytes of a file at most.
LIMIT = 30_000
OUT_OF_MEMORY = """
kept = [torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(10)]
try:
    torch.empty(1 << 34, dtype=torch.uint8, device="cuda")
finally:
    os.kill(os.getpid(), 9)
"""
FORKS = """
a = torch.empty(10, device="cuda")
if os.fork() == 0:
    sys.exit(0)
os.wait()
with torch.profiler.record_function("step 1"):
    b = torch.empty(10, device="cuda")
"""
TOTALS = """
import ctypes
a = torch.empty(100 << 20, dtype=torch.uint8, device="cuda")
pinned = [torch.empty(size, dtype=torch.uint8, pin_memory=True) for size in (3 << 20, 5 << 20, 7 << 20)]
del pinned[1]
runtime = ctypes.CDLL(f"libcudart.so.{torch.version.cuda.split('.')[0]}")
assert runtime.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(300 << 20)) == 0
print(json.dumps(torch.cuda.host_memory_stats()))
"""
KEPT = "kept = torch.empty(1000, device='cuda')\n"
PROGRAMS = {
    "killed": KILLED.replace("SECONDS", "1.7"), "out of memory": OUT_OF_MEMORY, "forks": FORKS, "totals": TOTALS,
    "full disk": f"resource.setrlimit(resource.RLIMIT_FSIZE, ({LIMIT}, {LIMIT}))\nchurn(3)\nprint('done')",
    "removed file": "churn(1)\nos.remove(session)\nchurn(2)\nprint('done')",
    "os._exit": KEPT + "os._exit(3)", "sys.exit": KEPT + "sys.exit(3)", "os.execv": KEPT + "os.execv('/bin/sh', ['sh', '-c', 'exit 3'])",
}


class Recorded:
    """Programs that were recorded in forks of one Python: how each ended, and its session."""

    def __init__(self, strata, python, programs, folder):
        self.strata, self.folder = strata, folder
        start = [strata, "record", "-o", os.path.join(folder, "{process}.strata"), *SIMULATED, "--"]
        ended, _ = forks.apart(start, python, [BEGIN + text for text in programs.values()], folder)
        self.ended = dict(zip(programs, ended))

    def session(self, name):
        return os.path.join(self.folder, f"{self.ended[name].process}.strata")

    def device(self, name):
        return first_device(self.strata, self.session(name)) if os.path.exists(self.session(name)) else None


@pytest.fixture(scope="module")
def recorded(strata, python, tmp_path_factory):
    return Recorded(strata, python, PROGRAMS, str(tmp_path_factory.mktemp("ends")))


def look_at_killed(recorded, name, failures):
    """All is there but the last second, as the program itself says when it had done what."""
    # The last line may have been cut off.
    told = [line.split() for line in recorded.ended[name].stdout.splitlines(keepends=True) if line.count(" ") == 1 and line[-1] == "\n"]
    [end] = [float(when) for turn, when in told if turn == "end"]
    owed = max((int(turn) for turn, when in told if turn != "end" and float(when) < end - 1), default=0)
    failures.expect(name, "status", recorded.ended[name].status, -signal.SIGKILL)
    found = recorded.device(name)
    kept = found["actions"]["alloc"] - 1 if found else 0
    failures.expect(name, f"kept {kept} of {owed}", kept >= owed)


def test_killed(recorded, failures):
    look_at_killed(recorded, "killed", failures)


@pytest.mark.long
def test_killed_at_random_instants(strata, python, tmp_path, failures):
    instants = {f"killed after {seconds} s": seconds for seconds in (random.uniform(0.5, 3) for _ in range(20))}
    killed = Recorded(strata, python, {name: KILLED.replace("SECONDS", str(seconds)) for name, seconds in instants.items()}, str(tmp_path))
    for name in instants:
        look_at_killed(killed, name, failures)


def test_out_of_memory(recorded):
    """Nobody catches it, and the process ends without a word more."""
    found = recorded.device("out of memory")
    assert len(found["oom"]) == 1
    assert found["integrity"]["exact"]
    assert found["requested_bytes_end"] == 10 << 30


@pytest.mark.parametrize("name, text", [("full disk", "File too large"), ("removed file", "somebody removed it")])
def test_bad_disks(recorded, name, text):
    ended = recorded.ended[name]
    assert (ended.status, "done" in ended.stdout) == (0, True)
    assert ended.stderr.count(text) == 1, ended.stderr
    if name == "full disk":
        assert os.path.getsize(recorded.session(name)) <= LIMIT
        assert recorded.device(name)


def test_folder_that_cannot_be_written(strata, python):
    done = record_tools.record(strata, ["-o", "/proc/out.strata", *SIMULATED], [python, "-c", "print('done')"])
    assert (done.returncode, "/proc" in done.stderr) == (2, True)


@pytest.mark.parametrize("name", ["os._exit", "sys.exit", "os.execv"])
def test_ways_to_end(recorded, name):
    assert recorded.ended[name].status == 3
    found = recorded.device(name)
    assert found["integrity"]["exact"]
    assert found["requested_bytes_end"] == 4000


def test_forks_and_ranges(recorded):
    """A child of a fork is silent; ranges that the program names are kept."""
    assert recorded.ended["forks"].status == 0
    assert recorded.device("forks")["integrity"]["exact"]
    snapshot = record_tools.as_snapshot(recorded.strata, recorded.session("forks"), recorded.folder)
    assert [(a.get("stage"), a["name"]) for a in snapshot["external_annotations"]] == [("START", "step 1"), ("END", "step 1")]
    known = {recorded.session(name) for name in PROGRAMS}
    assert set(glob.glob(os.path.join(recorded.folder, "*.strata"))) == known - {recorded.session("removed file")}


def test_totals(recorded, failures):
    """What torch says of pinned memory, and what lies on the device that is not torch's."""
    session, strata = recorded.session("totals"), recorded.strata
    stats = json.loads(recorded.ended["totals"].stdout)
    _, summary = strata_json(strata, ["summary", "--json", session])
    host, driver = summary["host_memory"], summary["driver"]
    for ours, torchs in (("segments", "allocations.current"), ("reserved_bytes", "allocated_bytes.current"),
                         ("reserved_bytes_peak", "allocated_bytes.peak"), ("allocated_bytes", "active_bytes.current")):
        failures.expect("totals", f"pinned {ours}", host and host[ours], stats[torchs])
    failures.expect("totals", "outside PyTorch", [each["outside_bytes_peak"] for each in driver], [300 << 20])
    failures.expect("totals", "of this process", [each["process_bytes_peak"] for each in driver],
                    [(300 << 20) + summary["devices"][0]["reserved_bytes_peak"]])
    # As a session that was converted says.
    copy = session + ".copy"
    subprocess.run([strata, "convert", session, "-o", copy + ".strata"], check=True, capture_output=True)
    _, again = strata_json(strata, ["summary", "--json", copy + ".strata"])
    os.remove(copy + ".strata")
    failures.expect("totals", "after convert", (again["host_memory"], again["driver"]), (host, driver))


def test_another_allocator(strata, python, tmp_path):
    session = str(tmp_path / "out.strata")
    done = record_tools.record(strata, ["-o", session, *SIMULATED], [python, "-c", "import torch\na = torch.empty(1 << 30, dtype=torch.uint8, device='cuda')"],
                               env=with_environment(PYTORCH_CUDA_ALLOC_CONF="backend:cudaMallocAsync"))
    assert done.stderr.count("cudaMallocAsync") == 1, done.stderr
    _, summary = strata_json(strata, ["summary", "--json", session])
    assert [each["process_bytes_peak"] >= 1 << 30 for each in summary["driver"]] == [True]
    assert [each["integrity"]["exact"] for each in summary["devices"]] == [False]


def test_nothing_recorded(strata, python, tmp_path):
    """127: as env ends with a program whose libraries the loader does not find."""
    def told(options, *command):
        return subprocess.run([strata, "record", "-o", str(tmp_path / "out.strata"), *options, "--", *command], capture_output=True, text=True).stderr

    idle = told(SIMULATED, *([python, "-c", "import torch"] if LONG else ["true"]))
    assert ("nothing was recorded" in idle, "no GPU" in idle) == (True, False)
    assert "start it itself" in told(SIMULATED, "sh", "-c", "exit 127")
    if not os.path.exists("/dev/nvidiactl"):
        assert "--simulated" in told([], python, "-c", "import torch")
