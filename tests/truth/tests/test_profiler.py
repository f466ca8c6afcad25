# SPDX-License-Identifier: GPL-3.0-or-later
"""torch.profiler in programs on the simulated device: every GPU event belongs to its launch and to the operator that launched
it, nothing overlaps in a stream, every launch has its work, and `strata timeline` reads the trace. Outside of a dry run, as here, no
duration claims to be a lower bound; test_bounds.py proves that such traces are made in dry runs, too.
"""
import bisect
import collections
import json
import os
import re

import pytest

from forks import TRAINING, forked
from running import LONG, PROGRAMS, strata_json

PROGRAM = os.path.join(PROGRAMS, "profiler_program.py")
MODELS = ("mlp", "gpt", "conv", "conv_amp", "ddp", "graphs", "streams", "libraries") if LONG else ("gpt", "graphs", "streams")
STEPS = 3
LAUNCHES = ("cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel", "cuLaunchKernel", "cuLaunchKernelEx")
#: Operators of which each call runs something on the GPU, by the library that it asks.
WORKING = ("aten::mm", "aten::addmm", "aten::bmm", "aten::cudnn_convolution", "aten::cudnn_batch_norm", "aten::_fft_r2c",
           "aten::_fft_c2c", "aten::linalg_cholesky_ex", "aten::linalg_qr", "aten::_cudnn_rnn", "aten::_cudnn_rnn_backward",
           "aten::_scaled_dot_product_flash_attention", "aten::convolution_backward", "aten::embedding")
#: Names that must be among those of a model's kernels.
NAMES = {
    "ddp": ("ncclDevKernel_AllReduce",),
    "conv": ("cudnn_convolution_fprop", "cudnn_convolution_dgrad", "cudnn_convolution_wgrad", "cudnnBatchNormalization"),
    "conv_amp": ("cudnn_convolution_fprop", "cudnn_convolution_dgrad", "cudnn_convolution_wgrad"),
    "gpt": ("cublas", "flash_fwd", "flash_bwd"),
    "libraries": ("bessel_j0", "cufftXtExec", "cusolverDn", "cusparseSpMM", "cudnnRNNForward", "cudnnRNNBackward"),
    "streams": ("Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pageable -> Device)", "Memcpy DtoH (Device -> Pageable)"),
}

#: Operators that launch what another, which torch's counter knows, is called for.
LAUNCHED_FOR = {"aten::cudnn_convolution": "aten.convolution",
                "aten::_flash_attention_forward": "aten._scaled_dot_product_flash_attention",
                "aten::_flash_attention_backward": "aten._scaled_dot_product_flash_attention_backward"}


class Trace:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        self.claims = "simulated_device" in content
        events = [e for e in content["traceEvents"] if e.get("ph") == "X"]
        of = collections.defaultdict(list)
        for event in events:
            of[event.get("cat")].append(event)
        self.gpu = of["kernel"] + of["gpu_memcpy"] + of["gpu_memset"]
        self.calls = {e["args"]["correlation"]: e for e in of["cuda_runtime"] + of["cuda_driver"]}
        self.operators = {e["args"]["External id"]: e for e in of["cpu_op"]}
        self.waits = of["cuda_sync"]
        self.streams = collections.defaultdict(list)
        for event in self.gpu:
            self.streams[event["args"]["device"], event["args"]["stream"]].append(event)


def ends(event):
    return event["ts"] + event["dur"]


def within(inner, outer):
    """To the thousandth of a microsecond that a trace keeps, and one more for its rounding."""
    return outer["ts"] - 0.002 <= inner["ts"] and ends(inner) <= ends(outer) + 0.002


def overlaps(events):
    ordered = sorted(events, key=lambda e: e["ts"])
    return sum(ends(a) > b["ts"] + 0.002 for a, b in zip(ordered, ordered[1:]))


