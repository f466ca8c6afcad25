# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs programs of tests/truth under `strata dryrun` and holds its figures against torch's own.

usage: test_corpus.py STRATA [--python PYTHON]... [--seeds N]

Without a Python with PyTorch (see running.py) the test is skipped (exit 77) and says so.
"""
import argparse
import itertools
import json
import os
import sys
import tempfile

from running import PROJECT, SKIPPED, Failures, dryrun, pythons, strata_json

TRUTH = os.path.join(PROJECT, "tests", "truth", "train.py")

CASES = [
    ("mlp", ["--optimizer", "sgd"], []),
    ("mlp", ["--optimizer", "adamw_loop", "--option", "accumulate"], []),
    ("mlp", ["--optimizer", "momentum", "--option", "reset_peaks", "--option", "recorder_off"], []),
    ("mlp", ["--option", "out_of_memory"], ["--capacity", "2GiB"]),
    ("mlp", ["--option", "two_devices"], ["--devices", "2"]),
    ("conv", ["--optimizer", "sgd"], []),
    ("conv", ["--optimizer", "adamw_fused", "--precision", "autocast"], ["--device", "RTX-4090-24GB"]),
    ("gpt", ["--precision", "autocast"], ["--device", "H100-80GB"]),
    ("gpt", ["--precision", "bf16", "--option", "checkpoint"], ["--addresses", "ascending"]),
    ("gpt", ["--option", "side_stream", "--option", "variable_shapes", "--steps", "6"], []),
    ("gpt", ["--optimizer", "adam"], ["--set", "expandable_segments:True"]),
    ("lstm", ["--optimizer", "adafactor"], []),
]


def check_recording(strata, name, snapshot, report, truth, failures):
    """What Strata reads from the recording is what torch counted and what the tracker followed."""
    run, summary = strata_json(strata, ["summary", "--json", snapshot])
    if summary is None:
        failures.expect(name, "summary", run.stderr, "a document")
        return
    recorded = {d["device"]: d for d in summary["devices"]}
    for index, wanted in enumerate(truth["devices"]):
        got = recorded.get(index)
        if got is None:
            failures.expect(name, f"device {index} recorded", wanted["reserved"], 0)
            continue
        where = f"device {index} of the recording"
        for key in ("requested", "reserved"):
            failures.expect(name, f"{where}: {key} peak", got[f"{key}_bytes_peak"], wanted[key])
        for key in ("requested", "allocated", "active", "reserved"):
            failures.expect(name, f"{where}: {key} at the end", got[f"{key}_bytes_end"], wanted[f"end_{key}"])
        failures.expect(name, f"{where}: integrity", got["integrity"]["exact"], True)
        failures.expect(name, f"{where}: out of memory", len(got["oom"]), wanted["out_of_memories"])
    tracked = {d["device"]: d["requested_bytes_peak"] for d in report["ranks"][0]["devices"]}
    failures.expect(name, "devices of the recording", set(recorded) <= set(tracked), True)


def check(strata, python, case, seed, failures):
    model, arguments, options = case
    name = f"{python} {model} seed {seed} {' '.join(arguments + options)}"
    with tempfile.TemporaryDirectory() as folder:
        path, snapshot = os.path.join(folder, "truth.json"), os.path.join(folder, "out.pickle")
        run, report = dryrun(strata, [*options, "-o", snapshot],
                             [python, TRUTH, model, "--seed", str(seed), "--truth", path, *arguments])
        if report is None or not os.path.exists(path):
            failures.expect(name, "output", (run.returncode, run.stdout[-500:], run.stderr[-2000:]), "a report")
            return
        with open(path) as file:
            truth = json.load(file)
        refused = any(d["out_of_memories"] for d in truth["devices"])
        failures.expect(name, "exit", run.returncode, 1 if refused else 0)
        failures.expect(name, "exit_status", report["exit_status"], 0)
        failures.expect(name, "torch", report["torch"], truth["torch"])
        failures.expect(name, "ranks", len(report["ranks"]), 1)
        for got, wanted in itertools.zip_longest(report["ranks"][0]["devices"], truth["devices"]):
            for key in ("requested", "allocated", "reserved"):
                failures.expect(name, f"device {got['device']} {key} peak", got[f"{key}_bytes_peak"], wanted[key])
            failures.expect(name, "oom_count", got["oom_count"], wanted["out_of_memories"])
            failures.expect(name, "fits", got["fits"], wanted["out_of_memories"] == 0)
        failures.expect(name, "stdout on stderr", "done" in run.stderr, True)
        failures.expect(name, "snapshot kept", os.path.exists(snapshot), True)
        if "recorder_off" not in arguments:
            check_recording(strata, name, snapshot, report, truth, failures)
        failures.expect(name, "not served", [l for l in run.stderr.splitlines() if "not served" in l], [])


def check_steps(strata, python, failures):
    name = f"{python} --steps"
    full = dryrun(strata, [], [python, TRUTH, "mlp", "--steps", "2"])[1]
    run, report = dryrun(strata, ["--steps", "2"], [python, TRUTH, "mlp", "--steps", "50"])
    if report is None or full is None:
        failures.expect(name, "output", run.stderr[-2000:], "a report")
        return
    failures.expect(name, "exit", run.returncode, 0)
    failures.expect(name, "steps", report["steps"], 2)
    failures.expect(name, "peaks", report["ranks"], full["ranks"])
    one = dryrun(strata, ["--steps", "1"], [python, TRUTH, "mlp", "--steps", "50"])[1]
    failures.expect(name, "steps of one", one["steps"], 1)


def check_usage(strata, python, failures):
    for options, command, wanted in (
            (["--device", "H100"], [python, "-c", ""], "H100-80GB"),
            (["--capacity", "much"], [python, "-c", ""], "much"),
            ([], ["no-such-program"], "no-such-program"),
            ([], ["/bin/true", "x"], None),
            (["--addresses", "sideways"], [python, "-c", ""], "sideways")):
        run, report = dryrun(strata, options, command)
        if wanted is not None:
            failures.expect(f"usage {options} {command}", "exit", run.returncode, 2)
            failures.expect(f"usage {options} {command}", "named", wanted in run.stderr, True)
    run, report = dryrun(strata, [], [python, "-c", "import sys; sys.exit(3)"])
    failures.expect("program that fails", "exit", (run.returncode, report["exit_status"], report["ranks"]), (1, 3, []))
    run, report = dryrun(strata, [], [python, "-I", "-c", "import torch; x = torch.empty(1 << 20, device='cuda'); "
                                      "import os; os.kill(os.getpid(), 9)"])
    failures.expect("program that is killed", "exit", (run.returncode, report["exit_status"]), (1, 137))
    failures.expect("program that is killed", "requested",
                    report["ranks"][0]["devices"][0]["requested_bytes_peak"], 4 << 20)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("strata")
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    found = pythons(arguments.python)
    if not found:
        print("skipped: no torch: set STRATA_TORCH_PYTHON or make a venv in ~/.cache/strata/torch-VERSION")
        return SKIPPED
    failures = Failures()
    for python in found:
        check_steps(arguments.strata, python, failures)
        for case in CASES:
            for seed in range(arguments.seeds):
                check(arguments.strata, python, case, seed, failures)
        print(f"{python}: {len(CASES) * arguments.seeds} programs, {failures.count} failures so far", flush=True)
    check_usage(arguments.strata, found[-1], failures)
    print(f"{failures.count} failures")
    return 1 if failures.count else 0


sys.exit(main())
