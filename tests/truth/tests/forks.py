# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that share one start of torch: tests/truth/programs/many.py, under any program of a build."""
import json
import os
import subprocess
import tempfile

from running import PROGRAMS

MANY = os.path.join(PROGRAMS, "many.py")
#: For programs that train: what the first optimizer of a process imports, for seconds.
TRAINING = ("--import", "torch._dynamo")


def forked(starter, python, programs, folder, how=(), **more):
    """Runs programs, the words of a command each, one after the other in forks of one Python, which the words of `starter` start. Gives
    the run and how each program ended, {"process", "status"}; None where it was not reached. `how` are options of many.py."""
    place = tempfile.mkdtemp(dir=folder)
    named, ended = os.path.join(place, "programs.json"), os.path.join(place, "ended")
    with open(named, "w", encoding="utf-8") as file:
        json.dump(programs, file)
    run = subprocess.run([*starter, python, MANY, *how, named, ended], capture_output=True, encoding="utf-8", errors="replace", **more)
    if not os.path.exists(ended):
        return run, [{"process": None, "status": None}] * len(programs)
    with open(ended, encoding="utf-8") as file:
        return run, json.loads(file.readline())


def recorded(strata, options, python, programs, folder, how=(), **more):
    """The same under `strata record`: the run, and of each program its exit status and the path of its session, None where it left none."""
    out = tempfile.mkdtemp(dir=folder)
    run, ended = forked([strata, "record", "-o", os.path.join(out, "{process}.strata"), *options, "--"], python, programs, folder, how, **more)
    paths = [os.path.join(out, f"{each['process']}.strata") for each in ended]
    return run, [(each["status"], path if os.path.exists(path) else None) for each, path in zip(ended, paths)]
