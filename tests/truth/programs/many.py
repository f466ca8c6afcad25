# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs programs one after the other, each in a process of its own that is forked from one in which torch is imported: importing it
takes longer than most of them. Nothing has touched a device before the fork, so each is as if it were run alone. Those that end well
leave at once, since taking an interpreter down takes longer still.

usage: many.py [--import MODULE]... [--to-the-end] PROGRAMS.json STATUS

PROGRAMS is a list of lists, the words of a command without Python, before which NAME=VALUE sets a variable of the environment, which has to be
read after torch was imported; STATUS gets one more line, a list of {"process", "status"}, where a negative status is the signal that ended it. --import loads what the programs would load each for itself; --to-the-end lets
the interpreters end as they do alone.
"""
import argparse
import importlib
import json
import os
import runpy
import sys

import device_options  # noqa: F401  before torch
import torch  # noqa: F401  what takes long


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--import", action="append", default=[], dest="modules")
    parser.add_argument("--to-the-end", action="store_true")
    parser.add_argument("programs")
    parser.add_argument("status")
    arguments = parser.parse_args()
    with open(arguments.programs, encoding="utf-8") as file:
        programs = json.load(file)
    for module in arguments.modules:
        importlib.import_module(module)
    ended = []
    for words in programs:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
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
