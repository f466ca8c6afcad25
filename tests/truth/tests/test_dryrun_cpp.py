# SPDX-License-Identifier: GPL-3.0-or-later
"""A C++ program linked with the LibTorch of a wheel, under `strata dryrun`: its peaks are the allocator's own."""
import json
import os
import tempfile

import pytest

from cpp import compiled
from running import PROGRAMS, dryrun

SOURCE = os.path.join(PROGRAMS, "train.cpp")


@pytest.mark.parametrize("model", ["gpt", "conv"])
def test_peaks(strata, python, model, failures):
    program = compiled(python, failures, SOURCE)
    if not program:
        return
    name = f"{python} C++ {model}"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "truth.json")
        run, report = dryrun(strata, [], [program, model, "4", path])
        if report is None or report["exit_status"] != 0 or not os.path.exists(path):
            failures.expect(name, "output", (run.returncode, run.stderr[-2000:]), "a report")
            return
        with open(path) as file:
            truth = json.load(file)
    got = report["ranks"][0]["devices"][0]
    failures.expect(name, "peaks", {key: got[f"{key}_bytes_peak"] for key in truth}, truth)
    failures.expect(name, "exit", run.returncode, 0)
    # The program may have been built from another copy of the source.
    lines = [group["bytes"] for group in report["groups"] if os.path.basename(SOURCE) + ":" in group["key"]]
    failures.expect(name, f"its lines in {report['groups']}", sum(lines) > truth["requested"] // 3, True)
    failures.expect(name, "trained", truth["requested"] > 1 << 20, True)
    failures.expect(name, "not served", [l for l in run.stderr.splitlines() if "not served" in l], [])
