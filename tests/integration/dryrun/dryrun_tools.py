# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of `strata dryrun` share that take a Python and count their checks."""
import argparse
import json
import os
import re
import subprocess

import running
from running import HERE, SKIPPED, pythons


class Failures(running.Failures):
    def __init__(self):
        super().__init__()
        self.checks = 0

    def expect(self, name, what, got, wanted=True):
        self.checks += 1
        super().expect(name, what, got, wanted)


def dryrun(strata, options, command, **more):
    """The finished process and its report, None where stdout is no JSON. Output of programs may be any bytes."""
    run = subprocess.run([strata, "dryrun", "--json", *options, "--", *command], capture_output=True, **more)
    run.stderr = run.stderr.decode(errors="replace")
    try:
        return run, json.loads(run.stdout)
    except ValueError:
        return run, None


# ./test --all-torch asks for what takes many minutes.
THOROUGH = os.environ.get("STRATA_ALL_TORCH") == "1"


def version(path):
    return [int(number) for number in re.findall("[0-9]+", path.split("torch-")[-1])]


def main(test, every_python):
    """test(strata, python, failures) for every Python, or for the newest alone; gives the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("strata")
    parser.add_argument("--python", action="append", default=[])
    arguments = parser.parse_args()
    found = sorted(pythons(arguments.python), key=version, reverse=True)
    if not found:
        print("skipped: no torch: set STRATA_TORCH_PYTHON or run tests/truth/environment.sh newest")
        return SKIPPED
    failures = Failures()
    for python in found if every_python else found[:1]:
        test(arguments.strata, python, failures)
        print(f"{python}: {failures.checks} checks, {failures.count} failures so far", flush=True)
    return 1 if failures.count else 0
