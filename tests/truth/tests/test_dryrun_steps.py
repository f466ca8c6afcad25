# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of C++ programs under `strata dryrun`: how they are counted, where --steps ends the program, what is said where it
cannot; the version of LibTorch, weights and changes as they are.

The short form takes some ways with the newest PyTorch; the long one all with each. The program links the recorder.
"""
import os
import subprocess

import pytest

from cpp import compiled, facts_of
from running import PROGRAMS, PROJECT, Failures, dryrun, strata_json, with_environment

pytestmark = pytest.mark.torch("every")
long = pytest.mark.long

OPTIMIZER, RANGE = "optimizer", "range"
TURNS = 6
#: Of 512 x 512 weights and as many biases: weights, gradients and Adam's two moments fit in this.
STATE = 4 << 20


@pytest.fixture
def program(python, build):
    library, failures = os.path.join(build, "lib", "strata"), Failures()
    made = compiled(python, failures, source=os.path.join(PROGRAMS, "steps.cpp"),
                    options=("-O1", "-I" + os.path.join(PROJECT, "capture", "include")),
                    behind=("-L" + library, "-Wl,-rpath," + library, "-lstrata_capture"))
    if not made:
        (pytest.fail if failures.count else pytest.skip)("; ".join(failures.said + failures.left_out))
    return made


def told(report, *keys):
    return tuple(report[key] for key in keys) if report else None


def peak(report):
    return report["ranks"][0]["devices"][0]["requested_bytes_peak"] if report and report["ranks"] else None


def lines(run, text):
    return run.stderr.splitlines().count(text)


# way of tests/truth/programs/steps.cpp, steps that it may make in all under --steps 3, what is told: steps, source
@pytest.mark.parametrize("way, stepped, steps, source", [
    ("adam", 3, 3, OPTIMIZER), ("closure", 3, 3, OPTIMIZER), ("threads", 6, 3, OPTIMIZER), ("ranges", 6, 3, RANGE),
    *(pytest.param(way, 3, 3, OPTIMIZER, marks=long) for way in ("adagrad", "adamw", "rmsprop", "sgd", "direct", "accumulate")),
    pytest.param("both", 6, 3, OPTIMIZER, marks=long),
    pytest.param("lockstep", 6, 3, OPTIMIZER, marks=long),
    pytest.param("own ranges", 4, 3, RANGE, marks=long)])
def test_ended(strata, python, program, tmp_path, failures, way, stepped, steps, source):
    kept, session, torch = tmp_path / "kept", str(tmp_path / "kept.strata"), facts_of(python)[3]
    run, report = dryrun(strata, ["--steps", "3", "-o", session], [program, way, str(TURNS), str(kept)])
    assert report, run.stderr
    failures.expect(way, "exit", (run.returncode, report["exit_status"]), (0, 0))
    failures.expect(way, "told", told(report, "steps", "steps_asked", "steps_source", "steps_unseen", "ended_by_steps",
                                      "steps_note"), (steps, 3, source, False, True, None))
    failures.expect(way, "version and weights", told(report, "torch", "weights_skipped", "skip_init"), (torch, False, True))
    failures.expect(way, "version is said at once", f"with torch {torch}" in run.stderr.splitlines()[0])
    failures.expect(way, "steps", (lines(run, "stepped"), lines(run, "all turns")), (stepped, 0))
    failures.expect(way, "nothing is said", [l for l in run.stderr.splitlines() if "--steps" in l or "is ended" in l], [])
    failures.expect(way, "recorded", bool(report["groups"]))
    failures.expect(way, "static objects are destroyed", kept.read_text(), "kept")
    if way == "closure":
        failures.expect(way, "closures", lines(run, "closure"), 4 * steps)
    if way == "threads":
        failures.expect(way, "each thread", (lines(run, "fast"), lines(run, "slow")), (3, 3))
        failures.expect(way, "peak has the slow one's", peak(report) > 256 << 20)
    _, summary = strata_json(strata, ["summary", "--json", session])
    device = summary["devices"][0]
    failures.expect("session", "exact", device["integrity"]["exact"])
    failures.expect("session", "peak", device["requested_bytes_peak"], peak(report))
    failures.expect("session", "version", f"torch {torch}" in summary["format"])
    if source == RANGE:
        failures.expect("session", "the steps are in it", summary["annotations"] > 3)
    checked = subprocess.run([strata, "check", session], capture_output=True, text=True)
    failures.expect("session", "check", (checked.returncode, "interrupted" in checked.stdout), (0, False))


def test_script(strata, python, program):
    """What starts it is no LibTorch: the process itself tells."""
    path = with_environment(PATH=os.path.dirname(python) + ":" + os.environ["PATH"])
    _, report = dryrun(strata, ["--steps", "3"], ["sh", "-c", f"'{program}' adam {TURNS}; true"], env=path)
    assert told(report, "torch", "steps", "ended_by_steps") == (facts_of(python)[3], 3, True)


@pytest.mark.parametrize("way", ["adam", pytest.param("own ranges", marks=long), pytest.param("ranges", marks=long)])
def test_peaks(strata, program, way, failures):
    """Two steps are enough for the peak, and but for what the optimizer itself takes one is: the forward and backward of the
    second are in it, with the optimizer's state."""
    _, whole = dryrun(strata, [], [program, way, str(TURNS)])
    one, two = (peak(dryrun(strata, ["--steps", steps], [program, way, str(TURNS)])[1]) for steps in "12")
    failures.expect(way, "peak of two", two, peak(whole))
    failures.expect(way, f"peak of one, {one}", bool(one) and 0.99 * two < one <= two)
    failures.expect(way, "all steps", told(whole, "steps", "steps_asked", "ended_by_steps", "steps_note"), (TURNS, None, False, None))
    failures.expect(way, "state is in the peak", bool(whole) and peak(whole) > STATE)


