# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains programs with several sizes of the batch, and under several settings of the allocator, on the simulated device, and holds what
`strata whatif` says of one recording, or of two or three, against the recording of the run that was asked for. Identity: a run of which
nothing changes comes to its own peaks. A snapshot made of a recording tells nothing of roles: there are bounds alone.
Programs are recorded with a deep step, too, and what it tells of checkpointing a class of modules is held against the same program with
torch.utils.checkpoint around each call of the outermost of those, and of taking away what a program has there, against the program without.

A recording with operators tells its batch itself.

usage: test_whatif.py STRATA [--part batch|checkpoints|taken-away]... [--python PYTHON]... [--seeds N] [--first-seed N] [--only TEXT] [--held-back] [--keep FOLDER] [--recorder STRATA] [--write PAGE]

It prints the error of requested, allocated and reserved in percent of the truth, over the answers that have a point and in which the
change moves that figure by 1 % or more (settings: all), how many have bounds alone, whether the truth lies in the interval and how wide
that is, and beside it what predicting no change scores. A refusal counts as a miss of 100 %.
Families of HELD_BACK were drawn once, before anything was measured (held_back() draws them again): nobody tunes against them, and
they are reported apart. --keep takes the recordings that are there already. Without a Python with PyTorch the test is skipped (exit 77)
and says so.
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

import record_tools
from running import LONG, PROGRAMS, jobs, main, strata_json, version, with_environment

MANY, PROGRAM = (os.path.join(PROGRAMS, name) for name in ("many.py", "whatif_program.py"))
CARD = "A100-80GB"
FAMILIES = ["conv", "experts", "gan", "gpt", "lstm", "mlp", "recommender", "resnet", "siamese", "t5", "unet", "vae", "vit"]
HELD_BACK = ("siamese", "recommender", "lstm", "mlp")
MANY_ITEMS = ("mlp", "vae", "recommender", "siamese")  # whose items are small
MORE_ITEMS = 16  # as many of these where checkpoints are asked for, which else move little beside parameters and their states
TIMES = (0.5, 2, 3)
PARTS = ("batch", "checkpoints", "taken-away")
TOGETHER = 20  # programs that share the import of torch
SETTINGS = ("expandable_segments:True", "max_split_size_mb:32", "roundup_power2_divisions:4",
            "roundup_power2_divisions:8,max_split_size_mb:64")
FIGURES = ("requested", "allocated", "reserved")
WINDOWS = "checkpointing, modules and phases"
#: Bars of requested and allocated, and of reserved, over answers with a point: median and 95th percentile in percent.
BARS = {"settings": ((0, 0), (0, 0)), "batch, two recordings": ((0.1, 1), (1, 8)), "batch, three recordings": ((0.1, 1), (1, 8)),
        "batch, two recordings, and settings": ((0.5, 3), (1, 5)), "batch, roles": ((0.1, 1), (1, 8)),
        "batch, sizes": ((0, 0), (0, 0)), "checkpointing, deep step": ((0.1, 2), (0.5, 3)),
        "checkpointing and settings, deep step": ((0.1, 2), (0.5, 3)), "checkpointing and batch, deep step and roles": ((0.5, 3), (1, 5)),
        WINDOWS: ((1, 8), (2, 15)), "no checkpoints, deep step": ((0.1, 2), (0.5, 3)), "no checkpoints under autocast, deep step": ((0.1, 2), (0.5, 3))}

#: The family of the short form: it has blocks, attention, sequences and autocast.
SHORT = "gpt"

#: Of each family what is checkpointed, each for itself; the first alone in the short form.
CLASSES = {
    "conv": ("Sequential", "BatchNorm2d", "Conv2d"), "experts": ("Experts", "GatedMlp", "GroupedAttention"), "gan": ("Sequential", "BatchNorm2d"),
    "gpt": ("Block", "path:blocks.0", "Linear"), "lstm": ("LSTM", "Linear"), "mlp": ("Sequential", "ReLU", "Linear"),
    "recommender": ("Sequential", "Linear", "EmbeddingBag"), "resnet": ("Bottleneck", "BatchNorm2d", "Sequential"),
    "siamese": ("Residual", "Linear", "Sequential"), "t5": ("TransformerEncoderLayer", "MultiheadAttention", "TransformerDecoderLayer"),
    "unet": ("Sequential", "GroupNorm"), "vae": ("Residual", "LayerNorm"), "vit": ("Sequential", "Attention")}
