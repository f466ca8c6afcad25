# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of C++ programs under `strata dryrun`: how they are counted, where --steps ends the program, what is said where it
cannot; the version of LibTorch, weights and changes as they are.

usage: test_steps.py STRATA [--python PYTHON]...

The short form takes some ways with the newest PyTorch; STRATA_LONG=1 takes all with each. The program
links the recorder.
"""
import os
import subprocess
import sys
import tempfile

from running import LONG, PROJECT, PROGRAMS, dryrun, main, strata_json, with_environment
from cpp import compiled, facts_of

OPTIMIZER, RANGE = "optimizer", "range"
TURNS = 6
#: Of 512 x 512 weights and as many biases: weights, gradients and Adam's two moments fit in this.
STATE = 4 << 20

# way of tests/truth/steps.cpp, steps that it may make in all under --steps 3, what is told: steps, source
ENDED = [
    *((name, 3, 3, OPTIMIZER) for name in ("adagrad", "adam", "adamw", "rmsprop", "sgd", "direct", "closure", "accumulate")),
    ("both", 6, 3, OPTIMIZER),
    ("threads", 6, 3, OPTIMIZER),
    ("lockstep", 6, 3, OPTIMIZER),
    ("ranges", 6, 3, RANGE),
    ("own ranges", 4, 3, RANGE),
]
SHORT = ("adam", "closure", "threads", "ranges")  # ways of the short form
# way, steps told, source, unseen, words of the note
ON_ITS_OWN = [
    ("hand", 0, None, False, "no optimizer step was seen"),
    ("own", 0, None, True, "a class of the program's own"),
    ("anew", 1, OPTIMIZER, False, "after 1 of 3 steps, counted for each optimizer"),
]


def program_of(strata, python, failures):
    library = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(strata))), "lib", "strata")
    return compiled(python, failures, source=os.path.join(PROGRAMS, "steps.cpp"),
                 options=("-O1", "-I" + os.path.join(PROJECT, "capture", "include")),
                 behind=("-L" + library, "-Wl,-rpath," + library, "-lstrata_capture"))


def told(report, *keys):
    return tuple(report[key] for key in keys) if report else None


def peak(report):
    return report["ranks"][0]["devices"][0]["requested_bytes_peak"] if report and report["ranks"] else None


def lines(run, text):
    return run.stderr.splitlines().count(text)


def check_ended(strata, program, folder, failures):
    kept = os.path.join(folder, "kept")
    for way, stepped, steps, source in ENDED:
        if not LONG and way not in SHORT:
            continue
        run, report = dryrun(strata, ["--steps", "3"], [program, way, str(TURNS), kept])
        failures.expect(way, "exit", (run.returncode, report and report["exit_status"]), (0, 0))
        failures.expect(way, "told", told(report, "steps", "steps_asked", "steps_source", "steps_unseen", "ended_by_steps",
                                          "steps_note"), (steps, 3, source, False, True, None))
        failures.expect(way, "steps", (lines(run, "stepped"), lines(run, "all turns")), (stepped, 0))
        failures.expect(way, "nothing is said", [l for l in run.stderr.splitlines() if "--steps" in l or "is ended" in l], [])
        failures.expect(way, "recorded", bool(report and report["groups"]))
        with open(kept, encoding="utf-8") as file:
            failures.expect(way, "static objects are destroyed", file.read(), "kept")
        os.remove(kept)
        if way == "closure":
            failures.expect(way, "closures", lines(run, "closure"), 4 * steps)
        if way == "threads":
            failures.expect(way, "each thread", (lines(run, "fast"), lines(run, "slow")), (3, 3))
            failures.expect(way, "peak has the slow one's", bool(report) and peak(report) > 256 << 20)


def check_peaks(strata, program, failures):
    """Two steps are enough for the peak, and but for what the optimizer itself takes one is: the forward and backward of the
    second are in it, with the optimizer's state."""
    for way in ("adam", "own ranges", "ranges") if LONG else ("adam",):
        _, whole = dryrun(strata, [], [program, way, str(TURNS)])
        one, two = (peak(dryrun(strata, ["--steps", steps], [program, way, str(TURNS)])[1]) for steps in "12")
        failures.expect(way, "peak of two", two, peak(whole))
        failures.expect(way, f"peak of one, {one}", bool(one) and 0.99 * two < one <= two)
        failures.expect(way, "all steps", told(whole, "steps", "steps_asked", "ended_by_steps", "steps_note"),
                        (TURNS, None, False, None))
    failures.expect("adam", "state is in the peak", bool(whole) and peak(whole) > STATE)


