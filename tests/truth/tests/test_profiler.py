# SPDX-License-Identifier: GPL-3.0-or-later
"""torch.profiler in programs on the simulated device: every GPU event belongs to its launch and to the operator that launched
it, nothing overlaps in a stream, every launch has its work, and `strata timeline` reads the trace.

usage: test_profiler.py STRATA STRATA_SIMGPU [--python PYTHON]... [--model NAME]...

Skipped (exit 77) without PyTorch.
"""
import bisect
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

from running import LONG, PROGRAMS, main, strata_json

PROGRAM = os.path.join(PROGRAMS, "profiler_program.py")
MODELS = ("mlp", "gpt", "conv", "conv_amp", "ddp", "graphs", "streams", "libraries")
SHORT = ("gpt", "graphs", "streams")  # of the short form
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
        with open(path) as file:
            events = [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X"]
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


def look(name, model, trace, failures):
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
    for wanted in NAMES.get(model, ()):
        failures.expect(name, wanted, any(wanted in e["name"] for e in trace.gpu))
    return len(trace.gpu)


def product_flops(trace):
    """Of what the names of products of cuBLAS say: function_type_mM_nN_kK, and _bB for a batch."""
    found = [re.fullmatch(r"cublas\w+?_m(\d+)_n(\d+)_k(\d+)(?:_b(\d+))?", e["name"]) for e in trace.gpu]
    return sum(2 * int(m[1]) * int(m[2]) * int(m[3]) * int(m[4] or 1) for m in found if m)


def look_at_flops(name, strata, path, counted, failures):
    """FLOPs of the roofline are those that torch's own counter counts in as many steps, operator by operator: the one that launched
    stands for the one that was called."""
    _, timeline = strata_json(strata, ["timeline", path, "--json", "--limit", "0"])
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


def profiled(arguments, python, model, path, settings=()):
    run = subprocess.run([arguments.simgpu, *settings, "--", python, PROGRAM, model, path], capture_output=True, text=True)
    return run, next((json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")), None)


def test(arguments, python, failures):
    version = os.path.basename(os.path.dirname(os.path.dirname(python)))
    with tempfile.TemporaryDirectory() as folder:
        for model in arguments.model or (MODELS if LONG else SHORT):
            name = f"{version} {model}"
            path = os.path.join(folder, model + ".json")
            run, told = profiled(arguments, python, model, path)
            failures.expect(name, "exit", (run.returncode, run.stderr[-500:] if run.returncode else ""), (0, ""))
            if run.returncode:
                continue
            trace = Trace(path)
            busy = sum(e["dur"] for e in trace.gpu)
            counted = busy + sum(e["dur"] for e in trace.waits)
            failures.expect(name, "time of the GPU in key_averages()", abs(told["gpu_us"] - counted) <= 0.01 * counted)
            # No operator replays a graph; torch 2.6 charges a kernel now and then to two.
            failures.expect(name, "charged to operators", model == "graphs" or 0.99 * busy <= told["operators_us"])
            count = look(name, model, trace, failures)
            if model in ("mlp", "gpt", "conv_amp"):
                failures.expect(name, "FLOPs of products, by their names", product_flops(trace), STEPS * told["product_flops"])
            if model == "graphs":
                look_at_graphs(name, trace, failures)
            if model == "streams":
                look_at_streams(name, trace, failures)
            _, timeline = strata_json(arguments.strata, ["timeline", path, "--json"])
            verdict = timeline and timeline["verdict"]["queue"]
            failures.expect(name, "strata timeline", verdict not in (None, "none"))
            if model in ("mlp", "gpt", "conv", "conv_amp"):
                look_at_flops(name, arguments.strata, path, told["flops"], failures)
            seen = sum(s["events"] for r in timeline["ranks"] for d in r["devices"] for s in d["streams"]) if timeline else 0
            failures.expect(name, "GPU events in strata timeline", seen, count)
            print(f"{name}: {count} GPU events, queue {verdict}, {told['gpu_us']:.0f} us in key_averages()", flush=True)
        without(arguments, python, version, folder, failures)
        under_dryrun(arguments, python, version, folder, failures)


def without(arguments, python, version, folder, failures):
    """Where CUPTI refuses, as a driver that keeps it to administrators: what a trace of a device without CUPTI is worth."""
    path = os.path.join(folder, "denied.json")
    run, _ = profiled(arguments, python, "mlp", path, ("cupti=denied",))
    failures.expect(version, "exit where CUPTI refuses", run.returncode, 0)
    count = len(Trace(path).gpu) if run.returncode == 0 else None
    failures.expect(version, "GPU events where CUPTI refuses", count, 0)
    print(f"{version} mlp where CUPTI refuses: {count} GPU events", flush=True)


def under_dryrun(arguments, python, version, folder, failures):
    path = os.path.join(folder, "dryrun.json")
    run, told = strata_json(arguments.strata, ["dryrun", "--json", "--", python, PROGRAM, "mlp", path])
    failures.expect(version, "strata dryrun", (run.returncode, told is not None), (0, True))
    count = len(Trace(path).gpu) if os.path.exists(path) else 0
    failures.expect(version, "GPU events under strata dryrun", count > 0)
    print(f"{version} mlp under strata dryrun: {count} GPU events", flush=True)


def add_options(parser):
    parser.add_argument("--model", action="append", choices=MODELS)


if __name__ == "__main__":
    sys.exit(main(test, ("strata", "simgpu"), add_options=add_options))
