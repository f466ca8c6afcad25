# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks `strata whatif` whether programs fit a device, as they are, with checkpoints and with other settings of the allocator, and runs them
with just so much memory. Capacities are drawn between 0.9 and 1.1 of what a run with room enough reserves; what is asked is whether they
fit that divided by 1.02.

usage: test_whatif_fits.py STRATA STRATA-SIMGPU [--python PYTHON]... [--seeds N] [--first-seed N] [--held-back] [--only TEXT] [--draws N]
                           [--write PAGE]

Beside each figure stands what the recorded run, as it is, would have said. Without a Python with PyTorch the test is skipped (exit 77) and
says so.
"""
import collections
import concurrent.futures
import datetime
import json
import os
import random
import subprocess
import sys
import tempfile

from running import LONG, jobs, main, strata_json, version, with_environment
from test_whatif import CARD, CLASSES, DEEP, HELD_BACK, MANY, PROGRAM, SHORT, add_case_options, cases, checkpointed, is_short, record, table

MARGIN = 1.02
SPARE = 1.05  # from which on nobody accepts "does not fit" where it does
MOST_WRONG = 0.02
OUT_OF_MEMORY = 3  # status of whatif_program.py
KINDS = ("as it is", "checkpointing, deep step", "checkpointing and settings, deep step")

Question = collections.namedtuple("Question", "case kind chosen settings words")
Draw = collections.namedtuple("Draw", "question capacity spare")  # spare: of what a run with room enough reserves


def questions(case):
    yield Question(case, KINDS[0], None, "", ())
    for chosen in CLASSES[case.family]:
        change = ("--change", f"checkpoint={chosen}")
        yield Question(case, KINDS[1], chosen, "", change)
        yield Question(case, KINDS[2], chosen, case.settings, (*change, "--set", case.settings))


def ends_of(simgpu, python, folder, settings, programs):
    """By words of programs: whether each ended without running out of memory; None: it ended otherwise."""
    listed, ended = (os.path.join(folder, f"{name}{abs(hash((settings, *programs)))}") for name in ("programs", "ended"))
    with open(listed, "w", encoding="utf-8") as file:
        json.dump([[PROGRAM, *words] for words in programs], file)
    run = subprocess.run([simgpu, "--", python, MANY, "--import", "roles_program", listed, ended], capture_output=True, text=True,
                         env=with_environment(PYTORCH_CUDA_ALLOC_CONF=settings), check=False)
    if not os.path.exists(ended):
        print(run.stderr[-4000:], flush=True)
        return {}
    with open(ended, encoding="utf-8") as file:
        statuses = [status["status"] for status in json.loads(file.readline())]
    if any(status not in (0, OUT_OF_MEMORY) for status in statuses):
        print(statuses, run.stderr[-4000:], flush=True)
    return {words: {0: True, OUT_OF_MEMORY: False}.get(status) for words, status in zip(programs, statuses)}


def said(strata, path, capacity, words):
    """Whether it fits; None where nothing is said."""
    _, answer = strata_json(strata, ["whatif", path, "--capacity", str(int(capacity / MARGIN)), "--json", *words])
    if answer is None or not answer["devices"]:
        return None
    device = answer["devices"][0]
    return None if device["predicted"] is None or device["out_of_memory"] is None else not device["out_of_memory"]


def program(question, capacity=None):
    items, *words = checkpointed(question.case, question.chosen)
    return (items, *(("--capacity", str(capacity)) if capacity is not None else ()), *words)


def draws_of(arguments, asked, made):
    """Each question at some capacities around what the run of its truth reserves."""
    for question in asked:
        path = made[question.settings].get(program(question))
        _, answer = strata_json(arguments.strata, ["whatif", path, "--json"]) if path else (None, None)
        if answer is None:
            print(f"  {question.case.name}, {question.chosen}: no recording", flush=True)
            continue
        reserved = answer["devices"][0]["recorded"]["reserved_bytes_peak"]
        rng = random.Random(f"{question.case.name} {question.chosen} {question.settings}")
        for _ in range(arguments.draws):
            spare = rng.uniform(0.9, 1.1)
            yield Draw(question, int(reserved * spare), spare)


def report(rows, kind, which, failures):
    """A line for each side: of those that were told so, how many are wrong; and the row of the page."""
    def wrong(index, fits):
        asked = [row for row in rows if (row[index] if fits else row[0].spare >= SPARE and row[3])]
        return sum(row[index] is fits and row[3] is not fits for row in asked), len(asked)
    cells = []
    for fits in (True, False):
        (off, of), (null_off, null_of) = wrong(1, fits), wrong(2, fits)
        name = "fits" if fits else "does not fit"
        cells += [f"{off} of {of}", f"{null_off} of {null_of}"]
        print(f"  {kind}, {which}: \"{name}\": {off} of {of} wrong{'' if fits else ' where 5 % is spare'}; no change: {null_off} of {null_of}", flush=True)
        # Where a bar of 2 % has no room for one, one is let pass.
        failures.expect(f"{kind}, {which}", f"\"{name}\" is wrong in at most 2 %", off <= max(1, MOST_WRONG * of))
    silent = sum(row[1] is None for row in rows)
    ended = sum(row[3] for row in rows)
    print(f"  {kind}, {which}: {len(rows)} runs, {ended} of them fit; {silent} not answered", flush=True)
    failures.expect(f"{kind}, {which}", "at most 5 % are not answered", silent <= max(2, 0.05 * len(rows)))
    return [kind, which, str(len(rows)), str(ended), *cells, str(silent)]


def write(arguments, python, rows):
    """The published page."""
    strata = subprocess.run([arguments.strata, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    lines = ["# Whether it fits", "",
             f"Made by `tests/truth/tests/test_whatif_fits.py STRATA STRATA-SIMGPU --seeds {arguments.seeds} --first-seed {arguments.first_seed}"
             f"{' --held-back' if arguments.held_back else ''} --draws {arguments.draws} --write docs/{os.path.basename(arguments.write)}`:",
             f"{strata}, PyTorch {'.'.join(map(str, version(python)[:3]))}, simulated {CARD}, {datetime.date.today()}.", "",
             "Programs and families are those of [whatif-accuracy.md](whatif-accuracy.md). Each is run with a capacity drawn between 0.9 and 1.1 of what it",
             "reserves where there is room enough; the truth is whether that run ends without running out of memory. An allocator that has no more room",
             "gives back what it has cached and goes on, so that programs fit less than they reserve. `strata whatif --capacity` is asked with the capacity",
             f"divided by {MARGIN}. *Wrong* of \"fits\" is of how often it was said; *no change* is what the recorded run says as it is. \"Does not fit\" counts",
             "in the runs that fit with 5 % or more to spare above what is reserved.", "",
             *table(["change, evidence", "families", "runs", "that fit", "\"fits\": wrong", "no change", "\"does not fit\": wrong", "no change", "not answered"],
                    rows), ""]
    with open(arguments.write, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def test(arguments, python, failures):
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    chosen = [case for case in cases(seeds) if arguments.only in case.name and (arguments.held_back or case.family not in HELD_BACK)]
    if is_short(arguments):
        chosen = [case for case in chosen if case.family == SHORT]
    asked = [question for case in chosen for question in questions(case)][:len(KINDS) if is_short(arguments) else None]
    with tempfile.TemporaryDirectory() as folder:
        deep = record(arguments.strata, python, os.path.join(folder, "deep"), [checkpointed(case) for case in chosen], DEEP)
        settings = sorted({question.settings for question in asked})
        made = {each: record(arguments.strata, python, os.path.join(folder, f"truth{number}"),
                             list(dict.fromkeys(program(question) for question in asked if question.settings == each)), ("--deep-step", "0"), each)
                for number, each in enumerate(settings)}
        drawn = [draw for draw in draws_of(arguments, asked, made) if checkpointed(draw.question.case) in deep]

        def answers(draw):
            path = deep[checkpointed(draw.question.case)]
            return said(arguments.strata, path, draw.capacity, draw.question.words), said(arguments.strata, path, draw.capacity, ())
        with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
            ends = {}
            for each in settings:
                programs = [program(draw.question, draw.capacity) for draw in drawn if draw.question.settings == each]
                groups = [programs[first:first + 25] for first in range(0, len(programs), 25)]
                for came in pool.map(lambda group, each=each: ends_of(arguments.simgpu, python, folder, each, group), groups):
                    ends |= {(each, words): end for words, end in came.items()}
            rows = [(draw, *answer, ends.get((draw.question.settings, program(draw.question, draw.capacity))))
                    for draw, answer in zip(drawn, pool.map(answers, drawn))]
    failures.expect("runs", "ended otherwise", [program(row[0].question, row[0].capacity) for row in rows if row[3] is None], [])
    rows = [row for row in rows if row[3] is not None]
    for draw, answer, _, truth in rows:
        if answer is not truth and (answer is not False or draw.spare >= SPARE):
            print(f"  {draw.question.case.name}, {draw.question.chosen} {draw.question.settings}: {draw.spare:.3f} of what is reserved: "
                  f"said {answer}, it is {truth}", flush=True)
    lines = []
    for kind in KINDS:
        for which in ("tuned", "held back"):
            some = [row for row in rows if row[0].question.kind == kind and (row[0].question.case.family in HELD_BACK) == (which == "held back")]
            if some:
                lines.append(report(some, kind, which, failures))
    failures.expect("runs", "some fit and some do not", len({row[3] for row in rows}), 2)
    if arguments.write:
        write(arguments, python, lines)


def add_options(parser):
    add_case_options(parser)
    parser.add_argument("--draws", type=int, default=4 if LONG else 2, help="capacities of each question")
    parser.add_argument("--write", metavar="PAGE", help="writes the table as a page of the manual")


if __name__ == "__main__":
    sys.exit(main(test, programs=("strata", "simgpu"), every_python=False, add_options=add_options))
