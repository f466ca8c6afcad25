# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds `strata whatif` with two or three snapshots that begin late against the snapshot of the program that was asked for: requested and reserved
memory from before recording goes with the batch size or the sequence length, too.

    pytest-3 tests/truth/tests/test_whatif_late.py -s --seeds 10 [--held-back] [--first-seed N] [--only TEXT] [--keep FOLDER]

prints for requested and reserved apart how often the truth is inside the interval, and how wide that is; and how near two simpler answers are:
"no change", and what was recorded before as it was ("older constant"). Programs of PHASED did other work before their snapshot begins. Those of
late_held.py are asked for with --held-back alone. Who makes a rule opens late_held.py and late_held_list.py only after their first run.
"""
import collections
import concurrent.futures
import hashlib
import json
import os
import random
import statistics

import pytest

import forks
import late_held_list
from running import LONG, PROGRAMS, jobs, strata_json, with_environment

pytestmark = pytest.mark.torch("newest")

TUNED = ("mlp", "transformer", "conv", "recurrent", "pyramid", "scored")
PHASED = ("validated", "warmed", "tuned", "replaced", "served", "accumulated", "growing", "generated", "checkpointed")
PROGRAM_OF = {first: os.path.join(PROGRAMS, name) for name, firsts in (
    ("late_program.py", TUNED), ("late_phases.py", PHASED), ("late_held.py", late_held_list.KINDS)) for first in firsts}
MODES = ("kept", "steps", "middle", "evaluated", "history", "emptied")
FIGURES = ("requested", "reserved")
#: Times of a unit that are recorded, and what is asked for.
BATCHES = (((1, 2), 4), ((2, 4), 1), ((1, 2), 3), ((1, 4), 2), ((1, 2, 3), 4), ((2, 3, 4), 1))
CAPACITY = 400_000_000_000  # enough for each
INSIDE, MEDIAN, WORST = 0.95, 6, 15
REFUSED = 0.2  # the goal is 0.1: what recurrent layers reserve is explained least
SMALL = 64 << 20  # bytes: a few segments, which may be a large share of a small program

#: Fewer rows than these have no percentiles: then all are held against the widest.
ENOUGH = 10

Case = collections.namedtuple("Case", "name words option unit recorded asked")
Row = collections.namedtuple("Row", "case truth spans unchanged constant point reason")


def cases(families, seeds):
    """Of each family and seed one; modes follow each other, so that a few seeds have all."""
    for place, family in enumerate(families):
        for seed in seeds:
            rng = random.Random(f"late {family} {seed}")
            mode = MODES[(seed + 2 * place) % len(MODES)]
            option = "length" if family not in ("conv", "pyramid") and rng.random() < 0.4 else "items"
            recorded, asked = rng.choice(BATCHES)
            sizes = {"items": rng.randint(4, 24), "length": 16 * rng.randint(4, 16), "width": 64 * rng.randint(6, 20), "depth": rng.randint(3, 12),
                     "warm": rng.randint(1, 4), "steps": rng.randint(1, 3)}
            optimizer = rng.choice(["sgd", "momentum", "adam", "adamw_fused"])
            unit = sizes.pop(option)
            words = [family, mode, "--optimizer", optimizer, *(word for name, value in sizes.items() for word in (f"--{name}", str(value)))]
            yield Case(f"{' '.join(words)} {option} {unit}", words, option, unit, recorded, asked)


def phase_cases(kinds, seeds):
    """The same of programs that did other work before; of a gigabyte and more, as people record them."""
    for kind in kinds:
        for seed in seeds:
            rng = random.Random(f"phase {kind} {seed}")
            family = "decoder" if kind == "served" else rng.choice(("decoder", "transformer", "conv", "mlp"))
            option = "length" if family != "conv" and kind != "generated" and rng.random() < 0.4 else "items"
            recorded, asked = rng.choice(BATCHES)
            sizes = {"items": rng.choice((8, 12, 16, 24)), "length": 32 * rng.randint(4, 10), "width": 128 * rng.randint(4, 12),
                     "depth": rng.randint(4, 14), "steps": rng.randint(1, 3)}
            optimizer = rng.choice(["sgd", "momentum", "adam", "adamw_fused"])
            unit = sizes.pop(option)
            words = [kind, family, "--optimizer", optimizer, *(word for name, value in sizes.items() for word in (f"--{name}", str(value)))]
            yield Case(f"{' '.join(words)} {option} {unit}", words, option, unit, recorded, asked)


def held_cases(seeds):
    for words, option, unit, recorded, asked in late_held_list.draws(seeds):
        yield Case(f"{' '.join(words)} {option} {unit}", words, option, unit, recorded, asked)


#: A forward whose last output is kept: as much memory is there before as the next one takes.
TWIN = Case("a kept output", ["mlp", "kept", "--items", "4", "--width", "512", "--depth", "16", "--warm", "1", "--steps", "1"], "length", 128, (1, 2), 4)


def words_of(case, times):
    return [*case.words, f"--{case.option}", str(case.unit * times)]


class Late:
    def __init__(self, strata, simgpu, python, folder):
        self.strata, self.simgpu, self.python, self.folder = strata, simgpu, python, folder

    def path(self, case, times):
        key = hashlib.sha256(json.dumps(words_of(case, times)).encode()).hexdigest()[:16]
        return os.path.join(self.folder, f"{case.words[0]}_{case.words[1]}_{key}.pickle")

    def record(self, asked):
        """All programs with one import of PyTorch for each process."""
        wanted = {self.path(case, times): words_of(case, times) for case in asked for times in (*case.recorded, case.asked)}
        missing = [[PROGRAM_OF[words[0]], path, *words] for path, words in wanted.items() if not os.path.exists(path)]
        parts = [missing[first::jobs()] for first in range(jobs())]

        def start(part):
            run, ended = forks.forked([self.simgpu, f"capacity={CAPACITY}", "--"], self.python, part, self.folder, forks.TRAINING,
                                      env=with_environment(PYTORCH_CUDA_ALLOC_CONF=""))
            if any(each["status"] != 0 for each in ended):
                print(ended, run.stderr[-3000:], flush=True)
        with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
            list(pool.map(start, filter(None, parts)))

    def peaks(self, path):
        _, told = strata_json(self.strata, ["summary", "--json", path])
        return [told["devices"][0][f"{figure}_bytes_peak"] for figure in FIGURES] if told else None

    def constant(self, case):
        """What was there before recording as in the first recording, and a line through the growth of the first two."""
        figures = []
        for figure in FIGURES:
            starts, growths = [], []
            for times in case.recorded[:2]:
                _, told = strata_json(self.strata, ["summary", "--json", self.path(case, times)])
                starts.append(told["devices"][0][f"{figure}_bytes_start"])
                growths.append(told["devices"][0][f"{figure}_bytes_peak"] - starts[-1])
            (first, second), rise = case.recorded[:2], growths[1] - growths[0]
            figures.append(starts[0] + growths[0] + rise * (case.asked - first) / (second - first))
        return figures

    def row(self, case):
        first, *others = (self.path(case, times) for times in case.recorded)
        numbers = ",".join(str(case.unit * times) for times in case.recorded)
        change, of = ("batch", "--batch-of") if case.option == "items" else ("sequence", "--sequence-of")
        run, told = strata_json(self.strata, ["whatif", "--json", first, *(word for each in others for word in ("--with", each)),
                                              "--change", f"{change}={case.unit * case.asked}", of, numbers])
        truth, unchanged = self.peaks(self.path(case, case.asked)), self.peaks(first)
        constant = self.constant(case)
        if not told or not told["devices"] or told["refused"]:
            return Row(case, truth, None, unchanged, constant, None, run.stderr.strip())
        device = told["devices"][0]
        point = device["predicted"] and [device["predicted"][f"{figure}_bytes_peak"] for figure in FIGURES]
        return Row(case, truth, [device["interval"][f"{figure}_bytes_peak"] for figure in FIGURES], unchanged, constant, point, device["reason"])


def report(rows, failures, which):
    answered = [row for row in rows if row.spans]
    print(f"  {which}: {len(rows)} pairs and triples, {len(rows) - len(answered)} refused", flush=True)
    for row in rows:
        if not row.spans:
            print(f"    refused: {row.case.name}: {row.reason[:300]}")
    failures.expect(which, f"refused at most {REFUSED:.0%}", len(rows) - len(answered) <= max(1, REFUSED * len(rows)))
    for index, figure in enumerate(FIGURES):
        inside, widths, wide = [], [], 0
        for row in answered:
            (low, high), truth = row.spans[index], row.truth[index]
            inside.append(low <= truth <= high)
            widths.append((high - low) / truth * 100)
            wide += widths[-1] > WORST and high - low > SMALL
            if not inside[-1] or widths[-1] > WORST:
                print(f"    {figure}: {truth >> 20} MiB {'in' if inside[-1] else 'NOT in'} {low >> 20} to {high >> 20}: {row.case.name} "
                      f"{row.case.recorded} -> {row.case.asked}", flush=True)
        nulls = [abs(row.unchanged[index] - row.truth[index]) / row.truth[index] * 100 for row in answered]
        constants = [abs(row.constant[index] - row.truth[index]) / row.truth[index] * 100 for row in rows]
        points = [abs(row.point[index] - row.truth[index]) / row.truth[index] * 100 for row in answered if row.point]
        print(f"  {which}: {figure}: inside {sum(inside)} of {len(inside)}, width median {statistics.median(widths):.1f} %, worst {max(widths):.1f} %; "
              f"{len(points)} points, off by {statistics.median(points or [0]):.2f} % in the median, {max(points or [0]):.1f} % at most; "
              f"no change is off by {statistics.median(nulls):.1f} %, older constant by {statistics.median(constants):.1f} %", flush=True)
        failures.expect(which, f"{figure}: inside in {INSIDE:.0%}", len(inside) - sum(inside) <= max(1, (1 - INSIDE) * len(inside)))
        failures.expect(which, f"{figure}: median width at most {MEDIAN} %", statistics.median(widths) <= MEDIAN or len(rows) < ENOUGH)
        failures.expect(which, f"{figure}: wider than {WORST} % and {SMALL >> 20} MiB", wide, 0)


def test_pairs_and_triples(request, strata, simgpu, python, tmp_path, failures):
    option = request.config.getoption
    seeds = range(option("first_seed") or 0, (option("first_seed") or 0) + (option("seeds") or (10 if LONG else 1)))
    folder = option("keep") or str(tmp_path)
    os.makedirs(folder, exist_ok=True)
    late = Late(strata, simgpu, python, folder)
    all_drawn = {"tuned": (TWIN, *cases(TUNED, seeds))}
    if LONG or option("seeds"):
        all_drawn["phased"] = phase_cases(PHASED, seeds)
    if option("held_back"):
        all_drawn["held back"] = held_cases(seeds)
    for which, drawn in all_drawn.items():
        asked = [case for case in drawn if (option("only") or "") in case.name]
        if not asked:
            continue
        late.record(asked)
        with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
            report(list(pool.map(late.row, asked)), failures, which)
