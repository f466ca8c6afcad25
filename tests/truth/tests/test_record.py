# SPDX-License-Identifier: GPL-3.0-or-later
"""Records programs of the corpus and holds the session against torch's own snapshot of the same process: events one by
one, stacks of allocations and frees, the state at the end block by block. torch's recorder knows Python's stacks alone here:
where it has none, Strata has those of C++ if it was told so, and none otherwise.

usage: test_record.py STRATA [--python PYTHON]... [--long]

Without a Python with PyTorch the test is skipped (exit 77) and says so. --long, or STRATA_LONG=1, runs every program
with expandable segments on and off.
"""
import argparse
import os
import sys
import tempfile

import record_tools
from running import Failures, LONG, PROGRAMS, SKIPPED, of_this_form, pythons
from test_dryrun_corpus import CASES, TRAIN, known_to
from cpp import compiled

CORNERS = os.path.join(PROGRAMS, "corners.py")
RECORDED = os.path.join(PROGRAMS, "recorded.py")

# Programs of the short form: what differs in events. Switching torch's recorder off leaves nothing to compare with.
SHORT = ("gpt --option side_stream --option variable_shapes --steps 6", "mlp --option out_of_memory", "mlp --option two_devices")
MODELS_OF_CPP = ("gpt", "conv")


def simulated(dryrun_options):
    """Options of strata dryrun as those of strata record and the environment."""
    words = iter(dryrun_options.split())
    options, settings = [], ""
    card = "A100-80GB"
    for word in words:
        value = next(words)
        if word == "--device":
            card = value
        elif word in ("--devices", "--capacity"):
            options += [word, value]
        elif word == "--set":
            settings = value
    return ["--simulated", card, *options], settings


def hold(strata, name, session, snapshot, folder, failures, stacks):
    wanted = record_tools.pickle.load(open(snapshot, "rb"))
    got = record_tools.as_snapshot(strata, session, folder)
    events, native = record_tools.compare_events(name, got, wanted, failures, stacks)
    blocks = record_tools.compare_states(name, got, wanted, failures)
    failures.expect(name, "strata check", record_tools.checks(strata, session)[0], 0)
    return events, blocks, native


def check(strata, name, options, settings, stacks, command, failures, comparable):
    with tempfile.TemporaryDirectory() as folder:
        session, snapshot = os.path.join(folder, "out.strata"), os.path.join(folder, "torch.pickle")
        environment = {**os.environ, "PYTORCH_CUDA_ALLOC_CONF": settings}
        run = record_tools.record(strata, ["-o", session, "--stacks", stacks, *options],
                                  [w.replace("SNAPSHOT", snapshot) for w in command], env=environment)
        if run.returncode != 0 or not os.path.exists(session) or not os.path.exists(snapshot):
            failures.expect(name, "run", (run.returncode, run.stdout[-500:], run.stderr[-2000:]), "a recording")
            return 0, 0, 0
        failures.expect(name, "complaints", [l for l in run.stderr.splitlines() if "missing" in l], [])
        return hold(strata, name, session, snapshot, folder, failures, stacks if comparable else None)


def programs_of(python, long, short=SHORT):
    """(name, options, settings, stacks, command, whether torch's frames are comparable) of each run."""
    corners = (("", "python"), ("expandable_segments:True", "auto"))
    for settings, stacks in corners if long or short == SHORT else corners[1:]:
        yield (f"{python} corners under {settings or 'defaults'}", ["--simulated", "A100-80GB", "--devices", "2"],
               settings, stacks, [python, RECORDED, "SNAPSHOT", CORNERS], True)
    for program, options in CASES:
        if "recorder_off" in program or not known_to(python, program.split()) or not (long or program in short):
            continue
        simulation, settings = simulated(options)
        both = ["", "expandable_segments:True"] if long else [""]
        for extra in both:
            joined = ",".join(part for part in (settings, extra) if part)
            if joined.count("expandable_segments") > 1:
                continue
            yield (f"{python} {program} under {joined or 'defaults'}", simulation, joined, "python" if joined else "auto",
                   [python, RECORDED, "SNAPSHOT", TRAIN, *program.split()], True)


def cpp_programs(python, failures, long):
    program = compiled(python, failures)
    if program is None:
        return
    for model in MODELS_OF_CPP if long else MODELS_OF_CPP[:1]:
        for settings in ("", "expandable_segments:True") if long else ("",):
            yield (f"{python} C++ {model} under {settings or 'defaults'}", ["--simulated", "A100-80GB"], settings,
                   "native", [program, model, "4", os.devnull, "SNAPSHOT"], False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("strata")
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--long", action="store_true", default=LONG)
    arguments = parser.parse_args()
    found = pythons(arguments.python)
    if not found:
        print("skipped: no torch: tests/truth/environment.sh makes an environment")
        return SKIPPED
    failures = Failures()
    for python in found if arguments.python or arguments.long else of_this_form(found, older=True):
        # In the short form the newest runs more than the others.
        runs = [*programs_of(python, arguments.long, SHORT if python == found[0] else SHORT[:1]),
                *cpp_programs(python, failures, arguments.long)]
        events = blocks = native = 0
        for run in runs:
            compared = check(arguments.strata, *run[:5], failures, run[5])
            events, blocks, native = (a + b for a, b in zip((events, blocks, native), compared))
        failures.expect(python, "something compared", events > 1000 and blocks > 100 and native > 100, True)
        print(f"{python}: {len(runs)} programs, {events} events, {native} of them with stacks of C++ alone, {blocks} blocks, "
              f"{failures.count} failures so far", flush=True)
    return failures.status()


if __name__ == "__main__":
    sys.exit(main())
