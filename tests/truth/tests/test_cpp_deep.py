# SPDX-License-Identifier: GPL-3.0-or-later
"""Deep steps of C++ programs (strata record --deep-step) on the simulated device: whether they leave what a program allocates as it is, tell what
happens in it, and answer what they can.

usage: test_cpp_deep.py STRATA [--python PYTHON]... [--program WORD]...

A program is run with a deep step and without, and the two are held against each other event by event, as test_deep.py does; what it holds, against
what autograd is known to save. Answers are held against the program that was changed by hand. It is compiled once for each LibTorch (half a minute).
Skipped (exit 77) without PyTorch, a compiler, or the headers of the CUDA runtime.
"""
import os
import subprocess
import sys
import tempfile

import record_tools  # makes running known
import running
from running import CHUNKED_SINCE, LONG, PROGRAMS, main, strata_json
from cpp import compiled
from test_deep import DEEP, STEPS, Run, deep_steps, differences, lets_go, peaks

SOURCE = os.path.join(PROGRAMS, "deep.cpp")
CARD = "A100-80GB"
#: Words of a program, with how many tensors autograd saves in a step, where that is known: of a layer its input, but for the batch its weight, and of a ReLU what it returns.
PROGRAMS = [(("mlp",), 4), (("gpt", "accumulate", "held"), None)]
if LONG:
    PROGRAMS += [(("gpt",), None), (("conv", "momentum"), None), (("mlp", "zeroed", "sgd"), 4), (("mlp", "penalty"), None), (("mlp", "accumulate"), 8), (("mlp", "adam"), 4), (("mlp", "adagrad"), 4), (("mlp", "rmsprop"), 4), (("mlp", "lbfgs"), 12), (("gpt", "autocast"), None),
                 (("conv", "held"), None), (("mlp", "many"), 8), (("gpt", "function"), None), (("gpt", "sgd", "zeroed"), None)]
#: Options of a program -> what is said of its step; of one that nobody sees, nothing.
REFUSED = {"graph": "it is not to be used: the program runs CUDA graphs, whose operators nobody sees",
           "threads": "it is not to be used: the program steps its optimizer on several threads", "own": None}
BY_HAND = "write it there by hand"
NO_MODULES = "the deep step tells of no modules, as of a program in C++"
#: A change that calls tell, of which program, and the program that does it by hand. One that has another batch is told by a second recording.
CALLS = [("batch=x3", ("gpt",), ("gpt", "triple")), ("amp=bf16", ("mlp",), ("mlp", "autocast"))]
if LONG:
    CALLS += [("amp=bf16", ("gpt",), ("gpt", "autocast")), ("batch=x3", ("conv", "momentum"), ("conv", "momentum", "triple")), ("amp=bf16", ("conv", "momentum"), ("conv", "momentum", "autocast")),
              ("batch=x3", ("mlp", "adam"), ("mlp", "adam", "triple")), ("amp=bf16", ("mlp", "accumulate"), ("mlp", "accumulate", "autocast")),
              ("batch=x3", ("gpt", "autocast"), ("gpt", "autocast", "triple"))]


class Programs:
    """Recordings of the C++ program, each made once."""

    def __init__(self, arguments, python, program, folder):
        self.strata, self.python, self.program, self.folder, self.made = arguments.strata, python, program, folder, {}

    def record(self, words, deep):
        known = self.made.get((words, deep))
        if known:
            return known
        path = os.path.join(self.folder, f"{'-'.join(words)}-{deep}.strata")
        run = record_tools.record(self.strata, ["-o", path, "--simulated", CARD, "--deep-step", str(deep)], [self.program, words[0], str(STEPS), *words[1:]])
        if run.returncode != 0 or not os.path.exists(path):
            raise RuntimeError(run.stderr[-600:])
        self.made[words, deep] = path
        return path

    def run(self, words, deep):
        told = os.path.join(self.folder, "told.json")
        with open(told, "w", encoding="utf-8") as file:
            file.write("{}")
        return Run(self.strata, self.record(words, deep), told, self.folder)

    def ask(self, path, *words):
        run, answer = strata_json(self.strata, ["whatif", path, *words, "--json"])
        return run, answer and answer["devices"] and answer["devices"][0]


