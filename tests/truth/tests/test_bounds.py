# SPDX-License-Identifier: GPL-3.0-or-later
"""Durations of what the simulated device runs in a dry run are those that the card takes at least: of a step they add up to what
`strata dryrun --time` tells of it, in traces of torch.profiler and in our recordings with kernels and operators, on several cards; what is
of unknown cost has no length; nothing overlaps in a stream and the order is that of the launches. (Outside of a dry run nothing claims to
be a lower bound: test_profiler.py.)
"""
import collections
import json
import os
import subprocess

import pytest

from kernel_traces import DEVICE_KINDS, as_trace
from running import LONG, PROGRAMS, strata_json

PROGRAM = os.path.join(PROGRAMS, "bounds_program.py")
#: By card who records the step there, besides the dry run that times it.
CARDS = {"A100-80GB": ("profiler", "--kernels", "--operators"), "H100-80GB": ("profiler",), "A10-24GB": ("profiler",)}
if not LONG:
    CARDS = {"A100-80GB": ("profiler",), "H100-80GB": ("--operators",)}
MODELS = ("gpt2-flash", "resnet50", "resnet50-bf16", "llama", "vit") if LONG else ("gpt2-flash",)
NEAR = 0.005
#: Of a trace, which keeps thousandths of a microsecond.
ROUNDING = 0.002


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    events = [e for e in content["traceEvents"] if e.get("ph") == "X"]
    rows = sorted((e for e in events if e.get("cat") in DEVICE_KINDS), key=lambda e: (e["ts"], e["args"]["correlation"]))
    third = [e for e in events if e["name"] == "third" and e.get("cat") == "user_annotation"]
    calls = {e["args"]["correlation"]: e for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver")}
    if third:  # ours: of the whole program, of which the third step counts
        begin, end = third[0]["ts"], third[0]["ts"] + third[0]["dur"]
        rows = [e for e in rows if begin <= calls[e["args"]["correlation"]]["ts"] <= end]
    return content, rows, calls


def look_at_streams(name, rows, calls, failures):
    streams = collections.defaultdict(list)
    for row in rows:
        streams[row["args"]["device"], row["args"]["stream"]].append(row)
    overlaps = disorder = early = 0
    for stream in streams.values():
        for first, second in zip(stream, stream[1:]):
            overlaps += first["ts"] + first["dur"] > second["ts"] + ROUNDING
        # On one thread in the order of their launches; threads take turns at a stream as they come.
        threads = collections.defaultdict(list)
        for row in stream:
            threads[calls[row["args"]["correlation"]]["tid"]].append(row["args"]["correlation"])
        disorder += sum(numbers != sorted(numbers) for numbers in threads.values())
        early += sum(row["ts"] < calls[row["args"]["correlation"]]["ts"] for row in stream)
    failures.expect(name, "overlaps in a stream", overlaps, 0)
    failures.expect(name, "streams out of the order of launches", disorder, 0)
    failures.expect(name, "before the launch", early, 0)


def look(name, path, time, failures):
    """The time of the step in the trace, in microseconds."""
    content, rows, calls = rows_of(path)
    told = content.get("simulated_device") or {}
    failures.expect(name, "the trace says what durations are", (told.get("device"), told.get("durations")), (time["card"], "at least"))
    took = sum(row["dur"] for row in rows)
    least = time["least_ns"] / 1000
    failures.expect(name, f"{took:.3f} us in the trace are {least:.3f} us of --time", abs(took - least) <= NEAR * least)
    failures.expect(name, "something takes time", least > 100)
    failures.expect(name, "pieces of work", len(rows), time["launches"])
    failures.expect(name, "pieces without length are those of unknown cost", sum(row["dur"] == 0 for row in rows), time["unknown"]["launches"])
    look_at_streams(name, rows, calls, failures)
    print(f"{name}: {len(rows)} pieces take {took:.1f} us, --time says {least:.1f} us", flush=True)
    return took


def timed(strata, python, card, model, path, options=()):
    """The time of the third step in the report of a dry run with three."""
    run, report = strata_json(strata, ["dryrun", "--json", "--time", "--steps", "3", "--device", card, *options, "--", python, PROGRAM, model, path])
    assert report and report["time"]["problem"] is None and report["time"]["step"] == 3, run.stderr[-1500:]
    return report["time"]


def look_at_timeline(name, strata, path, failures):
    _, timeline = strata_json(strata, ["timeline", "--json", path])
    told = timeline and (timeline["simulated"], timeline["ranks"][0]["durations"])
    failures.expect(name, "strata timeline --json", told, (True, "at_least"))
    text = subprocess.run([strata, "timeline", path], capture_output=True, text=True).stdout
    said = " ".join(text.split())
    failures.expect(name, f"strata timeline says so: {text[:500]}", "at least as long" in said and "GPU 0 is simulated:" in said)
    return timeline


def profiled(strata, python, card, model, folder, failures):
    """The step in a trace of torch.profiler."""
    path, name = str(folder / "profiler.json"), f"{model} {card}"
    told = look(name, path, timed(strata, python, card, model, path), failures)
    look_at_timeline(name, strata, path, failures)
    return told


def recorded(strata, python, card, model, option, folder, failures):
    """The step in a recording of ours."""
    session, name = str(folder / f"own{option}.strata"), f"{model} {card}, {option}"
    time = timed(strata, python, card, model, "-", [option, "-o", session])
    path = as_trace(strata, session)
    told = look(name, path, time, failures)
    timeline = look_at_timeline(name, strata, session, failures)
    costs = [row.get("flops") or 0 for row in timeline["roofline"]["rows"]]
    failures.expect(name, "operators, with FLOPs", (len(timeline["operators"]) > 0, sum(costs) > 0), (option == "--operators",) * 2)
    if option == "--operators":
        failures.expect(name, "roofline", timeline["roofline"]["lack"], "none")
    look_at_timeline(name + ", as a trace", strata, path, failures)
    return told


@pytest.mark.parametrize("model", MODELS)
def test_steps(strata, python, model, tmp_path, failures):
    took = {card: [profiled(strata, python, card, model, tmp_path, failures) if who == "profiler" else
                   recorded(strata, python, card, model, who, tmp_path, failures) for who in observers] for card, observers in CARDS.items()}
    for card, (first, *others) in took.items():
        for other in others:
            failures.expect(f"{model} {card}", f"our recorder and torch.profiler: {other} and {first}", abs(other - first) <= NEAR * other)
    by_card = [took[card][0] for card in ("H100-80GB", "A100-80GB", "A10-24GB") if card in took]
    failures.expect(model, f"scales with the card: {by_card}", all(fast < 0.75 * slow for fast, slow in zip(by_card, by_card[1:])))


def test_graph(strata, python, tmp_path, failures):
    """What a graph launches is of no operator, and has no length; what is launched beside it has."""
    path = str(tmp_path / "graph.json")
    name = "graph"
    run, report = strata_json(strata, ["dryrun", "--json", "--", python, PROGRAM, "graph", path])
    assert report and report["exit_status"] == 0, run.stderr
    _, rows, calls = rows_of(path)
    replayed = [row["dur"] for row in rows if calls[row["args"]["correlation"]]["name"] == "cudaGraphLaunch"]
    others = [row["dur"] for row in rows if calls[row["args"]["correlation"]]["name"] != "cudaGraphLaunch"]
    failures.expect(name, "nodes", replayed, [0, 0])
    # 128 MiB in and out, less what L2 may hold, at 2,039 GB/s.
    failures.expect(name, f"the operator beside it: {others}", sum(80 < took < 132 for took in others) == 1)
    failures.expect(name, "others, by which PyTorch sets the seed of a replay, are tiny", sum(0 < took < 1 for took in others), len(others) - 1)
