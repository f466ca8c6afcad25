# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs programs one after the other, each in a process of its own that is forked from one in which torch is imported: importing it
takes longer than most of them. Nothing has touched a device before the fork, so each is as if it were run alone.

usage: many.py PROGRAMS.json STATUS.json

PROGRAMS is a list of lists, the words of a command without Python; STATUS gets a list of {"process", "status"}, where a negative
status is the signal that ended it.
"""
import json
import os
import runpy
import sys

import torch  # noqa: F401  what takes long


def main(programs, out):
    ended = []
    for words in programs:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            sys.argv = words
            sys.path.insert(0, os.path.dirname(os.path.abspath(words[0])))
            return runpy.run_path(words[0], run_name="__main__")
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        ended.append({"process": child, "status": status})
    with open(out, "w", encoding="utf-8") as file:
        json.dump(ended, file)
    return None


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        listed = json.load(file)
    kept = main(listed, sys.argv[2])  # what a program holds to its end