def test_program(programs, words, saved, failures, version):
    name = f"{version} {' '.join(words)}"
    plain, deep = (programs.run(words, number) for number in (0, DEEP))
    failures.expect(name, "deep steps without one", plain.deep, [])
    failures.expect(name, "deep steps", [(step["device"], step["unusable"]) for step in deep.deep], [(0, None)])
    if len(deep.deep) != 1 or deep.deep[0]["unusable"]:
        return
    step, = deep.deep
    failures.expect(name, "its events", (step["begin"], step["end"]), deep.events.step(DEEP))
    one, other = plain.events, deep.events
    failures.expect(name, "allocations that differ from the run without", differences(one.allocations, other.allocations), 0)
    failures.expect(name, "blocks freed elsewhere than without", differences(one.frees(), other.frees()), 0)
    failures.expect(name, "peaks", peaks(deep.summary), peaks(plain.summary))
    failures.expect(name, "steps", len(other.steps) >= STEPS - 1, True)
    kinds = [row["kind"] for row in step["rows"]]
    failures.expect(name, "operators return", kinds.count("returns"), kinds.count("operator"))
    failures.expect(name, "modules", kinds.count("enters"), 0)
    failures.expect(name, "something is saved, taken out and let go", all(kinds.count(kind) > 0 for kind in ("saved", "unpacked", "released")))
    if saved is not None:
        failures.expect(name, "what is saved", kinds.count("saved"), saved)
    blocks, had, wrong = lets_go(step, other)
    failures.expect(name, "blocks freed elsewhere than it tells", len(wrong), 0)
    said, = deep.said
    failures.expect(name, "what strata steps tells of it", [said[key] for key in ("usable", "operators", "saved_tensors", "module_calls")],
                    [True, kinds.count("operator"), kinds.count("saved"), 0])
    failures.expect(name, f"its likeness, {said['why']}", said["likeness"], "same")
    print(f"{name}: {len(one.allocations)} allocations the same; {said['operators']} operators, {said['saved_tensors']} saved; {len(blocks)} blocks freed within, "
          f"{len(had)} of them of somebody, {len(wrong)} elsewhere than told", flush=True)


def test_refused(programs, failures, version):
    for option, why in REFUSED.items():
        name = f"{version} {option}"
        said = programs.run(("mlp", option), DEEP).said
        failures.expect(name, "deep steps", [each["why"] for each in said], [why] if why else [])
    path = programs.record(("mlp",), DEEP)
    for change in ("checkpoint=Linear", "checkpoint=path:*", "offload=activations", "offload=activations:Linear"):
        run, _ = programs.ask(path, "--change", change)
        failures.expect(f"{version} {change}", f"exit and reason: {text(run)[-600:]}", (run.returncode, NO_MODULES in text(run)), (1, True))


#: Of a program that says nothing of itself: words of whatif, what is said to do.
ADVICE = [(("optimizer=SGD",), "strata::capture::Optimizer"), (("amp=bf16",), "add --confirm alone"), (("dtype=bf16",), BY_HAND),
          (("optimizer=SGD", "--confirm"), BY_HAND), (("checkpoint=Block", "--confirm"), BY_HAND), (("accumulate=2", "--confirm"), BY_HAND),
          (("amp=bf16", "--confirm", "--"), "--confirm alone"), (("optimizer=SGD", "--confirm", "--"), BY_HAND),
          (("amp=bf16", "--change", "batch=x2", "--batch-of", "16", "--confirm"), "--with FILE2")]


def test_advice(programs, failures, version):
    """What is said to do can be done in a program of C++, and nothing runs before."""
    path = programs.record(("mlp",), DEEP)
    for words, wanted in ADVICE:
        python = ["--python", programs.python] if words[-1] == "--confirm" else []
        program = ["--", programs.program, "mlp", str(STEPS)] if words[-1] == "--" else []
        run = subprocess.run([programs.strata, "whatif", path, "--change", *words[:len(words) - bool(program)], *python, *program], capture_output=True, text=True)
        said = text(run)
        failures.expect(f"{version} {' '.join(words)}", f"says what to do: {said[-400:]}",
                        (run.returncode, wanted in said, "-- COMMAND" in said, "as it was recorded" in said), (1, True, False, False))


def text(run):
    return "".join(each if isinstance(each, str) else each.decode(errors="replace") for each in (run.stdout, run.stderr))


def reserved_and_requested(figures):
    return figures["requested_bytes_peak"], figures["reserved_bytes_peak"]


