# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of the dry run share: the Pythons at hand, runs of `strata`, counted failures."""
import glob
import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.join(HERE, "..", "..", "..")
SKIPPED = 77


def pythons(named):
    """Paths of Pythons with PyTorch: those named, else STRATA_TORCH_PYTHON (colon separated), else those that lie in
    $XDG_CACHE_HOME/strata/torch-VERSION."""
    if not named:
        named = [p for p in os.environ.get("STRATA_TORCH_PYTHON", "").split(":") if p]
    if not named:
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        named = sorted(glob.glob(os.path.join(cache, "strata", "torch-*", "bin", "python")))
    return named


class Failures:
    def __init__(self):
        self.count = 0

    def expect(self, name, what, got, wanted):
        if got != wanted:
            self.count += 1
            print(f"FAILED {name}: {what}: {got} instead of {wanted}", flush=True)


def strata_json(strata, arguments, environment=None):
    """Runs `strata ARGUMENTS`; gives the process and its stdout as JSON, None where it is none."""
    run = subprocess.run([strata, *arguments], capture_output=True, text=True,
                         env={**os.environ, **(environment or {})})
    try:
        return run, json.loads(run.stdout)
    except ValueError:
        return run, None


def dryrun(strata, options, command, environment=None):
    return strata_json(strata, ["dryrun", "--json", *options, "--", *command], environment)