DEEP = ("--deep-step", "3")
NESTED = ("experts", "gpt", "resnet", "siamese", "unet", "vae", "vit")  # have blocks that roles_program.py can checkpoint

#: Cases from which on a percentile says something.
ENOUGH = {"tuned": 40, "held back": 12}
SOME = 12  # the same of a median
#: In percent, of any answer with a point: of requested and allocated, and of reserved.
MOST_OFF = (5, 20)
MOST_GUESSED_OFF = (20, 30)  # of an answer that rests on no recorded owners

Case = collections.namedtuple("Case", "name family words items settings")
Row = collections.namedtuple("Row", "case method times kind errors unchanged held width")


def held_back():
    return tuple(random.Random(17).sample(FAMILIES, 4))


def cases(seeds):
    for family in FAMILIES:
        for seed in seeds:
            rng = random.Random(f"{family} {seed}")
            items = 2 * (rng.randint(8, 100) if family in MANY_ITEMS else rng.randint(1, 6))
            words = [family, "--seed", str(seed), "--steps", "4", "--optimizer", rng.choice(["sgd", "momentum", "adamw", "adamw_fused"])]
            for option, odds in (("autocast", 0.3), ("clip", 0.2), ("evaluate", 0.2), ("accumulate", 0.15)):
                if rng.random() < odds:
                    words += ["--option", option]
            yield Case(f"{' '.join(words)}, {items} items", family, words, items, rng.choice(SETTINGS))


def words_of(case, times):
    return (str(int(case.items * times)), *case.words)


def items_checkpointed(case):
    return case.items * (MORE_ITEMS if case.family in MANY_ITEMS else 1)


def checkpointed(case, chosen=None, times=1, blocks=False):
    """The words of a case with these modules behind checkpoints, or its blocks: so many steps that the deep one has some beside it that do
    the same."""
    words = [*case.words, *(("--option", "checkpoint") if blocks else ())]
    words[words.index("--steps") + 1] = "6"
    return (str(int(items_checkpointed(case) * times)), *(("--checkpoint", chosen) if chosen else ()), *words)


def record(strata, python, folder, programs, options=(), settings="", program=PROGRAM, needs="roles_program"):
    """The recordings of programs, by their words; those that failed are left out, and said. `needs`: what many.py imports for all of them."""
    os.makedirs(folder, exist_ok=True)
    listed, ended = (os.path.join(folder, name) for name in ("programs", "ended"))
    kept = {words: os.path.join(folder, "_".join(word.lstrip("-") for word in words) + ".strata") for words in programs}
    missing = [words for words, path in kept.items() if not os.path.exists(path)]
    for some in (missing[first:first + TOGETHER] for first in range(0, len(missing), TOGETHER)):
        with open(listed, "w", encoding="utf-8") as file:
            json.dump([[program, *words] for words in some], file)
        open(ended, "w", encoding="utf-8").close()
        run = record_tools.record(strata, ["-o", os.path.join(folder, "{process}.strata"), "--simulated", CARD, *options],
                                  [python, MANY, "--import", needs, listed, ended],
                                  env=with_environment(PYTORCH_CUDA_ALLOC_CONF=settings))
        with open(ended, encoding="utf-8") as file:
            statuses = json.loads(file.readline() or "[]")
        if len(statuses) < len(some) or any(status["status"] for status in statuses):
            print(run.returncode, run.stderr[:4000], flush=True)
        for words, status in zip(some, statuses):
            path = os.path.join(folder, f"{status['process']}.strata")
            if status["status"] == 0 and os.path.exists(path):
                os.rename(path, kept[words])
    return {words: path for words, path in kept.items() if os.path.exists(path)}


