# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of `strata whatif` share: drawn programs, their recordings, questions, errors, bars, and the figures of docs/accuracy.json.

A Question asks `strata whatif` about one recording, and names the recording of the program that was changed by hand: the truth. A Suite
has the questions of one kind of change, with bars for their errors. Errors are in percent of the truth, over answers with a point in which the
change moves the figure by 1 % or more; predicting no change is scored beside it. A refusal counts as a miss of 100 %.

Families of HELD_BACK were drawn once, before anything was measured (held_back() draws them again): nobody tunes against them, and they are
reported apart. The short form asks one family once; options of conftest.py choose more, and --only looks at the name of a case and a method.
"""
import collections
import concurrent.futures
import contextlib
import datetime
import fcntl
import hashlib
import json
import os
import random
import shlex
import subprocess
import tempfile

import accuracy_page
import forks
from running import LONG, PROGRAMS, PROJECT, Failures, jobs, strata_json, version, with_bitsandbytes, with_environment

PROGRAM, WIDE_PROGRAM = (os.path.join(PROGRAMS, name) for name in ("whatif_program.py", "whatif_sharded_program.py"))
CARD = "A100-80GB"
FAMILIES = ["conv", "experts", "gan", "gpt", "lstm", "mlp", "recommender", "resnet", "siamese", "t5", "unet", "vae", "vit"]
HELD_BACK = ("siamese", "recommender", "lstm", "mlp")
SHORT = "gpt"  #: the family of the short form: it has blocks, attention, sequences and autocast
MANY_ITEMS = ("mlp", "vae", "recommender", "siamese")  # whose items are small
MORE_ITEMS = 16  # as many of these where checkpoints are asked for, which else move little beside parameters and their states
NEEDED = (*forks.TRAINING, "--import", "whatif_program")  #: what programs import, once for all
TOGETHER = 20  # programs that share the import of torch
SETTINGS = ("expandable_segments:True", "max_split_size_mb:32", "roundup_power2_divisions:4",
            "roundup_power2_divisions:8,max_split_size_mb:64")
FIGURES = ("requested", "allocated", "reserved")
DEEP, FLAT = (), ("--deep-step", "0")  #: the third step is the deep one, unless another is asked for

#: Of each family what is checkpointed, each for itself; the first alone in the short form.
CLASSES = {
    "conv": ("Sequential", "BatchNorm2d", "Conv2d"), "experts": ("Experts", "GatedMlp", "GroupedAttention"), "gan": ("Sequential", "BatchNorm2d"),
    "gpt": ("Block", "path:blocks.0", "Linear"), "lstm": ("LSTM", "Linear"), "mlp": ("Sequential", "ReLU", "Linear"),
    "recommender": ("Sequential", "Linear", "EmbeddingBag"), "resnet": ("Bottleneck", "BatchNorm2d", "Sequential"),
    "siamese": ("Residual", "Linear", "Sequential"), "t5": ("TransformerEncoderLayer", "MultiheadAttention", "TransformerDecoderLayer"),
    "unet": ("Sequential", "GroupNorm"), "vae": ("Residual", "LayerNorm"), "vit": ("Sequential", "Attention")}
NESTED = ("experts", "gpt", "resnet", "siamese", "unet", "vae", "vit")  # have blocks that roles_program.py can checkpoint

#: Cases from which on a percentile says something.
ENOUGH = {"tuned": 40, "held back": 12}
SOME = 12  # the same of a median

Case = collections.namedtuple("Case", "name family words items settings")
#: A program that is recorded: its words, options of `strata record`, settings of the allocator.
Recording = collections.namedtuple("Recording", "words options settings program", defaults=[(), "", PROGRAM])
#: What is asked of `before` with the words of `strata whatif`, or what a function makes of a Whatif, and `others` beside it (--with). The answer
#: is held against `truth`; `evidence`: kinds of it that it may rest on; `exact`: it says that it is exact; `refused`: texts of its refusal;
#: `snapshot`: a snapshot as PyTorch's own is asked, which has no roles.
Question = collections.namedtuple("Question", "case method before words truth others evidence exact refused snapshot name",
                                  defaults=[None, (), (), False, (), False, ""])
Row = collections.namedtuple("Row", "question method kind errors unchanged held width")
#: In percent: median and 95th percentile (`tail`) of requested and allocated, and of reserved, twice that for families held back; `most`: of any
#: answer; `points`: the least share of answers with a point; `few`: of few intervals so many may not hold; `always`: small changes count, too;
#: `outside`: so many intervals of the short form are known not to hold.
Bar = collections.namedtuple("Bar", "usual reserved points few tail most always outside", defaults=[None, None, 0.95, (5, 20), False, 0])
#: Its name is an "id" of docs/accuracy.json; `cases(whatif)`, `questions(case, whatif)`, Bars by method. `more(whatif, rows, failures)` gives rows that
#: count in another method.
Suite = collections.namedtuple("Suite", "name cases questions bars more", defaults=[None])

SAME = "nothing changed"
IDENTITY = {SAME: Bar((0, 0), (0, 0), points=1, few=0, most=(0, 0), always=True)}


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


#: Ways to spread a training over ranks, as `strata whatif --change` has them.
SPREAD = {
    "ddp": ["ddp=8", "ddp=2,bucket_cap_mb=5", "ddp=64,gradient_as_bucket_view=True", "ddp=4,gradient_as_bucket_view=True,bucket_cap_mb=50"],
    "zero1": ["zero1=2", "zero1=8", "zero1=64", "zero1=4,gradient_as_bucket_view=True"],
    "fsdp": ["fsdp=2", "fsdp=8", "fsdp=64", "fsdp=8,reshard_after_forward=False", "fsdp=16,reshard_after_forward=True"],
    "fsdp_on_host": ["fsdp=2,offload=True", "fsdp=8,offload=True", "fsdp=64,offload=True", "fsdp=16,offload=True,reshard_after_forward=False"]}
WIDE_SHORT = "t5"  #: of WideCase: its program runs with each way
WideCase = collections.namedtuple("WideCase", "name family words items wider hows")


def wide_cases(seeds):
    """Programs of whatif_sharded_program.py, half of which have parameters so large that these make the peak, with two ways of each kind to spread
    them; without gan, which trains two parts in turn and never calls its model."""
    for family in FAMILIES:
        for seed in seeds if family != "gan" else ():
            rng = random.Random(f"sharded {family} {seed}")
            large = seed % 2 == 0
            wider = f"{rng.randint(2, 6)}x{rng.randint(300, 900)}" if large else "0"
            items = 2 if large else 2 * (rng.randint(8, 60) if family in MANY_ITEMS else rng.randint(1, 4))
            hows = {kind: rng.sample(SPREAD[kind], 2) for kind in ("ddp", "fsdp", "zero1")}
            hows["fsdp_on_host"] = random.Random(f"on host {family} {seed}").sample(SPREAD["fsdp_on_host"], 2)
            words = [family, "--seed", str(seed), "--steps", "6", "--optimizer", rng.choice(["sgd", "momentum", "adamw", "adamw_fused", "rmsprop", "adagrad"])]
            for option, odds in (("autocast", 0.3), ("clip", 0.2), ("evaluate", 0.2), ("accumulate", 0.15), ("zero_first", 0.2)):
                if rng.random() < odds:
                    words += ["--option", option]
            yield WideCase(f"{' '.join(words)}, {items} items, {wider} wider", family, words, items, wider, hows)


def without(words, *options):
    """The words of a program without options."""
    found = {index for index, pair in enumerate(zip(words, words[1:])) if pair[0] == "--option" and pair[1] in options}
    return tuple(word for index, word in enumerate(words) if index not in found and index - 1 not in found)


def plain(case):
    """As it is drawn, but for accumulation, with items that are a multiple of four."""
    return case._replace(words=list(without(case.words, "accumulate")), items=4 * case.items if case.items < 4 else case.items - case.items % 4)


def words_of(case, times=1):
    return (str(int(case.items * times)), *case.words)


def items_checkpointed(case):
    return case.items * (MORE_ITEMS if case.family in MANY_ITEMS else 1)


def checkpointed(case, chosen=None, times=1, blocks=False):
    """The words of a case with these modules behind checkpoints, or its blocks: so many steps that the deep one has some beside it that do
    the same."""
    words = [*case.words, *(("--option", "checkpoint") if blocks else ())]
    words[words.index("--steps") + 1] = "6"
    return (str(int(items_checkpointed(case) * times)), *(("--checkpoint", chosen) if chosen else ()), *words)


def changes(*wanted):
    return [word for each in wanted for word in ("--change", each)]


def command(words, settings="", program=PROGRAM):
    """A program of many.py under settings of the allocator."""
    return [*([f"PYTORCH_CUDA_ALLOC_CONF={settings}"] if settings else []), program, *words]


def figures(part):
    return None if part is None else [part[f"{name}_bytes_peak"] for name in FIGURES]


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def error_figures(errors, null, tail=0.95):
    """Of one figure: errors in percent, and those of no change."""
    return {"exact": sum(error == 0 for error in errors), "median": round(percentile(errors, 0.5), 2), "tail": round(percentile(errors, tail), 2),
            "worst": round(max(errors), 2), "no_change_median": round(percentile(null, 0.5), 1), "no_change_tail": round(percentile(null, 0.95), 1)}


class Whatif:
    """A build, a PyTorch and the options of a run. Recordings stay in a folder: that of --keep, where those that are there already are taken,
    whichever build made them; that of STRATA_RECORDINGS, which modules of one run of ./test share; or `temporary`."""

    def __init__(self, session, strata, python, temporary):
        config, option = session.config, session.config.getoption
        self.option, self.has_bitsandbytes = option, with_bitsandbytes(Failures())
        self.strata, self.python, self.only, self.page = strata, python, option("only") or "", option("write")
        self.command = shlex.join(["pytest-3", *map(str, config.invocation_params.args)])
        #: Nothing is asked for but what runs on every commit.
        self.short = not (LONG or self.only or self.page or option("held_back") or (option("seeds") or 1) > 1)
        self.held_back = LONG or option("held_back")
        self.folder = option("keep") or os.environ.get("STRATA_RECORDINGS") or str(temporary)
        os.makedirs(self.folder, exist_ok=True)
        digest = hashlib.sha256(str(version(python)).encode())
        for path in () if option("keep") else (strata, os.path.join(os.path.dirname(strata), "..", "lib", "strata", "libstrata_capture.so")):
            with open(path, "rb") as file:
                digest.update(file.read())
        self.build, self.known = digest.hexdigest(), {}
        #: Suites that are asked for: their programs share starts.
        self.suites = [item.callspec.params["suite"] for item in session.items if "suite" in getattr(getattr(item, "callspec", None), "params", ())]

    def seeds(self, usual=4):
        """`usual`: so many in the long form."""
        first = self.option("first_seed") or 0
        return range(first, first + (self.option("seeds") or (usual if LONG else 1)))

    def cases(self, draw=cases, usual=4, short=SHORT, held_back=None):
        """Those of the seeds and families that are asked for; in the short form those of one family."""
        every = self.held_back if held_back is None else held_back
        found = [case for case in draw(self.seeds(usual)) if every or case.family not in HELD_BACK]
        found = [case for case in found if self.only in case.name] or found
        return [case for case in found if case.family == short] if self.short else found

    def questions(self, suite):
        found = [each for case in suite.cases(self) for each in suite.questions(case, self)]
        return [each for each in found if self.is_asked(each)]

    def is_asked(self, question):
        return self.only in f"{question.case.name}: {question.method}: {question.name}"

    def path(self, recording):
        key = hashlib.sha256(json.dumps([*recording[:3], os.path.basename(recording.program), self.build]).encode()).hexdigest()[:16]
        return os.path.join(self.folder, "_".join(word.lstrip("-").replace("/", "_") for word in recording.words)[:120] + f".{key}.strata")

    @contextlib.contextmanager
    def locked(self, what):
        with open(os.path.join(self.folder, hashlib.sha256(repr(what).encode()).hexdigest()[:16] + ".lock"), "w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def start(self, recordings):
        """Programs with the same options in one start."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            run, ended = forks.recorded(self.strata, ["--simulated", CARD, *recordings[0].options], self.python,
                                        [command(each.words, each.settings, each.program) for each in recordings], folder, NEEDED,
                                        env=with_environment(PYTORCH_CUDA_ALLOC_CONF=""))
            if any(status != 0 for status, _ in ended):
                print(run.returncode, [" ".join(each.words) for each in recordings], ended, run.stderr[:4000], flush=True)
            for recording, (status, path) in zip(recordings, ended):
                if status == 0 and path:
                    os.rename(path, self.path(recording))

    def record(self, recordings):
        """By recordings the paths of those that there are."""
        groups = collections.defaultdict(list)
        for each in dict.fromkeys(recordings):
            groups[each.options].append(each)
        with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
            for options, some in groups.items():
                with self.locked(options):
                    missing = [each for each in some if not os.path.exists(self.path(each))]
                    list(pool.map(self.start, (missing[first:first + TOGETHER] for first in range(0, len(missing), TOGETHER))))
        return {each: self.path(each) for some in groups.values() for each in some if os.path.exists(self.path(each))}

    def record_for(self, questions, more=()):
        return self.record([*more, *(each for question in questions for each in (question.before, question.truth, *question.others) if each)])

    def json(self, command, *words):
        return strata_json(self.strata, [command, "--json", *words])

    def ask(self, recording, *words):
        """What is said of a recording, or of a file."""
        return self.json("whatif", recording if isinstance(recording, str) else self.path(recording), *words)

    def peaks(self, recording):
        """The recorded ones; None: there is no such recording, or no answer."""
        if recording not in self.known:
            _, answer = self.ask(recording) if os.path.exists(self.path(recording)) else (None, None)
            self.known[recording] = figures(answer["devices"][0]["recorded"]) if answer else None
        return self.known[recording]

    def answer(self, question, *last):
        """The process and its answer."""
        words = [*(word for each in question.others for word in ("--with", self.path(each))), *question.words, *last]
        if not question.snapshot:
            return self.ask(question.before, *words)
        with tempfile.TemporaryDirectory() as folder:
            snapshot = os.path.join(folder, "snapshot.pickle")
            subprocess.run([self.strata, "convert", self.path(question.before), "-o", snapshot], capture_output=True, check=True)
            return self.ask(snapshot, *words)

    def row(self, question, failures):
        """None: there is nothing to count."""
        name, method = f"{question.case.name}: {' '.join(question.words) if not callable(question.words) else question.method}", question.method
        needed = [each for each in (question.before, question.truth, *question.others) if each]
        missing = [" ".join(each.words) for each in needed if self.peaks(each) is None]
        if missing:
            failures.expect(name, "recordings that are missing", missing, [])
            return None
        if callable(question.words):
            words = question.words(self)
            if words is None:
                return None
            question = question._replace(words=words)
        run, answer = self.answer(question)
        if question.refused:
            failures.expect(name, f"refused with {question.refused}: {run.stderr.strip()[:400]}",
                            run.returncode in (1, 2) and all(text in run.stderr for text in question.refused))
            return None
        unchanged, wanted = self.peaks(question.before), self.peaks(question.truth)
        changed = [abs(a - b) / b * 100 for a, b in zip(unchanged, wanted)]
        if not answer or not answer["devices"] or answer["refused"]:
            row = Row(question, method, "refused", [100.0] * 3, changed, False, 0)
        else:
            device = answer["devices"][0]
            got, spans = figures(device["predicted"]), [device["interval"][f"{figure}_bytes_peak"] for figure in FIGURES]
            row = Row(question, method, "point" if got else "bounds", got and [(a - b) / b * 100 for a, b in zip(got, wanted)], changed,
                      all(low <= value <= high for value, (low, high) in zip(wanted, spans)),
                      max((high - low) / value * 100 for value, (low, high) in zip(wanted, spans)))
            if question.evidence:
                failures.expect(name, f"evidence {answer['evidence']} in {question.evidence}", answer["evidence"] in question.evidence)
            if question.exact:
                failures.expect(name, "exact", device["exact"])
        if row.kind == "refused" or not row.held or any(abs(error) > 0.1 for error in row.errors or ()):
            print(f"  {name} by {method}: {row.kind} {' '.join(f'{error:+.3f}' for error in row.errors or ())} % of "
                  f"{' '.join(f'{error:.1f}' for error in changed)}{'' if row.held else ', not in the interval'}"
                  f"{' ' + run.stderr.strip()[:300] if row.kind == 'refused' else ''}", flush=True)
        return row

    def rows(self, questions, failures):
        with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
            return [row for row in pool.map(lambda each: self.row(each, failures), questions) if row is not None]

    def check(self, suite, failures):
        """Asks all of a suite, holds it against the bars, and writes the figures."""
        if self.suites:
            asked, self.suites = [question for each in self.suites for question in self.questions(each)], []
            self.record_for(asked)
        rows = self.rows(self.questions(suite), failures)
        rows += suite.more(self, rows, failures) if suite.more else []
        failures.expect(suite.name, "some was asked", bool(rows))
        measured = []
        for method, which, some in by_method(rows, suite.bars):
            about = some, method, which, suite.bars[method], self.short, failures
            measured.append({"asked": method, "families": which, **hold_kinds(*about), **hold_errors(*about)})
        if self.page:
            self.write(suite.name, measured)

    def write(self, name, rows):
        """Rows of docs/accuracy.json, with how they were made."""
        def said(*words):
            return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
        accuracy_page.update(self.page, name, rows, command=self.command, date=str(datetime.date.today()), strata=said(self.strata, "--version").split()[-1],
                             pytorch=".".join(map(str, version(self.python)[:3])), gpu=CARD,
                             commit=said("git", "-C", PROJECT, "rev-parse", "--short=8", "HEAD"))


