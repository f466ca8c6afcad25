# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares a dry run and its recordings with the counters of torch, which tests/truth/programs/truth.py writes."""
import itertools
import json
import os
import tempfile

import forks
from running import dryrun, strata_json


def check_recording(strata, name, snapshot, truth, failures):
    """What Strata reads from the recording is what torch counted."""
    run, summary = strata_json(strata, ["summary", "--json", snapshot])
    if summary is None:
        failures.expect(name, "summary", run.stderr, "a document")
        return
    recorded = {d["device"]: d for d in summary["devices"]}
    failures.expect(name, "devices of the recording", set(recorded) <= set(range(len(truth["devices"]))))
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


def check_peaks(name, process, truth, failures):
    """What the tracker followed is what torch counted."""
    for got, wanted in itertools.zip_longest(process["devices"], truth["devices"]):
        for key in ("requested", "allocated", "reserved"):
            failures.expect(name, f"device {got['device']} {key} peak", got[f"{key}_bytes_peak"], wanted[key])
        failures.expect(name, "oom_count", got["oom_count"], wanted["out_of_memories"])
        failures.expect(name, "fits", got["fits"], wanted["out_of_memories"] == 0)


def start_each(strata, python, options, programs, folder, how=()):
    """One dry run of programs, which may run them more than once; gives the finished run, its report and, for each time that it got
    to the end of them, how each ended. `how` are options of many.py."""
    command, ended = forks.command_of(python, programs, folder, how)
    run, report = dryrun(strata, options, command)
    return run, report, forks.ends_of(ended)


def start_many(strata, python, options, programs, folder, how=(), suffix="pickle"):
    """One dry run of programs; gives the finished run, its report and how each ended, None where they did not get that far. Keeps
    snapshots in the folder, or recordings."""
    options = [*options, "-o", os.path.join(folder, f"{{process}}.{suffix}")]
    run, report, ended = start_each(strata, python, options, programs, folder, how)
    return run, report, ended[-1] if report is not None and ended else None


def run_many(strata, python, options, programs, failures, how=()):
    """One dry run of programs, the words of a command each, which end well and write their truth to the file after --truth.
    Gives the process and the truth of each, None where there is none, and a folder's path of snapshots to take in `with`."""
    folder = tempfile.TemporaryDirectory()
    paths = [os.path.join(folder.name, f"truth.{index}.json") for index in range(len(programs))]
    commands = [[*words, "--truth", path] for words, path in zip(programs, paths)]
    run, report, statuses = start_many(strata, python, options, commands, folder.name, how)
    name = f"{python} under {' '.join(options) or 'defaults'}"
    if statuses is None:
        failures.expect(name, "output", (run.returncode, run.stdout[-500:], run.stderr[-3000:]), "a report")
        return folder, [None] * len(programs)
    failures.expect(name, "exit_status", report["exit_status"], 0)
    failures.expect(name, "not served", [l for l in run.stderr.splitlines() if "not served" in l], [])
    failures.expect(name, "statuses", [s["status"] for s in statuses], [0] * len(programs))
    # A program that compiles has helpers, which look at the device too.
    failures.expect(name, "processes", {s["process"] for s in statuses} <= {r["process"] for r in report["ranks"]})
    processes, found = {r["process"]: r for r in report["ranks"]}, []
    for words, path in zip(programs, paths):
        if not os.path.exists(path):
            failures.expect(f"{name}: {' '.join(words)}", "truth", run.stderr[-3000:], "written")
            found.append(None)
            continue
        with open(path, encoding="utf-8") as file:
            truth = json.load(file)
        failures.expect(name, "torch", report["torch"], truth["torch"])
        found.append((processes.get(truth["process"]), truth))
    return folder, found


def check(strata, python, options, programs, failures):
    """Runs programs under one set of options and holds all figures of each against its own truth."""
    folder, found = run_many(strata, python, options, programs, failures)
    with folder:
        for words, each in zip(programs, found):
            name = f"{python} {' '.join(words)} under {' '.join(options) or 'defaults'}"
            if each is None or each[0] is None:
                failures.expect(name, "process", None, "in the report")
                continue
            process, truth = each
            check_peaks(name, process, truth, failures)
            if "recorder_off" not in words:
                check_recording(strata, name, os.path.join(folder.name, f"{truth['process']}.pickle"), truth, failures)