def record_all(strata, python, folder, chosen):
    """By settings and words: every batch, and two of them under the settings of the case."""
    made = {"": record(strata, python, folder, [words_of(case, times) for case in chosen for times in (1, *TIMES)])}
    for number, settings in enumerate(SETTINGS):
        programs = [words_of(case, times) for case in chosen if case.settings == settings for times in (1, 2)]
        if programs:
            made[settings] = record(strata, python, os.path.join(folder, f"settings{number}"), programs, settings=settings)
    return made


def figures(part):
    return None if part is None else [part[f"{name}_bytes_peak"] for name in FIGURES]


def check_identity(strata, name, path, failures):
    """The recorded figures, which are what nothing changed comes to."""
    run, answer = strata_json(strata, ["whatif", path, "--json"])
    _, summary = strata_json(strata, ["summary", path, "--json"])
    if answer is None or summary is None:
        failures.expect(name, "strata whatif", run.stderr, "a document")
        return None
    device, told = answer["devices"][0], summary["devices"][0]
    recorded = figures(device["recorded"])
    failures.expect(name, "identity", figures(device["predicted"]), recorded)
    failures.expect(name, "exact", (answer["evidence"], device["exact"]), ("replay", True))
    failures.expect(name, "recorded", [recorded[0], recorded[2]], [told["requested_bytes_peak"], told["reserved_bytes_peak"]])
    return recorded


def questions(case):
    """Each method with the batch that it asks for, of the run and of the truth, and what it asks with."""
    for times in (1, 2):
        yield "settings", times, times, ["--set", case.settings], ()
    for times in TIMES:
        change = ["--change", f"batch=x{times}"]
        yield "batch, roles", 1, times, change, ()
        yield "batch, sizes", 1, times, change, ()
        yield "batch, two recordings", 1, times, change, (3 if times == 2 else 2,)
        yield "batch, three recordings", 1, times, change, [each for each in (3, 2, 0.5) if each != times]
    yield "batch, two recordings, and settings", 1, 2, ["--change", "batch=x2", "--set", case.settings], (3,)


def ask(strata, case, method, before, after, words, used, paths, truth):
    """`paths` and `truth` are by settings and times."""
    wanted, unchanged = truth[case.settings if "--set" in words else "", after], truth["", before]
    arguments = [paths["", before], "--json", *words]
    if "--change" in words:
        arguments += ["--batch-of", ",".join(str(int(case.items * each)) for each in (before, *used))]
    for each in used:
        arguments += ["--with", paths["", each]]
    if method == "batch, sizes":  # a snapshot as PyTorch's own tells nothing of roles
        arguments[0] = f"{arguments[0]}.x{after}.pickle"
        subprocess.run([strata, "convert", paths["", before], "-o", arguments[0]], capture_output=True, check=True)
    _, answer = strata_json(strata, ["whatif", *arguments])
    if arguments[0] != paths["", before]:
        os.remove(arguments[0])
    return row_of(case, method, after, answer, unchanged, wanted)


def row_of(case, method, after, answer, unchanged, wanted):
    """`unchanged` and `wanted` are the peaks that were recorded without the change, and with it."""
    unchanged = [abs(a - b) / b * 100 for a, b in zip(unchanged, wanted)]
    if not answer or not answer["devices"]:
        return Row(case, method, after, "refused", [100.0] * 3, unchanged, False, 0)
    device = answer["devices"][0]
    interval = [device["interval"][f"{name}_bytes_peak"] for name in FIGURES]
    held = all(low <= value <= high for value, (low, high) in zip(wanted, interval))
    width = max((high - low) / value * 100 for value, (low, high) in zip(wanted, interval))
    got = figures(device["predicted"])
    errors = got and [(a - b) / b * 100 for a, b in zip(got, wanted)]
    return Row(case, method, after, "point" if got else "bounds", errors, unchanged, held, width)


