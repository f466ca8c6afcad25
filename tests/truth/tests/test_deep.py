# SPDX-License-Identifier: GPL-3.0-or-later
"""Deep steps (strata record --deep-step) of real training programs on the simulated device: whether they leave what a program allocates as it is,
and tell what happens in it.

A program is run with a deep step and without, and the two are held against each other event by event: the same allocations (size, stream) in
the same order, every block freed between the same two allocations, the same peaks. Within the run with one, it is held against its neighbours.
What it tells is held against a third and a fourth run, in which torch.profiler and hooks look at the same step. A fifth one, in the long form,
shows what this test says of a step that is looked at in the wrong way.
"""
import collections
import itertools
import os
import statistics
import subprocess

import pytest

import forks
from deep_runs import DEEP, STEPS, Run, differences, lets_go, peaks
from running import LONG, PROGRAMS, PROJECT, with_environment

pytestmark = pytest.mark.torch("every")

PROGRAM = os.path.join(PROGRAMS, "deep_program.py")
TOGETHER = 5  # programs that share the import of torch
#: Family, optimizer, seed, options.
TRAININGS = [("gpt_dropout", "adamw_fused", 5, ("checkpoint",))]
if LONG:
    TRAININGS += [
        ("mlp", "adamw", 4, ("clip",)), ("gpt_dropout", "adamw", 1, ()), ("llama", "adamw", 2, ("bf16",)), ("resnet", "momentum", 3, ()),
        ("slim", "sgd", 6, ("accumulate",)), ("gpt", "adamw", 7, ("autocast",)), ("gan", "adamw", 8, ()), ("gpt2_124m", "adamw", 29, ()),
        ("vit", "adamw", 9, ("scaler", "clip")), ("unet", "adamw", 10, ()), ("t5", "adamw", 11, ()), ("experts", "adamw", 12, ()),
        ("lstm", "rmsprop", 13, ()), ("vae", "adamw", 14, ("average",)), ("recommender", "adagrad", 15, ()), ("siamese", "adamw", 16, ()),
        ("conv", "momentum", 17, ("keep_gradients",)), ("lora", "adamw", 18, ()), ("llama", "adamw", 19, ("checkpoint_reentrant",)),
        ("gpt", "adamw", 20, ("evaluate", "save")), ("mlp", "lbfgs", 21, ()), ("mlp", "adamw", 22, ("penalty",)),
        ("gpt", "adamw", 23, ("two_optimizers", "zero_first")), ("resnet", "momentum", 24, ("checkpoint", "autocast")),
        ("gpt_dropout", "adamw", 25, ("ddp",)), ("gpt", "adamw", 26, ("fsdp2",)), ("slim", "adamw", 27, ("variable_shapes",)),
        ("experts", "adamw", 28, ("checkpoint", "bf16"))]
SMALL, IN_BACKWARD = ("mlp", "adamw", 4, ()), ("mlp", "adamw", 4, ("in_backward",))
#: What the program does in the step -> a word of what is said of it, and whether the recorder says it.
REFUSED = {"astride": ("changed who sees", True), "extra": ("not what the steps around it do", False)}
if LONG:
    REFUSED |= {"held": ("changed who sees", True), "functional": ("lets nobody see", True), "graph": ("CUDA graphs", True),
                "compiled": ("torch.compile", True)}
MOST_BYTES_AN_OPERATOR = 64


def together(looks):
    return [[(each, look) for each in TRAININGS[first:first + TOGETHER] for look in looks] for first in range(0, len(TRAININGS), TOGETHER)]


#: By deep step, the recordings that one start makes: trainings, each with who looks.
PLANS = {0: together(("operators", "saved", *(["held"] if LONG else []))), DEEP: together(("none",))}
PLANS[DEEP][0] += [(SMALL, look) for look in (*(["none"] if LONG else []), *REFUSED)] + [(IN_BACKWARD, "none")]


def words_of(training):
    family, optimizer, seed, options = training
    return [family, "--optimizer", optimizer, "--seed", str(seed), "--steps", str(STEPS), *(word for each in options for word in ("--option", each))]


