# SPDX-License-Identifier: GPL-3.0-or-later
"""Records programs with a deep step, has `strata whatif --confirm` make the calls of that step again, without the program, and holds what it
says against the recording of the program that was changed by hand: autocast, bf16 throughout, and those with checkpoints and another batch, which
a second recording with twice the batch tells; of some families autocast in fp16, without and
with a GradScaler, which calls do not make, and fp16 throughout.

usage: test_calls.py STRATA [--python PYTHON]... [--seeds N] [--first-seed N] [--only TEXT] [--question TEXT] [--keep FOLDER] [--rows FILE]
    [--early] [--write PAGE]

Composed changes are asked of the first seed.
It prints how far off the confirmed figures are, in percent of the truth; a case that is not confirmed is a miss of 100 %. Beside it stands
what predicting no change scores. Families of HELD_BACK are reported apart. Where networks are called without gradients before others with,
autocast by --change ends between them: such programs are held against themselves under `--confirm -- COMMAND`. Without a Python with PyTorch
the test is skipped (exit 77) and says so.
"""
import collections
import concurrent.futures
import datetime
import json
import os
import subprocess
import sys
import tempfile

import record_tools  # makes running known
from running import LONG, PROGRAMS, jobs, main, strata_json, version
from test_confirm import without
from test_whatif import CARD, CLASSES, DEEP, FIGURES, HELD_BACK, PROGRAM, cases, figures, is_short, percentile, record, table, words_of

#: `other`: the same program with twice the batch, where another batch is asked for.
Question = collections.namedtuple("Question", "name row before after changes other", defaults=[None])
TIMES = 3
#: By rows of the table: median and 95th percentile in percent, of requested and allocated, and of reserved.
BARS = {"autocast and pure bf16": ((0.1, 0.5), (0.5, 2)), "autocast and pure fp16": ((0.1, 0.5), (0.5, 2)),
        "autocast fp16, loss scaled": ((0.1, 0.5), (0.5, 2)), "composed": ((0.5, 3), (1, 5))}
ALONE, HALF, SCALED, COMPOSED = BARS
HALVED = ("conv", "gpt", "lstm", "mlp", "resnet", "siamese", "t5", "unet")  # families that are asked for fp16, too
MOST_RESERVED_OFF = 1.5  # of confirmed figures, in percent
EARLY = os.path.join(PROGRAMS, "early_program.py")
#: What early_program.py is called with, the type that is asked for, and whether calls can tell.
EARLY_CASES = (("", "bf16", True), ("--cell RNN --hidden 300 --early other", "bf16", False), ("", "fp16", True), ("--cell GRU", "bf16", True),
               ("--cell GRU", "fp16", True), ("--early none", "bf16", True), ("--early other", "fp16", False), ("--hidden 100 --items 48", "bf16", True))
SPLIT = ("gan",)  # whose loss has calls of networks without gradients and with
#: Families and questions of the short form.
SHORT_QUESTIONS = (("gpt", "autocast, checkpoints, batch"), ("gpt", "bf16"))
SWITCHED = "vit"  # whose program is asked with a switch for autocast that is off, too
ENOUGH = 12  # cases from which on a percentile says something
MOST_REFUSED = 0.05

Row = collections.namedtuple("Row", "case question unchanged off null note")


def questions(case, composed):
    plain = without(words_of(case, 1), "autocast")
    chosen = CLASSES[case.family][0]
    behind = (plain[0], "--checkpoint", chosen, *plain[1:])
    autocast, bf16, twice = ("--option", "autocast"), ("--option", "bf16"), (str(2 * case.items), *plain[1:])
    times, many = f"batch=x{TIMES}", (str(TIMES * case.items),)
    yield Question("autocast", ALONE, plain, (*plain, *autocast), ("amp=bf16",))
    if case.family == SWITCHED:
        yield Question("autocast, once off", ALONE, (*plain, "--option", "autocast_off"), (*plain, *autocast), ("amp=bf16",))
    yield Question("bf16", ALONE, plain, (*plain, *bf16), ("dtype=bf16",))
    if composed and case.family in HALVED:
        yield Question("autocast fp16", HALF, plain, (*plain, "--option", "autocast_fp16"), ("amp=fp16",))
        yield Question("fp16", HALF, plain, (*plain, "--option", "fp16"), ("dtype=fp16",))
        yield Question("autocast fp16, scaled", SCALED, plain, (*plain, "--option", "scaler"), ("amp=fp16",))
    if composed:
        yield Question("autocast, checkpoints, batch", COMPOSED, plain, (*many, *behind[1:], *autocast), ("amp=bf16", f"checkpoint={chosen}", times), twice)
        yield Question("bf16, checkpoints", COMPOSED, plain, (*behind, *bf16), ("dtype=bf16", f"checkpoint={chosen}"))
        yield Question("bf16, batch", COMPOSED, plain, (*many, *plain[1:], *bf16), ("dtype=bf16", times), twice)
        yield Question("autocast, checkpoints", COMPOSED, plain, (*behind, *autocast), ("amp=bf16", f"checkpoint={chosen}"))
        yield Question("autocast, batch", COMPOSED, plain, (*many, *plain[1:], *autocast), ("amp=bf16", times), twice)


