# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs programs of tests/truth under `strata dryrun` and holds its figures against torch's own.

usage: test_corpus.py STRATA [--python PYTHON]... [--seeds N] [--first-seed N]

Without a Python with PyTorch (see running.py) the test is skipped (exit 77) and says so.
"""
import itertools
import json
import os
import sys
import tempfile

from running import THOROUGH, TRUTH, dryrun, main, strata_json, version

import generate  # found by running

TRAIN = os.path.join(TRUTH, "train.py")

# Each model once, and each optimizer, precision and option at least once: arguments of train.py and of strata dryrun.
CASES = [
    ("mlp --optimizer sgd", ""),
    ("mlp --optimizer adamw_loop --option accumulate", ""),
    ("mlp --optimizer momentum --option reset_peaks --option recorder_off", ""),
    ("mlp --option out_of_memory", "--capacity 2GiB"),
    ("mlp --option two_devices", "--devices 2"),
    ("conv --optimizer adamw_fused --precision autocast", "--device RTX-4090-24GB"),
    ("gpt --precision autocast", "--device H100-80GB"),
    ("gpt --precision bf16 --option checkpoint", "--addresses ascending"),
    ("gpt --option side_stream --option variable_shapes --steps 6", ""),
    ("gpt --optimizer adam --option tensors", "--set expandable_segments:True"),
    ("lstm --optimizer adafactor", ""),
    ("resnet --optimizer momentum --precision fp16", "--device T4-16GB"),
    ("unet --precision autocast --option accumulate", "--set max_split_size_mb:64"),
    ("vit --precision bf16 --optimizer adamw_fused", "--addresses random:7"),
    ("diffusion --precision autocast", "--device L40S-48GB"),
    ("gan --optimizer adam", "--set garbage_collection_threshold:0.6"),
    ("llama --precision bf16 --option variable_shapes", "--device H100-80GB"),
    ("experts --precision autocast", "--set roundup_power2_divisions:4"),
    ("t5 --option checkpoint", "--device A10-24GB"),
    ("lora --precision autocast --optimizer adamw_loop", ""),
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


def check(strata, python, arguments, options, failures):
    name = f"{python} {' '.join(arguments)} under {' '.join(options) or 'defaults'}"
    with tempfile.TemporaryDirectory() as folder:
        path, snapshot = os.path.join(folder, "truth.json"), os.path.join(folder, "out.pickle")
        run, report = dryrun(strata, [*options, "-o", snapshot],
                             [python, TRAIN, *arguments, "--truth", path])
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


def known_to(python, arguments):
    """Adafactor came with PyTorch 2.5."""
    if "adafactor" not in arguments:
        return True
    return version(python) >= [2, 5]


def test(arguments, python, failures):
    programs = [(train.split(), options.split()) for train, options in CASES]
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
        drawn = generate.draw(seed)
        programs.append((drawn["train"], drawn["dryrun"]))
    for train, options in programs:
        if known_to(python, train):
            check(arguments.strata, python, train, options, failures)


def add_options(parser):
    parser.add_argument("--seeds", type=int, default=0, help="programs drawn besides those of every day")
    parser.add_argument("--first-seed", type=int, default=1)


if __name__ == "__main__":
    sys.exit(main(test, add_options=add_options))
