# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests with PyTorch share: the Pythons at hand, runs of `strata`, counted checks.

A test has two forms. The short one runs on every commit and is always the same: with the newest PyTorch, and with 2.6 where it
records, replays or reads. STRATA_LONG=1 selects the long one: every seed, every program and every PyTorch.
"""
import glob
import json
import os
import re
import subprocess
import sys

PROJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
PROGRAMS, TOOLS = (os.path.join(PROJECT, "tests", "truth", name) for name in ("programs", "tools"))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "strata")
#: The folder of the build that is tested.
BUILD = os.path.abspath(os.environ.get("STRATA_BUILD") or os.path.join(PROJECT, "build", "release"))
#: Whether this is the long form of the test.
LONG = os.environ.get("STRATA_LONG") == "1"
#: The PyTorch beside the newest that the short form of a test runs with.
OLDER = [2, 6]
#: The first PyTorch with linear_cross_entropy in chunks.
CHUNKED_SINCE = [2, 13]
sys.path[:0] = [PROGRAMS, TOOLS]
sys.path.append(os.path.join(PROJECT, "tests", "tools"))


def jobs():
    """How many processes a test starts at once: STRATA_JOBS, which ctest sets together with the property PROCESSORS."""
    return max(1, int(os.environ.get("STRATA_JOBS") or 1))


def version(python):
    """Of the PyTorch that lies beside, as a list of numbers."""
    place = os.path.join(os.path.dirname(os.path.dirname(python)), "lib", "python3*", "site-packages", "torch-*.dist-info")
    return [int(number) for path in glob.glob(place) for number in re.findall("[0-9]+", os.path.basename(path))]


def pythons(named):
    """Paths of Pythons with PyTorch, the newest first: those named, else STRATA_TORCH_PYTHON (colon separated), else those
    that lie in $XDG_CACHE_HOME/strata/torch-VERSION."""
    if not named:
        named = [p for p in os.environ.get("STRATA_TORCH_PYTHON", "").split(":") if p]
    return sorted(named or glob.glob(os.path.join(CACHE, "torch-*", "bin", "python")), key=version, reverse=True)


def with_bitsandbytes(failures):
    """Lets the Pythons that are started find bitsandbytes, which tests/truth/environment.sh loads: whether it is there."""
    found = glob.glob(os.path.join(CACHE, "bitsandbytes-*", "bitsandbytes", "__init__.py"))
    if not found:
        failures.skip("bitsandbytes is not there (tests/truth/environment.sh loads it)")
        return False
    folder = os.path.dirname(os.path.dirname(max(found)))
    known = os.environ.get("PYTHONPATH")
    if not known or folder not in known.split(os.pathsep):
        os.environ["PYTHONPATH"] = folder + (os.pathsep + known if known else "")
    return True


def of_this_form(found, older):
    """Of Pythons, the newest first, those that this form of a test runs with. `older`: the short form takes OLDER too."""
    return found if LONG else [python for python in found if python == found[0] or older and version(python)[:2] == OLDER]


class Failures:
    """Counts checks. A part of a test that cannot run here is skipped, and with it the test counts as skipped (conftest.py)."""

    def __init__(self):
        self.count = self.checks = 0
        self.left_out, self.said = [], []

    def expect(self, name, what, got, wanted=True):
        self.checks += 1
        if got != wanted:
            self.count += 1
            self.said.append(f"{name}: {what}: {got} instead of {wanted}")
            print(f"FAILED {self.said[-1]}", flush=True)

    def skip(self, why):
        if why not in self.left_out:
            self.left_out.append(why)
            print(f"skipped: {why}", flush=True)


def strata_json(strata, arguments, **more):
    """Runs `strata ARGUMENTS`; gives the process and its stdout as JSON, None where it is none. Output may be any bytes."""
    run = subprocess.run([strata, *arguments], capture_output=True, **more)
    run.stderr = run.stderr.decode(errors="replace")
    try:
        return run, json.loads(run.stdout)
    except ValueError:
        return run, None


def dryrun(strata, options, command, **more):
    return strata_json(strata, ["dryrun", "--json", *options, "--", *command], **more)


def with_environment(**variables):
    return {**os.environ, **variables}
