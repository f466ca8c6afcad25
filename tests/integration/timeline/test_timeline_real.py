# SPDX-License-Identifier: GPL-3.0-or-later
"""Traces of other people: strata timeline says what Python's json and slow sums say.

usage: test_timeline_real.py STRATA REALDATA
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

import naive_trace

SKIPPED = 77


def check(strata, path):
    run = subprocess.run([strata, "timeline", path, "--json", "--limit", "0"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    wanted, rows = naive_trace.figures(path)
    [rank] = told["ranks"]
    for what, got, expected in (("counts", told["counts"], wanted["counts"]), ("memory", told["memory"], wanted["memory"]),
                                ("rank", rank["rank"], wanted["rank"]), ("devices", rank["devices"], wanted["devices"]),
                                ("steps", rank["steps"], wanted["steps"]),
                                ("kernels", {row["name"]: row["calls"] for row in told["kernels"]}, wanted["kernels"]),
                                ("operators", {row["name"]: row["calls"] for row in told["operators"]}, wanted["operators"])):
        assert got == expected, f"{path}: {what}: {json.dumps(got)[:2000]}, not {json.dumps(expected)[:2000]}"
    with tempfile.TemporaryDirectory() as folder:
        again = os.path.join(folder, "again.json")
        subprocess.run([strata, "timeline", path, "-o", again], stdout=subprocess.DEVNULL, check=True)
        run = subprocess.run([strata, "timeline", again, "--json", "--limit", "0"], capture_output=True, text=True)
        written = json.loads(run.stdout)
    for each in (told, written):
        each["ranks"][0].pop("file")
    for what in ("memory", "ranks", "verdict", "operators", "kernels", "copies"):
        assert written[what] == told[what], f"{path}: written as a trace: {what}: {json.dumps(written[what])[:1000]}, not {json.dumps(told[what])[:1000]}"
    return len(rows), naive_trace.running_sums_hold(rows), told["verdict"]["queue"]


def main(strata, folder):
    files = sorted(glob.glob(os.path.join(folder, "kineto", "*.json.gz")) + glob.glob(os.path.join(folder, "no-memory-events", "*.json.gz")))
    if not files:
        print("no traces of other people beside the repository: skipped")
        return SKIPPED
    for path in files:
        rows, totals, queue = check(strata, path)
        print(f"{os.path.basename(path)}: {rows} rows the same, {totals} totals hold, queue {queue}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
