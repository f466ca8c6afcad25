# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains programs with several optimizers of torch.optim, and one of bitsandbytes where that is installed, on the simulated device, and holds what `strata whatif --change optimizer=` says of the
recording with one of them against the recording with the other. Half of the programs have parameters so large and a batch so small that the
step of an optimizer, if it asks for much, makes the peak: without those a test of optimizers proves nothing. The optimizer that was recorded comes to the recorded
peaks, to the byte, and so do changes that lead back to it, and so does what is asked of a prediction that was written.

usage: test_whatif_optimizer.py STRATA [--python PYTHON]... [--seeds N] [--first-seed N] [--only TEXT] [--held-back] [--keep FOLDER] [--write PAGE]

One of bitsandbytes is asked for from each recording, and from its own recording the one of torch.optim is: these are reported apart.

It prints the error of requested, allocated and reserved in percent of the truth over the answers in which the change moves that figure by 1 % or
more, and beside it what predicting no change scores; of those whose true peak is in the step of the optimizer, and of all. A refusal counts as a
miss of 100 %. Families held back are those of test_whatif.py, reported apart. --keep takes the recordings that are there already.
"""
import collections
import concurrent.futures
import datetime
import os
import random
import subprocess
import sys
import tempfile

import test_whatif
from running import LONG, PROGRAMS, jobs, main, strata_json, version, with_bitsandbytes
from test_whatif import ENOUGH, FAMILIES, FIGURES, HELD_BACK, MANY_ITEMS, chosen_cases, figures, percentile, record, report_errors

PROGRAM = os.path.join(PROGRAMS, "whatif_optimizer_program.py")
OPTIMIZERS = [
    "SGD", "SGD,momentum=0.9", "SGD,momentum=0.9,foreach=False", "SGD,momentum=0.9,nesterov=True", "SGD,momentum=0.9,fused=True", "SGD,weight_decay=0.01",
    "Adam", "Adam,amsgrad=True", "Adam,foreach=False", "Adam,weight_decay=0.1", "AdamW", "AdamW,foreach=False", "AdamW,fused=True",
    "AdamW,amsgrad=True", "RMSprop", "RMSprop,momentum=0.9,centered=True", "RMSprop,foreach=False", "Adagrad", "Adagrad,foreach=False", "NAdam",
    "RAdam", "RAdam,foreach=False", "Adadelta", "Adamax", "Adamax,foreach=False"]
EIGHT_BIT = ["AdamW8bit", "AdamW8bit,min_8bit_size=16384", "Adam8bit", "Lion8bit", "SGD8bit,momentum=0.9", "RMSprop8bit", "Adagrad8bit", "AdamW32bit"]
BARS = ((0.1, 0.5), (0.5, 1.5))  # of requested and allocated, of reserved: median and 95th percentile
ASKED = 4  # other optimizers of a case

Case = collections.namedtuple("Case", "name family beside items words recorded others eight_bit")
Row = collections.namedtuple("Row", "case recorded wanted errors unchanged held width in_optimizer")


def cases(seeds):
    for family in FAMILIES:
        for seed in seeds:
            rng = random.Random(f"optimizer {family} {seed}")
            large = seed % 2 == 0  # parameters, beside a batch that is not
            beside = f"{rng.randint(2, 6)}x{rng.randint(600, 1600)}" if large and family != "gan" else "0"
            items = 2 if large else 2 * (rng.randint(8, 60) if family in MANY_ITEMS else rng.randint(1, 4))
            recorded, *others = rng.sample(OPTIMIZERS, 1 + ASKED)
            words = [family, "--seed", str(seed), "--steps", str(rng.choice([3, 4, 8]))]
            for option, odds in (("autocast", 0.3), ("clip", 0.25), ("evaluate", 0.2), ("accumulate", 0.15), ("zero_first", 0.2), ("scaler", 0.15),
                                 ("two_optimizers", 0.1)):
                if rng.random() < odds and not (option == "two_optimizers" and (family == "gan" or beside != "0")):
                    words += ["--option", option]
            eight_bit = random.Random(f"eight bit {family} {seed}").choice(EIGHT_BIT)
            yield Case(f"{' '.join(words)}, {items} items, {beside} beside", family, beside, items, words, recorded, others, eight_bit)


def words_of(case, optimizer):
    """A weight decay that the recorded optimizer was given stays, as with `strata dryrun --change optimizer=`."""
    decay = [option for option in case.recorded.split(",") if option.startswith("weight_decay=")]
    kept = ",".join([optimizer, *(decay if "weight_decay=" not in optimizer else [])])
    return (str(case.items), case.beside, kept, *case.words)


def is_in_optimizer(strata, path):
    """Whether the peak of a recording lies in the step of an optimizer."""
    _, told = strata_json(strata, ["steps", path, "--json"])
    steps = told["devices"][0]["steps"] if told and told["devices"] else []
    if not steps:
        return False
    top = max(steps, key=lambda step: step["requested_bytes_peak"])
    return any(phase["kind"] == "optimizer" and phase["first_event"] <= top["peak_event"] <= phase["last_event"] for phase in top["phases"])


def recorded_figures(strata, path):
    _, answer = strata_json(strata, ["whatif", path, "--json"])
    return figures(answer["devices"][0]["recorded"]) if answer and answer["devices"] else None


def ask(strata, path, changes):
    words = [word for change in changes for word in ("--change", f"optimizer={change}")]
    return strata_json(strata, ["whatif", path, *words, "--json"])


def row_of(strata, case, recorded, path, wanted, truth_path, failures):
    truth, before = recorded_figures(strata, truth_path), recorded_figures(strata, path)
    run, answer = ask(strata, path, [wanted])
    unchanged = [abs(a - b) / b * 100 for a, b in zip(before, truth)]
    in_optimizer = is_in_optimizer(strata, truth_path)
    if not answer or not answer["devices"]:
        print(f"  {case.name}: {recorded} -> {wanted}: {run.stderr.strip()}", flush=True)
        return Row(case, recorded, wanted, [100.0] * 3, unchanged, False, 0, in_optimizer)
    device = answer["devices"][0]
    failures.expect(case.name, "evidence", answer["evidence"] in ("roles", "replay"))
    errors = [(a - b) / b * 100 for a, b in zip(figures(device["predicted"]), truth)]
    interval = [device["interval"][f"{name}_bytes_peak"] for name in FIGURES]
    held = all(low <= value <= high for value, (low, high) in zip(truth, interval))
    width = max((high - low) / value * 100 for value, (low, high) in zip(truth, interval))
    return Row(case, recorded, wanted, errors, unchanged, held, width, in_optimizer)


def check_same(strata, case, recorded, path, failures):
    """The recorded optimizer, asked for by name, and by way of another one."""
    wanted = recorded_figures(strata, path)
    for changes in ([recorded], [case.others[0], recorded]):
        _, answer = ask(strata, path, changes)
        device = answer["devices"][0] if answer and answer["devices"] else None
        failures.expect(case.name, f"{recorded} by {' and '.join(changes)}", device and figures(device["predicted"]), wanted)
        failures.expect(case.name, f"{recorded}: exact", device and device["exact"])


def steps_of(strata, path):
    _, told = strata_json(strata, ["steps", path, "--json"])
    return [step["kind"] for step in told["devices"][0]["steps"]] if told else "none are told"


def check_written(strata, case, recorded, path, wanted, failures):
    """A prediction that is written (-o) has the steps of the recording, and leads back to the recorded figures."""
    if "two_optimizers" in case.words:
        return  # of different classes perhaps, of which one comes back
    with tempfile.TemporaryDirectory() as folder:
        written = os.path.join(folder, "predicted.strata")
        run = subprocess.run([strata, "whatif", path, "--change", f"optimizer={wanted}", "-o", written], capture_output=True, text=True)
        if run.returncode != 0:
            return  # a refusal is a miss elsewhere
        _, answer = ask(strata, written, [recorded])
        device = answer["devices"][0] if answer and answer["devices"] else None
        failures.expect(case.name, f"{recorded} of what was written with {wanted}", device and figures(device["predicted"]), recorded_figures(strata, path))
        failures.expect(case.name, f"steps of what was written with {wanted}", steps_of(strata, written), steps_of(strata, path))


def measure(arguments, python, folder, failures):
    chosen = chosen_cases(arguments, cases)
    with_eight_bit = with_bitsandbytes(failures)

    def optimizers_of(case):
        return (case.recorded, *case.others, *([case.eight_bit] if with_eight_bit else []))
    made = record(arguments.recorder or arguments.strata, python, folder,
                  [words_of(case, optimizer) for case in chosen for optimizer in optimizers_of(case)], program=PROGRAM)
    rows = []
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        for case in chosen:
            paths = {optimizer: made.get(words_of(case, optimizer)) for optimizer in optimizers_of(case)}
            if None in paths.values():
                failures.expect(case.name, "recordings", [name for name, path in paths.items() if path is None], [])
                continue
            asked = [(case.recorded, wanted) for wanted in case.others]
            if with_eight_bit:
                asked += [(case.recorded, case.eight_bit), (case.eight_bit, case.recorded)]
            for recorded in dict(asked):
                check_same(arguments.strata, case, recorded, paths[recorded], failures)
                check_written(arguments.strata, case, recorded, paths[recorded], dict(asked)[recorded], failures)
            for row in pool.map(lambda pair: row_of(arguments.strata, case, pair[0], paths[pair[0]], pair[1], paths[pair[1]], failures), asked):
                rows.append(row)
                if any(abs(error) > 0.05 for error in row.errors) or not row.held:
                    print(f"  {case.name}: {row.recorded} -> {row.wanted}: {' '.join(f'{error:+.3f}' for error in row.errors)} %"
                          f"{'' if row.held else ', not in the interval'}{', in the optimizer' if row.in_optimizer else ''}", flush=True)
    return rows


def is_eight_bit(row):
    return row.case.eight_bit in (row.recorded, row.wanted)


def report(rows, which, failures, table):
    of_torch, eight_bit = [row for row in rows if not is_eight_bit(row)], [row for row in rows if is_eight_bit(row)]
    for name, some in (("peak in the optimizer", [row for row in of_torch if row.in_optimizer]), ("all", of_torch),
                       ("to one of bitsandbytes", [row for row in eight_bit if row.wanted == row.case.eight_bit]),
                       ("from one of bitsandbytes", [row for row in eight_bit if row.recorded == row.case.eight_bit])):
        report_errors(some, name, which, BARS, failures, table)
    if rows:
        held, widths = sum(row.held for row in rows), [row.width for row in rows]
        print(f"  {which}: {len(rows)} answers, {sum(row.in_optimizer for row in rows)} with the peak in the optimizer; the interval holds in {held} and is "
              f"{percentile(widths, 0.5):.2f} % wide in the median, {percentile(widths, 0.95):.2f} % at the 95th percentile", flush=True)
        if len(rows) >= ENOUGH[which]:
            failures.expect(which, "some have their peak in the optimizer", any(row.in_optimizer for row in rows))
            failures.expect(which, "intervals hold in 95 %", held >= 0.95 * len(rows))


def write(arguments, python, rows):
    """The published page."""
    strata = subprocess.run([arguments.strata, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    lines = ["# How far `strata whatif --change optimizer=` is off", "",
             "Made by `tests/truth/tests/test_whatif_optimizer.py STRATA --seeds %d --first-seed %d --held-back --write docs/whatif-optimizer-accuracy.md`:"
             % (arguments.seeds, arguments.first_seed),
             "%s, PyTorch %s, simulated %s, %s." % (strata, ".".join(map(str, version(python)[:3])), test_whatif.CARD, datetime.date.today()), "",
             "The truth is the same program run with the other optimizer: real PyTorch, real autograd, its real allocator on the simulated device.",
             "Programs, and what is held back, are those of [how far `strata whatif` is off](whatif-accuracy.md); optimizers are drawn among %d ways" % len(OPTIMIZERS),
             "to choose one of torch.optim and %d to choose one of bitsandbytes. Errors are in percent of the truth, over answers in which the" % len(EIGHT_BIT),
             "change moves the figure by 1 % or more; *tail* is the 95th percentile, *no change* what predicting the recorded figure scores. Answers about",
             "optimizers of bitsandbytes stand apart.", "",
             *test_whatif.table(["answers", "families", "figure", "cases", "median", "tail", "worst", "exact", "no change: median", "95th"],
                                rows), ""]
    with open(arguments.write, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def test(arguments, python, failures):
    with tempfile.TemporaryDirectory() as temporary:
        rows = measure(arguments, python, arguments.keep or temporary, failures)
    table = []
    report([row for row in rows if row.case.family not in HELD_BACK], "tuned", failures, table)
    report([row for row in rows if row.case.family in HELD_BACK], "held back", failures, table)
    if arguments.write:
        write(arguments, python, table)


def add_options(parser):
    parser.add_argument("--seeds", type=int, default=4 if LONG else 1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", default="", help="cases with this text in their name")
    parser.add_argument("--held-back", action="store_true", default=LONG, help="the families held back too")
    parser.add_argument("--recorder", metavar="STRATA", help="records, where another is asked")
    parser.add_argument("--write", metavar="PAGE", help="writes the table as a page of the manual")
    parser.add_argument("--keep", metavar="FOLDER", help="leaves the recordings there, and takes those that are there already")


if __name__ == "__main__":
    sys.exit(main(test, every_python=False, add_options=add_options))