def check_items(arguments, python, folder, failures):
    """Does a recording with operators tell how many items its batch has?"""
    chosen = [case for case in cases(range(1)) if case.family not in HELD_BACK and arguments.only in case.name]
    chosen = [case for case in chosen if case.family == SHORT] if is_short(arguments) else chosen
    programs = [words_of(case, 1) for case in chosen]
    unknown = []
    made = record(arguments.recorder or arguments.strata, python, os.path.join(folder, "operators"), programs, ["--operators"])
    for case, words in zip(chosen, programs):
        path = made.get(words)
        if path is None:
            failures.expect(case.name, "a recording with operators", "none", "there")
            continue
        run, answer = strata_json(arguments.strata, ["whatif", path, "--change", "batch=x2", "--json"])
        if answer is None and "--batch-of" in run.stderr:
            unknown.append(case.name)
            continue
        device = answer["devices"][0] if answer and answer["devices"] else {}
        failures.expect(case.name, "items by the shapes of operators", device.get("batch_before") or run.stderr, case.items)
        failures.expect(case.name, "items of x2", device.get("batch_after"), 2 * case.items)
    print(f"  items by the shapes of operators: {len(chosen) - len(unknown)} of {len(chosen)} known; not: {', '.join(unknown)}", flush=True)
    failures.expect("items", "of most programs they are known", 2 * len(unknown) < len(chosen) or not chosen)


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def report_errors(rows, name, which, bars, failures, table):
    """Errors of each figure in percent of the truth, over the answers in which the change moves it by 1 % or more, held against bars of
    requested and allocated, and of reserved: median and 95th percentile. The bar of families held back is twice that."""
    for index, figure in enumerate(FIGURES):
        counted = [row for row in rows if row.unchanged[index] >= 1]
        if not counted:
            continue
        errors = [abs(row.errors[index]) for row in counted]
        null = [row.unchanged[index] for row in counted]
        bar = bars[figure == "reserved"]
        times = 2 if which == "held back" else 1
        median, tail = percentile(errors, 0.5), percentile(errors, 0.95)
        met = (median <= bar[0] * times or len(counted) < SOME) and (tail <= bar[1] * times or len(counted) < ENOUGH[which])
        print(f"  {which}, {name}: {figure}: {len(counted)} cases, median {median:.3f} %, 95th {tail:.3f} %, worst {max(errors):.3f} %, "
              f"{sum(error == 0 for error in errors)} exact; no change: median {percentile(null, 0.5):.1f} %, 95th {percentile(null, 0.95):.1f} %; "
              f"bar met: {met}", flush=True)
        table.append([name, which, figure, str(len(counted)), f"{median:.2f}", f"{tail:.2f}", f"{max(errors):.2f}",
                      str(sum(error == 0 for error in errors)), f"{percentile(null, 0.5):.1f}", f"{percentile(null, 0.95):.1f}"])
        failures.expect(f"{which}, {name}", f"{figure}: median and tail in {times} x {bar}", met)
        most = MOST_OFF[figure == "reserved"]
        failures.expect(f"{which}, {name}", f"{figure}: none is off by more than {most} %", max(errors) <= most)


