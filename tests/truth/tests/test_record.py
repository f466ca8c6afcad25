# SPDX-License-Identifier: GPL-3.0-or-later
"""Records programs of the corpus and holds the session against torch's own snapshot of the same process: events one by
one, stacks of allocations and frees, the state at the end block by block. torch's recorder knows Python's stacks alone here:
where it has none, Strata has those of C++ if it was told so, and none otherwise.

The long form runs every program with expandable segments on and off.
"""
import os
import pickle

import pytest

import forks
import record_tools
from cpp import compiled
from running import PROGRAMS, with_environment
from test_dryrun_corpus import CASES, TRAIN, known_to

CORNERS, RECORDED = (os.path.join(PROGRAMS, name) for name in ("corners.py", "recorded.py"))
EXPANDABLE = "expandable_segments:True"
TWO_DEVICES = "--devices 2 --device A100-80GB"
GPT = "gpt --option side_stream --option variable_shapes --steps 6"
#: Programs of the short form beside the corners: what differs in events.
SHORT = ("corners", GPT, "mlp --option out_of_memory", "mlp --option two_devices")


def starts():
    """Options of strata dryrun, settings and stacks to the programs that are recorded in one start of Python."""
    found = {(TWO_DEVICES, "", "python"): ["corners"]}
    for program, options in CASES:
        for extra in ("", EXPANDABLE):
            words = options.split()
            settings = words[words.index("--set") + 1] if "--set" in words else ""
            joined = ",".join(part for part in (settings, extra) if part)
            # Switching torch's recorder off leaves nothing to compare with.
            if joined.count("expandable_segments") < 2 and "recorder_off" not in program:
                found.setdefault((options, joined, "python" if joined else "auto"), []).append(program)
    return [pytest.param(*how, programs, id=" ".join(part for part in how if part)) for how, programs in found.items()]


def simulated(dryrun_options):
    """Options of strata dryrun as those of strata record."""
    words = dryrun_options.split()
    given = dict(zip(words[::2], words[1::2]))
    kept = [word for option in ("--devices", "--capacity") if option in given for word in (option, given[option])]
    return ["--simulated", given.get("--device", "A100-80GB"), *kept]


def hold(strata, name, session, snapshot, folder, failures, stacks):
    """How many events, blocks, and stacks of C++ alone were compared."""
    if not os.path.exists(session) or not os.path.exists(snapshot):
        failures.expect(name, "session and snapshot", [os.path.exists(path) for path in (session, snapshot)], [True, True])
        return 0, 0, 0
    with open(snapshot, "rb") as file:
        wanted = pickle.load(file)
    got = record_tools.as_snapshot(strata, session, folder)
    events, native = record_tools.compare_events(name, got, wanted, failures, stacks)
    blocks = record_tools.compare_states(name, got, wanted, failures)
    failures.expect(name, "strata check", record_tools.checks(strata, session)[0], 0)
    return events, blocks, native


def hold_programs(strata, python, how, settings, stacks, programs, folder, failures):
    """Of programs that are recorded in one start, the sums of what was compared."""
    programs = [program for program in programs if known_to(python, program.split())]
    snapshots = [os.path.join(folder, f"{number}.pickle") for number in range(len(programs))]
    commands = [[RECORDED, path, *([CORNERS] if program == "corners" else [TRAIN, *program.split()])]
                for path, program in zip(snapshots, programs)]
    start = [strata, "record", "-o", os.path.join(folder, "{process}.strata"), "--stacks", stacks, *simulated(how), "--"]
    ended, run = forks.apart(start, python, commands, folder, env=with_environment(PYTORCH_CUDA_ALLOC_CONF=settings))
    failures.expect(settings, "complaints", [line for line in run.stderr.splitlines() if "missing" in line], [])
    sums = (0, 0, 0)
    for program, each, snapshot in zip(programs, ended, snapshots):
        name = f"{program} under {settings or 'defaults'}"
        failures.expect(name, "status and complaints", (each.status, [l for l in each.stderr.splitlines() if "missing" in l]), (0, []))
        session = os.path.join(folder, f"{each.process}.strata")
        sums = tuple(map(sum, zip(sums, hold(strata, name, session, snapshot, folder, failures, stacks))))
    print(f"{len(programs)} programs: {sums[0]} events, {sums[2]} of them with stacks of C++ alone, {sums[1]} blocks")
    return sums


@pytest.mark.torch("older")
def test_stacks_of_both_languages(strata, python, tmp_path, failures):
    events, blocks, native = hold_programs(strata, python, TWO_DEVICES, EXPANDABLE, "auto", ["corners", GPT], str(tmp_path), failures)
    failures.expect("compared", "events, blocks, native stacks", (events > 1000, blocks > 100, native > 100), (True, True, True))


def test_stacks_of_python(strata, python, tmp_path, failures):
    events, blocks, _ = hold_programs(strata, python, TWO_DEVICES + " --capacity 2GiB", "", "python", SHORT, str(tmp_path), failures)
    failures.expect("compared", "events and blocks", (events > 1000, blocks > 100), (True, True))


@pytest.mark.long
@pytest.mark.parametrize("how, settings, stacks, programs", starts())
def test_corpus(strata, python, how, settings, stacks, programs, tmp_path, failures):
    hold_programs(strata, python, how, settings, stacks, programs, str(tmp_path), failures)


@pytest.mark.parametrize("model, settings", [("gpt", ""), *(pytest.param(*case, marks=pytest.mark.long) for case in (
    ("gpt", EXPANDABLE), ("conv", ""), ("conv", EXPANDABLE)))])
def test_cpp(strata, python, model, settings, tmp_path, failures):
    """torch has no stack here to compare with."""
    program = compiled(python, failures)
    if not program:
        return
    session, snapshot = (str(tmp_path / name) for name in ("out.strata", "torch.pickle"))
    run = record_tools.record(strata, ["-o", session, "--stacks", "native", "--simulated", "A100-80GB"],
                              [program, model, "4", os.devnull, snapshot], env=with_environment(PYTORCH_CUDA_ALLOC_CONF=settings))
    failures.expect(model, "run", (run.returncode, [l for l in run.stderr.splitlines() if "missing" in l]), (0, []))
    hold(strata, model, session, snapshot, str(tmp_path), failures, None)