# way, steps told, source, unseen, words of the note
@pytest.mark.parametrize("way, steps, source, unseen, words", [
    ("hand", 0, None, False, "no optimizer step was seen"),
    ("own", 0, None, True, "a class of the program's own"),
    ("anew", 1, OPTIMIZER, False, "after 1 of 3 steps, counted for each optimizer")])
def test_on_its_own(strata, program, failures, way, steps, source, unseen, words):
    run, report = dryrun(strata, ["--steps", "3"], [program, way, str(TURNS)])
    failures.expect(way, "told", told(report, "steps", "steps_source", "steps_unseen", "ended_by_steps", "exit_status"),
                    (steps, source, unseen, False, 0))
    failures.expect(way, "ran to its end", (lines(run, "stepped"), lines(run, "all turns")), (TURNS, 1))
    failures.expect(way, f"'{words}' in the report", words in str(report and report["steps_note"]))
    failures.expect(way, "said once", len([line for line in run.stderr.splitlines() if line.startswith("strata: --steps 3: ")]), 1)


@long
@pytest.mark.parametrize("turns, note", [(2, "the program ended by itself after 2 of 3 steps"), (3, None)])
def test_few_turns(strata, program, turns, note):
    run, report = dryrun(strata, ["--steps", "3"], [program, "adam", str(turns)])
    assert told(report, "steps", "ended_by_steps", "exit_status") == (turns, False, 0)
    assert note in report["steps_note"] if note else report["steps_note"] is None
    assert (run.returncode, lines(run, "all turns")) == (0, 1)


@long
def test_without_steps(strata, program):
    """There is nothing to say."""
    run, report = dryrun(strata, [], [program, "own", str(TURNS)])
    assert told(report, "steps_note", "steps_unseen") == (None, True)
    assert "--steps" not in run.stderr