def check_on_its_own(strata, program, failures):
    for way, steps, source, unseen, words in ON_ITS_OWN:
        run, report = dryrun(strata, ["--steps", "3"], [program, way, str(TURNS)])
        failures.expect(way, "told", told(report, "steps", "steps_source", "steps_unseen", "ended_by_steps", "exit_status"),
                        (steps, source, unseen, False, 0))
        failures.expect(way, "ran to its end", (lines(run, "stepped"), lines(run, "all turns")), (TURNS, 1))
        failures.expect(way, f"'{words}' in the report", words in str(report and report["steps_note"]))
        said = [line for line in run.stderr.splitlines() if line.startswith("strata: --steps 3: ")]
        failures.expect(way, "said once", len(said), 1)
    for turns, note in ((2, "the program ended by itself after 2 of 3 steps"), (3, None))[:None if LONG else 1]:
        run, report = dryrun(strata, ["--steps", "3"], [program, "adam", str(turns)])
        failures.expect(f"{turns} turns", "told", told(report, "steps", "ended_by_steps", "exit_status"), (turns, False, 0))
        failures.expect(f"{turns} turns", "note", note in report["steps_note"] if note else report["steps_note"] is None)
        failures.expect(f"{turns} turns", "exit", (run.returncode, lines(run, "all turns")), (0, 1))
    # Without --steps there is nothing to say.
    run, report = dryrun(strata, [], [program, "own", str(TURNS)])
    failures.expect("no --steps", "told", told(report, "steps_note", "steps_unseen"), (None, True))
    failures.expect("no --steps", "nothing is said", "--steps" in run.stderr, False)


def check_text(strata, program, version, failures):
    def text(options, way):
        run = subprocess.run([strata, "dryrun", *options, "--", program, way, "2"], capture_output=True, text=True)
        failures.expect(f"text of {way}", "exit", run.returncode, 0)
        return run.stdout
    shown = text(["--steps", "3", "--change", "amp=bf16", "--change", "checkpoint=Block"], "adam")
    for words in (f"2 optimizer steps with torch {version}.", "after 2 of 3 steps",
                  "--change amp=bf16 checkpoint=Block: not applied, since changes are made in programs of Python alone"):
        failures.expect("text", f"'{words}' is said", words in shown)
    for words in ("Weights on the CPU", "unknown version", "Changed by"):
        failures.expect("text", f"'{words}' is not said", words in shown, False)
    for way, words in (("hand", "No optimizer step with torch"), ("own", "Optimizer steps that cannot be seen"),
                       ("ranges", "2 steps marked by the program"), ("both", "2 optimizer steps (4 of all optimizers together)"))[slice(None) if LONG else slice(2, 3)]:
        shown = text([], way) if way != "own" else subprocess.run(
            [strata, "dryrun", "--", program, way, "4"], capture_output=True, text=True).stdout
        failures.expect(way, f"'{words}' is said", words in shown)
        if way == "ranges":
            failures.expect(way, "no optimizer is said to step", [l for l in shown.splitlines() if "optimizer step" in l], [])


def check_change(strata, program, failures):
    run, report = dryrun(strata, ["--change", "optimizer=sgd"], [program, "adam", "2"])
    failures.expect("change", "told", bool(report) and told(report["changed"], "applied", "steps"), (False, 2))
    failures.expect("change", "note", bool(report) and "not applied" in str(report["changed"]["note"]))
    failures.expect("change", "said", "strata: --change optimizer=sgd: not applied" in run.stderr)


def check_fit(strata, program, failures):
    for way, ended in (("adam", True), ("hand", False))[:None if LONG else 1]:
        run, report = dryrun(strata, ["--steps", "2", "--fit", "N=3..6"], [program, way, "{N}"])
        failures.expect(f"fit of {way}", "best", report and report["fit"]["best"][0]["values"], {"N": 6})
        failures.expect(f"fit of {way}", "note", bool(report) and (report["steps_note"] is None) == ended)
        failures.expect(f"fit of {way}", "said once", run.stderr.count("strata: --steps 2: "), 0 if ended else 1)


