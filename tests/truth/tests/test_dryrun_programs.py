# SPDX-License-Identifier: GPL-3.0-or-later
"""What programs do with a device, under `strata dryrun`: workers, graphs, streams, steps, many steps, ends of processes.

That no process aborts at its end is held in the short form by test_dryrun_ranks.py, with two of them.
"""
import os
import subprocess

import pytest

import programs
from against_truth import start_each, start_many
from running import LONG, PROGRAMS

pytestmark = pytest.mark.torch("every")

MIB = 1 << 20
TRAIN = [os.path.join(PROGRAMS, "train.py"), "mlp"]


def written(folder, name, source):
    path = folder / name
    path.write_text(source)
    return str(path)


def test_programs(strata, python, tmp_path, failures):
    """Each checks by itself what it got; and --steps ends a training as if it had not been meant to go on."""
    sources = {"loader.py": programs.LOADER, "graph.py": programs.CUDA_GRAPH, "streams.py": programs.MULTI_STREAM}
    commands = [[written(tmp_path, name, source)] for name, source in sources.items()]
    commands += [[*TRAIN, "--steps", "2"], [*TRAIN, "--steps", "50"]]
    run, report, ended = start_each(strata, python, ["--steps", "2"], commands, tmp_path)
    assert report and ended, run.stderr[-3000:]
    failures.expect("programs", "exit", run.returncode, 0)
    failures.expect("programs", "ended well", [each["status"] for each in ended[0]], [0] * len(commands))
    failures.expect("programs", "steps", report["steps"], 2)
    devices = {rank["process"]: rank["devices"] for rank in report["ranks"]}
    full, stopped = (devices.get(each["process"]) for each in ended[0][-2:])
    failures.expect("programs", "trained", full is not None)
    failures.expect("programs", "peaks of two steps and of fifty that are stopped", stopped, full)


def test_leak(simgpu, python):
    """Without torch's recorder, which keeps every event: what grows is the simulator's."""
    steps = 1000 if LONG else 300
    run = subprocess.run([simgpu, "--", python, "-c", programs.LEAK, str(steps)], capture_output=True, text=True)
    words = [line.split() for line in run.stdout.splitlines() if line.startswith("RESIDENT")]
    assert words, (run.returncode, run.stderr[-1500:])
    first, last = (int(word) for word in words[0][1:])
    print(f"{(last - first) / (steps - 100):.0f} B a step over {steps - 100} steps, {last / MIB:.0f} MiB resident")
    assert last - first <= 2 * MIB


@pytest.mark.long
def test_exits(strata, python, newest, tmp_path):
    """Processes end with threads of the process group running and with tensors in globals: none may abort."""
    count = 100 if python == newest else 10
    ranks = [os.path.join(PROGRAMS, "ranks.py"), "ddp", "--layers", "1", "--steps", "1", "--leave"]
    run, _, ended = start_many(strata, python, ["--rank", "5", "--world-size", "8"],
                               [[written(tmp_path, "small.py", programs.ENDS)], ranks] * count, tmp_path,
                               ["--to-the-end", "--import", "torch.distributed.fsdp"])  # what each DDP would import for itself
    assert ended, run.stderr[-3000:]
    assert [each["status"] for each in ended] == [0] * 2 * count
    assert "terminate called" not in run.stderr
