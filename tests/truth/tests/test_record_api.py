# SPDX-License-Identifier: GPL-3.0-or-later
"""The package of Python, as programs use it: what it records, files that are there already, and when it begins.

usage: test_record_api.py STRATA STRATA_SIMGPU BUILD_FOLDER [--python PYTHON]...

Skipped (exit 77) without a Python with PyTorch. Its installation is in test_record_readme.py.
"""
import json
import os
import subprocess
import sys
import tempfile

import record_tools
from running import LONG, PROJECT, main, strata_json

CAPTURE = os.path.join(PROJECT, "capture")
PROGRAM = """
import torch, strata_capture
before = torch.empty(1000, device="cuda")
with strata_capture.record("run.strata"):
    for number in range(3):
        with strata_capture.step(number):
            kept = torch.empty(10 + number, device="cuda")
            strata_capture.mark("half way")
"""
#: PyTorch may be imported before a recording begins, behind that, and by a thread; in parts too.
IMPORTS = {"before": "import torch\nBEGIN", "behind": "BEGIN\nimport torch", "a part": "BEGIN\nimport torch.nn.functional",
           "a thread": "BEGIN\nimport threading\nt = threading.Thread(target=lambda: __import__('torch'))\nt.start(); t.join()\nimport torch",
           "again": "import strata_capture\nstrata_capture.start('other.strata'); strata_capture.stop()\nBEGIN\nimport torch"}
SHORT = ("behind", "before", "a thread")  # of the short form
BEGIN = "import strata_capture, sys\nassert strata_capture.start('run.strata') == 'waiting'"
ALLOCATE = """
kept = torch.empty(1000, device="cuda")
assert not any(type(each).__module__ == "strata_capture" for each in sys.meta_path)
"""


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


def run(arguments, python, program, folder):
    environment = {**os.environ, "PYTHONPATH": os.path.join(CAPTURE, "python"),
                   "STRATA_CAPTURE_LIBRARY": os.path.join(arguments.build, "lib", "strata", "libstrata_capture.so")}
    return subprocess.run([arguments.simgpu, "--", python, "-c", program], capture_output=True, text=True, cwd=folder, env=environment)


def device_of(strata, session, name, failures):
    _, summary = strata_json(strata, ["summary", "--json", session])
    if not summary or not summary["devices"]:
        failures.expect(name, "session", summary, "one with a device")
        return None
    failures.expect(name, "exact", summary["devices"][0]["integrity"]["exact"], True)
    return summary["devices"][0]


def record(arguments, python, failures):
    with tempfile.TemporaryDirectory() as folder:
        done = run(arguments, python, PROGRAM, folder)
        failures.expect("record", "exit and complaints", (done.returncode, done.stderr), (0, ""))
        session = os.path.join(folder, "run.strata")
        device = device_of(arguments.strata, session, "record", failures)
        if device is None:
            return
        failures.expect("record", "allocations", device["actions"]["alloc"], 3)
        failures.expect("record", "what was there before", device["requested_bytes_start"], 4000)
        snapshot = record_tools.as_snapshot(arguments.strata, session, folder)
        steps = [a["name"] for a in snapshot["external_annotations"] if a.get("stage") == "START"]
        failures.expect("record", "steps", steps, ["step 0", "step 1", "step 2"])
        allocs = [e for e in snapshot["device_traces"][0] if e["action"] == "alloc"]
        failures.expect("record", "stacks", [e["frames"][0]["filename"] for e in allocs], ["<string>"] * 3)
        existing(arguments, python, folder, failures)


def existing(arguments, python, folder, failures):
    session = os.path.join(folder, "run.strata")
    for existing, found in (("refuse", ["run.strata"]), ("number", ["run.2.strata", "run.strata"]),
                            ("replace", ["run.2.strata", "run.strata"])):
        kept = os.path.join(folder, "kept-" + existing)
        os.link(session, kept)
        done = run(arguments, python, PROGRAM.replace('record("run.strata"', f'record("run.strata", existing="{existing}"'), folder)
        failures.expect(existing, "is told", "run.strata: is there already" in done.stderr, existing == "refuse")
        failures.expect(existing, "files", sorted(n for n in os.listdir(folder) if n.endswith(".strata")), found)
        failures.expect(existing, "new file", not os.path.samefile(session, kept), existing == "replace")


def imports(arguments, python, names, failures):
    for name in names:
        order = IMPORTS[name]
        name = f"{python}: torch is imported: {name}"
        with tempfile.TemporaryDirectory() as folder:
            done = run(arguments, python, order.replace("BEGIN", BEGIN) + ALLOCATE, folder)
            failures.expect(name, "exit and complaints", (done.returncode, done.stderr[-500:]), (0, ""))
            device = device_of(arguments.strata, os.path.join(folder, "run.strata"), name, failures)
            if device:
                failures.expect(name, "from the first event on", (device["requested_bytes_start"], device["actions"]["alloc"]), (0, 1))


def calls(arguments, python, failures):
    with tempfile.TemporaryDirectory() as folder:
        done = run(arguments, python, CALLS, folder)
        failures.expect(f"{python}: calls", "exit", (done.returncode, done.stderr if done.returncode else ""), (0, ""))
        for number, (fraction, settings) in enumerate((("0.25", "max_split_size_mb:100"), ("0.5", "max_split_size_mb:200"))):
            name, session = f"{python}: recording {number} of two", os.path.join(folder, f"run{number}.strata")
            rows = subprocess.run([arguments.strata, "events", session, "--json", "--annotations"], capture_output=True, text=True)
            rows = [json.loads(line) for line in rows.stdout.splitlines()[1:]]
            told = [row.get("action") or [row["allocator_call"], row["value"]] for row in rows]
            failures.expect(name, "calls", told, [["empty_cache", ""], "alloc", *["free_requested", "free_completed"] * number,
                                                  ["memory_fraction", "0.5"], ["settings", f"max_split_size_mb:{200 + number}"]])
            facts = {key: value for chunk in record_tools.pairs(session, 1) for key, value in chunk.items()}
            failures.expect(name, "fraction before", facts["device.0.memory_fraction"], fraction)
            failures.expect(name, "settings before", json.loads(record_tools.pairs(session, 11)[0]["PYTORCH_CUDA_ALLOC_CONF"]), settings)


def test(arguments, python, failures):
    for program in ("strata", "simgpu", "build"):
        setattr(arguments, program, os.path.abspath(getattr(arguments, program)))
    imports(arguments, python, IMPORTS if LONG else SHORT if python == arguments.found[0] else SHORT[:1], failures)
    calls(arguments, python, failures)


if __name__ == "__main__":
    sys.exit(main(test, ("strata", "simgpu", "build"), once=record, older=True))