def ranked(asked):
    """Questions with the order in which families are asked them: those of fp16 behind the first two, whatever follows."""
    place = 0
    for question in asked:
        yield (1.5 if question.row in (HALF, SCALED) else place), question
        place += question.row not in (HALF, SCALED)


def off(figures_of, truth):
    return [100 * abs(figure - true) / true for figure, true in zip(figures_of, truth)]


def ask(arguments, python, case, question, paths):
    """What the calls come to, and how far that is off."""
    before, after = paths["before"][question.before], paths["after"][question.after]
    changes = [word for change in question.changes for word in ("--change", change)]
    if question.other:
        changes += ["--with", paths["before"][question.other], "--batch-of", f"{case.items},{2 * case.items}"]
    run, answer = strata_json(arguments.strata, ["whatif", before, *changes, "--confirm", "--python", python, "--json"])
    _, truth = strata_json(arguments.strata, ["whatif", after, "--json"])
    _, same = strata_json(arguments.strata, ["whatif", before, "--json"])
    wanted, recorded = figures(truth["devices"][0]["recorded"]), figures(same["devices"][0]["recorded"])
    if case.family in SPLIT and "autocast" in question.name:
        program = ["--", python, PROGRAM, *(["{BATCH}", *question.before[1:]] if question.other else question.before)]
        _, truth = strata_json(arguments.strata, ["whatif", before, *changes, "--json", "--confirm", *program])
        wanted = figures(truth["devices"][0]["confirmed"])
    device = answer["devices"][0] if answer and answer["devices"] else None
    if device is None or device["confirmed"] is None:
        return Row(case, question, False, [100.0] * 3, off(recorded, wanted), run.stderr[-600:].strip().splitlines()[-1:])
    return Row(case, question, figures(device["confirmed_unchanged"]) == recorded, off(figures(device["confirmed"]), wanted),
               off(recorded, wanted), [f"{device['confirmed_by']}: {device['confirmed_note']}"])


def ask_all(arguments, python, asked, paths, failures):
    """The rows of all that can be asked."""
    missing = [f"{case.name}: {each.name}" for case, each in asked if each.after not in paths["after"] or any(
        words and words not in paths["before"] for words in (each.before, each.other))]
    failures.expect("recordings", "missing", missing, [])
    asked = [(case, each) for case, each in asked if f"{case.name}: {each.name}" not in missing]
    rows = answers(arguments, asked)
    known = {(row.case.name, row.question.name) for row in rows}
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        for row in pool.map(lambda one: ask(arguments, python, *one, paths), [one for one in asked if (one[0].name, one[1].name) not in known]):
            rows.append(row)
            tell(arguments, row)
            keep(arguments, row)
    return rows


def report(row, which, rows, cells):
    """Those that count: the change moves a figure by 1 % or more."""
    counted = [each for each in rows if max(each.null) >= 1]
    if not counted:
        return []
    refused = [each for each in counted if each.off[0] == 100]
    print(f"  {row} by calls on {CARD}, {which}: {len(counted)} cases, {len(refused)} not confirmed; unchanged to the byte: "
          f"{sum(each.unchanged for each in counted)}", flush=True)
    for index, figure in enumerate(FIGURES):
        errors, null = [each.off[index] for each in counted], [each.null[index] for each in counted]
        told = [f"{percentile(errors, 0.5):.2f}", f"{percentile(errors, 0.95):.2f}", f"{max(errors):.2f}", str(sum(error == 0 for error in errors)),
                f"{percentile(null, 0.5):.1f}", f"{percentile(null, 0.95):.1f}"]
        print(f"    {figure}: median {told[0]}, 95th percentile {told[1]}, worst {told[2]} %, exact {told[3]}; no change: {told[4]} / {told[5]} %",
              flush=True)
        cells.append([row, which, figure, str(len(counted)), str(len(refused)), *told])
    return counted


