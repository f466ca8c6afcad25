# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what `strata whatif` says of the time of a step against dry runs of the changed program, whose kernels take what the card takes at least:
checkpoints put in and taken away, other batches from two recordings, and micro-steps.

usage: test_step_time.py STRATA [--python PYTHON]... [--seeds N] [--first-seed N] [--only TEXT] [--held-back] [--keep FOLDER]

The truth is how long the device works in a step as `strata timeline` has it, the median of the steps behind the warm-up. It prints errors in
percent of the truth, and beside them what predicting no change scores. What has no evidence has no time. Without a Python with PyTorch the
test is skipped (exit 77) and says so.
"""
import collections
import concurrent.futures
import os
import statistics
import subprocess
import sys
import tempfile

from running import jobs, main, strata_json
from test_whatif import CARD, CLASSES, DEEP, HELD_BACK, NESTED, PROGRAM, SHORT, SOME, add_case_options, cases, checkpointed, is_short, items_checkpointed, percentile

#: In percent of the truth: median and 95th percentile, by change.
BARS = {"checkpoint": (1, 5), "checkpoint=none": (1, 5), "batch": (1, 5), "accumulate": (2, 8)}
Row = collections.namedtuple("Row", "case change error unchanged")


def dry_run(strata, python, path, words):
    if not os.path.exists(path):
        run = subprocess.run([strata, "dryrun", "--device", CARD, "--kernels", *DEEP, "-o", path, "--", python, PROGRAM, *words],
                             capture_output=True, text=True, check=False)
        if not os.path.exists(path):
            print(f"  {' '.join(words)}: {run.stderr.strip()[-300:]}", flush=True)
            return None
    return path


def busy(strata, path):
    """Of a step, as the timeline has it."""
    _, answer = strata_json(strata, ["timeline", path, "--json"])
    steps = answer["ranks"][0]["steps"]
    return statistics.median_low([step["gpu_busy_ns"] for step in steps if not step["warms_up"]] or [step["gpu_busy_ns"] for step in steps])


def told(strata, arguments):
    _, answer = strata_json(strata, ["whatif", *arguments, "--json"])
    return answer["devices"][0]["step_time_ns"] if answer and answer["devices"] else None


def questions(case):
    """Each change with the programs that are recorded, and the one that is the truth."""
    base, blocks = checkpointed(case), checkpointed(case, blocks=True)
    yield "checkpoint", ["--change", f"checkpoint={CLASSES[case.family][0]}"], [base], checkpointed(case, CLASSES[case.family][0])
    if case.family in NESTED:
        yield "checkpoint=none", ["--change", "checkpoint=none"], [blocks], base
    if "accumulate" not in case.words and case.family != "gan":  # which trains two models in turns
        yield "accumulate", ["--change", "accumulate=4"], [base], (*base, "--option", "accumulate")
    yield "batch", ["--change", "batch=x2"], [base, checkpointed(case, times=3)], checkpointed(case, times=2)


def ask(strata, case, change, words, paths, truth, failures):
    items = [str(items_checkpointed(case)), str(items_checkpointed(case) * 3)][:len(paths)] if change == "batch" else []
    options = [*words, *(word for path in paths[1:] for word in ("--with", path)), *(["--batch-of", ",".join(items)] if items else [])]
    time, wanted = told(strata, [paths[0], *options]), busy(strata, truth)
    if time is None or time["predicted"] is None:
        failures.expect(case.name, f"a time with {change}", time, "a figure")
        return None
    failures.expect(case.name, "what a dry run tells is a bound", time["lower_bound"])
    if change == "accumulate":
        failures.expect(case.name, "a bound without what adding up takes", time["predicted"] <= wanted)
    row = Row(case, change, (time["predicted"] - wanted) / wanted * 100, abs(time["recorded"] - wanted) / wanted * 100)
    if abs(row.error) > 1:
        print(f"  {case.name}: {change}: {row.error:+.2f} % (no change: {row.unchanged:.1f} %)", flush=True)
    return row


def check_unknown(strata, case, path, failures):
    """Nothing changed takes as long; what nothing tells has no time."""
    time = told(strata, [path])
    failures.expect(case.name, "no change takes as long", time and time["predicted"], time and time["recorded"])
    truth = busy(strata, path)
    failures.expect(case.name, "the recorded time is that of the timeline, within 1 %", time and abs(time["recorded"] - truth) <= 0.01 * truth)
    for words in (["--change", "batch=x2", "--batch-of", str(items_checkpointed(case))], ["--change", "optimizer=SGD"]):
        time = told(strata, [path, *words])
        failures.expect(case.name, f"{words[1]} has no time, but a reason", time is None or (time["predicted"] is None and bool(time["note"])))


def test(arguments, python, failures):
    rows = []
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        folder = arguments.keep or temporary
        os.makedirs(folder, exist_ok=True)
        seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
        chosen = [case for case in cases(seeds) if arguments.only in case.name and (arguments.held_back or case.family not in HELD_BACK)]
        if is_short(arguments):
            chosen = [case for case in chosen if case.family == SHORT]
        asked = [(case, *question) for case in chosen for question in questions(case)]
        programs = list(dict.fromkeys(words for _, _, _, recorded, truth in asked for words in (*recorded, truth)))
        paths = {words: os.path.join(folder, "_".join(word.lstrip("-") for word in words) + ".strata") for words in programs}
        made = dict(zip(programs, pool.map(lambda words: dry_run(arguments.strata, python, paths[words], words), programs)))
        for case in chosen:
            check_unknown(arguments.strata, case, made[checkpointed(case)], failures)

        def row_of(question):
            case, change, words, recorded, truth = question
            if None in [made[each] for each in (*recorded, truth)]:
                failures.expect(case.name, f"dry runs for {change}", "none", "there")
                return None
            return ask(arguments.strata, case, change, words, [made[each] for each in recorded], made[truth], failures)
        rows = [row for row in pool.map(row_of, asked) if row is not None]
    for change, bar in BARS.items():
        some = [row for row in rows if row.change == change]
        if not some:
            continue
        errors, null = [abs(row.error) for row in some], [row.unchanged for row in some]
        median, tail = percentile(errors, 0.5), percentile(errors, 0.95)
        print(f"  time of a step, {change}: {len(some)} cases, median {median:.2f} %, 95th {tail:.2f} %, worst {max(errors):.2f} %; no change: median "
              f"{percentile(null, 0.5):.1f} %, 95th {percentile(null, 0.95):.1f} %", flush=True)
        failures.expect(change, f"median and tail in {bar}", (median <= bar[0] or len(some) < SOME) and (tail <= bar[1] or len(some) < SOME))
    failures.expect("time of a step", "some was asked", bool(rows))


def add_options(parser):
    add_case_options(parser)
    parser.add_argument("--keep", metavar="FOLDER", help="leaves the recordings there, and takes those that are there already")


if __name__ == "__main__":
    sys.exit(main(test, every_python=False, add_options=add_options))
