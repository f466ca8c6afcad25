# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that `strata record --operators` and strata_capture.start(operators=True) record, on the simulated device: against those of
torch.profiler's trace of the same run, one by one, and each kernel's against the one that the profiler's external ids name. That a dry run
with operators has a roofline, test_bounds.py proves of the recordings that it makes.
"""
import bisect
import collections
import json
import os
import subprocess

import pytest

from kernel_traces import DEVICE_KINDS, as_trace, runs_of, told
from running import LONG, PROGRAMS, strata_json

MODELS = ("mlp", "gpt", "conv_amp", "streams", "libraries", "ddp") if LONG else ("gpt",)
RUN = ("S+,K+,K-,S-", "operators")
INPUTS = ("Input Dims", "Input type", "Concrete Inputs", "Input Strides")
MARGIN_US = 200  #: between the clocks of the two, and less than what lies between a step and the profiler's begin


class Trace:
    """Rows of a Chrome trace by what they are, times in microseconds since the epoch."""

    def __init__(self, path):
        with open(path) as file:
            content = json.load(file)
        base = int(content.get("baseTimeNanoseconds", 0)) / 1000
        rows = [e for e in content["traceEvents"] if e.get("ph") == "X"]
        for row in rows:
            row["ts"] += base
        self.operators = sorted((e for e in rows if e["cat"] == "cpu_op"), key=lambda e: (e["ts"], -e["dur"]))
        self.by_thread = collections.defaultdict(list)
        for row in self.operators:
            self.by_thread[row["tid"]].append(row)
        self.work = [e for e in rows if e["cat"] in DEVICE_KINDS]
        self.calls = {e["args"]["correlation"]: e for e in rows if e["cat"] in ("cuda_runtime", "cuda_driver") and "correlation" in e["args"]}
        self.by_external = {e["args"]["External id"]: e for e in self.operators if "External id" in e["args"]}

    def around(self, row):
        """The innermost operator around the call that launched a piece of work: they nest, so it is the last that began."""
        call = self.calls.get(row["args"]["correlation"])
        own = self.by_thread[call["tid"]] if call else []
        begun = bisect.bisect_right(own, call["ts"], key=lambda e: e["ts"]) if call else 0
        return next((e for e in reversed(own[:begun]) if call["ts"] + call["dur"] <= e["ts"] + e["dur"] + 0.002), None)


def inputs(operator):
    """As both can tell them: Kineto leaves lists of more than 30 tensors out, and it knows what a list without entries is a list of."""
    dims, types, values, strides = (operator["args"].get(each, []) for each in INPUTS)
    for index, each in enumerate(types):
        if (len(dims[index]) > 30 and each == "TensorList") or (not dims[index] and values[index] in ("", "[]")):
            dims[index], strides[index], types[index], values[index] = [], [], "", ""
    return json.dumps([dims, types, values, strides])


def called(operator):
    return operator and (operator["name"], inputs(operator))


def spelled(operator):
    return operator["tid"], *called(operator)


@pytest.fixture(scope="module")
def runs(simgpu, capture, python, tmp_path_factory):
    return runs_of([(model, *RUN) for model in MODELS], simgpu, capture, python, tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize("name", MODELS)
def test_against_profiler(strata, runs, name, failures):
    run = runs[name, *RUN]
    assert not run.why
    ours, theirs = Trace(as_trace(strata, run.session)), Trace(run.trace)
    begin = min(e["ts"] for e in theirs.operators) - MARGIN_US
    end = max(e["ts"] for e in theirs.operators) + MARGIN_US
    in_time = [e for e in ours.operators if begin <= e["ts"] <= end]
    ours_counted, theirs_counted = (collections.Counter(map(spelled, each)) for each in (in_time, theirs.operators))
    failures.expect(name, "operators that ours lacks", sum((theirs_counted - ours_counted).values()), 0)
    failures.expect(name, "operators that ours has besides", sum((ours_counted - theirs_counted).values()), 0)
    differ = [(row, other) for row, other in list((theirs_counted - ours_counted).items())[:3]]
    failures.expect(name, "for example", differ, [])
    sequences = [collections.Counter((e["name"], e["args"]["Sequence number"]) for e in each if "Sequence number" in e["args"] and
                                     not e["name"].startswith("autograd::engine"))  # which Kineto numbers afterwards
                 for each in (in_time, theirs.operators)]
    failures.expect(name, "numbers of autograd", sequences[0] == sequences[1])
    known = collections.defaultdict(list)
    for row in ours.work:
        known[told(row)].append(row)
    wrong, missing = [], 0
    for row in theirs.work:
        found = known[told(row)]
        if not found:
            missing += 1
            continue
        mine = called(ours.around(found.pop(0)))
        named = called(theirs.by_external.get(row["args"].get("External id")))
        if mine != named:
            wrong.append((row["name"], mine, named))
    failures.expect(name, "work of the profiler's that ours lacks", missing, 0)
    failures.expect(name, f"work of another operator ({wrong[:2]})", len(wrong), 0)
    size = os.path.getsize(run.session)
    print(f"{name}: {len(theirs.operators)} operators and {len(theirs.work)} pieces of work the same, {size / max(len(ours.operators), 1):.1f} B "
          "an operator with its calls and work; without --operators none is named", flush=True)


@pytest.mark.long
def test_dry_run(strata, python, tmp_path, failures):
    """FLOPs and the roofline of a recording, as of a trace with shapes; without operators there is none."""
    program, session = os.path.join(PROGRAMS, "profiler_program.py"), str(tmp_path / "dry.strata")
    for option, wanted in (("--operators", (True, True)), ("--kernels", (False, False))):
        subprocess.run([strata, "dryrun", "--overwrite", "--device", "A100-80GB", option, "-o", session, "--", python, program, "mlp",
                        str(tmp_path / "t.json")], check=True, capture_output=True)
        _, timeline = strata_json(strata, ["timeline", session, "--json"])
        roofline = timeline["roofline"]
        failures.expect(option, "FLOPs and operators", (sum(row.get("flops") or 0 for row in roofline["rows"]) > 0, len(timeline["operators"]) > 0), wanted)
        if option == "--operators":
            failures.expect(option, "lack", roofline["lack"], "none")