def check(row, which, counted, most, failures, bars=BARS, by_place=("reserved",)):
    """Holds figures against `most` times the bars, of which the second are for those that hang on where blocks lie."""
    confirmed = [each for each in counted if each.off[0] != 100]
    failures.expect(which, f"{row}: confirmed", len(confirmed) > 0, True)
    if len(counted) < ENOUGH:
        least = bars[row][0][0] if row == SCALED else 0
        failures.expect(which, f"{row}: requested exact", [each.case.name for each in confirmed if each.off[0] > least], [])
        return
    failures.expect(which, f"{row}: at most 5 % not confirmed", len(counted) - len(confirmed) <= MOST_REFUSED * len(counted), True)
    for index, figure in enumerate(FIGURES):
        median, high = (most * bar for bar in bars[row][figure in by_place])
        errors = [each.off[index] for each in counted]
        failures.expect(which, f"{row}: {figure}: median, 95th percentile", [percentile(errors, 0.5) <= median, percentile(errors, 0.95) <= high],
                        [True, True])


def check_confirmed(rows, failures):
    """What is said to be confirmed: requested to the byte."""
    confirmed = [each for each in rows if each.off[0] != 100 and each.question.row != SCALED]
    if len(confirmed) >= ENOUGH:
        exact = sum(each.off[0] == 0 for each in confirmed)
        print(f"  confirmed by calls: requested exact in {exact} of {len(confirmed)}; reserved worst {max(each.off[2] for each in confirmed):.2f} %")
        failures.expect("confirmed", "requested exact on 95 %", exact >= 0.95 * len(confirmed), True)
        failures.expect("confirmed", f"reserved: at most {MOST_RESERVED_OFF} % off", max(each.off[2] for each in confirmed) <= MOST_RESERVED_OFF, True)


