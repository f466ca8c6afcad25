# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what `strata whatif --change accumulate=4` says of one recording against the same program that accumulates, with real PyTorch and its real
allocator on the simulated device: alone, with another batch, and with checkpoints.

usage: test_accumulate.py STRATA [--python PYTHON]... [--seeds N] [--first-seed N] [--only TEXT] [--held-back] [--keep FOLDER]

It prints the error of requested, allocated and reserved in percent of the truth, and beside it what predicting no change scores. A refusal counts
as a miss of 100 %, but for `gan`, which trains two models in turns and is refused. One micro-step comes to the recorded peaks. Without a Python
with PyTorch the test is skipped (exit 77) and says so.
"""
import concurrent.futures
import os
import sys
import tempfile

from running import jobs, main, strata_json
from test_whatif import (CARD, CLASSES, Case, DEEP, ENOUGH, HELD_BACK, PROGRAM, add_case_options, cases, checkpointed, chosen_cases, figures, items_checkpointed,
                         percentile, record, report_errors, row_of)

#: Median and 95th percentile in percent, of requested and allocated, and of reserved.
BARS = {"accumulate": ((0.1, 1), (1, 8)), "accumulate, its batch a quarter": ((0.1, 1), (1, 8)), "accumulate and checkpoints": ((0.5, 3), (1, 5))}
MICRO_STEPS = 4  # of roles_program.py


def plain(case):
    """As it is drawn, but for accumulation."""
    words = [word for word in case.words if word != "accumulate"]
    words = [word for i, word in enumerate(words) if not (word == "--option" and (i + 1 == len(words) or words[i + 1].startswith("--")))]
    return Case(case.name, case.family, words, 4 * case.items if case.items < 4 else case.items - case.items % 4, case.settings)


def accumulating(case, chosen=None, times=1):
    items, *words = checkpointed(case, chosen, times)
    return (items, *words, "--option", "accumulate")


def questions(case):
    yield "accumulate", accumulating(case), ["--change", f"accumulate={MICRO_STEPS}"]
    yield ("accumulate, its batch a quarter", accumulating(case, times=0.25),
           ["--change", f"accumulate={MICRO_STEPS}", "--change", "batch=x0.25", "--batch-of", str(items_checkpointed(case))])
    chosen = CLASSES[case.family][0]
    yield "accumulate and checkpoints", accumulating(case, chosen), ["--change", f"checkpoint={chosen}", "--change", f"accumulate={MICRO_STEPS}"]


def peaks(strata, path):
    _, answer = strata_json(strata, ["whatif", path, "--json"])
    return figures(answer["devices"][0]["recorded"])


def check_dry_run(strata, python, case, failures):
    """What `dryrun --change` does to a program as it is comes to the program that accumulates, but for the scalar by which that divides its loss."""
    def run(words, *options):
        _, answer = strata_json(strata, ["dryrun", "--device", CARD, *options, "--json", "--", python, PROGRAM, *words])
        return answer
    base, truth = list(checkpointed(case)), run(accumulating(case))
    base[base.index("--steps") + 1] = str(3 * MICRO_STEPS)
    changed = (run(base, "--change", f"accumulate={MICRO_STEPS}") or {}).get("changed")
    if truth is None or changed is None:
        failures.expect(case.name, "dry runs", [truth is not None, changed is not None], [True, True])
        return
    got, wanted = figures(changed["ranks"][0]["devices"][0]), figures(truth["ranks"][0]["devices"][0])
    failures.expect(case.name, f"a dry run with micro-steps: {got}, {wanted}", changed["applied"] and 0 <= wanted[0] - got[0] <= 512
                    and wanted[2] == got[2])
    too_few = run(base, "--change", f"accumulate={6 * MICRO_STEPS}")["changed"]
    failures.expect(case.name, "too few steps are told", too_few["applied"], False)


def test(arguments, python, failures):
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        folder = arguments.keep or temporary
        chosen = chosen_cases(arguments, lambda seeds: map(plain, cases(seeds)))
        recorded = record(arguments.strata, python, os.path.join(folder, "deep"), [checkpointed(case) for case in chosen], DEEP)
        truth = record(arguments.strata, python, os.path.join(folder, "truth"),
                       [words for case in chosen if case.family != "gan" for _, words, _ in questions(case)], ("--deep-step", "0"))

        def answer(question):
            case, method, words, options = question
            path, wanted = recorded.get(checkpointed(case)), truth.get(words)
            if path is None or (wanted is None and case.family != "gan"):
                failures.expect(case.name, f"recordings of {method}", [path is not None, wanted is not None], [True, True])
                return None
            run, told = strata_json(arguments.strata, ["whatif", path, "--json", *options])
            if case.family == "gan":
                failures.expect(case.name, f"{method}: it is refused by name", "several backwards" in run.stderr)
                return None
            if told is None or told["refused"]:
                print(f"  {case.name}: {method}: {run.stderr.strip()[:300]}", flush=True)
            row = row_of(case, method, MICRO_STEPS, told, peaks(arguments.strata, path), peaks(arguments.strata, wanted))
            if row.kind == "refused" or not row.held or any(abs(error) > 0.1 for error in row.errors or ()):
                print(f"  {case.name}: {method}: {row.kind} {' '.join(f'{error:+.3f}' for error in row.errors or ())} %"
                      f"{'' if row.held else ', not in the interval'}", flush=True)
            return row

        def check_one(case):
            path = recorded.get(checkpointed(case))
            _, one = strata_json(arguments.strata, ["whatif", path, "--json", "--change", "accumulate=1"])
            failures.expect(case.name, "one micro-step is the recorded one", [figures(one["devices"][0]["predicted"]), one["devices"][0]["exact"]],
                            [peaks(arguments.strata, path), True])
        for case in [case for case in chosen if case.family != "gan"][:1]:
            check_dry_run(arguments.strata, python, case, failures)
        rows = [row for row in pool.map(answer, ((case, *question) for case in chosen for question in questions(case))) if row is not None]
        list(pool.map(check_one, [case for case in chosen if checkpointed(case) in recorded]))
    for method in BARS:
        for which in ("tuned", "held back"):
            report([row for row in rows if row.method == method and (row.case.family in HELD_BACK) == (which == "held back")], method, which, BARS[method],
                   failures, [])


def report(rows, method, which, bars, failures, found):
    if not rows:
        return
    held, kinds = sum(row.held for row in rows), [sum(row.kind == kind for row in rows) for kind in ("point", "bounds", "refused")]
    print(f"  {method}, {which}: of {len(rows)}: {kinds[0]} with a point, {kinds[1]} bounds alone, {kinds[2]} refused; the interval holds in {held}, "
          f"{percentile([row.width for row in rows], 0.5):.1f} % wide in the median", flush=True)
    # Of few cases one may be off; not most of them.
    failures.expect(f"{method}, {which}", "intervals hold in 95 %", held >= 0.95 * len(rows) if len(rows) >= ENOUGH[which] else held >= len(rows) - 1)
    failures.expect(f"{method}, {which}", "at most 5 % are refused", kinds[2] <= 0.05 * len(rows))
    report_errors([row for row in rows if row.kind != "bounds"], method, which, bars, failures, found)


def add_options(parser):
    add_case_options(parser)
    parser.add_argument("--keep", metavar="FOLDER", help="leaves the recordings there, and takes those that are there already")


if __name__ == "__main__":
    sys.exit(main(test, every_python=False, add_options=add_options))