class Report:
    """Prints, checks and keeps what came out."""

    def __init__(self, failures, identical, recordings):
        self.failures, self.identical, self.recordings = failures, identical, recordings
        self.errors, self.intervals = [], []  # rows of tables

    def figure(self, rows, method, which, index):
        counted = [row for row in rows if row.kind != "bounds" and (row.unchanged[index] >= 1 or method == "settings")]
        if not counted:
            return
        errors = [abs(row.errors[index]) for row in counted]
        null = [row.unchanged[index] for row in counted]
        median, tail = percentile(errors, 0.5), percentile(errors, 0.99 if method == "settings" else 0.95)
        bar = BARS[method][FIGURES[index] == "reserved"]
        most = 2 if which == "held back" else 1
        off = (MOST_GUESSED_OFF if method == WINDOWS else MOST_OFF)[FIGURES[index] == "reserved"]
        met = (median <= bar[0] * most or len(counted) < SOME) and (tail <= bar[1] * most or len(counted) < ENOUGH[which])
        is_below = median <= bar[0] * most and tail <= bar[1] * most
        cells = [f"{median:.2f}", f"{tail:.2f}", f"{max(errors):.2f}", str(sum(error == 0 for error in errors)),
                 f"{percentile(null, 0.5):.1f}", f"{percentile(null, 0.95):.1f}", "yes" if is_below else f"{'too few to say' if met else 'no'}: {bar[0] * most} / {bar[1] * most}"]
        self.errors.append([method, which, FIGURES[index], str(len(counted)), *cells])
        print(f"  {method}, {which}: {FIGURES[index]}: {len(counted)} cases, median {cells[0]} %, tail {cells[1]} %, worst {cells[2]} %, "
              f"{cells[3]} exact; no change: median {cells[4]} %, 95th {cells[5]} %; bar met: {cells[6]}", flush=True)
        self.failures.expect(f"{method}, {which}", f"{FIGURES[index]}: median and tail in bars of {most} x {bar}", met)
        self.failures.expect(f"{method}, {which}", f"{FIGURES[index]}: no point is off by more than {off} %", max(errors) <= off)

    def add(self, rows, method, which):
        for index in range(len(FIGURES)):
            self.figure(rows, method, which, index)
        if rows:
            kinds = [sum(row.kind == kind for row in rows) for kind in ("point", "bounds", "refused")]
            cells = [str(len(rows)), *map(str, kinds), str(sum(row.held for row in rows)), f"{percentile([row.width for row in rows], 0.5):.1f}",
                     f"{percentile([row.width for row in rows], 0.95):.1f}"]
            self.intervals.append([method, which, *cells])
            print(f"  {method}, {which}: of {cells[0]}: {cells[1]} with a point, {cells[2]} bounds alone, {cells[3]} refused; the interval holds "
                  f"in {cells[4]} and is {cells[5]} % wide in the median, {cells[6]} % at the 95th percentile", flush=True)
            if method == "batch, sizes":
                self.failures.expect(f"{method}, {which}", "none has a point", kinds[0], 0)
            else:
                self.failures.expect(f"{method}, {which}", "a third or more have a point", 3 * kinds[0] >= len(rows) or len(rows) < 3)
            if len(rows) >= ENOUGH[which]:
                self.failures.expect(f"{method}, {which}", "intervals hold in 95 %", sum(row.held for row in rows) >= 0.95 * len(rows))
                self.failures.expect(f"{method}, {which}", "at most 5 % are refused", kinds[2] <= 0.05 * len(rows))


def measure_batch(arguments, python, folder, chosen, failures):
    """A row for each question, how many recordings come to their own peaks, and of how many."""
    rows, identical = [], 0
    made = record_all(arguments.recorder or arguments.strata, python, folder, chosen)
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        for case in chosen:
            paths = {("", times): made[""].get(words_of(case, times)) for times in (1, *TIMES)}
            paths |= {(case.settings, times): made[case.settings].get(words_of(case, times)) for times in (1, 2)}
            if None in paths.values():
                failures.expect(case.name, "recordings", [key for key, path in paths.items() if path is None], [])
                continue
            before = failures.count
            came = pool.map(lambda item: check_identity(arguments.strata, f"{case.name}, x{item[0][1]} {item[0][0]}", item[1], failures), paths.items())
            truth = dict(zip(paths, came))
            if None in truth.values():
                continue
            identical += len(paths) if failures.count == before else 0
            for row in pool.map(lambda question: ask(arguments.strata, case, *question, paths, truth), questions(case)):
                rows.append(row)
                tell(row)
    return rows, identical, 6 * len(chosen)


def tell(row):
    """Says of a row what is worth a look."""
    if row.kind == "refused" or not row.held or any(abs(error) > 0.5 for error in row.errors or ()):
        errors = " ".join(f"{error:+.2f}" for error in row.errors or ())
        print(f"  {row.case.name} x{row.times} by {row.method}{' ' + row.case.settings if 'settings' in row.method else ''}: {row.kind} {errors} %"
              f"{'' if row.held else ', not in the interval'}", flush=True)


