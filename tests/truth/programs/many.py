# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs programs one after the other, each in a process of its own that is forked from one in which torch is imported: importing it
takes longer than most of them. Nothing has touched a device before the fork, so each is as if it were run alone. Those that end well
leave at once, since taking an interpreter down takes longer still.

usage: many.py [--import MODULE]... [--to-the-end] [--apart] [--once N] PROGRAMS.json STATUS

PROGRAMS is a list of lists, the words of a command without Python; NAME=VALUE before them sets a variable of the environment that is
read after torch was imported. STATUS gets one more line, a list of {"process", "status"}, where a negative status is the signal that
ended it. --import loads what the programs would load each for itself; --to-the-end lets the interpreters end as they do alone; --apart
starts each in a folder of its own beside STATUS, 0, 1, and so on, where its output goes to `out` and `err`; --once N runs the last N
programs only where STATUS is not there yet, in the first of several runs.
"""
import argparse
import importlib
import json
import os
import runpy
import sys

import device_options  # noqa: F401  before torch
import torch  # noqa: F401  what takes long


def begin_apart(folder):
    os.makedirs(folder)
    os.chdir(folder)
    for descriptor, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), descriptor)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--import", action="append", default=[], dest="modules")
    parser.add_argument("--to-the-end", action="store_true")
    parser.add_argument("--apart", action="store_true")
    parser.add_argument("--once", type=int, default=0)
    parser.add_argument("programs")
    parser.add_argument("status")
    arguments = parser.parse_args()
    with open(arguments.programs, encoding="utf-8") as file:
        programs = json.load(file)
    if os.path.exists(arguments.status):
        programs = programs[:len(programs) - arguments.once]
    for module in arguments.modules:
        importlib.import_module(module)
    ended = []
    for number, words in enumerate(programs):
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            if arguments.apart:
                begin_apart(os.path.join(os.path.dirname(os.path.abspath(arguments.status)), str(number)))
            while "=" in words[0]:
                name, _, os.environ[name] = words.pop(0).partition("=")
            sys.argv = words
            sys.path.insert(0, os.path.dirname(os.path.abspath(words[0])))
            program = runpy.run_path(words[0], run_name="__main__")
            if arguments.to_the_end:
                return program
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        ended.append({"process": child, "status": status})
    with open(arguments.status, "a", encoding="utf-8") as file:
        print(json.dumps(ended), file=file)
    return None


if __name__ == "__main__":
    kept = main()  # what a program holds to its end