def write(arguments, python, cells):
    """The published page."""
    strata = subprocess.run([arguments.strata, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    lines = ["# How far `strata whatif --confirm` is off without the program", "",
             "Made by `tests/truth/tests/test_calls.py STRATA --seeds %d --first-seed %d%s --write docs/whatif-calls-accuracy.md`:" % (
                 arguments.seeds, arguments.first_seed, f" --at-most {arguments.at_most}" if arguments.at_most else ""),
             "%s, PyTorch %s, simulated %s, %s." % (strata, ".".join(map(str, version(python)[:3])), CARD, datetime.date.today()), "",
             "A recording with a deep step is asked what the program comes to under autocast, in bf16 throughout, and so with checkpoints around a",
             "class of its modules and with three times the batch, of which a second recording with twice the batch tells what follows it: the calls of that",
             "step are made again, without the program. Some families are asked about fp16, too; *loss scaled* is the program with a GradScaler besides,",
             "which nobody asked the calls to make. The truth is the same program changed by hand: real PyTorch, real autograd, its real allocator on",
             "the simulated device. Programs, and what is held back, are those of",
             "[how far `strata whatif` is off](whatif-accuracy.md); siamese, which is held back, adds noise to its batch: calls cast what is given to a",
             "module, the program by hand the batch itself, before. Errors are in percent of the truth, over cases where the change moves a figure by 1 % or",
             "more; *tail* is the 95th percentile, *no change* what predicting the recorded figure scores. What is not confirmed counts as 100 %.", "",
             *table(["change", "families", "figure", "cases", "not confirmed", "median", "tail", "worst", "exact", "no change: median", "95th"], cells), ""]
    with open(arguments.write, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def test(arguments, python, failures):
    chosen = [case for case in cases(range(arguments.first_seed, arguments.first_seed + arguments.seeds)) if arguments.only in case.name]
    asked = [(case, question, place + 2 * (not is_first)) for case in chosen for is_first in [f"--seed {arguments.first_seed} " in case.name]
             for place, question in ranked(questions(case, is_first)) if arguments.question in question.name]
    asked = [(case, question) for case, question, _ in sorted(asked, key=lambda one: one[2])][:arguments.at_most]  # of each family some
    if is_short(arguments) and not arguments.question:
        asked = [(case, question) for case, question in asked if (case.family, question.name) in SHORT_QUESTIONS]
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or scratch
        paths = {"before": record(arguments.strata, python, os.path.join(folder, "before"), [words for _, each in asked for words in (each.before, each.other) if words],
                                  DEEP),
                 "after": record(arguments.strata, python, os.path.join(folder, "after"), [each.after for _, each in asked])}
        rows = ask_all(arguments, python, asked, paths, failures)
        if not arguments.only and not arguments.question or arguments.early:
            check_early(arguments, python, scratch, failures)
    cells = []
    for name in BARS:
        some = [row for row in rows if row.question.row == name]
        counted = report(name, "tuned", [row for row in some if row.case.family not in HELD_BACK], cells)
        held = report(name, "held back", [row for row in some if row.case.family in HELD_BACK], cells)
        if some:
            check(name, "all", counted + held, 1, failures)
        if len(held) >= ENOUGH:
            check(name, "held back", held, 2, failures)
    check_confirmed(rows, failures)
    if arguments.write:
        write(arguments, python, cells)


def check_early(arguments, python, folder, failures):
    """Programs whose model was called before they trained: what was allocated then is made again too, or nothing is confirmed."""
    names = {"bf16": "bfloat16", "fp16": "float16"}

    def run(number, words, kind):
        path = os.path.join(folder, f"early{number}")
        runs = [record_tools.record(arguments.strata, ["-o", name, "--simulated", CARD, *options], [python, EARLY, *words.split(), *more])
                for name, options, more in ((f"{path}.strata", DEEP, ()), (f"{path}.truth.strata", (), ("--dtype", names[kind])))]
        if any(each.returncode for each in runs):
            return [each.stderr[-300:] for each in runs], None
        asked, answer = strata_json(arguments.strata, ["whatif", f"{path}.strata", "--change", f"dtype={kind}", "--confirm", "--python", python, "--json"])
        _, truth = strata_json(arguments.strata, ["whatif", f"{path}.truth.strata", "--json"])
        _, same = strata_json(arguments.strata, ["whatif", f"{path}.strata", "--json"])
        device = answer["devices"][0] if answer and answer["devices"] else None
        wanted, recorded = (figures(each["devices"][0]["recorded"]) for each in (truth, same))
        print(f"  called before training, {words or 'LSTM'}, dtype={kind}: {device and figures(device['confirmed'])}, in truth {wanted}, no change {recorded}",
              flush=True)
        return (figures(device["confirmed"]) if device else asked.stderr), wanted
    for number, (words, kind, is_told) in enumerate(EARLY_CASES if LONG else EARLY_CASES[:2]):
        got, wanted = run(number, words, kind)
        if is_told:
            failures.expect(f"early {words}", f"dtype={kind}", got, wanted)
        else:
            failures.expect(f"early {words}", f"dtype={kind}: not confirmed", "that no call of the recorded step makes" in str(got), True)


def answers(arguments, asked):
    """Those that an earlier run of this test has kept."""
    if not arguments.rows or not os.path.exists(arguments.rows):
        return []
    with open(arguments.rows, encoding="utf-8") as file:
        kept = {(case, question): rest for case, question, *rest in map(json.loads, file)}
    return [Row(case, question, *kept[case.name, question.name]) for case, question in asked if (case.name, question.name) in kept]


def keep(arguments, row):
    if arguments.rows:
        with open(arguments.rows, "a", encoding="utf-8") as file:
            file.write(json.dumps([row.case.name, row.question.name, *row[2:]]) + "\n")


def tell(arguments, row):
    if arguments.verbose or max(row.off) > MOST_RESERVED_OFF or row.off[0] > 0 or not row.unchanged:
        print(f"  {row.case.name}: {row.question.name}: off {' '.join(f'{error:.2f}' for error in row.off)} %, no change "
              f"{' '.join(f'{error:.1f}' for error in row.null)} %; {' '.join(row.note)}", flush=True)


def add_options(parser):
    parser.add_argument("--seeds", type=int, default=4 if LONG else 1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", default="", help="cases with this text in their name")
    parser.add_argument("--question", default="", help="questions with this text in their name")
    parser.add_argument("--keep", help="recordings that are there already are taken, and left there")
    parser.add_argument("--at-most", type=int, help="that many questions")
    parser.add_argument("--rows", metavar="FILE", help="answers of the same build that are there already are taken, and all are left there")
    parser.add_argument("--early", action="store_true", help="programs whose model was called before they trained, whatever else is chosen")
    parser.add_argument("--verbose", action="store_true", help="every case")
    parser.add_argument("--write", metavar="PAGE", help="writes the table as a page of the manual, of all families")


if __name__ == "__main__":
    sys.exit(main(test, every_python=False, add_options=add_options))
