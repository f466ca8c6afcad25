# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what `strata whatif --change zero_grad=...` says of one recording against the same program that calls zero_grad() there: behind its step,
before forward, or before backward, with real PyTorch and its real allocator on the simulated device; and what `--change optimizer=...,in_backward=True`
says, by a deep step, against the program that steps as gradients come. Half of the programs have parameters so large that these make
the peak.

usage: test_zero_grad.py STRATA [--python PYTHON]... [--seeds N] [--first-seed N] [--only TEXT] [--held-back] [--keep FOLDER] [--recorder STRATA] [--write PAGE]

It prints the error of requested, allocated and reserved in percent of the truth over the answers in which the change moves that figure by 1 % or
more, and beside it what predicting no change scores. A refusal counts as a miss of 100 %. The place that a program has already comes to the
recorded peaks, to the byte. Families held back are those of test_whatif.py. Without a Python with PyTorch the test is skipped (exit 77).
"""
import concurrent.futures
import os
import sys
import tempfile

from running import jobs, main, strata_json
from test_whatif import (HELD_BACK, add_page_options, kinds_table, by_method, figures, is_short, record, report_errors, row_of, table, write_page)
from test_whatif_sharded import PROGRAM, Case, cases

PLACES = {"after-step": (), "before-forward": ("--option", "zero_first"), "before-backward": ("--option", "zero_late")}
BARS = ((0.1, 0.5), (0.5, 1.5))  # median and 95th percentile in percent, of requested and allocated, and of reserved
IN_BACKWARD = ("--option", "in_backward")
OPTIMIZERS = {"sgd": "SGD", "momentum": "SGD,momentum=0.9", "adamw": "AdamW,foreach=True", "adamw_fused": "AdamW,fused=True",
              "rmsprop": "RMSprop,momentum=0.9", "adagrad": "Adagrad"}
STEPS = "in_backward=True, deep step and roles"
METHODS = (*(f"zero_grad={asked}" for asked in PLACES), STEPS)


def plain(case):
    """As it is drawn, but for the place of zero_grad()."""
    words = [word for i, word in enumerate(case.words) if "zero_first" not in case.words[i:i + 2] or word not in ("--option", "zero_first")]
    return Case(case.name, case.family, case.wider, case.items, words, ())


def words_of(case, options=()):
    return ("alone", str(case.items), case.wider, *case.words, *options)


def at_once(case):
    """Without what works with all gradients behind backward, and what has several backwards."""
    words = [word for i, word in enumerate(case.words)
             if not ({"clip", "accumulate"} & set(case.words[i:i + 2])) or word not in ("--option", "clip", "accumulate")]
    return Case(case.name, case.family, case.wider, case.items, words, ())


def test(arguments, python, failures):
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    chosen = [plain(case) for case in cases(seeds, (), few=is_short(arguments)) if arguments.only in case.name and (arguments.held_back or case.family not in HELD_BACK)]
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        made = record(arguments.recorder or arguments.strata, python, arguments.keep or temporary,
                      [words_of(case, options) for case in chosen for options in PLACES.values()], ("--deep-step", "0"), program=PROGRAM)
        single = [at_once(case) for case in chosen if case.family != "gan"]
        deep = record(arguments.recorder or arguments.strata, python, os.path.join(arguments.keep or temporary, "deep"),
                      [words_of(case) for case in single], program=PROGRAM)
        made |= record(arguments.recorder or arguments.strata, python, os.path.join(arguments.keep or temporary, "backward"),
                       [words_of(case, options) for case in single for options in ((), IN_BACKWARD)], ("--deep-step", "0"), program=PROGRAM)
        peaks = {words: figures(strata_json(arguments.strata, ["whatif", path, "--json"])[1]["devices"][0]["recorded"])
                 for words, path in made.items()}

        def ask(question):
            case, place, asked = question
            words, wanted = words_of(case, PLACES[place]), words_of(case, PLACES[asked])
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

        def ask_in_backward(case):
            words, wanted = words_of(case), words_of(case, IN_BACKWARD)
            if words not in deep or words not in made or wanted not in made:
                failures.expect(case.name, "recordings", [words in deep, words in made, wanted in made], [True, True, True])
                return None
            change = ["--change", f"optimizer={OPTIMIZERS[case.words[case.words.index('--optimizer') + 1]]},in_backward=True"]
            run, told = strata_json(arguments.strata, ["whatif", deep[words], "--json", *change])
            refused, _ = strata_json(arguments.strata, ["whatif", made[words], "--json", *change])
            failures.expect(case.name, "without a deep step it is refused", (refused.returncode, "deep step" in refused.stderr), (1, True))
            if told is None or told["refused"]:
                print(f"  {case.name}: {STEPS}: {run.stderr.strip()[:300]}", flush=True)
            row = row_of(case, STEPS, 1, told, peaks[words], peaks[wanted])
            if row.kind == "refused" or not row.held or any(abs(error) > 0.05 for error in row.errors or ()):
                print(f"  {case.name}: {STEPS}: {row.kind} {' '.join(f'{error:+.3f}' for error in row.errors or ())} %"
                      f"{'' if row.held else ', not in the interval'}", flush=True)
            return row
        rows = [*pool.map(ask, ((case, place, asked) for case in chosen for place in PLACES for asked in PLACES)),
                *pool.map(ask_in_backward, single)]
        rows = [row for row in rows if row is not None]
    found = []
    for method, which, some in by_method(rows, METHODS):
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
             "comes to with each other place (`--change zero_grad=`), and with an optimizer for each parameter that steps as its gradient comes, and lets",
             "it go (`--change optimizer=NAME,in_backward=True`, of the same name and options). The truth is the same program written so: real PyTorch, its",
             "real allocator on the simulated device. Programs that clip or accumulate do neither where they step in backward.",
             "Programs, and what is held back, are those of [how far `strata whatif` is off](whatif-accuracy.md), every other one with layers beside the",
             "model that make its parameters large. Errors are in percent of the truth, over answers in which the change moves the figure by 1 % or more;",
             "*tail* is the 95th percentile, *no change* what predicting the recorded figure scores.", "",
             *table(["change", "families", "figure", "cases", "median", "tail", "worst", "exact", "no change: median", "95th"], found), "",
             *kinds_table(rows, METHODS)]
    write_page(arguments, python, "How far `strata whatif` is off where gradients go elsewhere", lines)


def add_options(parser):
    add_page_options(parser)
    parser.add_argument("--recorder", metavar="STRATA", help="records, where another is asked")


if __name__ == "__main__":
    sys.exit(main(test, every_python=False, add_options=add_options))