def checkpoint_questions(case, classes):
    """Each method with the modules and times of the batch of its truth, and what it is asked with."""
    for chosen in classes:
        change = ("--change", f"checkpoint={chosen}")
        yield "checkpointing, deep step", chosen, 1, change
        yield "checkpointing and settings, deep step", chosen, 1, (*change, "--set", case.settings)
        yield WINDOWS, chosen, 1, ()
    chosen = classes[0]
    yield ("checkpointing and batch, deep step and roles", chosen, 2,
           ("--change", f"checkpoint={chosen}", "--change", "batch=x2", "--batch-of", str(items_checkpointed(case))))


def recorded_peaks(strata, path):
    """None: there is no such recording, or no answer."""
    _, answer = strata_json(strata, ["whatif", path, "--json"]) if path else (None, None)
    return figures(answer["devices"][0]["recorded"]) if answer else None


def answer_row(strata, case, method, what, recordings, words, failures):
    """`recordings`: the one that is asked, and that of the truth; None: one is missing."""
    before, wanted = (recorded_peaks(strata, path) for path in recordings)
    if before is None or wanted is None:
        failures.expect(case.name, f"recordings of {what}", [before is not None, wanted is not None], [True, True])
        return None
    run, answer = strata_json(strata, ["whatif", recordings[0], "--json", *words])
    if answer is None or answer["refused"]:
        print(f"  {case.name}: {what}: {run.stderr.strip()[:300]}", flush=True)
    return row_of(case, method, what, answer, before, wanted)


def told(rows):
    """Those that there are, once they are said."""
    rows = [row for row in rows if row is not None]
    for row in rows:
        tell(row)
    return rows


def measure_taken_away(arguments, python, folder, chosen, failures):
    """A row for each program with checkpoints around its blocks, asked what it comes to without."""
    strata, nested = arguments.recorder or arguments.strata, [case for case in chosen if case.family in NESTED]
    deep = record(strata, python, os.path.join(folder, "deep"), [checkpointed(case, blocks=True) for case in nested], DEEP)
    plain = record(strata, python, os.path.join(folder, "checkpoints"), [checkpointed(case) for case in nested], ("--deep-step", "0"))

    def answer_of(case):
        autocast = " under autocast" if "autocast" in case.words else ""
        recordings = deep.get(checkpointed(case, blocks=True)), plain.get(checkpointed(case))
        return answer_row(arguments.strata, case, f"no checkpoints{autocast}, deep step", "no checkpoints", recordings,
                          ["--change", "checkpoint=none"], failures)
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        return told(pool.map(answer_of, nested))


def measure_checkpoints(arguments, python, folder, chosen, failures):
    """A row for each question."""
    strata = arguments.recorder or arguments.strata
    asked = {case.name: CLASSES[case.family][:1] if is_short(arguments) else CLASSES[case.family] for case in chosen}
    truth = [checkpointed(case, each, times) for case in chosen for each in (None, *asked[case.name]) for times in (1, 2)
             if times == 1 or each in (None, asked[case.name][0])]
    deep = record(strata, python, os.path.join(folder, "deep"), [checkpointed(case) for case in chosen], DEEP)
    made = {"": record(strata, python, os.path.join(folder, "checkpoints"), truth, ("--deep-step", "0"))}
    for number, settings in enumerate(SETTINGS):
        some = [checkpointed(case, each) for case in chosen if case.settings == settings for each in asked[case.name]]
        made[settings] = record(strata, python, os.path.join(folder, f"checkpoints{number}"), some, ("--deep-step", "0"), settings) if some else {}

    def by_path(case, modules):
        """Without a deep step modules have paths alone: those of the class where it comes to the same by them, which it does not where the
        model itself is of that class."""
        asks, by_class = deep[checkpointed(case)], ["--change", f"checkpoint={modules}"]
        if modules.startswith("path:"):
            return by_class
        _, answer = strata_json(arguments.strata, ["whatif", asks, "--plan", "1", "--json"])
        paths = [each["module"] for each in answer["plan"]["modules"] if each["class"] == modules] if answer and answer["plan"] else []
        words = [word for path in paths for word in ("--change", f"checkpoint=path:{path}")]
        answers = [strata_json(arguments.strata, ["whatif", asks, *each, "--json"])[1] for each in (words, by_class)]
        return words if None not in answers and answers[0]["devices"] == answers[1]["devices"] else None

    def answer_of(case, method, modules, times, words):
        settings = case.settings if "--set" in words else ""
        asks = deep.get(checkpointed(case))
        if method == WINDOWS and asks is not None:
            asks, words = made[""].get(checkpointed(case)), by_path(case, modules)
            if words is None:
                return None
        return answer_row(arguments.strata, case, method, modules if times == 1 else f"{times}, {modules}",
                          (asks, made[settings].get(checkpointed(case, modules, times))), words, failures)
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        return told(pool.map(lambda each: answer_of(*each), ((case, *question) for case in chosen
                                                             for question in checkpoint_questions(case, asked[case.name]))))


