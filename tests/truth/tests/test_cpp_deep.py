# SPDX-License-Identifier: GPL-3.0-or-later
"""Deep steps of C++ programs (strata record --deep-step) on the simulated device: whether they leave what a program allocates as it is, tell what
happens in it, and answer what they can.

A program is run with a deep step and without, and the two are held against each other event by event, as test_deep.py does; what it holds, against
what autograd is known to save. Answers are held against the program that was changed by hand. It is compiled once for each LibTorch (half a minute).
Skipped without a compiler, or the headers of the CUDA runtime.
"""
import os
import subprocess

import pytest

import record_tools
from cpp import compiled
from deep_runs import DEEP, STEPS, Run, deep_steps, differences, lets_go, peaks
from running import CHUNKED_SINCE, PROGRAMS, Failures, strata_json, version

pytestmark = pytest.mark.torch("every")
long = pytest.mark.long

SOURCE = os.path.join(PROGRAMS, "deep.cpp")
CARD = "A100-80GB"
BY_HAND = "write it there by hand"
NO_MODULES = "the deep step tells of no modules, as of a program in C++"


class Programs:
    """Recordings of the C++ program, each made once."""

    def __init__(self, strata, python, program, folder):
        self.strata, self.python, self.program, self.folder, self.made = strata, python, program, str(folder), {}

    def record(self, words, deep):
        words = words.split()
        path = os.path.join(self.folder, f"{'-'.join(words)}-{deep}.strata")
        if path not in self.made:
            run = record_tools.record(self.strata, ["-o", path, "--simulated", CARD, "--deep-step", str(deep)],
                                      [self.program, words[0], str(STEPS), *words[1:]])
            self.made[path] = run.returncode == 0 and os.path.exists(path)
            assert self.made[path], run.stderr[-600:]
        return path

    def run(self, words, deep):
        told = os.path.join(self.folder, "told.json")
        with open(told, "w", encoding="utf-8") as file:
            file.write("{}")
        return Run(self.strata, self.record(words, deep), told, self.folder)

    def ask(self, path, *words):
        run, answer = strata_json(self.strata, ["whatif", path, *words, "--json"])
        return run, answer and answer["devices"] and answer["devices"][0]

    def confirm(self, path, change, *words):
        return self.ask(path, "--change", change, "--confirm", "--python", self.python, *words)


@pytest.fixture(scope="module")
def programs(strata, python, tmp_path_factory):
    failures = Failures()
    program = compiled(python, failures, SOURCE)
    if not program:
        (pytest.fail if failures.count else pytest.skip)("; ".join(failures.said + failures.left_out))
    return Programs(strata, python, program, tmp_path_factory.mktemp("deep"))


def text(run):
    return "".join(each if isinstance(each, str) else each.decode(errors="replace") for each in (run.stdout, run.stderr))


# Words of a program, and how many tensors autograd saves in a step, where that is known. It saves the input of each layer, the weight of
# each but the first, and what a ReLU returns.
@pytest.mark.parametrize("words, saved", [("mlp", 4), *(pytest.param(*case, marks=long) for case in (
    ("gpt accumulate held", None), ("gpt", None), ("conv momentum", None), ("mlp zeroed sgd", 4), ("mlp penalty", None), ("mlp accumulate", 8),
    ("mlp adam", 4), ("mlp adagrad", 4), ("mlp rmsprop", 4), ("mlp lbfgs", 12), ("gpt autocast", None), ("conv held", None), ("mlp many", 8),
    ("gpt function", None), ("gpt sgd zeroed", None)))])
def test_program(programs, failures, words, saved):
    plain, deep = (programs.run(words, number) for number in (0, DEEP))
    assert plain.deep == []
    assert [(step["device"], step["unusable"]) for step in deep.deep] == [(0, None)]
    step, = deep.deep
    failures.expect(words, "its events", (step["begin"], step["end"]), deep.events.step(DEEP))
    one, other = plain.events, deep.events
    failures.expect(words, "allocations that differ from the run without", differences(one.allocations, other.allocations), 0)
    failures.expect(words, "blocks freed elsewhere than without", differences(one.frees(), other.frees()), 0)
    failures.expect(words, "peaks", peaks(deep.summary), peaks(plain.summary))
    failures.expect(words, "steps", len(other.steps) >= STEPS - 1, True)
    kinds = [row["kind"] for row in step["rows"]]
    failures.expect(words, "operators return", kinds.count("returns"), kinds.count("operator"))
    failures.expect(words, "modules", kinds.count("enters"), 0)
    failures.expect(words, "something is saved, taken out and let go", all(kinds.count(kind) > 0 for kind in ("saved", "unpacked", "released")))
    if saved is not None:
        failures.expect(words, "what is saved", kinds.count("saved"), saved)
    blocks, had, wrong = lets_go(step, other)
    failures.expect(words, "blocks freed elsewhere than it tells", len(wrong), 0)
    said, = deep.said
    failures.expect(words, "the deep step in strata steps", [said[key] for key in ("usable", "operators", "saved_tensors", "module_calls")],
                    [True, kinds.count("operator"), kinds.count("saved"), 0])
    failures.expect(words, f"its likeness, {said['why']}", said["likeness"], "same")
    print(f"{words}: {len(one.allocations)} allocations the same; {said['operators']} operators, {said['saved_tensors']} saved; {len(blocks)} blocks freed "
          f"within, {len(had)} of them of somebody, {len(wrong)} elsewhere than told")


# A step that nobody sees has no figures, and a reason.
@pytest.mark.parametrize("option, why", [
    ("graph", "it is not to be used: the program runs CUDA graphs, whose operators nobody sees"),
    ("threads", "it is not to be used: the program steps its optimizer on several threads"), ("own", None)])