def text(strata, program, options, way, turns="2"):
    run = subprocess.run([strata, "dryrun", *options, "--", program, way, turns], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_text(strata, python, program, failures):
    shown = text(strata, program, ["--steps", "3", "--change", "amp=bf16", "--change", "checkpoint=Block"], "adam")
    for words in (f"2 optimizer steps with torch {facts_of(python)[3]}.", "after 2 of 3 steps",
                  "--change amp=bf16 checkpoint=Block: not applied, since changes are made in programs of Python alone"):
        failures.expect("text", f"'{words}' is said", words in shown)
    for words in ("Weights on the CPU", "unknown version", "Changed by"):
        failures.expect("text", f"'{words}' is not said", words in shown, False)


@long
@pytest.mark.parametrize("way, turns, words", [
    ("hand", "2", "No optimizer step with torch"), ("own", "4", "Optimizer steps that cannot be seen"),
    ("ranges", "2", "2 steps marked by the program"), ("both", "2", "2 optimizer steps (4 of all optimizers together)")])
def test_text_of_steps(strata, program, way, turns, words):
    shown = text(strata, program, [], way, turns)
    assert words in shown
    if way == "ranges":
        assert not [l for l in shown.splitlines() if "optimizer step" in l]


def test_change(strata, program, failures):
    run, report = dryrun(strata, ["--change", "optimizer=sgd"], [program, "adam", "2"])
    failures.expect("change", "told", bool(report) and told(report["changed"], "applied", "steps"), (False, 2))
    failures.expect("change", "note", bool(report) and "not applied" in str(report["changed"]["note"]))
    failures.expect("change", "said", "strata: --change optimizer=sgd: not applied" in run.stderr)


@long
@pytest.mark.parametrize("way, ended", [("adam", True), ("hand", False)])
def test_fit(strata, program, way, ended):
    run, report = dryrun(strata, ["--steps", "2", "--fit", "N=3..6"], [program, way, "{N}"])
    assert report["fit"]["best"][0]["values"] == {"N": 6}
    assert (report["steps_note"] is None) == ended
    assert run.stderr.count("strata: --steps 2: ") == (0 if ended else 1)


TRAIN = ("import torch\np = torch.nn.Parameter(torch.ones(1 << 20, device='cuda'))\no = torch.optim.Adam([p])\n"
         "for i in range(2): p.sum().backward(); o.step()\n")


@pytest.mark.parametrize("code, processes, skipped", [
    pytest.param("", 1, False, id="starts", marks=long), pytest.param(TRAIN, 2, False, id="starts and trains", marks=long),
    pytest.param(TRAIN + "m = torch.nn.Linear(8, 8)\n", 2, True, id="starts and makes weights")])
def test_started_by_python(strata, python, program, failures, code, processes, skipped):
    """With and without steps of its own."""
    start = f"import subprocess, sys\nstatus = subprocess.run([{program!r}, 'adam', '{TURNS}']).returncode\n"
    run, report = dryrun(strata, ["--steps", "3"], [python, "-c", start + code + "sys.exit(status)"])
    failures.expect("Python", "told", told(report, "steps", "ended_by_steps", "exit_status", "weights_skipped"), (3, True, 0, skipped))
    failures.expect("Python", "processes", len(report["ranks"]) if report else run.stderr, processes)
    failures.expect("Python", "steps of the program", lines(run, "stepped"), 3)


@long
def test_python(strata, python):
    """Python's own steps are told of in the same way."""
    _, report = dryrun(strata, ["--steps", "3"], [python, "-c", TRAIN])
    assert told(report, "steps", "steps_source", "ended_by_steps", "exit_status") == (2, OPTIMIZER, False, 0)
    assert "after 2 of 3 steps" in report["steps_note"]
    two = TRAIN.replace("o.step()", "o.step(); s.step()").replace("for i", "s = torch.optim.SGD([p])\nfor i")
    assert told(dryrun(strata, [], [python, "-c", two])[1], "steps", "steps_of_all") == (2, 4)
    assert told(dryrun(strata, ["--steps", "1"], [python, "-c", TRAIN])[1], "steps", "ended_by_steps", "steps_note") == (1, True, None)


@pytest.mark.torch("newest")
@pytest.mark.parametrize("way, words", [("hangs", "goes on after the last step: it is ended"), ("crashes", "at the end")])
def test_bad_end(strata, program, failures, way, words):
    """What goes wrong once the steps are made is no failure of the program."""
    run, report = dryrun(strata, ["--steps", "3"], [program, way, str(TURNS)])
    failures.expect(way, "told", told(report, "steps", "ended_by_steps", "exit_status"), (3, True, 0))
    failures.expect(way, "exit", (run.returncode, lines(run, "stepped")), (0, 3))
    failures.expect(way, f"'{words}' is said", words in run.stderr)


@long
@pytest.mark.torch("newest")
def test_crash_of_its_own(strata, program):
    """A program whose steps are not made still has its own failure."""
    _, report = dryrun(strata, ["--steps", "3"], [program, "crashes", "2"])
    assert told(report, "ended_by_steps", "exit_status", "steps_note") == (False, 134, None)
