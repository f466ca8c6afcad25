# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what `strata whatif --change zero_grad=...` says of one recording against the same program that calls zero_grad() there: behind its step,
before forward, or before backward, with real PyTorch and its real allocator on the simulated device. Half of the programs have parameters so large
that these make the peak.

usage: test_zero_grad.py STRATA [--python PYTHON]... [--seeds N] [--first-seed N] [--only TEXT] [--held-back] [--keep FOLDER] [--recorder STRATA] [--write PAGE]

It prints the error of requested, allocated and reserved in percent of the truth over the answers in which the change moves that figure by 1 % or
more, and beside it what predicting no change scores. A refusal counts as a miss of 100 %. The place that a program has already comes to the
recorded peaks, to the byte. Families held back are those of test_whatif.py. Without a Python with PyTorch the test is skipped (exit 77).
"""
import concurrent.futures
import os
import sys
import tempfile

import record_tools  # makes running known
from running import main, strata_json
from test_whatif import (HELD_BACK, add_page_options, kinds_table, by_method, figures, record, report_errors, row_of, table, write_page)
from test_whatif_sharded import PROGRAM, Case, cases

PLACES = {"after-step": (), "before-forward": ("--option", "zero_first"), "before-backward": ("--option", "zero_late")}
BARS = ((0.1, 0.5), (0.5, 1.5))  # median and 95th percentile in percent, of requested and allocated, and of reserved


def plain(case):
    """As it is drawn, but for the place of zero_grad()."""
    words = [word for i, word in enumerate(case.words) if "zero_first" not in case.words[i:i + 2] or word not in ("--option", "zero_first")]
    return Case(case.name, case.family, case.wider, case.items, words, ())


def words_of(case, place):
    return ("alone", str(case.items), case.wider, *case.words, *PLACES[place])


def test(arguments, python, failures):
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    few = arguments.seeds == 1 and not arguments.held_back
    chosen = [plain(case) for case in cases(seeds, (), few=few) if arguments.only in case.name and (arguments.held_back or case.family not in HELD_BACK)]
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        made = record(arguments.recorder or arguments.strata, python, arguments.keep or temporary,
                      [words_of(case, place) for case in chosen for place in PLACES], ("--deep-step", "0"), program=PROGRAM)
        peaks = {words: figures(strata_json(arguments.strata, ["whatif", path, "--json"])[1]["devices"][0]["recorded"])
                 for words, path in made.items()}

        def ask(question):
            case, place, asked = question
            words, wanted = words_of(case, place), words_of(case, asked)
            if words not in made or wanted not in made:
                failures.expect(case.name, "recordings", [words in made, wanted in made], [True, True])
                return None
            run, told = strata_json(arguments.strata, ["whatif", made[words], "--json", "--change", f"zero_grad={asked}"])
            if told is None or told["refused"]:
                print(f"  {case.name}: from {place} to {asked}: {run.stderr.strip()[:300]}", flush=True)
            if place == asked:
                failures.expect(case.name, f"{place} is the recorded one",
                                told is not None and figures(told["devices"][0]["predicted"]), peaks[words])
                return None
            row = row_of(case, f"zero_grad={asked}", 1, told, peaks[words], peaks[wanted])
            if row.kind == "refused" or not row.held or any(abs(error) > 0.05 for error in row.errors or ()):
                print(f"  {case.name}: from {place} to {asked}: {row.kind} {' '.join(f'{error:+.3f}' for error in row.errors or ())} %"
                      f"{'' if row.held else ', not in the interval'}", flush=True)
            return row
        rows = [row for row in pool.map(ask, ((case, place, asked) for case in chosen for place in PLACES for asked in PLACES)) if row is not None]
    found = []
    for method, which, some in by_method(rows, [f"zero_grad={asked}" for asked in PLACES]):
        report_errors([row for row in some if row.kind != "bounds"], method, which, BARS, failures, found)
        if some:
            held = sum(row.held for row in some)
            print(f"  {which}, {method}: {len(some)} answers; the interval holds in {held}", flush=True)
            failures.expect(f"{which}, {method}", "intervals hold in 95 %", held >= 0.95 * len(some))
    if arguments.write:
        write(arguments, python, found, rows)


def write(arguments, python, found, rows):
    """The published page."""
    lines = ["A program is recorded with `zero_grad()` behind the step of its optimizer, before its forward, or before its backward, and asked what it",
             "comes to with each other place. The truth is the same program written so: real PyTorch, its real allocator on the simulated device.",
             "Programs, and what is held back, are those of [how far `strata whatif` is off](whatif-accuracy.md), every other one with layers beside the",
             "model that make its parameters large. Errors are in percent of the truth, over answers in which the change moves the figure by 1 % or more;",
             "*tail* is the 95th percentile, *no change* what predicting the recorded figure scores.", "",
             *table(["change", "families", "figure", "cases", "median", "tail", "worst", "exact", "no change: median", "95th"], found), "",
             *kinds_table(rows, [f"zero_grad={asked}" for asked in PLACES])]
    write_page(arguments, python, "How far `strata whatif --change zero_grad=` is off", lines)


def add_options(parser):
    add_page_options(parser)
    parser.add_argument("--recorder", metavar="STRATA", help="records, where another is asked")


if __name__ == "__main__":
    sys.exit(main(test, every_python=False, add_options=add_options))