class Recordings:
    """In forks of a Python that has imported torch: what is recorded of each training, and what that tells of itself."""

    def __init__(self, strata, python, folder):
        self.strata, self.python, self.folder, self.made, self.told = strata, python, str(folder), {}, itertools.count()

    def make(self, deep, wanted):
        told = [os.path.join(self.folder, f"told{next(self.told)}.json") for _ in wanted]
        programs = [[PROGRAM, look, str(DEEP), path, *words_of(training)] for path, (training, look) in zip(told, wanted)]
        run, ended = forks.recorded(self.strata, ["--simulated", "A100-80GB", "--deep-step", str(deep)], self.python, programs, self.folder,
                                    (*forks.TRAINING, "--import", "deep_program"))
        for each, path, (status, session) in zip(wanted, told, ended):
            self.made[deep, each] = (session, path) if status == 0 and session else run.stderr[-600:]

    def take(self, training, deep, look="none"):
        """One of PLANS, once."""
        each = training, look
        if (deep, each) not in self.made:
            self.make(deep, next(wanted for wanted in PLANS[deep] if each in wanted))
        made = self.made.pop((deep, each))
        assert not isinstance(made, str), made
        try:
            return Run(self.strata, *made, self.folder)
        finally:
            for path in made:
                os.remove(path)


@pytest.fixture(scope="module")
def recordings(strata, python, tmp_path_factory):
    return Recordings(strata, python, tmp_path_factory.mktemp("deep"))


def check_neutral(name, plain, deep, failures):
    failures.expect(name, "allocations that differ from the run without", differences(plain.allocations, deep.allocations), 0)
    failures.expect(name, "blocks freed elsewhere than without", differences(plain.frees(), deep.frees()), 0)
    failures.expect(name, "requested peak", deep.requested_peak, plain.requested_peak)
    failures.expect(name, "reserved peak", deep.reserved_peak, plain.reserved_peak)


def check_neighbours(name, plain, run, failures):
    """Where neighbours agree with each other without a deep step."""
    deep = run.events
    before, step, behind = (plain.allocations_of(number) for number in (DEEP - 1, DEEP, DEEP + 1))
    alike = before[0] == step[0] == behind[0]
    if alike:
        for other in (DEEP - 1, DEEP + 1):
            failures.expect(name, f"allocations that differ from step {other}",
                            differences(deep.allocations_of(DEEP)[0], deep.allocations_of(other)[0]), 0)
            failures.expect(name, f"frees that differ from step {other} and do not without a deep step",
                            differences(deep.allocations_of(DEEP)[1], deep.allocations_of(other)[1]),
                            differences(plain.allocations_of(DEEP)[1], plain.allocations_of(other)[1]))
    failures.expect(name, "what strata steps says of it", run.said[0]["likeness"] in (("same",) if alike else ("same", "alike")))


def check_content(name, step, operators, saved, failures):
    """Gives the number of operators."""
    rows = step["rows"]
    mine = collections.Counter(row["name"] for row in rows if row["kind"] == "operator")
    theirs = collections.Counter(operators)
    failures.expect(name, f"operators that it lacks ({list((theirs - mine).items())[:4]})", (theirs - mine).total(), 0)
    failures.expect(name, f"operators that it has besides ({list((mine - theirs).items())[:4]})", (mine - theirs).total(), 0)
    kinds = collections.Counter(row["kind"] for row in rows)
    failures.expect(name, "operators return", kinds["returns"], kinds["operator"])
    failures.expect(name, "what is saved", kinds["saved"], saved["saved"])
    failures.expect(name, "modules run", collections.Counter(row["detail"] for row in rows if row["kind"] == "enters"),
                    collections.Counter(saved["modules"]))
    failures.expect(name, "modules return", kinds["leaves"], kinds["enters"])
    saves, releases = ([row["saved"] for row in rows if row["kind"] == kind] for kind in ("saved", "released"))
    failures.expect(name, "what was released was saved", set(releases) <= set(saves) and len(set(releases)) == len(releases))
    return mine.total()


