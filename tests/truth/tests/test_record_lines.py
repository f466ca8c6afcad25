# SPDX-License-Identifier: GPL-3.0-or-later
"""C++ programs at -O0 and -O2, recorded preloaded and linked: each block above 1 % of the peak has a line of the program, and
the functions that -O2 inlined stand in its stack as they do at -O0. Nobody calls `strata symbolize`.

Backward runs on a thread of LibTorch, without a frame of the program: such blocks go by their step.
"""
import json
import os
import subprocess
import tempfile

import pytest

import record_tools
from cpp import compiled
from running import LONG, PROGRAMS, PROJECT, strata_json

pytestmark = pytest.mark.torch("newest")

CAPTURE = os.path.join(PROJECT, "capture")
SOURCE = os.path.join(PROGRAMS, "train.cpp")
LINKED = os.path.join(PROGRAMS, "linked.cpp")
SIMULATED = "T4-16GB"
MODELS = {"preloaded": ("gpt", "conv"), "linked": ("gpt", "conv")} if LONG else {"preloaded": ("gpt",), "linked": ("conv",)}
SHARE = 0.01  # of the peak


def is_of_autograd(frames):
    return any("torch::autograd::Engine::thread_" in f["name"] for f in frames)


def own(frames):
    """Functions of the program, innermost first, by name alone: -O2 says another line of the same statement."""
    return [f["name"] for f in frames if os.path.basename(f["file"]) == os.path.basename(SOURCE)]


def large_blocks(strata, session):
    """Address-free facts of the blocks above a hundredth of the peak, and the peak."""
    _, summary = strata_json(strata, ["summary", "--json", session])
    if summary is None:
        return None, 0
    peak = summary["devices"][0]["requested_bytes_peak"]
    run = subprocess.run([strata, "blocks", "--json", "--frames", "--limit", "0", session], capture_output=True, text=True)
    rows = [json.loads(line) for line in run.stdout.splitlines()][1:]
    return [row for row in rows if row["requested_bytes"] > SHARE * peak], peak


def record(strata, simgpu, program, linked, model, session):
    truth = session + ".json"
    if linked:
        command = [simgpu, "--", program, model, "3", truth]
        run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "STRATA_TEST_SESSION": session})
    else:
        run = record_tools.record(strata, ["-o", session, "--simulated", SIMULATED], [program, model, "3", truth])
    return run.returncode


def chains_of(programs, strata, simgpu, failures):
    """By model and way: the functions of the program in the stack of each large block of its own threads."""
    chains = {}
    for (way, optimization), program in programs.items():
        for model in MODELS[way]:
            name = f"{model} {optimization} {way}"
            with tempfile.TemporaryDirectory() as folder:
                session = os.path.join(folder, "run.strata")
                failures.expect(name, "exit", record(strata, simgpu, program, way == "linked", model, session), 0)
                blocks, peak = large_blocks(strata, session)
            if not blocks:
                failures.expect(name, "blocks", blocks, "some")
                continue
            forward = [block for block in blocks if not is_of_autograd(block["frames"])]
            lineless = [block for block in forward if "train.cpp:" not in (block["line"] or "")]
            nowhere = [f for block in blocks for f in block["frames"] if f["name"] == "_start" and f["line"] > 0]
            print(f"{name}: {len(blocks)} blocks above {SHARE:.0%} of {peak:,} B, {len(forward)} of the program's threads, "
                  f"{len(forward) - len(lineless)} with its line")
            failures.expect(name, "without a line", [(b["requested_bytes"], b["line"]) for b in lineless[:5]], [])
            failures.expect(name, "lines of _start", nowhere[:1], [])
            chains[model, optimization, way] = [own(block["frames"]) for block in forward]
    return chains


def test_lines_and_inlined_functions(strata, simgpu, build, python, failures):
    library = os.path.join(build, "lib", "strata")
    linking = (LINKED, "-I" + os.path.join(CAPTURE, "include"), "-L" + library, "-Wl,-rpath," + library, "-lstrata_capture")
    programs = {(way, optimization): compiled(python, failures, SOURCE, (optimization, "-g", *more))
                for optimization in ("-O0", "-O2") for way, more in (("preloaded", ()), ("linked", linking))}
    if not all(programs.values()):
        return
    chains = chains_of(programs, strata, simgpu, failures)
    for way, models in MODELS.items():
        for model in models:
            wanted, got = (chains.get((model, optimization, way)) for optimization in ("-O0", "-O2"))
            if not got or not wanted or len(got) != len(wanted):
                failures.expect(model, "blocks at -O2", got and len(got), wanted and len(wanted))
                continue
            differ = [(g, w) for g, w in zip(got, wanted) if g != w]
            print(f"{model} {way}: functions of the program at -O2 as at -O0 for {len(got) - len(differ)} of {len(got)} blocks")
            failures.expect(f"{model} {way}", "inlined functions", differ[:3], [])