def check_facts(strata, python, program, version, folder, failures):
    session = os.path.join(folder, "kept.strata")
    run, report = dryrun(strata, ["--steps", "3", "-o", session], [program, "ranges", str(TURNS)])
    failures.expect("facts", "version", told(report, "torch", "weights_skipped", "skip_init"), (version, False, True))
    failures.expect("facts", "said at once", f"with torch {version}" in run.stderr.splitlines()[0])
    _, summary = strata_json(strata, ["summary", "--json", session])
    device = summary and summary["devices"][0]
    failures.expect("session", "exact", bool(device) and device["integrity"]["exact"])
    failures.expect("session", "peak", device and device["requested_bytes_peak"], peak(report))
    failures.expect("session", "version", bool(summary) and f"torch {version}" in summary["format"])
    failures.expect("session", "the steps are in it", bool(summary) and summary["annotations"] > 3)
    checked = subprocess.run([strata, "check", session], capture_output=True, text=True)
    failures.expect("session", "check", (checked.returncode, "interrupted" in checked.stdout), (0, False))
    # What starts it is no LibTorch: the process itself tells.
    path = with_environment(PATH=os.path.dirname(python) + ":" + os.environ["PATH"])
    _, report = dryrun(strata, ["--steps", "3"], ["sh", "-c", f"'{program}' adam {TURNS}; true"], env=path)
    failures.expect("script", "told", told(report, "torch", "steps", "ended_by_steps"), (version, 3, True))


def check_python(strata, python, program, failures):
    """A Python that starts it, with and without steps of its own."""
    start = f"import subprocess, sys\nstatus = subprocess.run([{program!r}, 'adam', '{TURNS}']).returncode\n"
    train = ("import torch\np = torch.nn.Parameter(torch.ones(1 << 20, device='cuda'))\no = torch.optim.Adam([p])\n"
             "for i in range(2): p.sum().backward(); o.step()\n")
    for name, code, processes, skipped in (
            ("starts", start + "sys.exit(status)", 1, False),
            ("starts and trains", start + train + "sys.exit(status)", 2, False),
            ("starts and makes weights", start + train + "m = torch.nn.Linear(8, 8)\nsys.exit(status)", 2, True))[None if LONG else 2:]:
        run, report = dryrun(strata, ["--steps", "3"], [python, "-c", code])
        failures.expect(name, "told", told(report, "steps", "ended_by_steps", "exit_status", "weights_skipped"),
                        (3, True, 0, skipped))
        failures.expect(name, "processes", len(report["ranks"]) if report else run.stderr, processes)
        failures.expect(name, "steps of the program", lines(run, "stepped"), 3)
    # Python's own steps are told of in the same way.
    _, report = dryrun(strata, ["--steps", "3"], [python, "-c", train])
    failures.expect("Python", "told", told(report, "steps", "steps_source", "ended_by_steps", "exit_status"),
                    (2, OPTIMIZER, False, 0))
    failures.expect("Python", "note", bool(report) and "after 2 of 3 steps" in str(report["steps_note"]))
    two = train.replace("o.step()", "o.step(); s.step()").replace("for i", "s = torch.optim.SGD([p])\nfor i")
    _, report = dryrun(strata, [], [python, "-c", two])
    failures.expect("Python", "of two optimizers", told(report, "steps", "steps_of_all"), (2, 4))
    _, report = dryrun(strata, ["--steps", "1"], [python, "-c", train])
    failures.expect("Python", "ended", told(report, "steps", "ended_by_steps", "steps_note"), (1, True, None))


def check_bad_ends(strata, python, failures):
    """What goes wrong once the steps are made is no failure of the program; one whose steps are not made still has its own."""
    program = program_of(strata, python, failures)
    for way, words in (("hangs", "goes on after the last step: it is ended"), ("crashes", "at the end")) if program else ():
        run, report = dryrun(strata, ["--steps", "3"], [program, way, str(TURNS)])
        failures.expect(way, "told", told(report, "steps", "ended_by_steps", "exit_status"), (3, True, 0))
        failures.expect(way, "exit", (run.returncode, lines(run, "stepped")), (0, 3))
        failures.expect(way, f"'{words}' is said", words in run.stderr)
    if program:
        run, report = dryrun(strata, ["--steps", "3"], [program, "crashes", "2"])
        failures.expect("crash of its own", "told", told(report, "ended_by_steps", "exit_status", "steps_note"),
                        (False, 134, None))


def test(arguments, python, failures):
    strata, version = arguments.strata, facts_of(python)[3]
    program = program_of(strata, python, failures)
    if not program:
        return "the program cannot be built"
    with tempfile.TemporaryDirectory() as folder:
        check_ended(strata, program, folder, failures)
        check_facts(strata, python, program, version, folder, failures)
    check_on_its_own(strata, program, failures)
    check_peaks(strata, program, failures)
    check_text(strata, program, version, failures)
    check_change(strata, program, failures)
    check_fit(strata, program, failures)
    check_python(strata, python, program, failures)
    return None


if __name__ == "__main__":
    sys.exit(main(test, once=lambda arguments, python, failures: check_bad_ends(arguments.strata, python, failures)))