@pytest.mark.parametrize("training", TRAININGS, ids=lambda training: " ".join((*training[:2], *training[3])))
def test_training(recordings, failures, training):
    name = " ".join((*training[:2], *training[3]))
    plain = recordings.take(training, 0, "operators")  # the profiler allocates nothing on the device
    deep = recordings.take(training, DEEP)
    assert plain.deep == []
    assert [(step["device"], step["unusable"]) for step in deep.deep] == [(0, None)]
    step, = deep.deep
    failures.expect(name, "its events", (step["begin"], step["end"]), deep.events.step(DEEP))
    check_neutral(name, plain.events, deep.events, failures)
    failures.expect(name, "peaks", peaks(deep.summary), peaks(plain.summary))
    check_neighbours(name, plain.events, deep, failures)
    saved = recordings.take(training, 0, "saved").told
    count = check_content(name, step, plain.told["operators"], saved, failures)
    blocks, had, wrong = lets_go(step, deep.events)
    if "fsdp2" not in training[3]:  # which takes the memory of tensors that live
        failures.expect(name, "blocks freed elsewhere than it tells", len(wrong), 0)
    failures.expect(name, "what strata steps tells of it", [deep.said[0][key] for key in ("usable", "operators", "saved_tensors")],
                    [True, count, saved["saved"]])
    failures.expect(name, "bytes stored are few", deep.stored <= max(MOST_BYTES_AN_OPERATOR * count, 4096))
    ends = deep.told["ends"]
    took = [end - begin for begin, end in zip(ends, ends[1:])]  # step 2 is the first
    ratio, later = (took[DEEP - 2] / each for each in (statistics.mean((took[DEEP - 3], took[DEEP - 1])), statistics.median(took[DEEP:])))
    print(f"{name}: {len(plain.events.allocations)} allocations the same, {deep.said[0]['likeness']}; {count} operators, {deep.stored} B "
          f"({deep.stored / count:.1f} an operator) of {deep.bytes}; {len(blocks)} blocks freed within, {len(had)} of them of somebody, {len(wrong)} "
          f"elsewhere than told; {ratio:.1f} times the time of its neighbours, {later:.1f} that of later steps")
    if LONG:
        score = differences(plain.events.frees(), recordings.take(training, 0, "held").events.frees())
        print(f"{name}: looked at in the wrong way {score} blocks are freed elsewhere")


@pytest.mark.parametrize("look", REFUSED)
def test_refused(recordings, failures, look):
    """Steps that are not to be used say so, and programs that do what does not go together with one go on."""
    word, is_recorded = REFUSED[look]
    run = recordings.take(SMALL, DEEP, look)
    failures.expect(look, "deep steps", [(each["usable"], word in each["why"]) for each in run.said], [(False, True)])
    failures.expect(look, "the recorder says so", [word in (each["unusable"] or "") for each in run.deep], [is_recorded])


def test_optimizers_within_backward(recordings):
    said = recordings.take(IN_BACKWARD, DEEP).said
    assert [each["why"] for each in said] == ["it is not to be used: the optimizer steps within backward"]


@pytest.mark.long
def test_api(strata, simgpu, capture, python, recordings, tmp_path):
    """A program that records itself, alone in its process."""
    session, path = str(tmp_path / "own.strata"), str(tmp_path / "own.json")
    environment = with_environment(STRATA_DEEP_API=session, PYTHONPATH=os.path.join(PROJECT, "capture", "python"),
                                   STRATA_CAPTURE_LIBRARY=os.path.join(capture, "libstrata_capture.so"))
    done = subprocess.run([simgpu, "capacity=80000000000", "--", python, PROGRAM, "none", str(DEEP), path, *words_of(SMALL)],
                          capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-300:]
    own, wanted = ([{key: each[key] for key in ("usable", "likeness", "operators", "saved_tensors", "module_calls")} for each in run.said]
                   for run in (Run(strata, session, path, str(tmp_path)), recordings.take(SMALL, DEEP)))
    assert own == wanted
