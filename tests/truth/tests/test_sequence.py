# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what `strata whatif --change sequence=N` says of two and three recordings with sequences of other lengths against the program with that
length, with real PyTorch and its real allocator on the simulated device. Of programs that look at pictures the length is that of a side.

usage: test_sequence.py STRATA [--python PYTHON]... [--seeds N] [--first-seed N] [--only TEXT] [--held-back] [--keep FOLDER] [--write PAGE]

Prints errors in percent of the truth and what predicting no change scores beside them, over the cases in which that is 1 % off or more. Without
a Python with PyTorch the test is skipped (exit 77) and says so.
"""
import concurrent.futures
import sys
import tempfile

from running import jobs, main, strata_json
from test_accumulate import report
from test_whatif import HELD_BACK, add_page_options, by_method, cases, chosen_cases, figures, kinds_table, record, row_of, table, write_page

TWO, THREE = "sequence, two recordings", "sequence, three recordings"
BARS = {TWO: ((0.1, 1), (1, 8)), THREE: ((0.1, 1), (1, 8))}  #: those of the batch
#: By family, of its shortest sequences; others are two, three and four times as long. Positions of `gpt` end at four of these.
UNITS = {"experts": 32, "gpt": 8, "lstm": 12, "resnet": 32, "t5": 24, "unet": 32}
#: Times of the unit: of the recording, of those beside it, and what is asked for.
ASKED = ((TWO, 2, (1,), 4), (TWO, 2, (4,), 3), (TWO, 2, (1,), 3), (THREE, 2, (1, 3), 4), (THREE, 2, (1, 4), 3))


def words_of(case, times):
    return (str(case.items), "--length", str(UNITS[case.family] * times), *case.words)


def ask(strata, case, question, paths, peaks, failures):
    method, before, others, after = question
    unit, recordings = UNITS[case.family], (before, *others)
    arguments = [paths[before], "--json", "--change", f"sequence={unit * after}", "--sequence-of", ",".join(str(unit * each) for each in recordings)]
    for other in others:
        arguments += ["--with", paths[other]]
    run, told = strata_json(strata, ["whatif", *arguments])
    if told and told["devices"]:
        device = told["devices"][0]
        failures.expect(case.name, "lengths", [device["sequence_before"], device["sequence_after"]], [unit * before, unit * after])
    else:
        print(f"  {case.name}: {method}: {run.stderr.strip()[:300]}", flush=True)
    row = row_of(case, method, after, told, peaks[before], peaks[after])
    if row.kind == "refused" or not row.held or any(abs(error) > 0.1 for error in row.errors or ()):
        print(f"  {case.name}: {recordings} to {after}: {row.kind} {' '.join(f'{error:+.3f}' for error in row.errors or ())} %"
              f"{'' if row.held else ', not in the interval'}", flush=True)
    return row


def check_itself(strata, case, paths, peaks, failures):
    """What is recorded is told to the byte, from beside it too; one recording alone tells nothing; nor do recordings with the same length."""
    unit = UNITS[case.family]
    lengths = f"{unit * 2},{unit * 4}"
    for asked, evidence in ((2, "replay"), (4, "recordings")):
        _, told = strata_json(strata, ["whatif", paths[2], "--json", "--with", paths[4], "--sequence-of", lengths, "--change", f"sequence={unit * asked}"])
        failures.expect(case.name, "what was recorded", [figures(told["devices"][0]["predicted"]), told["evidence"]], [peaks[asked], evidence])
    run, _ = strata_json(strata, ["whatif", paths[2], "--json", "--sequence-of", str(unit * 2), "--change", "sequence=x2"])
    failures.expect(case.name, "one recording is refused", [run.returncode, "one recording does not tell" in run.stderr], [1, True])
    run, _ = strata_json(strata, ["whatif", paths[2], "--json", "--with", paths[4], "--change", "sequence=x2"])
    failures.expect(case.name, "lengths are asked for", [run.returncode, "--sequence-of" in run.stderr], [2, True])


def peaks_of(strata, path):
    _, told = strata_json(strata, ["whatif", path, "--json"])
    return figures(told["devices"][0]["recorded"])


def write(arguments, python, rows, found):
    write_page(arguments, python, "How far `strata whatif` is off with sequences of another length", [
        "Programs are trainings of six families, recorded with sequences of two or three lengths, or pictures with sides of them (of nets",
        "without attention), and nothing else changed. The truth is the same program with the length that is asked for: longer than what was recorded, or between. The family",
        f"*held back* is {', '.join(sorted(set(UNITS) & set(HELD_BACK)))}. In percent of the truth, over answers with a point in which the length moves",
        "the figure by 1 % or more; *no change* is what predicting the recorded figure scores.", "",
        *table(["change, evidence", "families", "figure", "cases", "median", "95th", "worst", "exact", "no change: median", "95th"], found), "",
        *kinds_table(rows, BARS)])


def test(arguments, python, failures):
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        chosen = chosen_cases(arguments, lambda seeds: [case for case in cases(seeds) if case.family in UNITS])
        made = record(arguments.strata, python, arguments.keep or temporary, [words_of(case, times) for case in chosen for times in (1, 2, 3, 4)])
        rows = []
        for case in chosen:
            paths = {times: made.get(words_of(case, times)) for times in (1, 2, 3, 4)}
            if None in paths.values():
                failures.expect(case.name, "recordings", [times for times, path in paths.items() if path is None], [])
                continue
            peaks = dict(zip(paths, pool.map(lambda path: peaks_of(arguments.strata, path), paths.values())))
            rows += pool.map(lambda question: ask(arguments.strata, case, question, paths, peaks, failures), ASKED)
            check_itself(arguments.strata, case, paths, peaks, failures)
        found = []
        for method, which, some in by_method(rows, BARS):
            report(some, method, which, BARS[method], failures, found)
        failures.expect("sequences", "some were asked for", bool(rows))
        if arguments.write:
            write(arguments, python, rows, found)


if __name__ == "__main__":
    sys.exit(main(test, every_python=False, add_options=add_page_options))
