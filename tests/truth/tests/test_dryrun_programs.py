# SPDX-License-Identifier: GPL-3.0-or-later
"""What programs do with a device, under `strata dryrun`: workers, graphs, streams, steps, many steps, ends of processes.

usage: test_programs.py STRATA STRATA_SIMGPU [--python PYTHON]... [--exits N] [--only-exits]

STRATA_LONG=1 makes it 1,000 steps and 200 exits. Without a Python with PyTorch (see running.py) the test is skipped (exit 77) and
says so.
"""
import os
import subprocess
import sys
import tempfile

import programs
from against_truth import start_each, start_many
from running import LONG, PROGRAMS, main

MIB = 1 << 20
IMPORTS = ["--import", "torch.distributed.fsdp"]  # what each DDP would import for itself
TRAIN = [os.path.join(PROGRAMS, "train.py"), "mlp"]


def written(folder, name, source):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    return path


def check_programs(strata, python, failures):
    """Each checks by itself what it got; and --steps ends a training as if it had not been meant to go on."""
    with tempfile.TemporaryDirectory() as folder:
        sources = {"loader.py": programs.LOADER, "graph.py": programs.CUDA_GRAPH, "streams.py": programs.MULTI_STREAM}
        commands = [[written(folder, name, source)] for name, source in sources.items()]
        commands += [[*TRAIN, "--steps", "2"], [*TRAIN, "--steps", "50"]]
        run, report, ended = start_each(strata, python, ["--steps", "2"], commands, folder)
    name = f"{python} programs"
    failures.expect(name, "exit", run.returncode, 0)
    if report is None or not ended:
        print(run.stderr[-3000:])
        return
    failures.expect(name, "ended well", [each["status"] for each in ended[0]], [0] * len(commands))
    failures.expect(name, "steps", report["steps"], 2)
    devices = {rank["process"]: rank["devices"] for rank in report["ranks"]}
    full, stopped = (devices.get(each["process"]) for each in ended[0][-2:])
    failures.expect(name, "trained", full is not None)
    failures.expect(name, "peaks of two steps and of fifty that are stopped", stopped, full)


def check_leak(simgpu, python, steps, failures):
    """Without torch's recorder, which keeps every event: what grows is the simulator's."""
    run = subprocess.run([simgpu, "--", python, "-c", programs.LEAK, str(steps)], capture_output=True, text=True)
    words = [line.split() for line in run.stdout.splitlines() if line.startswith("RESIDENT")]
    if not words:
        failures.expect(f"{python} leak", "output", (run.returncode, run.stderr[-1500:]), "two figures")
        return
    first, last = (int(word) for word in words[0][1:])
    counted = steps - 100
    print(f"{python}: {(last - first) / counted:.0f} B a step over {counted} steps, {last / MIB:.0f} MiB resident", flush=True)
    failures.expect(f"{python} leak", "grew by more than 2 MiB", last - first > 2 * MIB, False)


def check_exits(strata, python, count, failures):
    """Processes end with threads of the process group running and with tensors in globals: none may abort."""
    with tempfile.TemporaryDirectory() as folder:
        ranks = [os.path.join(PROGRAMS, "ranks.py"), "ddp", "--layers", "1", "--steps", "1", "--leave"]
        run, _, ended = start_many(strata, python, ["--rank", "5", "--world-size", "8"],
                                   [[written(folder, "small.py", programs.ENDS)], ranks] * (count // 2), folder, ["--to-the-end", *IMPORTS])
    name = f"{python} exits"
    statuses = [each["status"] for each in ended or []]
    print(f"{python}: {statuses.count(0)} of {len(statuses)} ended well", flush=True)
    failures.expect(name, "ended well", statuses, [0] * (count // 2 * 2))
    failures.expect(name, "terminated", "terminate called" in run.stderr, False)


def test(arguments, python, failures):
    if not arguments.only_exits:
        check_programs(arguments.strata, python, failures)
        check_leak(arguments.simgpu, python, 1000 if LONG else 300, failures)
    is_newest = python == arguments.found[0]
    usual = (200 if is_newest else 20) if LONG else 4
    check_exits(arguments.strata, python, arguments.exits or usual, failures)


def add_options(parser):
    parser.add_argument("--exits", type=int)
    parser.add_argument("--only-exits", action="store_true")


if __name__ == "__main__":
    sys.exit(main(test, ("strata", "simgpu"), add_options=add_options))