def test_unusable(programs, option, why):
    assert [each["why"] for each in programs.run(f"mlp {option}", DEEP).said] == ([why] if why else [])


@pytest.mark.parametrize("change", ["checkpoint=Linear", "checkpoint=path:*", "offload=activations", "offload=activations:Linear"])
def test_refused(programs, change):
    run, _ = programs.ask(programs.record("mlp", DEEP), "--change", change)
    assert run.returncode == 1 and NO_MODULES in text(run)


# Questions about a program that listed no optimizer and no model, and the advice in the error.
@pytest.mark.parametrize("words, wanted", [
    (("optimizer=SGD",), "strata::capture::Optimizer"), (("amp=bf16",), "add --confirm alone"), (("dtype=bf16",), BY_HAND),
    (("optimizer=SGD", "--confirm"), BY_HAND), (("checkpoint=Block", "--confirm"), BY_HAND), (("accumulate=2", "--confirm"), BY_HAND),
    (("amp=bf16", "--confirm", "--"), "--confirm alone"), (("optimizer=SGD", "--confirm", "--"), BY_HAND),
    (("amp=bf16", "--change", "batch=x2", "--batch-of", "16", "--confirm"), "--with FILE2")], ids=str)
def test_advice(programs, words, wanted):
    """A C++ program can follow the advice, and nothing runs before it."""
    python = ["--python", programs.python] if words[-1] == "--confirm" else []
    program = [programs.program, "mlp", str(STEPS)] if words[-1] == "--" else []
    run = subprocess.run([programs.strata, "whatif", programs.record("mlp", DEEP), "--change", *words[:len(words) - bool(program)], *python,
                          *(["--", *program] if program else [])], capture_output=True, text=True)
    said = text(run)
    assert (run.returncode, wanted in said, "-- COMMAND" in said, "as it was recorded" in said) == (1, True, False, False), said[-400:]


def test_free(programs, failures):
    """One program keeps what its network returned in the step before. With free=last-use both programs have the same peaks."""
    told = {}
    for words in ("gpt held", "gpt"):
        run, told[words] = programs.ask(programs.record(words, DEEP), "--change", "free=last-use")
        assert told[words] and told[words]["predicted"], text(run)[-600:]
    held, plain = told.values()
    print(f"{held['predicted']}, recorded {held['recorded']}; without what it holds {plain['predicted']}, recorded {plain['recorded']}")
    failures.expect("free", "what it holds counts", held["recorded"]["requested_bytes_peak"] > plain["recorded"]["requested_bytes_peak"])
    failures.expect("free", "requested", held["predicted"]["requested_bytes_peak"], plain["predicted"]["requested_bytes_peak"])


def figures(answer):
    return answer["requested_bytes_peak"], answer["reserved_bytes_peak"]


# A change that is made in the recorded calls, its program, and the program changed by hand. Another batch needs a second recording.
@pytest.mark.parametrize("change, before, after", [("batch=x3", "gpt", "gpt triple"), *(pytest.param(*case, marks=long) for case in (
    ("amp=bf16", "mlp", "mlp autocast"), ("amp=bf16", "gpt", "gpt autocast"), ("batch=x3", "conv momentum", "conv momentum triple"),
    ("amp=bf16", "conv momentum", "conv momentum autocast"), ("batch=x3", "mlp adam", "mlp adam triple"),
    ("amp=bf16", "mlp accumulate", "mlp accumulate autocast"), ("batch=x3", "gpt autocast", "gpt autocast triple")))])
def test_calls(programs, change, before, after):
    words = ["--with", programs.record(before + " double", DEEP), "--batch-of", "16,32"] if change.startswith("batch") else []
    run, told = programs.confirm(programs.record(before, DEEP), change, *words)
    _, truth = programs.ask(programs.record(after, 0))
    assert told and told["confirmed"], f"{run.stderr[-500:]} {told and told.get('refused')}"
    print(f"{told['confirmed']}, by hand {truth['recorded']}, unchanged {told['confirmed_unchanged']}, recorded {told['recorded']}: "
          f"{told['confirmed_by']}, {told['confirmed_note']}")
    assert figures(told["confirmed"]) == figures(truth["recorded"])


@pytest.mark.parametrize("words, change, why", [
    pytest.param("mlp function", "amp=bf16", "a function of its own for autograd, (anonymous namespace)::Cube", marks=long),
    ("mlp", "dtype=bf16", "tell of no modules")])
def test_calls_that_are_refused(programs, words, change, why):
    run, _ = programs.confirm(programs.record(words, DEEP), change)
    assert run.returncode == 1 and why in text(run)


@long
@pytest.mark.parametrize("words", ["gpt", "conv momentum"])
def test_logits(programs, words):
    """LibTorch adds the bias of a matrix within the product, and any other bias after it. The peaks are compared in test_whatif_calls.py."""
    if version(programs.python) < CHUNKED_SINCE:
        pytest.skip("its PyTorch has no linear_cross_entropy in chunks")
    run, told = programs.confirm(programs.record(words, DEEP), "logits=chunks:4")
    assert told and told["confirmed_by"] == "calls", text(run)[-400:]


def test_dry_run(programs, tmp_path):
    path = str(tmp_path / "dry.strata")
    run = subprocess.run([programs.strata, "dryrun", "--device", CARD, "-o", path, "--json", "--", programs.program, "mlp", str(STEPS)],
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-400:]
    dry, recorded = ([[row["kind"] for row in step["rows"]] for step in deep_steps(each)] for each in (path, programs.record("mlp", DEEP)))
    assert dry == recorded