def by_method(rows, methods):
    """Rows of each method in families that are tuned for, and in those held back, where there are some."""
    for method in methods:
        for which in ENOUGH:
            some = [row for row in rows if row.method == method and (row.question.case.family in HELD_BACK) == (which == "held back")]
            if some:
                yield method, which, some


def hold_kinds(rows, method, which, bar, short, failures):
    """How answers ended."""
    name, held, widths = f"{method}, {which}", sum(row.held for row in rows), [float(row.width) for row in rows]
    points, bounds, refused = (sum(row.kind == kind for row in rows) for kind in ("point", "bounds", "refused"))
    found = {"answers": len(rows), "estimates": points, "ranges_only": bounds, "rejected": refused, "inside": held,
             "width_median": round(percentile(widths, 0.5), 1), "width_tail": round(percentile(widths, 0.95), 1)}
    print(f"  {name}: of {len(rows)}: {points} with a point, {bounds} with a range only, {refused} refused; the interval holds in {held} and is "
          f"{found['width_median']} % wide in the median, {found['width_tail']} % at the 95th percentile", flush=True)
    if short:  # one program, which is always the same
        failures.expect(name, "intervals hold", held, len(rows) - bar.outside)
        if bar.points is not None:
            failures.expect(name, "have a point", points, len(rows) if bar.points else 0)
    elif bar.points == 0:
        failures.expect(name, "none has a point", points, 0)
    elif bar.points:
        failures.expect(name, f"{points} of {len(rows)} have a point", points + refused * (bar.points == 1) >= bar.points * len(rows)
                        or len(rows) < 3 and bar.points < 1)
    if not short and (len(rows) >= ENOUGH[which] or bar.few is not None):
        # Of few cases one may be off; not most of them.
        failures.expect(name, "intervals hold in 95 %", held >= min(0.95 * len(rows), len(rows) - (bar.few or 0)))
        failures.expect(name, "at most 5 % are refused", refused <= 0.05 * len(rows))
    return found