def table(head, rows):
    return ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]


def write(arguments, python, report):
    """The published page."""
    strata = subprocess.run([arguments.strata, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    of_what = {"checkpoints": " on checkpoints", "taken-away": " without checkpoints"}.get("".join(arguments.part or ()), "")
    how = "".join(f" --part {part}" for part in arguments.part or ())
    lines = ["# How far `strata whatif` is off" + of_what, "",
             "Made by `tests/truth/tests/test_whatif.py STRATA%s --seeds %d --first-seed %d --held-back --write docs/%s`:"
             % (how, arguments.seeds, arguments.first_seed, os.path.basename(arguments.write)),
             "%s, PyTorch %s, simulated %s, %s." % (strata, ".".join(map(str, version(python)[:3])), CARD, datetime.date.today()), "",
             "The truth is the same program run with the change: real PyTorch, real autograd, its real allocator on the simulated device. Programs",
             "are trainings of %d families, with sizes, optimizers and options drawn by a seed. What tells the size of a block, and when there is a" % len(FAMILIES),
             "point, was fixed with seeds 0 to 3; room in intervals was given once more after seeds 4 to 7 were seen. Families *held back* are",
             "%s: rules were not made by them, but for two of roles, that these do not decide what recurrent layers" % ", ".join(sorted(HELD_BACK)),
             "ask for, which `lstm` showed, and not whether pairs go with the square, which `siamese` did. Seeds 23 to 26 of checkpoints showed mistakes",
             "that are mended: a first step that was taken for another, and, in families held back, copies that were kept beyond their use and a cast",
             "that two modules take; and that bounds under other settings lacked room of a segment. The figures are those after that. There, families",
             "with small items have %d times as many of them, since checkpoints hardly move what parameters decide." % MORE_ITEMS, "",
             *(["How long there is what a checkpoint took was ruled with seeds 23 to 32 under autocast, and what shows that it is saved with 33 to 42.", ""] if "taken-away" in (arguments.part or ()) else []),
             *(["Where nothing changes, %d of %d recordings come to their own peaks, to the byte." % (report.identical, report.recordings), ""]
               if report.recordings else []),
             "## Errors", "",
             "In percent of the truth, over the answers that have a point (how many those are, see below); of a batch those that move the figure by",
             "1 % or more. *Tail* is the 95th percentile (of settings: the 99th); *no change* is what predicting the recorded figure scores. A refusal",
             "counts as 100 %. The bar of families held back is twice that of the others.", "",
             *table(["change, evidence", "families", "figure", "cases", "median", "tail", "worst", "exact", "no change: median", "95th", "bar met"],
                    report.errors), "",
             "## Intervals", "",
             "*Between* of an answer: whether the truth lies in it in all three figures, and how wide the widest of the three is, in percent of the",
             "truth.", "",
             *table(["change, evidence", "families", "answers", "with a point", "bounds alone", "refused", "truth within", "width: median", "95th"],
                    report.intervals), ""]
    with open(arguments.write, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def test(arguments, python, failures):
    failures.expect("held back", "as drawn", HELD_BACK, held_back())
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or temporary
        chosen = chosen_cases(arguments, cases)
        print(f"asked: {', '.join(sorted({case.family for case in chosen}))}", flush=True)
        rows, identical, recordings, parts = [], 0, 0, arguments.part or PARTS
        if "checkpoints" in parts:
            rows += measure_checkpoints(arguments, python, folder, chosen, failures)
        if "taken-away" in parts:
            rows += measure_taken_away(arguments, python, folder, chosen, failures)
        if "batch" in parts:
            of_batch, identical, recordings = measure_batch(arguments, python, folder, chosen, failures)
            rows += of_batch
            check_items(arguments, python, folder, failures)
            print(f"  identity: {identical} of {recordings} recordings come to their own peaks, to the byte", flush=True)
    report = Report(failures, identical, recordings)
    for method, which, some in by_method(rows, BARS):
        report.add(some, method, which)
    if arguments.write:
        write(arguments, python, report)


def is_short(arguments):
    """Whether this is the short form: nothing was asked for but what runs on every commit."""
    return not LONG and not arguments.only and (arguments.seeds or 1) == 1 and not getattr(arguments, "held_back", False) and not getattr(arguments, "write", None)


def chosen_cases(arguments, chosen):
    """Those of the seeds and families that are asked for; one in the short form."""
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    found = [case for case in chosen(seeds) if arguments.only in case.name and (arguments.held_back or case.family not in HELD_BACK)]
    return [case for case in found if case.family == SHORT] if is_short(arguments) else found


def by_method(rows, methods):
    """Rows of each method in families that are tuned for, and in those held back."""
    for method in methods:
        for which in ("tuned", "held back"):
            yield method, which, [row for row in rows if row.method == method and (row.case.family in HELD_BACK) == (which == "held back")]


def kinds_table(rows, methods):
    """How answers ended, of each method."""
    lines = []
    for method, which, some in by_method(rows, methods):
        kinds = [sum(row.kind == kind for row in some) for kind in ("point", "bounds", "refused")]
        if some:
            lines.append([method, which, str(len(some)), *map(str, kinds), str(sum(row.held for row in some)),
                          f"{percentile([row.width for row in some], 0.5):.1f}"])
    return table(["change, evidence", "families", "answers", "with a point", "bounds alone", "refused", "truth within", "width: median"], lines)


def write_page(arguments, python, title, lines):
    """A page of the manual, of the test that runs: it begins with how it was made."""
    strata = subprocess.run([arguments.strata, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    head = [f"# {title}", "", f"Made by `tests/truth/{os.path.basename(sys.argv[0])} STRATA --seeds {arguments.seeds} --first-seed {arguments.first_seed}"
            f"{' --held-back' if getattr(arguments, 'held_back', False) else ''} --write docs/{os.path.basename(arguments.write)}`:",
            f"{strata}, PyTorch {'.'.join(map(str, version(python)[:3]))}, simulated {CARD}, {datetime.date.today()}.", ""]
    with open(arguments.write, "w", encoding="utf-8") as file:
        file.write("\n".join([*head, *lines]) + "\n")


def add_case_options(parser):
    """Which cases."""
    parser.add_argument("--seeds", type=int, default=4 if LONG else 1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", default="", help="cases with this text in their name")
    parser.add_argument("--held-back", action="store_true", default=LONG, help="the families of HELD_BACK too")


def add_page_options(parser):
    """That, and what a test makes of them."""
    add_case_options(parser)
    parser.add_argument("--keep", metavar="FOLDER", help="leaves the recordings there, and takes those that are there already")
    parser.add_argument("--write", metavar="PAGE", help="writes the tables as a page of the manual")


def add_options(parser):
    add_page_options(parser)
    parser.add_argument("--part", action="append", choices=PARTS, help="this one alone")
    parser.add_argument("--recorder", metavar="STRATA", help="records, where another is asked")


if __name__ == "__main__":
    sys.exit(main(test, every_python=False, add_options=add_options))
