# SPDX-License-Identifier: GPL-3.0-or-later
"""`strata dryrun --time`: FLOPs of a step against torch's own counter in the same program, forward and backward, of every way to
compute attention; the peaks of memory stay what they are; steps that are many, few and none; collectives; programs in C++.

usage: test_time.py STRATA [--python PYTHON]...
"""
import json
import os
import sys
import tempfile

import cpp
from running import LONG, PROGRAMS, dryrun, main

PROGRAM = os.path.join(PROGRAMS, "flops_program.py")
CASES = ("gpt2-flash", "gpt2-math", "gpt2-cudnn", "gpt2-efficient", "gpt2-explicit", "llama", "resnet50", "resnet50-bf16", "vit",
         "vit-fp32")
SHORT = ("gpt2-flash", "resnet50-bf16")  # of the short form
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

#: A kernel of nobody's operator: a graph that is replayed.
GRAPH = """
import torch
x = torch.zeros(1 << 18, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = (x * 2).relu()
for _ in range(5):
    graph.replay()
"""


def timed(arguments, python, failures, name, words, options=(), program=None):
    """The report, and what is told of time; None where there is none."""
    run, report = dryrun(arguments.strata, ["--time", *options], [program or python, *words])
    if report is None or report["exit_status"] != 0 or not report.get("time"):
        failures.expect(name, "tells of time", (run.returncode, run.stderr[-2000:]), "a report")
        return None, None
    return report, report["time"]


def check_case(arguments, python, failures, case):
    name = f"{python} {case}"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "truth.json")
        report, time = timed(arguments, python, failures, name, [PROGRAM, case, path], ["--steps", "3"])
        if time is None:
            return
        with open(path, encoding="utf-8") as file:
            truth = json.load(file)
    off = time["flops_in_full"] / truth["total"] - 1
    print(f"{case}: {truth['total']:,} FLOPs by torch, {off:+.5%} by the dry run ({time['flops']:,} with causal attention as it is "
          f"done); nothing counted would be -100 %; at least {time['least_ns'] / 1e6:.2f} ms, {time['bytes'] / 1e9:.2f} GB; of "
          f"{time['launches']} launches {time['unknown']['launches']} unknown: {time['unknown']['operators'][:6]}", flush=True)
    failures.expect(name, "FLOPs are torch's", abs(off) <= NEAR)
    failures.expect(name, "the step that was asked for", time["step"], 3)
    failures.expect(name, "launches of known cost", time["unknown"]["launches"] <= MOST_UNKNOWN * time["launches"])
    failures.expect(name, "time of a step on this machine", time["steps_timed"] > 0 and time["cpu_step_ns"] > 0)


def check_peaks(arguments, python, failures):
    """Counting changes nothing."""
    with tempfile.TemporaryDirectory() as folder:
        words = [PROGRAM, "gpt2-flash", os.path.join(folder, "truth.json")]
        reports = [dryrun(arguments.strata, [*options, "--steps", "3"], [python, *words])[1] for options in ([], ["--time"])]
    for key in ("ranks", "tracked", "fits_on", "steps"):
        values = [[{k: v for k, v in row.items() if k != "process"} if isinstance(row, dict) else row for row in report[key]]
                  if isinstance(report[key], list) else report[key] for report in reports]
        failures.expect(f"{python} --time", f"{key} are those without", values[1], values[0])
    failures.expect(f"{python} without --time", "nothing of time", "time" in reports[0], False)


def check_steps(arguments, python, failures):
    """A step is a step, however many there are; of a program without one the whole is told."""
    cases = ((6, [], 4, 1), (6, ["--steps", "5"], 5, 1), (0, [], None, 0), (1, [], None, 1), (2, [], 1, 1), (6, ["--steps", "1"], 1, 1),
             (6, ["--steps", "6"], 2, 1))
    for steps, options, step, count in cases if LONG else cases[:3]:
        name = f"{python} {steps} steps {options}"
        _, time = timed(arguments, python, failures, name, ["-c", ONE_LAYER, str(steps)], options)
        if time is not None:
            failures.expect(name, "step", time["step"], step)
            failures.expect(name, "FLOPs", time["flops"], count * ONE_LAYER_FLOPS)


def check_collectives(arguments, python, failures):
    name = f"{python} DDP"
    _, time = timed(arguments, python, failures, name, ["-c", DISTRIBUTED], ["--steps", "4"])
    if time is not None:
        sums = [row for row in time["collectives"] if row["name"].startswith("AllReduce")]
        failures.expect(name, f"gradients are summed once: {time['collectives']}", sum(row["bytes"] for row in sums), 4 * 512 * 256)
        failures.expect(name, "FLOPs", time["flops"], ONE_LAYER_FLOPS)
        named = [row["name"] for row in time["unknown"]["operators"] if "nccl" in row["name"] or "c10d" in row["name"]]
        failures.expect(name, "collectives are no unknown work", named, [])


def check_graph(arguments, python, failures):
    name = f"{python} graph"
    _, time = timed(arguments, python, failures, name, ["-c", GRAPH])
    if time is not None:
        failures.expect(name, "nodes of graphs that are replayed are outside of operators",
                        time["unknown"]["outside_launches"], 10)


def check_cpp(arguments, python, failures):
    program = cpp.compiled(python, failures)
    for model in ("gpt", "conv")[:2 if LONG else 1] if program else ():
        name = f"{python} C++ {model}"
        with tempfile.TemporaryDirectory() as folder:
            _, time = timed(arguments, python, failures, name, [model, "4", os.path.join(folder, "truth.json")], ["--steps", "3"],
                            program)
        if time is not None:
            failures.expect(name, "step", time["step"], 3)
            failures.expect(name, f"products in {time['kinds']}", time["flops"] > 1e6)
            print(f"C++ {model}: {time['flops']:,} FLOPs, at least {time['least_ns'] / 1e6:.3f} ms", flush=True)


def test(arguments, python, failures):
    check_peaks(arguments, python, failures)
    check_steps(arguments, python, failures)
    check_collectives(arguments, python, failures)
    check_graph(arguments, python, failures)
    check_cpp(arguments, python, failures)
    for case in CASES if LONG else SHORT:
        check_case(arguments, python, failures, case)


if __name__ == "__main__":
    sys.exit(main(test))
