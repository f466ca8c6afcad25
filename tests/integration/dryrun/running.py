# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of the dry run share: the Pythons at hand, runs of `strata`, counted failures, how a test ends.

Each test is called as test_NAME.py PROGRAM... [--python PYTHON]... and exits 77, saying why, where there is nothing to run.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.join(HERE, "..", "..", "..")
TRUTH = os.path.join(PROJECT, "tests", "truth")
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "strata")
SKIPPED = 77
#: ./test --all-torch asks for what takes many minutes.
THOROUGH = os.environ.get("STRATA_ALL_TORCH") == "1"
sys.path.insert(0, TRUTH)


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


def with_bitsandbytes():
    """Lets the Pythons that are started find bitsandbytes, which tests/truth/environment.sh loads: whether it is there."""
    found = glob.glob(os.path.join(CACHE, "bitsandbytes-*", "bitsandbytes", "__init__.py"))
    if not found:
        print("  bitsandbytes: skipped: it is not there (tests/truth/environment.sh loads it)", flush=True)
        return False
    folder = os.path.dirname(os.path.dirname(max(found)))
    known = os.environ.get("PYTHONPATH")
    if not known or folder not in known.split(os.pathsep):
        os.environ["PYTHONPATH"] = folder + (os.pathsep + known if known else "")
    return True


#: With PyTorches but the newest a test runs in one turn of so many, other tests in others.
TURNS = 3


def turn():
    """Which it is: STRATA_TURN, else drawn by the commit, so that another run of it does the same, else that of the day."""
    if named := os.environ.get("STRATA_TURN"):
        return int(named) % TURNS
    commit = subprocess.run(["git", "-C", PROJECT, "rev-parse", "HEAD"], capture_output=True, text=True)
    return (int(commit.stdout, 16) if commit.returncode == 0 else int(time.time() // 86_400)) % TURNS


def of_this_turn(found, test):
    """Of Pythons, the newest first, those with which a test runs: the newest, and in its turn the others. What is left out is said."""
    if THOROUGH or len(found) < 2:
        return found
    own = sum(test.encode()) % TURNS
    if own == turn():
        return found
    print(f"with the newest PyTorch alone this time: STRATA_TURN={own} runs {test} with {', '.join(found[1:])} too", flush=True)
    return found[:1]


def of_this_turn_some(items):
    """Of things that take long to measure, each in one of the turns, those whose turn it is."""
    return items if THOROUGH else items[turn()::TURNS]


class Failures:
    def __init__(self):
        self.count = self.checks = 0

    def expect(self, name, what, got, wanted=True):
        self.checks += 1
        if got != wanted:
            self.count += 1
            print(f"FAILED {name}: {what}: {got} instead of {wanted}", flush=True)


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


def main(test, programs=("strata",), every_python=True, once=None, add_options=None, in_turns=True):
    """test(arguments, python, failures) for every Python, of_this_turn() unless they are named or all are wanted, or for the newest alone;
    once(arguments, python, failures) with the newest; `arguments.found` has all. A test may return what keeps it from running; where all do, the whole is skipped. Gives the exit status."""
    parser = argparse.ArgumentParser()
    for program in programs:
        parser.add_argument(program)
    parser.add_argument("--python", action="append", default=[])
    if add_options:
        add_options(parser)
    arguments = parser.parse_args()
    found = arguments.found = pythons(arguments.python)
    if not found:
        print("skipped: no PyTorch: tests/truth/environment.sh newest makes an environment")
        return SKIPPED
    failures, reasons = Failures(), []
    chosen = found if every_python else found[:1]
    if in_turns and not arguments.python:
        chosen = of_this_turn(chosen, os.path.basename(sys.argv[0]))
    for python in chosen:
        reason = test(arguments, python, failures)
        if reason:
            reasons.append(reason)
            print(f"skipped for {python}: {reason}", flush=True)
        print(f"{python}: {failures.checks} checks, {failures.count} failures so far", flush=True)
    if once:
        once(arguments, found[0], failures)
    if len(reasons) == len(chosen) and failures.checks == 0:
        return SKIPPED
    return 1 if failures.count else 0
