# SPDX-License-Identifier: GPL-3.0-or-later
"""Durations of what the simulated device runs in a dry run are those that the card takes at least: of a step they add up to what
`strata dryrun --time` tells of it, in traces of torch.profiler and in our recordings with kernels, on several cards; what is of
unknown cost has no length; nothing overlaps in a stream and the order is that of the launches.

usage: test_bounds.py STRATA STRATA_SIMGPU [--python PYTHON]... [--model NAME]...

Skipped (exit 77) without PyTorch.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

from running import LONG, PROGRAMS, main, strata_json

PROGRAM = os.path.join(PROGRAMS, "bounds_program.py")
CARDS = ("A100-80GB", "H100-80GB", "A10-24GB")
MODELS = ("gpt2-flash", "resnet50", "resnet50-bf16", "llama", "vit") if LONG else ("gpt2-flash",)
DEVICE_KINDS = ("kernel", "gpu_memcpy", "gpu_memset")
NEAR = 0.005
#: Of a trace, which keeps thousandths of a microsecond.
ROUNDING = 0.002


def rows_of(path):
    with open(path) as file:
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
    print(f"{name}: {len(rows)} pieces take {took:.1f} us, --time says {least:.1f} us ({took / least - 1:+.4%})", flush=True)
    return took


def timed(arguments, python, failures, name, card, model, path, options=()):
    run, report = strata_json(arguments.strata, ["dryrun", "--json", "--time", "--steps", "3", "--device", card, *options, "--", python,
                                                 PROGRAM, model, path])
    time = (report or {}).get("time") or {"problem": run.stderr[-1500:]}
    failures.expect(name, "tells of time", (time["problem"], time.get("step")), (None, 3))
    return time if time.get("step") == 3 else None


def look_at_timeline(name, arguments, path, failures):
    _, timeline = strata_json(arguments.strata, ["timeline", "--json", path])
    told = timeline and (timeline["simulated"], timeline["ranks"][0]["durations"])
    failures.expect(name, "strata timeline --json", told, (True, "at_least"))
    text = subprocess.run([arguments.strata, "timeline", path], capture_output=True, text=True).stdout
    said = " ".join(text.split())
    failures.expect(name, f"strata timeline says so: {text[:500]}", "at least as long" in said and "GPU 0 is simulated:" in said)


def test_card(arguments, python, version, card, model, folder, failures):
    name = f"{version} {model} {card}"
    path = os.path.join(folder, "profiler.json")
    time = timed(arguments, python, failures, name, card, model, path)
    if time is None:
        return None
    told = look(name, path, time, failures)
    look_at_timeline(name, arguments, path, failures)
    os.remove(path)
    return told


def test_own(arguments, python, version, card, model, folder, failures):
    name = f"{version} {model} {card}, our recorder"
    session, path = os.path.join(folder, "own.strata"), os.path.join(folder, "own.json")
    time = timed(arguments, python, failures, name, card, model, "-", ["--kernels", "--overwrite", "-o", session])
    if time is None:
        return None
    done = subprocess.run([arguments.strata, "timeline", session, "-o", path], capture_output=True, text=True)
    failures.expect(name, f"written as a trace: {done.stderr}", done.returncode, 0)
    told = look(name, path, time, failures)
    look_at_timeline(name, arguments, session, failures)
    look_at_timeline(name + ", as a trace", arguments, path, failures)
    os.remove(session)
    os.remove(path)
    return told


def test_cards(arguments, python, version, model, folder, failures):
    took = {card: test_card(arguments, python, version, card, model, folder, failures) for card in CARDS}
    if None in took.values():
        return
    failures.expect(f"{version} {model}", f"scales with the card: {took}", took[CARDS[1]] < 0.75 * took[CARDS[0]] and took[CARDS[0]] < 0.75 * took[CARDS[2]])
    own = test_own(arguments, python, version, CARDS[0], model, folder, failures)
    if own:
        failures.expect(f"{version} {model}", f"our recorder and torch.profiler: {own} and {took[CARDS[0]]}",
                        abs(own - took[CARDS[0]]) <= NEAR * own)


def test_graph(arguments, python, version, folder, failures):
    """What a graph launches is of no operator, and has no length; what is launched beside it has."""
    path = os.path.join(folder, "graph.json")
    name = f"{version} graph"
    run, report = strata_json(arguments.strata, ["dryrun", "--json", "--", python, PROGRAM, "graph", path])
    failures.expect(name, "exit", report and report["exit_status"], 0)
    _, rows, calls = rows_of(path)
    replayed = [row["dur"] for row in rows if calls[row["args"]["correlation"]]["name"] == "cudaGraphLaunch"]
    others = [row["dur"] for row in rows if calls[row["args"]["correlation"]]["name"] != "cudaGraphLaunch"]
    failures.expect(name, "nodes", replayed, [0, 0])
    # 128 MiB in and out, less what L2 may hold, at 2,039 GB/s.
    failures.expect(name, f"the operator beside it: {others}", sum(80 < took < 132 for took in others) == 1)
    failures.expect(name, "others, by which PyTorch sets the seed of a replay, are tiny", sum(0 < took < 1 for took in others), len(others) - 1)


def test_outside(arguments, python, version, folder, failures):
    """Without a dry run nothing claims to be least: round figures, as before."""
    path = os.path.join(folder, "outside.json")
    done = subprocess.run([arguments.simgpu, "--", python, PROGRAM, "graph", path], capture_output=True, text=True)
    failures.expect(f"{version} outside", f"exit: {done.stderr[-300:]}", done.returncode, 0)
    content, rows, _ = rows_of(path)
    failures.expect(f"{version} outside", "all have a length", all(row["dur"] > 0 for row in rows) and len(rows) >= 3)
    failures.expect(f"{version} outside", "nothing is said", "simulated_device" in content, False)


def test(arguments, python, failures):
    version = os.path.basename(os.path.dirname(os.path.dirname(python)))
    with tempfile.TemporaryDirectory() as folder:
        for model in arguments.model or MODELS:
            test_cards(arguments, python, version, model, folder, failures)
        test_graph(arguments, python, version, folder, failures)
        test_outside(arguments, python, version, folder, failures)


def add_options(parser):
    parser.add_argument("--model", action="append", default=[])


if __name__ == "__main__":
    sys.exit(main(test, ("strata", "simgpu"), add_options=add_options))