def idle_operators(trace):
    """Calls of the operators above during which nothing was launched on their thread."""
    launches = collections.defaultdict(list)
    for correlation in {e["args"]["correlation"] for e in trace.gpu}:
        call = trace.calls.get(correlation)
        if call:
            launches[call["tid"]].append(call["ts"])
    for times in launches.values():
        times.sort()
    idle = collections.Counter()
    for operator in trace.operators.values():
        if operator["name"] in WORKING:
            times = launches[operator["tid"]]
            at = bisect.bisect_left(times, operator["ts"])
            idle[operator["name"]] += not (at < len(times) and times[at] <= ends(operator))
    return {name: count for name, count in idle.items() if count}


def look(name, trace, failures):
    def expect(what, got, wanted=0):
        failures.expect(name, what, got, wanted)

    called = [(e, trace.calls.get(e["args"]["correlation"])) for e in trace.gpu]
    failures.expect(name, "GPU events", len(trace.gpu) > 0)
    expect("without the call that launched it", sum(call is None for _, call in called))
    called = [pair for pair in called if pair[1]]
    expect("before it was launched", sum(e["ts"] < call["ts"] for e, call in called))
    expect("of no duration", sum(e["dur"] <= 0 for e in trace.gpu))
    expect("overlaps in a stream", {s: overlaps(e) for s, e in trace.streams.items() if overlaps(e)}, {})
    done = {e["args"]["correlation"] for e in trace.gpu}
    expect("launches without work", sum(c["name"] in LAUNCHES and n not in done for n, c in trace.calls.items()))
    direct = [(e, call) for e, call in called if call["name"] != "cudaGraphLaunch"]
    operator = [trace.operators.get(e["args"].get("External id")) for e, _ in direct]
    expect("without operator", sum(o is None for o in operator))
    expect("launched outside of its operator", sum(o is not None and not within(call, o) for (_, call), o in zip(direct, operator)))
    expect("operators without work", idle_operators(trace), {})
    for wanted in NAMES.get(name, ()):
        failures.expect(name, wanted, any(wanted in e["name"] for e in trace.gpu))
    return len(trace.gpu)


def product_flops(trace):
    """Of what the names of products of cuBLAS say: function_type_mM_nN_kK, and _bB for a batch."""
    found = [re.fullmatch(r"cublas\w+?_m(\d+)_n(\d+)_k(\d+)(?:_b(\d+))?", e["name"]) for e in trace.gpu]
    return sum(2 * int(m[1]) * int(m[2]) * int(m[3]) * int(m[4] or 1) for m in found if m)


def look_at_flops(name, timeline, counted, failures):
    """FLOPs of the roofline are those that torch's own counter counts in as many steps, operator by operator: the one that launched
    stands for the one that was called."""
    told = collections.Counter()
    for row in timeline["roofline"]["rows"]:
        told[LAUNCHED_FOR.get(row["name"], row["name"].replace("aten::", "aten."))] += row.get("flops", 0)
    failures.expect(name, "FLOPs of operators", {op: n for op, n in told.items() if n}, {op: STEPS * n for op, n in counted.items() if n})
    known, work = timeline["roofline"]["known_ns"], timeline["roofline"]["work_ns"]
    unknown = sorted({row["name"] for row in timeline["roofline"]["rows"] if row["kind"] is None})
    print(f"{name}: costs known of {100 * known / max(work, 1):.0f} % of the GPU's time; not of {', '.join(unknown) or 'none'}", flush=True)


def look_at_graphs(name, trace, failures):
    launches = collections.Counter(e["args"]["correlation"] for e in trace.gpu
                                   if trace.calls[e["args"]["correlation"]]["name"] == "cudaGraphLaunch")
    failures.expect(name, "kernels of each launch of the graph", list(launches.values()), [5] * STEPS)


