# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what `strata whatif --confirm` says against the recording of the program that was changed by hand.

With the command of the program it runs that: to the byte. Without it, the calls of the deep step are made again: autocast, bf16 and fp16 throughout, and
those with checkpoints and another batch, which a second recording with twice the batch tells; of some families autocast in fp16 without and with a
GradScaler, which calls do not make; another kernel of attention, of programs that call scaled_dot_product_attention, and that call where a program wrote
attention by hand; cross entropy in chunks, against the same program with torch.nn.functional.linear_cross_entropy written in.

A case that is not confirmed is a miss of 100 %. Programs of attention_programs.py and some of logits_programs.py are held back, as the families are. Where
networks are called without gradients before others with, autocast by --change ends between them: such programs are held against themselves under
`--confirm -- COMMAND`.
"""
import collections
import concurrent.futures
import os
import subprocess

import pytest

from running import CHUNKED_SINCE, LONG, PROGRAMS, dryrun, jobs, version
from whatif_cases import (CARD, CLASSES, FIGURES, HELD_BACK, PROGRAM, SHORT, Case, Question, Recording, changes, error_figures, figures,
                          percentile, without, words_of)

pytestmark = pytest.mark.torch("newest")

TIMES = 3
AUTOCAST = ("--option", "autocast")
ENOUGH = 12  # cases from which on a percentile says something
MOST_REFUSED = 0.05
MOST_RESERVED_OFF = 1.5  # of confirmed figures, in percent
ALONE, HALF, SCALED, COMPOSED = "autocast and pure bf16", "autocast and pure fp16", "autocast fp16, GradScaler", "combined"
ANOTHER, BY_HAND, CHUNKS = "another kernel", "by hand", "in chunks"
#: By rows of tables: median and 95th percentile in percent, of requested, and of what hangs on where blocks lie.
BARS = {COMPOSED: ((0.5, 3), (1, 5)), **{each: ((0.1, 0.5), (0.5, 2)) for each in (ALONE, HALF, SCALED, ANOTHER, BY_HAND, CHUNKS)}}
HALVED = ("conv", "gpt", "lstm", "mlp", "resnet", "siamese", "t5", "unet")  # families that are asked for fp16, too
SPLIT = ("gan",)  # whose loss has calls of networks without gradients and with
SWITCHED = "vit"  # whose program is asked with a switch for autocast that is off, too

Row = collections.namedtuple("Row", "question unchanged off null")


# With the command of the program.
def program_questions(case):
    items, base, chosen = str(case.items), words_of(case), CLASSES[case.family][0]
    plain, behind = without(base, "autocast"), (base[0], "--checkpoint", chosen, *base[1:])

    def one(name, before, truth, words, settings=""):
        return Question(case, "program", Recording(before), words, Recording(truth, settings=settings), name=name)
    yield one("batch", base, words_of(case, 2), [*changes("batch=x2"), "--batch-of", items])
    yield one("settings", base, base, ["--set", case.settings], case.settings)
    yield one("autocast", plain, (*plain, *AUTOCAST), changes("amp=bf16"))
    name, change = next(each for each in (("adamw", "adamw"), ("momentum", "SGD,momentum=0.9")) if each[0] not in base)
    other = tuple(name if before == "--optimizer" else word for before, word in zip(("", *base), base))
    yield one("optimizer", base, other, changes(f"optimizer={change}"))
    yield one("checkpoint", base, behind, changes(f"checkpoint={chosen}"))
    yield one("no checkpoint", behind, base, changes("checkpoint=none"))
    yield one("batch and settings", base, words_of(case, 0.5), [*changes("batch=x0.5"), "--batch-of", items, "--set", case.settings], case.settings)


def asked_of_programs(whatif):
    """In the short form one, others are confirmed in test_whatif_model.py and test_whatif_ranks.py."""
    return chosen(whatif, [each for case in whatif.cases(usual=2, held_back=True) for each in program_questions(case)], ((SHORT, "batch and settings"),))


def test_confirmed_by_the_program(whatif, failures, tmp_path):
    asked = asked_of_programs(whatif)
    whatif.record_for(asked)

    def check(number, question):
        """Whether all figures are those of the truth, and whether predicting no change has them."""
        name, words, kept = f"{question.case.name}: {question.name}", question.before.words, str(tmp_path / f"{number}.strata")
        wanted = whatif.peaks(question.truth)
        command = [whatif.python, PROGRAM, *(["{BATCH}", *words[1:]] if "--batch-of" in question.words else words)]
        run, answer = whatif.ask(question.before, *question.words, "-o", kept, "--confirm", "--", *command)
        if answer is None or wanted is None or not answer["devices"]:
            failures.expect(name, "an answer", run.stderr[-2000:], "there")
            return False
        device = answer["devices"][0]
        failures.expect(name, "by", device["confirmed_by"], "program")
        failures.expect(name, "unchanged", figures(device["confirmed_unchanged"]), figures(device["recorded"]))
        failures.expect(name, "note", device["confirmed_note"], None)
        failures.expect(name, ", ".join(FIGURES), figures(device["confirmed"]), wanted)
        _, again = whatif.ask(kept)
        failures.expect(name, "the run that is kept", again and figures(again["devices"][0]["recorded"]), wanted)
        os.remove(kept)
        return figures(device["recorded"]) != wanted
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        differ = list(pool.map(check, range(len(asked)), asked))
    print(f"  confirmed by the program on {CARD}: {len(differ)} asked, of which no change has the figures of {len(differ) - sum(differ)}", flush=True)
    failures.expect("confirmed", "answers that no change does not have", any(differ))


# By calls.
def by_calls(case, method, name, before, truth, asked, other=None, program=PROGRAM):
    """`other`: the words of the same program with twice the batch, where another batch is asked for."""
    words = [*changes(*asked), *(["--batch-of", f"{case.items},{2 * case.items}"] if other else []), "--confirm"]
    return Question(case, method, Recording(before, program=program), words, Recording(truth, program=program),
                    (Recording(other, program=program),) if other else (), name=name)


def call_questions(case, composed):
    plain, chosen = without(words_of(case), "autocast"), CLASSES[case.family][0]
    behind = ("--checkpoint", chosen, *plain[1:])
    bf16, twice, many, times = ("--option", "bf16"), (str(2 * case.items), *plain[1:]), str(TIMES * case.items), f"batch=x{TIMES}"

    def one(name, row, truth, *asked, other=None, before=plain):
        return by_calls(case, row, name, before, truth, asked, other)
    yield one("autocast", ALONE, (*plain, *AUTOCAST), "amp=bf16")
    if case.family == SWITCHED:
        yield one("autocast, once off", ALONE, (*plain, *AUTOCAST), "amp=bf16", before=(*plain, "--option", "autocast_off"))
    yield one("bf16", ALONE, (*plain, *bf16), "dtype=bf16")
    if composed and case.family in HALVED:
        yield one("autocast fp16", HALF, (*plain, "--option", "autocast_fp16"), "amp=fp16")
        yield one("fp16", HALF, (*plain, "--option", "fp16"), "dtype=fp16")
        yield one("autocast fp16, scaled", SCALED, (*plain, "--option", "scaler"), "amp=fp16")
    if composed:
        yield one("autocast, checkpoints, batch", COMPOSED, (many, *behind, *AUTOCAST), "amp=bf16", f"checkpoint={chosen}", times, other=twice)
        yield one("bf16, checkpoints", COMPOSED, (plain[0], *behind, *bf16), "dtype=bf16", f"checkpoint={chosen}")
        yield one("bf16, batch", COMPOSED, (many, *plain[1:], *bf16), "dtype=bf16", times, other=twice)
        yield one("autocast, checkpoints", COMPOSED, (plain[0], *behind, *AUTOCAST), "amp=bf16", f"checkpoint={chosen}")
        yield one("autocast, batch", COMPOSED, (many, *plain[1:], *AUTOCAST), "amp=bf16", times, other=twice)


def ask(whatif, question, failures):
    """What the calls result in, and how far that is off. None: a recording is missing."""
    name = f"{question.case.name}: {question.name}"
    recorded, wanted = (whatif.peaks(each) for each in (question.before, question.truth))
    missing = [" ".join(each.words) for each in (question.before, question.truth, *question.others) if whatif.peaks(each) is None]
    failures.expect(name, "recordings that are missing", missing, [])
    if missing:
        return None
    run, answer = whatif.answer(question, "--python", whatif.python)
    if question.case.family in SPLIT and "autocast" in question.name:
        words = question.before.words
        command = [whatif.python, PROGRAM, *(["{BATCH}", *words[1:]] if question.others else words)]
        _, truth = whatif.answer(question, "--", *command)
        wanted = figures(truth["devices"][0]["confirmed"])

    def off(got):
        return [100 * abs(figure - true) / true for figure, true in zip(got, wanted)]
    device = answer["devices"][0] if answer and answer["devices"] else None
    if device is None or device["confirmed"] is None or None in figures(device["confirmed"]):
        row, note = Row(question, False, [100.0] * 3, off(recorded)), run.stderr[-600:].strip()
    else:
        row = Row(question, figures(device["confirmed_unchanged"]) == recorded, off(figures(device["confirmed"])), off(recorded))
        note = f"{device['confirmed_by']}: {device['confirmed_note']}"
    if max(row.off) > MOST_RESERVED_OFF or row.off[0] > 0 or not row.unchanged:
        print(f"  {name}: off {' '.join(f'{error:.2f}' for error in row.off)} %, no change {' '.join(f'{error:.1f}' for error in row.null)} %; {note}", flush=True)
    return row


def report(method, which, rows, measured):
    """Those that count: the change moves a figure by 1 % or more. Their figures are added to `measured`."""
    counted = [row for row in rows if row.question.method == method and max(row.null) >= 1]
    if not counted:
        return []
    refused = sum(row.off[0] == 100 for row in counted)
    print(f"  {method} by calls on {CARD}, {which}: {len(counted)} cases, {refused} not confirmed; unchanged to the byte: "
          f"{sum(row.unchanged for row in counted)}", flush=True)
    found = {"asked": method, "families": which, "cases": [len(counted)] * len(FIGURES), "not_confirmed": refused}
    for index, figure in enumerate(FIGURES):
        of_figure = error_figures([row.off[index] for row in counted], [row.null[index] for row in counted])
        for key, value in of_figure.items():
            found.setdefault(key, []).append(value)
        print(f"    {figure}: " + ", ".join(f"{key} {value}" for key, value in of_figure.items()), flush=True)
    measured.append(found)
    return counted


def check(method, which, counted, times, failures, by_place):
    """Holds figures against `times` the bars, of which the second are for those that hang on where blocks lie."""
    if not counted:
        return
    confirmed = [row for row in counted if row.off[0] != 100]
    failures.expect(which, f"{method}: confirmed", len(confirmed) > 0, True)
    if len(counted) < ENOUGH:
        least = BARS[method][0][0] if method == SCALED else 0
        failures.expect(which, f"{method}: requested exact", [row.question.case.name for row in confirmed if row.off[0] > least], [])
        return
    failures.expect(which, f"{method}: at most 5 % not confirmed", len(counted) - len(confirmed) <= MOST_REFUSED * len(counted), True)
    for index, figure in enumerate(FIGURES):
        median, high = (times * bar for bar in BARS[method][figure in by_place])
        errors = [row.off[index] for row in counted]
        failures.expect(which, f"{method}: {figure}: median, 95th percentile", [percentile(errors, 0.5) <= median, percentile(errors, 0.95) <= high],
                        [True, True])


def chosen(whatif, questions, short):
    """In the short form those of `short`: families and names."""
    return [each for each in questions if whatif.is_asked(each) and (not whatif.short or (each.case.family, each.name) in short)]


class Calls:
    """Rows of questions by calls, and their figures. A group of programs has a name, families, and how many times the bars it may be off."""

    def __init__(self, whatif, failures, asked):
        self.whatif, self.failures, self.measured = whatif, failures, []
        whatif.record_for(asked)
        with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
            self.rows = [row for row in pool.map(lambda each: ask(whatif, each, failures), asked) if row is not None]

    def of(self, families):
        return [row for row in self.rows if row.question.case.family in families]

    def hold(self, groups):
        for method in BARS:
            for which, families, times in groups:
                check(method, which, report(method, which, self.of(families), self.measured), times, self.failures, ("allocated", "reserved"))

    def write(self, name):
        if self.whatif.page:
            self.whatif.write(name, self.measured)


def asked_of_types(whatif):
    """Composed changes are asked of the first seed. In the short form dtype=bf16 is asked of a program that was called before training."""
    first = whatif.seeds()[0]
    return chosen(whatif, [each for case in whatif.cases(held_back=True) for each in call_questions(case, f"--seed {first} " in case.name)],
                  ((SHORT, "autocast, checkpoints, batch"),))


def test_types(whatif, failures):
    """Autocast, bf16 and fp16, alone and with checkpoints and another batch."""
    calls = Calls(whatif, failures, asked_of_types(whatif))
    for method in BARS:
        counted = report(method, "tuned", [row for row in calls.rows if row.question.case.family not in HELD_BACK], calls.measured)
        held = report(method, "held back", calls.of(HELD_BACK), calls.measured)
        check(method, "all", counted + held, 1, failures, ("reserved",))
        check(method, "held back", held if len(held) >= ENOUGH else [], 2, failures, ("reserved",))
    confirmed = [row for row in calls.rows if row.off[0] != 100 and row.question.method != SCALED]
    if len(confirmed) >= ENOUGH:
        exact, worst = sum(row.off[0] == 0 for row in confirmed), max(row.off[2] for row in confirmed)
        print(f"  confirmed by calls: requested exact in {exact} of {len(confirmed)}; reserved worst {worst:.2f} %", flush=True)
        failures.expect("confirmed", "requested exact on 95 %", exact >= 0.95 * len(confirmed), True)
        failures.expect("confirmed", f"reserved: at most {MOST_RESERVED_OFF} % off", worst <= MOST_RESERVED_OFF, True)
    calls.write("types")


class Early:
    """What early_program.py is called with, the type that is asked for, and whether calls can tell."""

    def __init__(self, words, kind, is_known=True):
        program, words = os.path.join(PROGRAMS, "early_program.py"), tuple(words.split())
        self.before, self.kind, self.is_known = Recording(words, program=program), kind, is_known
        self.truth = Recording((*words, "--dtype", {"bf16": "bfloat16", "fp16": "float16"}[kind]), program=program)


EARLY = [Early("", "bf16"), *(pytest.param(each, marks=pytest.mark.long) for each in (
    Early("--cell RNN --hidden 300 --early other", "bf16", False), Early("", "fp16"), Early("--cell GRU", "bf16"), Early("--cell GRU", "fp16"),
    Early("--early none", "bf16"), Early("--early other", "fp16", False), Early("--hidden 100 --items 48", "bf16")))]


@pytest.mark.parametrize("early", EARLY)
def test_called_before_training(whatif, early, failures):
    """What was allocated then is made again too, or nothing is confirmed."""
    name = f"early {early.before.words}"
    whatif.record([early.before, early.truth])
    run, answer = whatif.ask(early.before, *changes(f"dtype={early.kind}"), "--confirm", "--python", whatif.python)
    got = figures(answer["devices"][0]["confirmed"]) if answer and answer["devices"] else run.stderr
    if early.is_known:
        failures.expect(name, f"dtype={early.kind}", got, whatif.peaks(early.truth) or "a recording")
    else:
        failures.expect(name, f"dtype={early.kind}: not confirmed", "that no call of the recorded step makes" in str(got), True)


#: Blocks that a step leaves to the next one have the allocator need one more segment in the second step, which repeated calls do not.
SEGMENTS = """
import torch, torch.nn.functional as F
head = torch.nn.Linear(2048, 248_320, bias=False, device="cuda", dtype=torch.bfloat16)
optimizer = torch.optim.SGD(head.parameters(), lr=.1)
for _ in range(4):
    hidden = torch.randn(16_384, 2048, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    target = torch.randint(0, 248_320, (16_384,), device="cuda")
    loss = F.cross_entropy(head(hidden).float(), target)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_requested_is_confirmed_on_its_own(whatif, tmp_path):
    program, path = tmp_path / "segments.py", str(tmp_path / "segments.strata")
    program.write_text(SEGMENTS)
    subprocess.run([whatif.strata, "record", "--simulated", "H100-80GB", "-o", path, "--", whatif.python, str(program)], check=True, capture_output=True)
    run, told = whatif.ask(path, *changes("logits=chunks:8"), "--confirm", "--python", whatif.python)
    assert run.returncode == 0, run.stderr
    device = told["devices"][0]
    assert device["confirmed_by"] == "calls" and device["at_least"] and not device["fits_on"]
    assert device["confirmed_unchanged"]["requested_bytes_peak"] == device["recorded"]["requested_bytes_peak"]
    assert device["confirmed_unchanged"]["reserved_bytes_peak"] != device["recorded"]["reserved_bytes_peak"]
    assert device["confirmed"]["reserved_bytes_peak"] is None
    assert 0 < device["confirmed"]["requested_bytes_peak"] == device["needed_bytes"] < device["recorded"]["requested_bytes_peak"]
    assert "one more segment" in device["confirmed_note"] and "evaluation" not in device["confirmed_note"]


# Attention.
ATTENTION = ("gpt", "vit", "experts", "t5")  # families that have it
ATTENTION_PROGRAM = os.path.join(PROGRAMS, "attention_programs.py")
ATTENTION_KINDS = ("gpt2", "bert", "cross", "scaled", "upcast", "flat", "einsum")  # of that; each writes attention its own way, and the call instead
#: What a kernel cannot do, and in what words of PyTorch's.
NO_FLASH, NO_CUDNN = ("attention=flash", "Got Query dtype: float"), ("attention=cudnn", "Got Query dtype: float")


def attention_questions(case):
    """Of programs that call it, and that write it by hand."""
    plain, chosen, times = without(words_of(case), "autocast"), CLASSES[case.family][0], f"batch=x{TIMES}"
    cast, has_mask = (*plain, *AUTOCAST), case.family != "vit"

    def words(word, of=plain, items=None, behind=None):
        return (items or of[0], "--attention", word, *(("--checkpoint", behind) if behind else ()), *of[1:])

    def one(name, row, before, truth, *asked, other=None):
        return by_calls(case, row, name, before, truth, asked, other)
    for of, under in ((plain, ""), (cast, ", cast")):
        yield one("math" + under, ANOTHER, of, words("math", of), "attention=math")
    for way in ("hand:fill", "hand:add") if has_mask else ("hand:add",):
        for kernel, of, under in (("efficient", plain, ""), ("flash", cast, ", cast")):
            yield one(f"{way} to {kernel}{under}", BY_HAND, words(way, of), words(kernel, of), f"attention={kernel},causal")
        if has_mask:
            yield one(f"{way} to efficient with its mask", BY_HAND, words(way), words(f"efficient:{way.partition(':')[2]}"), "attention=efficient")
    hand = words("hand:fill")
    yield one("by hand to flash, autocast", COMPOSED, hand, words("flash", cast), "attention=flash,causal", "amp=bf16")
    yield one("by hand to efficient, checkpoints", COMPOSED, hand, words("efficient", behind=chosen), "attention=efficient,causal", f"checkpoint={chosen}")
    yield one("by hand to flash, bf16", COMPOSED, hand, words("flash", (*plain, "--option", "bf16")), "dtype=bf16", "attention=flash,causal")
    yield one("by hand to efficient, batch", COMPOSED, hand, words("efficient", items=str(TIMES * case.items)), "attention=efficient,causal", times,
              other=words("hand:fill", items=str(2 * case.items)))


def attention_held_back(seeds):
    for kind in ATTENTION_KINDS:
        for seed in seeds:
            for kernel, options in (("efficient", ()), ("flash", ("--autocast",)), ("math", ())):
                if kernel == "flash" and kind == "bert":
                    continue  # whose mask is of padding
                words = (kind, "--seed", str(seed), *options, "--attention")
                yield by_calls(Case(f"{kind} --seed {seed} ", kind, [], 1, ""), BY_HAND, f"to {kernel}", (*words, "hand"), (*words, kernel),
                               (f"attention={kernel}{'' if kind == 'bert' else ',causal'}",), program=ATTENTION_PROGRAM)


def asked_of_attention(whatif):
    asked = [each for case in whatif.cases(usual=2, held_back=True) if case.family in ATTENTION for each in attention_questions(case)]
    return chosen(whatif, [*asked, *attention_held_back(whatif.seeds(2))], ((SHORT, "by hand to flash, autocast"),))


def test_attention(whatif, failures):
    calls = Calls(whatif, failures, asked_of_attention(whatif))
    calls.hold((("tuned", ATTENTION, 1), ("held back", ATTENTION_KINDS, 2)))
    calls.write("attention")


ATTENTIVE = ("2", SHORT, "--seed", "1", "--steps", "4", "--optimizer", "adamw")
WITH_MATH = Recording((ATTENTIVE[0], "--attention", "math", *ATTENTIVE[1:]))


def test_dry_runs_with_another_kernel(whatif, failures):
    """A program that is run with the change has the peaks of the one that is written so; what cannot be is said."""
    def run(words, change):
        return dryrun(whatif.strata, ["--device", CARD, *changes(change)], [whatif.python, PROGRAM, *words])
    whatif.record([WITH_MATH])
    _, changed = run(ATTENTIVE, "attention=math")
    failures.expect("dryrun", "attention=math", figures(changed["changed"]["ranks"][0]["devices"][0]), whatif.peaks(WITH_MATH))
    if LONG:
        _, by_hand = run((ATTENTIVE[0], "--attention", "hand:fill", *ATTENTIVE[1:]), "attention=math")
        failures.expect("dryrun", "by hand nothing calls it", by_hand["changed"]["applied"], False)
        for change, why in (NO_FLASH, NO_CUDNN):
            asked, _ = run(ATTENTIVE, change)
            failures.expect("dryrun", f"{change} is refused in its words", change in asked.stderr and why in asked.stderr, True)


@pytest.mark.long  # of calls, test_rejected_logits() has one in the short form
@pytest.mark.parametrize("family, change, why", [("conv", "attention=math", "neither scaled_dot_product_attention nor attention by hand"), (SHORT, *NO_FLASH)])
def test_rejected_kernels(whatif, family, change, why):
    recording = Recording((ATTENTIVE[0], family, *ATTENTIVE[2:]))
    whatif.record([recording])
    asked, _ = whatif.ask(recording, *changes(change), "--confirm", "--python", whatif.python)
    assert why in asked.stderr


@pytest.mark.long
def test_order_of_independent_changes(whatif, failures):
    case = next(case for case in whatif.cases(usual=1) if case.family in ATTENTION)
    question = next(each for each in attention_questions(case) if each.name == "by hand to flash, autocast")
    whatif.record([question.before])
    told = [whatif.ask(question.before, *changes(*asked), "--confirm", "--python", whatif.python)[1]["devices"][0]["confirmed"]
            for asked in (("attention=flash,causal", "amp=bf16"), ("amp=bf16", "attention=flash,causal"))]
    failures.expect("order of changes", "the same figures", *map(figures, told))


# Logits in chunks.
LOGITS_PROGRAM = os.path.join(PROGRAMS, "logits_programs.py")
LOGITS_TUNED, LOGITS_HELD_BACK = ("tied", "shift", "biased", "held"), ("classes", "product", "weighted", "masked", "two", "last", "inside")
LIBTORCH = ("summed", "fused")
LOGITS_ITEMS = 4  # of a recorded batch


def logits_words(kind, seed, loss, *options, items=LOGITS_ITEMS):
    return (kind, "--seed", str(seed), "--items", str(items), *options, "--loss", loss)


def logits_questions(kind, seed):
    case = Case(f"{kind} --seed {seed} ", kind, [], LOGITS_ITEMS, "")

    def one(name, row, asked, loss, before=(), after=(), other=None, items=LOGITS_ITEMS):
        return by_calls(case, row, name, logits_words(kind, seed, "plain", *before), logits_words(kind, seed, loss, *after, items=items), asked, other,
                        LOGITS_PROGRAM)
    for chunks in (4, 16):
        yield one(f"in {chunks}", CHUNKS, (f"logits=chunks:{chunks}",), f"chunks:{chunks}")
    for option in ("--autocast", "--bf16", "--checkpoints"):
        yield one(f"in 8 with {option[2:]}", CHUNKS, ("logits=chunks:8",), "chunks:8", (option,), (option,))
    for option, change in (("--autocast", "amp=bf16"), ("--bf16", "dtype=bf16")):
        yield one(f"in 8, {change}", COMPOSED, ("logits=chunks:8", change), "chunks:8", (), (option,))
    yield one("in 8, batch", COMPOSED, ("logits=chunks:8", f"batch=x{TIMES}"), "chunks:8",
              other=logits_words(kind, seed, "plain", items=2 * LOGITS_ITEMS), items=TIMES * LOGITS_ITEMS)


@pytest.fixture(scope="module", autouse=True)
def together(whatif):
    """The programs of the short form share a start."""
    if whatif.short:
        asked = [*asked_of_programs(whatif), *asked_of_types(whatif), *asked_of_attention(whatif)]
        logits = [] if version(whatif.python) < CHUNKED_SINCE else [rejected_logits("smooth", "plain")]
        whatif.record_for([*asked, *(asked_of_logits(whatif) if logits else [])], [WITH_MATH, EARLY[0].before, EARLY[0].truth, *logits])


@pytest.fixture
def chunked(whatif):
    if version(whatif.python) < CHUNKED_SINCE:
        pytest.skip("its PyTorch has no linear_cross_entropy in chunks")
    return whatif


def asked_of_logits(whatif):
    return chosen(whatif, [each for kind in (*LOGITS_TUNED, *LOGITS_HELD_BACK, *LIBTORCH) for seed in whatif.seeds(2) for each in logits_questions(kind, seed)],
                  (("held", "in 8, batch"),))


def test_logits(chunked, failures):
    calls = Calls(chunked, failures, asked_of_logits(chunked))
    calls.hold((("tuned", LOGITS_TUNED, 1), ("held back", LOGITS_HELD_BACK, 2), ("as in C++", LIBTORCH, 1)))
    calls.write("logits")


def rejected_logits(kind, loss):
    return Recording(logits_words(kind, 0, loss), program=LOGITS_PROGRAM)


@pytest.mark.parametrize("kind, loss, why", [
    ("smooth", "plain", "smooths labels"), *(pytest.param(*each, marks=pytest.mark.long) for each in (
        ("tied", "chunks:4", "none of the operators of aten"), ("capped", "plain", "has aten::"), ("counted", "plain", "aten::argmax does, too")))])
def test_rejected_logits(chunked, kind, loss, why, failures):
    recording, change = rejected_logits(kind, loss), changes("logits=chunks:4")
    command = [chunked.python, LOGITS_PROGRAM, *recording.words]
    chunked.record([recording])
    run, _ = chunked.ask(recording, *change, "--confirm", "--python", chunked.python)
    failures.expect(kind, f"refused by name: {run.stderr[-300:]}", run.returncode == 1 and why in run.stderr and "Traceback" not in run.stderr, True)
    if kind == "smooth":
        for (run, _), why in ((chunked.ask(recording, *change), "--confirm alone"),
                              (chunked.ask(recording, *change, "--confirm", "--", *command), "into a program from outside"),
                              (dryrun(chunked.strata, change, command), "--confirm")):
            failures.expect("smooth", f"says what to do: {run.stderr[-300:]}", why in run.stderr, True)
