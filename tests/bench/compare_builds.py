#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds the speed of one build of Strata against another's, by processor time, in alternating pairs of runs: whatever
else the machine does meets both. Beside each ratio stands the noise: how far the old build is from itself, the medians of its odd
and of its even runs against each other.

usage: compare_builds.py OLD_BIN NEW_BIN FILE [--pairs N] [--paint]

OLD_BIN and NEW_BIN are build/release/bin of two checkouts. Measures `strata summary --json FILE`, every line of bench_timeline FILE
that takes at least 0.05 ms, and with --paint every line of bench_paint FILE. Exit 1 if a median of the new build is above 1.05
times that of the old one and above what the old one shows against itself.
"""

import argparse
import os
import re
import resource
import statistics
import subprocess
import sys

BAR = 1.05
# "name   12.345 ms  (wall 13.2)": the first figure is processor time.
TIMELINE = re.compile(r"^(\S.*?) {2,}([0-9.]+) ms  \(wall")


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(command, environment=None):
    before = children_seconds()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    return children_seconds() - before, done.stdout


def measure(folder, file, paint):
    figures = {}
    figures["strata summary --json"] = run([f"{folder}/strata", "summary", "--json", file])[0] * 1e3
    for line in run([f"{folder}/bench_timeline", file])[1].splitlines():
        found = TIMELINE.match(line)
        if found:
            name = found[1]
            while name in figures:
                name += "'"
            figures[name] = float(found[2])
    if paint:
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
        seconds, text = run([f"{folder}/bench_paint", file], environment)
        figures["bench_paint, all of it"] = seconds * 1e3
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("file")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--paint", action="store_true")
    arguments = parser.parse_args()
    old, new = [], []
    for pair in range(arguments.pairs):
        # The order alternates as well: whoever comes second finds the caches warm.
        for folder, runs in [(arguments.old, old), (arguments.new, new)][:: 1 if pair % 2 == 0 else -1]:
            runs.append(measure(folder, arguments.file, arguments.paint))
        print(f"pair {pair + 1} of {arguments.pairs}", file=sys.stderr)
    slower = 0
    print(f"{'median of processor time, ms':<58} {'old':>10} {'new':>10} {'ratio':>6} {'noise':>6}")
    for name in old[0]:
        if not all(name in figures for figures in old + new):
            print(f"{name:<58} not in every run")
            continue
        of_old = [figures[name] for figures in old]
        of_new = [figures[name] for figures in new]
        median = statistics.median(of_old)
        if median < 0.05:
            continue
        halves = sorted([statistics.median(of_old[0::2]), statistics.median(of_old[1::2] or of_old)])
        noise = halves[1] / halves[0]
        ratio = statistics.median(of_new) / median
        bad = ratio > max(BAR, noise)
        slower += bad
        print(f"{name:<58} {median:10.3f} {statistics.median(of_new):10.3f} {ratio:6.3f} {noise:6.3f}{'  slower' if bad else ''}")
    print(f"{slower} slower than {BAR}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