def look_at_streams(name, trace, failures):
    failures.expect(name, "streams", len(trace.streams), 2)
    kinds = collections.Counter(e["name"] for e in trace.waits)
    for kind in ("Stream Sync", "Event Sync", "Stream Wait Event", "Context Sync"):
        failures.expect(name, kind, kinds[kind] >= STEPS)
    side, main_stream = sorted(trace.streams.values(), key=len)
    copies = [e for e in side if e["cat"] == "gpu_memcpy"]
    sums = sorted((e for e in main_stream if "reduce_kernel" in e["name"]), key=lambda e: e["ts"])
    early = sum(second["ts"] < ends(copy) for copy, second in zip(sorted(copies, key=lambda e: e["ts"]), sums[::3]))
    failures.expect(name, "read before the copy on the other stream was done", early, 0)
    last = max(ends(e) for e in trace.gpu)
    synchronized = [e for e in trace.calls.values() if e["name"] == "cudaDeviceSynchronize"]
    failures.expect(name, "the last synchronisation ends behind all work", max(map(ends, synchronized)) >= last)


def profiled(starter, python, models, folder):
    """By model the path of its trace and what it printed, None where it did not end well, in one start of torch."""
    paths = [str(folder / f"{model}.json") for model in models]
    run, ended = forked(starter, python, [[PROGRAM, *words] for words in zip(models, paths)], folder, (*TRAINING, "--import", "profiler_program"))
    printed = iter([line for line in run.stdout.splitlines() if line.startswith("{")])
    found = {model: (path, json.loads(next(printed)) if each["status"] == 0 else None) for model, path, each in zip(models, paths, ended)}
    print(run.stderr[-3000:])
    return found


@pytest.fixture(scope="module")
def runs(simgpu, python, tmp_path_factory):
    return profiled([simgpu, "--"], python, MODELS, tmp_path_factory.mktemp("traces"))


@pytest.mark.parametrize("name", MODELS)
def test_trace(strata, runs, name, failures):
    path, printed = runs[name]
    assert printed, "the program failed"
    trace = Trace(path)
    busy = sum(e["dur"] for e in trace.gpu)
    in_all = busy + sum(e["dur"] for e in trace.waits)
    failures.expect(name, "time of the GPU in key_averages()", abs(printed["gpu_us"] - in_all) <= 0.01 * in_all)
    # No operator replays a graph; torch 2.6 charges a kernel now and then to two.
    failures.expect(name, "charged to operators", name == "graphs" or 0.99 * busy <= printed["operators_us"])
    failures.expect(name, "durations are lower bounds", trace.claims, False)
    count = look(name, trace, failures)
    if name in ("mlp", "gpt", "conv_amp"):
        failures.expect(name, "FLOPs of products, by their names", product_flops(trace), STEPS * printed["product_flops"])
    if name == "graphs":
        look_at_graphs(name, trace, failures)
    if name == "streams":
        look_at_streams(name, trace, failures)
    _, timeline = strata_json(strata, ["timeline", path, "--json", "--limit", "0"])
    assert timeline
    failures.expect(name, "strata timeline", timeline["verdict"]["queue"] != "none")
    if name in ("mlp", "gpt", "conv", "conv_amp"):
        look_at_flops(name, timeline, printed["flops"], failures)
    seen = sum(s["events"] for r in timeline["ranks"] for d in r["devices"] for s in d["streams"])
    failures.expect(name, "GPU events in strata timeline", seen, count)


@pytest.mark.parametrize("how", ["cupti=denied", pytest.param("dryrun", marks=pytest.mark.long)])
def test_elsewhere(strata, simgpu, python, how, tmp_path):
    """Where CUPTI refuses, as a driver that keeps it to administrators, a trace has no GPU events. Under strata dryrun it has."""
    starter = [strata, "dryrun", "--"] if how == "dryrun" else [simgpu, how, "--"]
    path, printed = profiled(starter, python, ["mlp"], tmp_path)["mlp"]
    assert printed
    assert (len(Trace(path).gpu) > 0) == (how == "dryrun")
