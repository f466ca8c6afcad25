# SPDX-License-Identifier: GPL-3.0-or-later
"""The package of Python, as programs use it: what it records, files that are there already, and when it begins.

Its installation is in test_record_readme.py.
"""
import json
import os
import subprocess

import pytest

import forks
import record_tools

BEGIN = "import strata_capture, sys\nassert strata_capture.start('run.strata') == 'waiting'"
ALLOCATE = """
kept = torch.empty(1000, device="cuda")
assert not any(type(each).__module__ == "strata_capture" for each in sys.meta_path)
"""
#: PyTorch may be imported before a recording begins, behind that, and by a thread; in parts too.
IMPORTS = {"behind": BEGIN + "\nimport torch", "a part": BEGIN + "\nimport torch.nn.functional",
           "a thread": BEGIN + "\nimport threading\nt = threading.Thread(target=lambda: __import__('torch'))\nt.start(); t.join()\nimport torch",
           "again": "import strata_capture\nstrata_capture.start('other.strata'); strata_capture.stop()\n" + BEGIN + "\nimport torch"}
RECORD = """
import json, os, torch, strata_capture
before = torch.empty(1000, device="cuda")
with strata_capture.record("run.strata"):
    for number in range(3):
        with strata_capture.step(number):
            kept = torch.empty(10 + number, device="cuda")
            strata_capture.mark("half way")
"""
#: Records where the first program did, and says which files are there then, and whether its file is another.
AGAIN = """
import os
os.chdir("../0")
os.link("run.strata", "kept-HOW")
""" + RECORD.replace('record("run.strata"', 'record("run.strata", existing="HOW"') + """
print(json.dumps([sorted(n for n in os.listdir() if n.endswith(".strata")), not os.path.samefile("run.strata", "kept-HOW")]))
"""
#: What is there behind each, and whether the file is a new one.
EXISTING = {"refuse": [["run.strata"], False], "number": [["run.2.strata", "run.strata"], False],
            "replace": [["run.2.strata", "run.strata"], True]}
#: Two recordings begin and end while the program asks for more than memory, in a child too.
CALLS = """
import os, torch, strata_capture
torch.cuda.set_per_process_memory_fraction(0.25)
kept = torch.empty(1000, device="cuda")
torch.cuda.memory._set_allocator_settings("max_split_size_mb:100")
for number in range(2):
    strata_capture.start(f"run{number}.strata")
    torch.cuda.empty_cache()
    child = os.fork()
    if child == 0:
        torch.cuda.empty_cache()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    more = torch.empty(1000, device="cuda")
    torch.cuda.set_per_process_memory_fraction(0.5)
    torch.cuda.memory._set_allocator_settings(f"max_split_size_mb:{200 + number}")
    strata_capture.stop()
    torch.cuda.empty_cache()
"""
PROGRAMS = {"record": RECORD, **{how: AGAIN.replace("HOW", how) for how in EXISTING}, "calls": CALLS, "import before": "import torch\n" + BEGIN + ALLOCATE + "strata_capture.stop()"}


@pytest.fixture(scope="module")
def ended(simgpu, build, python, tmp_path_factory):
    """Of programs that ran one after the other: how each ended."""
    found, _ = forks.apart([simgpu, "--"], python, list(PROGRAMS.values()), str(tmp_path_factory.mktemp("api")),
                                     env=record_tools.with_package(build))
    return dict(zip(PROGRAMS, found))


def exact_device(strata, session):
    device = record_tools.first_device(strata, session)
    assert device["integrity"]["exact"]
    return device


def test_record(strata, ended):
    each = ended["record"]
    assert (each.status, each.stderr) == (0, "")
    session = os.path.join(each.folder, "first.strata")
    os.rename(os.path.join(each.folder, "kept-refuse"), session)  # as the others found it
    device = exact_device(strata, session)
    assert device["actions"]["alloc"] == 3
    assert device["requested_bytes_start"] == 4000
    snapshot = record_tools.as_snapshot(strata, session, each.folder)
    assert [a["name"] for a in snapshot["external_annotations"] if a.get("stage") == "START"] == ["step 0", "step 1", "step 2"]
    allocs = [e for e in snapshot["device_traces"][0] if e["action"] == "alloc"]
    assert [os.path.basename(e["frames"][0]["filename"]) for e in allocs] == ["program0.py"] * 3


@pytest.mark.parametrize("how", EXISTING)
def test_files_that_are_there(ended, how):
    assert ("run.strata: is there already" in ended[how].stderr) == (how == "refuse")
    assert json.loads(ended[how].stdout) == EXISTING[how]


def begins_with_the_first_event(strata, session):
    device = exact_device(strata, session)
    assert (device["requested_bytes_start"], device["actions"]["alloc"]) == (0, 1)


def test_import_before(strata, ended):
    assert (ended["import before"].status, ended["import before"].stderr) == (0, "")
    begins_with_the_first_event(strata, os.path.join(ended["import before"].folder, "run.strata"))


@pytest.mark.parametrize("name", ["behind", *(pytest.param(name, marks=pytest.mark.long) for name in IMPORTS if name != "behind")])
def test_imports(strata, simgpu, build, python, name, tmp_path):
    done = subprocess.run([simgpu, "--", python, "-c", IMPORTS[name] + ALLOCATE], capture_output=True, text=True, cwd=tmp_path,
                          env=record_tools.with_package(build))
    assert (done.returncode, done.stderr[-500:]) == (0, "")
    begins_with_the_first_event(strata, str(tmp_path / "run.strata"))


@pytest.mark.parametrize("number, fraction, settings", [(0, "0.25", "max_split_size_mb:100"), (1, "0.5", "max_split_size_mb:200")])
def test_calls_of_each_recording(strata, ended, number, fraction, settings):
    each = ended["calls"]
    assert each.status == 0, each.stderr
    session = os.path.join(each.folder, f"run{number}.strata")
    rows = subprocess.run([strata, "events", session, "--json", "--annotations"], capture_output=True, text=True)
    told = [row.get("action") or [row["allocator_call"], row["value"]] for row in map(json.loads, rows.stdout.splitlines()[1:])]
    assert told == [["empty_cache", ""], "alloc", *["free_requested", "free_completed"] * number,
                    ["memory_fraction", "0.5"], ["settings", f"max_split_size_mb:{200 + number}"]]
    facts = {key: value for chunk in record_tools.pairs(session, 1) for key, value in chunk.items()}
    assert facts["device.0.memory_fraction"] == fraction
    assert json.loads(record_tools.pairs(session, 11)[0]["PYTORCH_CUDA_ALLOC_CONF"]) == settings
