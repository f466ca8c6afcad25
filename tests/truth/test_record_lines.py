# SPDX-License-Identifier: GPL-3.0-or-later
"""C++ programs at -O0 and -O2, recorded preloaded and linked: each block above 1 % of the peak has a line of the program, and
the functions that -O2 inlined stand in its stack as they do at -O0. Nobody calls `strata symbolize`.

usage: test_record_lines.py STRATA STRATA_SIMGPU BUILD_FOLDER [--python PYTHON]...

Backward runs on a thread of LibTorch, without a frame of the program: such blocks go by their step. Skipped (exit 77) without
PyTorch or what compiles with it.
"""
import json
import os
import subprocess
import sys
import tempfile

import record_tools
from running import LONG, main, strata_json
from test_cpp import build

CAPTURE = os.path.join(record_tools.PROJECT, "capture")
SOURCE = os.path.join(record_tools.HERE, "train.cpp")
LINKED = os.path.join(record_tools.HERE, "linked.cpp")
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


def record(arguments, program, linked, model, session):
    truth = session + ".json"
    if linked:
        command = [arguments.simgpu, "--", program, model, "3", truth]
        run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "STRATA_TEST_SESSION": session})
    else:
        run = record_tools.record(arguments.strata, ["-o", session, "--simulated", SIMULATED], [program, model, "3", truth])
    return run.returncode


def test(arguments, python, failures):
    for name in ("strata", "simgpu", "build"):
        setattr(arguments, name, os.path.abspath(getattr(arguments, name)))
    library = os.path.join(arguments.build, "lib", "strata")
    linking = (LINKED, "-I" + os.path.join(CAPTURE, "include"), "-L" + library, "-Wl,-rpath," + library, "-lstrata_capture")
    chains = {}
    for optimization in ("-O0", "-O2"):
        for way, more in (("preloaded", ()), ("linked", linking)):
            program = build(python, failures, SOURCE, (optimization, *more))
            if not program:
                return "the programs cannot be built"
            for model in MODELS[way]:
                name = f"{model} {optimization} {way}"
                with tempfile.TemporaryDirectory() as folder:
                    session = os.path.join(folder, "run.strata")
                    failures.expect(name, "exit", record(arguments, program, way == "linked", model, session), 0)
                    blocks, peak = large_blocks(arguments.strata, session)
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
    for way, models in MODELS.items():
        for model in models:
            wanted = chains.get((model, "-O0", way))
            got = chains.get((model, "-O2", way))
            if not got or not wanted or len(got) != len(wanted):
                failures.expect(model, "blocks at -O2", got and len(got), wanted and len(wanted))
                continue
            differ = [(g, w) for g, w in zip(got, wanted) if g != w]
            print(f"{model} {way}: functions of the program at -O2 as at -O0 for {len(got) - len(differ)} of {len(got)} blocks")
            failures.expect(f"{model} {way}", "inlined functions", differ[:3], [])
    return None


if __name__ == "__main__":
    sys.exit(main(test, ("strata", "simgpu", "build"), every_python=False))