def test_free(programs, failures, version):
    """What a program has beyond its last use, with and without what the network returned in the step before: let go of, both come to the same."""
    name = f"{version} free=last-use"
    told = {}
    for words in (("gpt", "held"), ("gpt",)):
        run, told[words] = programs.ask(programs.record(words, DEEP), "--change", "free=last-use")
        failures.expect(name, f"an answer for {' '.join(words)}: {text(run)[-600:]}", bool(told[words] and told[words]["predicted"]))
    held, plain = told.values()
    if not held or not plain:
        return
    print(f"{name}: {held['predicted']}, recorded {held['recorded']}; without what it holds {plain['predicted']}, recorded {plain['recorded']}", flush=True)
    failures.expect(name, "what it holds counts", held["recorded"]["requested_bytes_peak"] > plain["recorded"]["requested_bytes_peak"])
    failures.expect(name, "requested", held["predicted"]["requested_bytes_peak"], plain["predicted"]["requested_bytes_peak"])


def test_calls(programs, failures, version):
    for change, before, after in CALLS:
        name = f"{version} {' '.join(before)} {change}"
        words = ["--change", change, "--confirm", "--python", programs.python]
        if change.startswith("batch"):
            words += ["--with", programs.record((*before, "double"), DEEP), "--batch-of", "16,32"]
        run, told = programs.ask(programs.record(before, DEEP), *words)
        _, truth = programs.ask(programs.record(after, 0))
        if not told or not told["confirmed"]:
            failures.expect(name, f"is confirmed: {run.stderr[-500:]} {told and told.get('refused')}", False)
            continue
        print(f"{name}: {told['confirmed']}, by hand {truth['recorded']}, unchanged {told['confirmed_unchanged']}, recorded {told['recorded']}: {told['confirmed_by']}, {told['confirmed_note']}", flush=True)
        failures.expect(name, "requested and reserved", reserved_and_requested(told["confirmed"]), reserved_and_requested(truth["recorded"]))
    run, _ = programs.ask(programs.record(("mlp", "function"), DEEP), "--change", "amp=bf16", "--confirm", "--python", programs.python)
    failures.expect(f"{version} function", f"is refused: {text(run)[-400:]}",
                    (run.returncode, "a function of its own for autograd, (anonymous namespace)::Cube" in text(run)), (1, True))
    run, _ = programs.ask(programs.record(("mlp",), DEEP), "--change", "dtype=bf16", "--confirm", "--python", programs.python)
    failures.expect(f"{version} dtype=bf16", f"is refused: {run.stderr[-400:]}", (run.returncode, "tell of no modules" in text(run)), (1, True))


def test_logits(programs, failures, version):
    """Of layers of LibTorch: of a matrix their bias is part of the product, else it is added behind. What it comes to, test_logits.py holds."""
    for words in (("gpt",), ("conv", "momentum")) if LONG else (("gpt",),):
        run, told = programs.ask(programs.record(words, DEEP), "--change", "logits=chunks:4", "--confirm", "--python", programs.python)
        failures.expect(f"{version} {' '.join(words)} logits=chunks:4", f"is confirmed: {text(run)[-400:]}", told and told["confirmed_by"], "calls")


def test_dry_run(programs, arguments, failures, version):
    path = os.path.join(programs.folder, "dry.strata")
    run = subprocess.run([arguments.strata, "dryrun", "--device", CARD, "-o", path, "--json", "--", programs.program, "mlp", str(STEPS)], capture_output=True, text=True)
    failures.expect(f"{version} dryrun -o", f"runs: {run.stderr[-400:]}", run.returncode, 0)
    recorded = programs.record(("mlp",), DEEP)
    kinds = [[[row["kind"] for row in step["rows"]] for step in deep_steps(each)] for each in (path, recorded)]
    failures.expect(f"{version} dryrun -o", "the same deep step", kinds[0], kinds[1])


def test(arguments, python, failures):
    version = os.path.basename(os.path.dirname(os.path.dirname(python)))
    program = compiled(python, failures, SOURCE)
    if not program:
        return "the program cannot be built"
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(arguments, python, program, folder)
        for words, saved in PROGRAMS:
            if all(word in words for word in arguments.program):
                try:
                    test_program(programs, words, saved, failures, version)
                except RuntimeError as error:
                    failures.expect(f"{version} {' '.join(words)}", f"ran: {error}", False)
        if not arguments.program:
            test_refused(programs, failures, version)
            test_advice(programs, failures, version)
            test_free(programs, failures, version)
            test_calls(programs, failures, version)
            if running.version(python) >= CHUNKED_SINCE:
                test_logits(programs, failures, version)
            test_dry_run(programs, arguments, failures, version)
    return None


def add_options(parser):
    parser.add_argument("--program", action="append", default=[])


if __name__ == "__main__":
    sys.exit(main(test, add_options=add_options))
