# SPDX-License-Identifier: GPL-3.0-or-later
"""Records programs with a deep step, has `strata whatif --confirm` make the calls of that step again, without the program, and holds what it
says against the recording of the program that was changed by hand.

usage: test_calls.py STRATA [--python PYTHON]... [--seeds N] [--first-seed N] [--only TEXT] [--keep FOLDER]

It prints how far off the confirmed figures are, in percent of the truth, over the cases where the calls as they were recorded come to the
recorded peak; a case that is not confirmed is a miss of 100 %. Beside it stands what predicting no change scores. Families of HELD_BACK
are reported apart. Where networks are called without gradients before others with, autocast by --change ends between them: such programs are held
against themselves under `--confirm -- COMMAND`. Without a Python with PyTorch the test is skipped (exit 77) and says so.
"""
import collections
import concurrent.futures
import os
import sys
import tempfile

import record_tools  # makes running known
from running import THOROUGH, main, strata_json
from test_confirm import without
from test_whatif import CARD, DEEP, FIGURES, HELD_BACK, PROGRAM, cases, figures, percentile, record, words_of

Question = collections.namedtuple("Question", "name before after change")
#: Median and 95th percentile in percent: of requested and allocated, and of reserved.
BARS = {"amp=bf16": ((0.1, 0.5), (0.5, 2))}
MOST_RESERVED_OFF = 1.5  # of confirmed figures, in percent
SPLIT = ("gan",)  # whose loss has calls of networks without gradients and with
ENOUGH = 12  # cases from which on a percentile says something
MOST_REFUSED = 0.05

Row = collections.namedtuple("Row", "case question unchanged off null note")


def questions(case):
    plain = without(words_of(case, 1), "autocast")
    yield Question("autocast", plain, (*plain, "--option", "autocast"), "amp=bf16")


def off(figures_of, truth):
    return [100 * abs(figure - true) / true for figure, true in zip(figures_of, truth)]


def ask(arguments, python, case, question, paths):
    """What the calls come to, and how far that is off."""
    before, after = paths["before"][question.before], paths["after"][question.after]
    command = ["whatif", before, "--change", question.change, "--confirm", "--python", python, "--json"]
    run, answer = strata_json(arguments.strata, command)
    _, truth = strata_json(arguments.strata, ["whatif", after, "--json"])
    _, same = strata_json(arguments.strata, ["whatif", before, "--json"])
    wanted, recorded = figures(truth["devices"][0]["recorded"]), figures(same["devices"][0]["recorded"])
    if case.family in SPLIT:
        program = ["--", python, PROGRAM, *question.before]
        _, truth = strata_json(arguments.strata, ["whatif", before, "--change", question.change, "--json", "--confirm", *program])
        wanted = figures(truth["devices"][0]["confirmed"])
    device = answer["devices"][0] if answer and answer["devices"] else None
    if device is None or device["confirmed"] is None:
        return Row(case, question, False, [100.0] * 3, off(recorded, wanted), run.stderr[-600:].strip().splitlines()[-1:])
    return Row(case, question, figures(device["confirmed_unchanged"]) == recorded, off(figures(device["confirmed"]), wanted),
               off(recorded, wanted), [f"{device['confirmed_by']}: {device['confirmed_note']}"])


def report(which, rows):
    """Those that count: the change moves a figure by 1 % or more."""
    counted = [row for row in rows if max(row.null) >= 1]
    if not counted:
        return []
    refused = [row for row in counted if row.off[0] == 100]
    print(f"  {which}: {len(counted)} cases, {len(refused)} not confirmed; unchanged to the byte: {sum(row.unchanged for row in counted)}", flush=True)
    for index, figure in enumerate(FIGURES):
        errors, null = [row.off[index] for row in counted], [row.null[index] for row in counted]
        print(f"    {figure}: median {percentile(errors, 0.5):.2f}, 95th percentile {percentile(errors, 0.95):.2f}, worst {max(errors):.2f} %, "
              f"exact {sum(error == 0 for error in errors)}; no change: {percentile(null, 0.5):.1f} / {percentile(null, 0.95):.1f} %", flush=True)
    return counted


def check(change, which, counted, most, failures):
    """Holds figures against `most` times the bars."""
    confirmed = [row for row in counted if row.off[0] != 100]
    failures.expect(which, "confirmed", len(confirmed) > 0, True)
    if len(counted) < ENOUGH:
        failures.expect(which, "requested exact", [row.case.name for row in confirmed if row.off[0] != 0], [])
        return
    failures.expect(which, "requested exact on 95 % of what is confirmed", sum(row.off[0] == 0 for row in confirmed) >= 0.95 * len(confirmed), True)
    failures.expect(which, "at most 5 % not confirmed", len(counted) - len(confirmed) <= MOST_REFUSED * len(counted), True)
    for index, figure in enumerate(FIGURES):
        median, high = (most * bar for bar in BARS[change][figure == "reserved"])
        errors = [row.off[index] for row in counted]
        failures.expect(which, f"{figure}: median, 95th percentile", [percentile(errors, 0.5) <= median, percentile(errors, 0.95) <= high], [True, True])


def test(arguments, python, failures):
    chosen = [case for case in cases(range(arguments.first_seed, arguments.first_seed + arguments.seeds)) if arguments.only in case.name]
    if not THOROUGH and not arguments.only:
        chosen = [case for case in chosen if case.family in ("gpt", "recommender")]
    asked = [(case, question) for case in chosen for question in questions(case)]
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or scratch
        paths = {"before": record(arguments.strata, python, os.path.join(folder, "before"), [each.before for _, each in asked], DEEP),
                 "after": record(arguments.strata, python, os.path.join(folder, "after"), [each.after for _, each in asked])}
        missing = [case.name for case, each in asked if each.before not in paths["before"] or each.after not in paths["after"]]
        failures.expect("recordings", "missing", missing, [])
        asked = [(case, each) for case, each in asked if case.name not in missing]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            rows = list(pool.map(lambda one: ask(arguments, python, *one, paths), asked))
    for row in rows:
        if arguments.verbose or max(row.off) > MOST_RESERVED_OFF or not row.unchanged:
            print(f"  {row.case.name}: {row.question.name}: off {' '.join(f'{error:.2f}' for error in row.off)} %, no change "
                  f"{' '.join(f'{error:.1f}' for error in row.null)} %; {' '.join(row.note)}", flush=True)
    for change in BARS:
        asked = [row for row in rows if row.question.change == change]
        name = f"{change} by calls on {CARD}"
        counted = report(f"{name}, tuned families", [row for row in asked if row.case.family not in HELD_BACK])
        held = report(f"{name}, held back families", [row for row in asked if row.case.family in HELD_BACK])
        check(change, name, counted + held, 1, failures)
        if len(held) >= ENOUGH:
            check(change, f"{name}, held back", held, 2, failures)


def add_options(parser):
    parser.add_argument("--seeds", type=int, default=4 if THOROUGH else 1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", default="", help="cases with this text in their name")
    parser.add_argument("--keep", help="recordings that are there already are taken, and left there")
    parser.add_argument("--verbose", action="store_true", help="every case")


if __name__ == "__main__":
    sys.exit(main(test, every_python=False, add_options=add_options))