def hold_errors(rows, method, which, bar, short, failures):
    """Errors of each figure against the bars. Of few cases no percentile says something: in the short form each error is below the bar of the tail."""
    found, name, times = {}, f"{method}, {which}", 2 if which == "held back" else 1
    for index, figure in enumerate(FIGURES):
        counted = [row for row in rows if row.kind != "bounds" and (bar.always or row.unchanged[index] >= 1)]
        if not counted:
            continue
        errors, null = [abs(row.errors[index]) for row in counted], [row.unchanged[index] for row in counted]
        median, tail = percentile(errors, 0.5), percentile(errors, bar.tail)
        most_median, most_tail = (times * each for each in (bar.reserved if figure == "reserved" else bar.usual))
        most = most_tail if short else bar.most[figure == "reserved"]
        met = (median <= most_median or len(counted) < SOME) and (tail <= most_tail or len(counted) < ENOUGH[which])
        limits = f"({most_median} / {most_tail})"
        is_below = "met" if median <= most_median and tail <= most_tail else f"not judged, too few cases {limits}" if met else f"missed {limits}"
        of_figure = {"cases": len(counted), **error_figures(errors, null, bar.tail), "bar_met": is_below}
        for key, value in of_figure.items():
            found.setdefault(key, [None] * len(FIGURES))[index] = value
        print(f"  {name}: {figure}: {len(counted)} cases, median {median:.3f} %, tail {tail:.3f} %, worst {max(errors):.3f} %, {of_figure['exact']} exact; "
              f"no change: median {of_figure['no_change_median']} %, 95th {of_figure['no_change_tail']} %; bar: {is_below}", flush=True)
        failures.expect(name, f"{figure}: median and tail in {most_median}, {most_tail}", met)
        failures.expect(name, f"{figure}: none is off by more than {most} %", max(errors) <= most)
    return found
