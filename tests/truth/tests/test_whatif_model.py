# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what `strata whatif` says of changes of a program's own against the recording of the program that was changed by hand: checkpoints put
around modules (torch.utils.checkpoint) or taken away, zero_grad() in another place, optimizers of torch.optim and of bitsandbytes, or one that
steps as gradients come, what backward needs or the optimizer on the host, and lines that allocate or hold tensors beyond their last use.

What a change leads back to has the recorded peaks, to the byte, and so has what is asked of a prediction that was written (-o). What cannot be
told is rejected with an error that names why.
"""
import os
import random
import subprocess

import pytest

from running import PROGRAMS
from whatif_cases import (CLASSES, ENOUGH, FAMILIES, FLAT, IDENTITY, MANY_ITEMS, NESTED, PROGRAM, SAME, Bar, Case, Question, Recording, SHORT,
                          WIDE_PROGRAM, WIDE_SHORT, Suite, changes, checkpointed, figures, items_checkpointed, plain, wide_cases, without)

pytestmark = pytest.mark.torch("newest")

OPTIMIZER_PROGRAM, LINES_PROGRAM, LEAKS = (os.path.join(PROGRAMS, name) for name in ("whatif_optimizer_program.py", "whatif_lines_program.py",
                                                                                       "leak_programs.py"))
REFUSE = ("conv", SHORT)  # families that are asked what is rejected, too
EXACT, CLOSE = ((0.1, 0.5), (0.5, 1.5)), ((0.1, 2), (0.5, 3))  # bars

# Checkpoints.
WINDOWS = "checkpointing, no deep step"


def by_path(case, modules):
    """Without a deep step modules have paths alone: those of the class where it comes to the same by them, which it does not where the
    model itself is of that class."""
    def words(whatif):
        deep, by_class = Recording(checkpointed(case)), changes(f"checkpoint={modules}")
        if modules.startswith("path:"):
            return by_class
        whatif.record([deep])
        _, answer = whatif.ask(deep, "--plan", "1")
        paths = [each["module"] for each in answer["plan"]["modules"] if each["class"] == modules] if answer and answer["plan"] else []
        by_paths = changes(*(f"checkpoint=path:{path}" for path in paths))
        answers = [whatif.ask(deep, *each)[1] for each in (by_paths, by_class)]
        return by_paths if None not in answers and answers[0]["devices"] == answers[1]["devices"] else None
    return words


def checkpoint_questions(case, whatif):
    def truth(chosen, times=1, settings=""):
        return Recording(checkpointed(case, chosen, times), FLAT, settings)
    deep, flat, classes = Recording(checkpointed(case)), Recording(checkpointed(case), FLAT), CLASSES[case.family]
    for chosen in classes[:1] if whatif.short else classes:
        change = changes(f"checkpoint={chosen}")
        yield Question(case, "checkpointing", deep, change, truth(chosen))
        yield Question(case, "checkpointing and settings", deep, [*change, "--set", case.settings], truth(chosen, settings=case.settings))
        yield Question(case, WINDOWS, flat, by_path(case, chosen), truth(chosen))
    yield Question(case, "checkpointing and batch", deep,
                   [*changes(f"checkpoint={classes[0]}", "batch=x2"), "--batch-of", str(items_checkpointed(case))], truth(classes[0], 2))


def taken_away_questions(case, whatif):
    autocast = ", autocast" if "autocast" in case.words else ""
    yield Question(case, f"no checkpoints{autocast}", Recording(checkpointed(case, blocks=True)), changes("checkpoint=none"),
                   Recording(checkpointed(case), FLAT))


# Gradients that go elsewhere.
PLACES = {"after-step": (), "before-forward": ("--option", "zero_first"), "before-backward": ("--option", "zero_late")}
IN_BACKWARD = "in_backward=True"
OPTIMIZERS = {"sgd": "SGD", "momentum": "SGD,momentum=0.9", "adamw": "AdamW,foreach=True", "adamw_fused": "AdamW,fused=True",
              "rmsprop": "RMSprop,momentum=0.9", "adagrad": "Adagrad"}


def zero_grad_questions(case, whatif):
    def of(words, *more, options=FLAT):
        return Recording(("alone", str(case.items), case.wider, *words, *more), options, program=WIDE_PROGRAM)
    words = without(case.words, "zero_first")
    for place, options in PLACES.items():
        for asked, others in PLACES.items():
            yield Question(case, SAME if place == asked else f"zero_grad={asked}", of(words, *options), changes(f"zero_grad={asked}"), of(words, *others))
    # Without what works with all gradients after backward, and what has several backwards.
    words = without(words, "clip", "accumulate")
    change = changes(f"optimizer={OPTIMIZERS[words[words.index('--optimizer') + 1]]},in_backward=True")
    yield Question(case, IN_BACKWARD, of(words, options=()), change, of(words, "--option", "in_backward"))
    yield Question(case, "without a deep step", of(words), change, refused=("deep step",))


# Optimizers. Half of the programs have parameters so large and a batch so small that the step of an optimizer, if it asks for much, makes
# the peak: without those a test of optimizers proves nothing.
CHOICES = [
    "SGD", "SGD,momentum=0.9", "SGD,momentum=0.9,foreach=False", "SGD,momentum=0.9,nesterov=True", "SGD,momentum=0.9,fused=True", "SGD,weight_decay=0.01",
    "Adam", "Adam,amsgrad=True", "Adam,foreach=False", "Adam,weight_decay=0.1", "AdamW", "AdamW,foreach=False", "AdamW,fused=True",
    "AdamW,amsgrad=True", "RMSprop", "RMSprop,momentum=0.9,centered=True", "RMSprop,foreach=False", "Adagrad", "Adagrad,foreach=False", "NAdam",
    "RAdam", "RAdam,foreach=False", "Adadelta", "Adamax", "Adamax,foreach=False"]
EIGHT_BIT = ["AdamW8bit", "AdamW8bit,min_8bit_size=16384", "Adam8bit", "Lion8bit", "SGD8bit,momentum=0.9", "RMSprop8bit", "Adagrad8bit", "AdamW32bit"]
OTHERS = 4  # optimizers that a case is asked about
ALL, IN_OPTIMIZER, TO_EIGHT_BIT, FROM_EIGHT_BIT = "torch.optim", "torch.optim, peak in its step", "to bitsandbytes", "from bitsandbytes"


class OptimizerCase(Case):
    """With linear layers beside the model, the recorded optimizer, those that it is asked about, and one of bitsandbytes."""


def optimizer_cases(seeds):
    for family in FAMILIES:
        for seed in seeds:
            rng = random.Random(f"optimizer {family} {seed}")
            large = seed % 2 == 0  # parameters, beside a batch that is not
            beside = f"{rng.randint(2, 6)}x{rng.randint(600, 1600)}" if large and family != "gan" else "0"
            items = 2 if large else 2 * (rng.randint(8, 60) if family in MANY_ITEMS else rng.randint(1, 4))
            recorded, *others = rng.sample(CHOICES, 1 + OTHERS)
            words = [family, "--seed", str(seed), "--steps", str(rng.choice([3, 4, 8]))]
            for option, odds in (("autocast", 0.3), ("clip", 0.25), ("evaluate", 0.2), ("accumulate", 0.15), ("zero_first", 0.2), ("scaler", 0.15),
                                 ("two_optimizers", 0.1)):
                if rng.random() < odds and not (option == "two_optimizers" and (family == "gan" or beside != "0")):
                    words += ["--option", option]
            case = OptimizerCase(f"{' '.join(words)}, {items} items, {beside} beside", family, words, items, "")
            case.beside, case.recorded, case.others = beside, recorded, others
            case.eight_bit = random.Random(f"eight bit {family} {seed}").choice(EIGHT_BIT)
            yield case


def with_optimizer(case, optimizer):
    """A weight decay that the recorded optimizer was given stays, as with `strata dryrun --change optimizer=`."""
    decay = [option for option in case.recorded.split(",") if option.startswith("weight_decay=")]
    kept = ",".join([optimizer, *(decay if "weight_decay=" not in optimizer else [])])
    return Recording((str(case.items), case.beside, kept, *case.words), program=OPTIMIZER_PROGRAM)


def optimizer_questions(case, whatif):
    asked = [(ALL, case.recorded, other) for other in case.others]
    if whatif.has_bitsandbytes:
        asked += [(TO_EIGHT_BIT, case.recorded, case.eight_bit), (FROM_EIGHT_BIT, case.eight_bit, case.recorded)]
    for method, recorded, wanted in asked:
        yield Question(case, method, with_optimizer(case, recorded), changes(f"optimizer={wanted}"), with_optimizer(case, wanted),
                       evidence=("roles", "replay"))
    for recorded in dict.fromkeys(recorded for _, recorded, _ in asked):
        base = with_optimizer(case, recorded)
        for each in ([recorded], [case.others[0], recorded]):
            yield Question(case, SAME, base, changes(*(f"optimizer={one}" for one in each)), base, exact=True)


def in_optimizer(whatif, rows, failures):
    """Those whose true peak is in the step of an optimizer, once more."""
    def is_there(recording):
        _, told = whatif.json("steps", whatif.path(recording))
        steps = told["devices"][0]["steps"] if told and told["devices"] else []
        top = max(steps, key=lambda step: step["requested_bytes_peak"], default={"phases": []})
        return any(phase["kind"] == "optimizer" and phase["first_event"] <= top["peak_event"] <= phase["last_event"] for phase in top["phases"])
    found = [row._replace(method=IN_OPTIMIZER) for row in rows if row.method == ALL and is_there(row.question.truth)]
    if whatif.short or len(rows) >= ENOUGH["tuned"]:
        failures.expect("optimizer", "some have their peak in the optimizer", bool(found))
    return found


# What is on the host.
def offload_questions(case, whatif):
    def truth(what, times=1, settings=""):
        items, *words = checkpointed(case, times=times)
        return Recording((items, "--offload", what, *words), FLAT, settings)
    deep, under = Recording(checkpointed(case)), ["--set", case.settings]
    activations, optimizer, modules = "offload=activations", "offload=optimizer", f"activations:{CLASSES[case.family][0]}"
    roles = ("roles",) if "sgd" not in case.words else ("replay",)  # SGD has nothing that could lie elsewhere
    both = ("roles",) if "sgd" not in case.words else ("deep",)
    yield Question(case, "optimizer", deep, changes(optimizer), truth("optimizer"), evidence=roles)
    yield Question(case, "optimizer and settings", deep, [*changes(optimizer), *under], truth("optimizer", settings=case.settings), evidence=roles)
    yield Question(case, "optimizer and activations", deep, changes(activations, optimizer), truth("activations+optimizer"), evidence=both)
    yield Question(case, "activations", deep, changes(activations), truth("activations"), evidence=("deep",))
    yield Question(case, "activations of some modules", deep, changes(f"offload={modules}"), truth(modules), evidence=("deep",))
    yield Question(case, "activations and settings", deep, [*changes(activations), *under], truth("activations", settings=case.settings),
                   evidence=("deep",))
    yield Question(case, "activations and batch", deep, [*changes("batch=x2", activations), "--batch-of", deep.words[0]],
                   truth("activations", 2), evidence=("roles",))
    if case.family not in REFUSE:
        return
    yield Question(case, "no deep step", truth("activations"), changes(activations), refused=("no deep step",))
    for other, reason in (("checkpoint=Nobody", "do not go together"), ("fsdp=2", "do not go together"),
                          ("offload=activations:Nobody", "of that class or path")):
        yield Question(case, "together", deep, changes(activations, other), refused=(reason,))
    yield Question(case, "together", deep, changes(activations, optimizer, "zero1=2"), refused=("do not go together",))


# Lines that allocate are not there, and what is held beyond its last use gets a del.
LAST_USE, OF_ONE, REMOVED, SNAPSHOT, LEAKED = "free=last-use", "free=SITE", "remove=SITE", "remove=SITE, PyTorch's snapshot", "remove=SITE, a leak"
HELD = ("loop", "hooks", "kept", "zero_first")
#: The function of whatif_lines_program.py, or the text of its line, that allocates.
SITES = {"debug": "debug", "cache": "self.cache.setdefault(step % 3", "clones": "keep_clone", "average": "average", "scores": "score"}
#: Of leak_programs.py: what leaks is asked for there.
LEAKING = {"hook": "keep_some", **{kind: kind for kind in ("evaluation", "concatenation", "keys_and_values", "optimizers", "streams", "attributes", "cycles")}}
LEFT_OUT = ("gan", "experts")  # of two losses, and of shapes that hang on data, which the simulated device does not have


def site_of(kind):
    """A function by its name, else the line by its number."""
    site = SITES[kind]
    if site.isidentifier():
        return site
    with open(LINES_PROGRAM, encoding="utf-8") as file:
        return f"{os.path.basename(LINES_PROGRAM)}:{next(number for number, line in enumerate(file, 1) if site in line)}"


def line_cases(whatif):
    yield from (plain(case) for case in whatif.cases() if case.family not in LEFT_OUT)
    for kind in list(LEAKING)[:1] if whatif.short else LEAKING:
        for seed in whatif.seeds():
            yield Case(f"leak {kind} --seed {seed}", kind, (kind, "--seed", str(seed), "--steps", "20"), 0, "")


def line_questions(case, whatif):
    if case.family in LEAKING:
        base, truth = (Recording((*case.words, *more), FLAT, program=LEAKS) for more in ((), ("--fixed",)))
        yield Question(case, LEAKED, base, changes(f"remove={LEAKING[case.family]}"), truth)
        return
    words = list(without(case.words, "evaluate"))
    words[words.index("--steps") + 1] = "6"

    def of(way, kind, options=FLAT):
        return Recording((way, kind, str(case.items), *words), options, program=LINES_PROGRAM)
    for kind in ("hooks", "clones") if whatif.short else (*HELD, *SITES):
        if kind in HELD:
            yield Question(case, LAST_USE, of("recorded", kind, ()), changes("free=last-use"), of("edited", kind))
        if kind == "hooks":
            yield Question(case, OF_ONE, of("recorded", kind, ()), changes("free=loss"), of("edited", kind))
        if kind in SITES:
            for method in (REMOVED, SNAPSHOT):
                yield Question(case, method, of("recorded", kind), changes(f"remove={site_of(kind)}"), of("edited", kind), snapshot=method == SNAPSHOT)
    if case.family not in REFUSE:
        return
    recorded = of("recorded", "hooks", ())
    for change, *texts in (("remove=no_such_function", "no block", "lines that ask for blocks: "),
                           (f"remove={os.path.basename(LINES_PROGRAM)}:1", "no block", os.path.basename(LINES_PROGRAM))):
        yield Question(case, "no such line", recorded, changes(change), refused=tuple(texts))
    yield Question(case, "not outside", recorded, [*changes("remove=average"), "--confirm", "--", "python3", "x.py"], refused=("edit the program",))
    yield Question(case, "together", recorded, changes("free=last-use", "optimizer=SGD"), refused=("do not go together",))


SUITES = [
    Suite("checkpoints", lambda whatif: whatif.cases(), checkpoint_questions,
          {"checkpointing": Bar(*CLOSE, points=1 / 3), "checkpointing and settings": Bar(*CLOSE, points=1 / 3),
           "checkpointing and batch": Bar((0.5, 3), (1, 5), points=1 / 3),
           WINDOWS: Bar((1, 8), (2, 15), points=1 / 3, most=(20, 30))}),  # rests on no recorded owners
    Suite("taken-away", lambda whatif: [case for case in whatif.cases() if case.family in NESTED], taken_away_questions,
          {f"no checkpoints{autocast}": Bar(*CLOSE, points=1 / 3) for autocast in ("", ", autocast")}),
    Suite("zero-grad", lambda whatif: whatif.cases(wide_cases, short=WIDE_SHORT), zero_grad_questions,
          {**IDENTITY, **{f"zero_grad={asked}": Bar(*EXACT, few=0) for asked in PLACES}, IN_BACKWARD: Bar(*EXACT, few=0)}),
    Suite("optimizer", lambda whatif: whatif.cases(optimizer_cases), optimizer_questions,
          {**IDENTITY, **{method: Bar(*EXACT, points=1) for method in (IN_OPTIMIZER, ALL, TO_EIGHT_BIT, FROM_EIGHT_BIT)}}, in_optimizer),
    Suite("offload", lambda whatif: whatif.cases(), offload_questions,
          {**{method: Bar(*EXACT, few=1) for method in ("optimizer", "optimizer and settings")},
           **{method: Bar(*CLOSE, few=1) for method in ("optimizer and activations", "activations", "activations of some modules", "activations and settings")},
           "activations and batch": Bar((0.5, 3), (1, 5), few=1)}),
    Suite("lines", line_cases, line_questions, {method: Bar(*CLOSE, few=1) for method in (LAST_USE, OF_ONE, REMOVED, SNAPSHOT, LEAKED)})]


@pytest.mark.parametrize("suite", SUITES, ids=[suite.name for suite in SUITES])
def test_answers(whatif, suite, failures):
    if suite.name == "optimizer" and not whatif.has_bitsandbytes:
        failures.skip("bitsandbytes is not there (tests/truth/environment.sh loads it)")
    whatif.check(suite, failures)


def test_predictions_that_are_written(whatif, failures, tmp_path):
    """One (-o) has the steps of the recording, and leads back to the recorded figures."""
    written = str(tmp_path / "predicted.strata")

    def steps_of(path):
        _, told = whatif.json("steps", path)
        return [step["kind"] for step in told["devices"][0]["steps"]] if told else "none are told"
    for case in whatif.cases(optimizer_cases):
        if "two_optimizers" in case.words:
            continue  # of different classes perhaps, of which one comes back
        other = case.eight_bit if whatif.has_bitsandbytes else case.others[-1]
        for recorded, wanted in ((case.recorded, other), (other, case.recorded)):
            recording = with_optimizer(case, recorded)
            path = whatif.record([recording])[recording]
            run = subprocess.run([whatif.strata, "whatif", path, *changes(f"optimizer={wanted}"), "-o", written], capture_output=True, text=True)
            if run.returncode != 0:
                continue  # a refusal is a miss elsewhere
            _, answer = whatif.ask(written, *changes(f"optimizer={recorded}"))
            device = answer["devices"][0] if answer and answer["devices"] else None
            failures.expect(case.name, f"{recorded} of what was written with {wanted}", device and figures(device["predicted"]), whatif.peaks(recording))
            failures.expect(case.name, f"steps of what was written with {wanted}", steps_of(written), steps_of(path))


@pytest.mark.parametrize("what", ["activations+optimizer", *(pytest.param(what, marks=pytest.mark.long) for what in ("activations", "modules", "optimizer"))])
def test_confirmed_offload(whatif, what, failures):
    """The program runs with the change, and has the peaks of the program that was changed by hand."""
    case = whatif.cases()[0]
    what = f"activations:{CLASSES[case.family][0]}" if what == "modules" else what
    words = checkpointed(case)
    base, truth = Recording(words), Recording((words[0], "--offload", what, *words[1:]), FLAT)
    whatif.record([base, truth])
    run, told = whatif.ask(base, *changes(*(f"offload={each}" for each in what.split("+"))), "--confirm", "--", whatif.python, PROGRAM, *words)
    device = told["devices"][0] if told and told["devices"] else {}
    failures.expect(case.name, f"{what}, confirmed by", device.get("confirmed_by", run.stderr[-500:]), "program")
    failures.expect(case.name, f"{what}, confirmed", figures(device.get("confirmed")), whatif.peaks(truth))


def test_a_dry_run_edits_no_lines(whatif):
    run, _ = whatif.json("dryrun", *changes("free=last-use"), "--", "python3", "x.py")
    assert "edit the program and run it again" in run.stderr
