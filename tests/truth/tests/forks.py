# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that share one start of PyTorch: tests/truth/programs/many.py runs each in a fork of one Python."""
import collections
import json
import os
import subprocess
import tempfile

from running import PROGRAMS

#: For programs that train: the first optimizer of a process imports this, for seconds.
TRAINING = ("--import", "torch._dynamo")

#: Of one of apart(): how it ended, what it printed, and the folder in which it ran.
Ended = collections.namedtuple("Ended", "process status stdout stderr folder")


def command_of(python, programs, folder, how=()):
    """Words that run programs, each the words of a command without Python, and the path for ends_of(). `how`: options of many.py."""
    place = tempfile.mkdtemp(dir=folder)
    named, ended = os.path.join(place, "programs.json"), os.path.join(place, "ended")
    with open(named, "w", encoding="utf-8") as file:
        json.dump(programs, file)
    return [python, os.path.join(PROGRAMS, "many.py"), *how, named, ended], ended


def ends_of(path):
    """How each program ended, {"process", "status"}, for each time that all of them were run."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def forked(starter, python, programs, folder, how=(), **more):
    """Runs programs, which the words of `starter` start: the finished run, and how each program ended; None where it was not reached."""
    command, ended = command_of(python, programs, folder, how)
    run = subprocess.run([*starter, *command], capture_output=True, encoding="utf-8", errors="replace", **more)
    return run, (ends_of(ended) or [[{"process": None, "status": None}] * len(programs)])[0]


def recorded(strata, options, python, programs, folder, how=(), **more):
    """Runs programs under `strata record`. Returns the finished run, and for each program its status and the path of its session, or None."""
    out = tempfile.mkdtemp(dir=folder)
    run, ended = forked([strata, "record", "-o", os.path.join(out, "{process}.strata"), *options, "--"], python, programs, folder, how, **more)
    paths = [os.path.join(out, f"{each['process']}.strata") for each in ended]
    return run, [(each["status"], path if os.path.exists(path) else None) for each, path in zip(ended, paths)]


def apart(starter, python, programs, folder, **more):
    """Runs programs, texts of Python too, each in a folder of its own: an Ended for each, and the finished run."""
    place, commands = tempfile.mkdtemp(dir=folder), []
    for number, program in enumerate(programs):
        path = os.path.join(place, f"program{number}.py")
        commands.append([path] if isinstance(program, str) else program)
        if isinstance(program, str):
            with open(path, "w", encoding="utf-8") as file:
                file.write(program)
    command, ended = command_of(python, commands, place, ["--apart"])
    run = subprocess.run([*starter, *command], capture_output=True, encoding="utf-8", errors="replace", **more)
    found = ends_of(ended)
    assert found, (run.returncode, run.stdout[-500:], run.stderr[-3000:])
    folders = [os.path.join(os.path.dirname(ended), str(number)) for number in range(len(programs))]
    return [Ended(each["process"], each["status"], text_of(each_folder, "out"), text_of(each_folder, "err"), each_folder)
            for each, each_folder in zip(found[0], folders)], run


def text_of(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
        return file.read()
