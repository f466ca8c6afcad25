# SPDX-License-Identifier: GPL-3.0-or-later
"""`strata dryrun --time`: FLOPs of a step against torch's own counter in the same program, forward and backward, of every way to
compute attention; the peaks of memory stay what they are; steps that are many, few and none; collectives; programs in C++.
"""
import json
import os

import pytest

import cpp
from running import PROGRAMS, dryrun

pytestmark = pytest.mark.torch("every")

PROGRAM = os.path.join(PROGRAMS, "flops_program.py")
NEAR = 0.001
#: Names that torch's counter has no FLOPs for and a card spends time on: what of the launches may be of no known cost.
MOST_UNKNOWN = 0.1

ONE_LAYER = """
import sys, torch
layer = torch.nn.Linear(512, 256, bias=False).cuda()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
x = torch.ones(128, 512, device="cuda")
for _ in range(int(sys.argv[1])):
    layer(x).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
torch.cuda.synchronize()
"""
#: Forward and the gradient of the weights: the input needs none.
ONE_LAYER_FLOPS = 2 * 2 * 128 * 512 * 256

DISTRIBUTED = """
import torch
import torch.distributed as dist
dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=4)
torch.cuda.set_device(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(512, 256, bias=False).cuda())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(6):
    model(torch.ones(128, 512, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""

#: A kernel of nobody's operator: a graph that is replayed, by a program that makes no step.
GRAPH = """
import torch
x = torch.zeros(1 << 18, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = (x * 2).relu()
for _ in range(5):
    graph.replay()
"""


def timed(strata, command, *options):
    """The report, and what is told of time."""
    run, report = dryrun(strata, ["--time", *options], command)
    assert report and report["exit_status"] == 0 and report.get("time"), (run.returncode, run.stderr[-2000:])
    return report, report["time"]


def without_processes(rows):
    return [{key: value for key, value in row.items() if key != "process"} if isinstance(row, dict) else row for row in rows] \
        if isinstance(rows, list) else rows


@pytest.mark.parametrize("case", ["gpt2-flash", *(pytest.param(case, marks=pytest.mark.long) for case in (
    "resnet50-bf16", "gpt2-math", "gpt2-cudnn", "gpt2-efficient", "gpt2-explicit", "llama", "resnet50", "vit", "vit-fp32"))])
def test_flops(strata, python, tmp_path, failures, case):
    command = [python, PROGRAM, case, str(tmp_path / "truth.json")]
    report, time = timed(strata, command, "--steps", "3")
    with open(command[-1], encoding="utf-8") as file:
        truth = json.load(file)
    off = time["flops_in_full"] / truth["total"] - 1
    print(f"{case}: {truth['total']:,} FLOPs by torch, {off:+.5%} by the dry run ({time['flops']:,} with causal attention as it is "
          f"done); nothing counted would be -100 %; at least {time['least_ns'] / 1e6:.2f} ms, {time['bytes'] / 1e9:.2f} GB; of "
          f"{time['launches']} launches {time['unknown']['launches']} unknown: {time['unknown']['operators'][:6]}")
    failures.expect(case, "FLOPs are torch's", abs(off) <= NEAR)
    failures.expect(case, "the step that was asked for", time["step"], 3)
    failures.expect(case, "launches of known cost", time["unknown"]["launches"] <= MOST_UNKNOWN * time["launches"])
    failures.expect(case, "time of a step on this machine", time["steps_timed"] > 0 and time["cpu_step_ns"] > 0)
    if case == "gpt2-flash":  # counting changes nothing
        plain = dryrun(strata, ["--steps", "3"], command)[1]
        for key in ("ranks", "tracked", "fits_on", "steps"):
            failures.expect("--time", f"{key} are those without", without_processes(report[key]), without_processes(plain[key]))
        failures.expect("without --time", "nothing of time", "time" in plain, False)


@pytest.mark.long
@pytest.mark.parametrize("steps, options, step, count", [
    (6, [], 4, 1), (6, ["--steps", "5"], 5, 1), (0, [], None, 0), (1, [], None, 1), (2, [], 1, 1), (6, ["--steps", "1"], 1, 1),
    (6, ["--steps", "6"], 2, 1)])
def test_steps(strata, python, steps, options, step, count):
    """A step is a step, however many there are; of a program without one the whole is told."""
    _, time = timed(strata, [python, "-c", ONE_LAYER, str(steps)], *options)
    assert (time["step"], time["flops"]) == (step, count * ONE_LAYER_FLOPS)


@pytest.mark.parametrize("options", [[], pytest.param(["--steps", "4"], marks=pytest.mark.long)], ids=["all steps", "four steps"])
def test_collectives(strata, python, failures, options):
    _, time = timed(strata, [python, "-c", DISTRIBUTED], *options)
    sums = [row for row in time["collectives"] if row["name"].startswith("AllReduce")]
    failures.expect("DDP", f"gradients are summed once: {time['collectives']}", sum(row["bytes"] for row in sums), 4 * 512 * 256)
    failures.expect("DDP", "step and FLOPs", (time["step"], time["flops"]), (4, ONE_LAYER_FLOPS))
    named = [row["name"] for row in time["unknown"]["operators"] if "nccl" in row["name"] or "c10d" in row["name"]]
    failures.expect("DDP", "collectives are no unknown work", named, [])


def test_graph(strata, python):
    """Nodes of graphs that are replayed are outside of operators."""
    _, time = timed(strata, [python, "-c", GRAPH])
    assert (time["unknown"]["outside_launches"], time["step"], time["flops"]) == (10, None, 0)


@pytest.mark.parametrize("model", ["gpt", pytest.param("conv", marks=pytest.mark.long)])
def test_cpp(strata, python, tmp_path, failures, model):
    program = cpp.compiled(python, failures)
    if not program:
        return
    _, time = timed(strata, [program, model, "4", str(tmp_path / "truth.json")], "--steps", "3")
    failures.expect(model, "step", time["step"], 3)
    failures.expect(model, f"products in {time['kinds']}", time["flops"] > 1e6)
    print(f"C++ {model}: {time['flops']:,} FLOPs, at least {time['least_ns'] / 1e6:.3f} ms")
