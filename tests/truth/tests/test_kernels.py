# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels that `strata record --kernels` and strata_capture.start(kernels=...) record, on the simulated device: against what the
device itself has made, and against torch.profiler's trace of the same run, in every order in which the two can begin and end; those of
a training that was begun without, by `strata attach --inject`; those of graphs; those of a program in C++; and what the driver hands out.
"""
import collections
import json
import os
import random
import signal
import subprocess
import time

import pytest

from cpp import compiled
from forks import TRAINING, recorded
from kernel_traces import DEVICE_KINDS, as_trace, counted, device_rows, runs_of, told
from running import LONG, PROGRAMS, PROJECT, strata_json, with_environment

MODELS = ("mlp", "graphs", "streams") if LONG else ("mlp",)
#: The recording alone; then with the profiler: within it, over its end, over its beginning, around it, behind it and before it.
ALONE = "S+,S-"
ORDERS = {"inside": "S+,K+,K-,S-", "overlap": "S+,K+,S-,K-", "around": "K+,S+,S-,K-", "late": "K+,S+,K-,S-", "behind": "K+,K-,S+,S-",
          "before": "S+,S-,K+,K-", "twice": "S+,K+,K-,K+,K-,S-"}
if not LONG:
    ORDERS = {label: ORDERS[label] for label in ("inside", "around")}
KERNEL, COPY, SET, PEER, MEMORY = 10, 1, 2, 22, 49
#: From when to when the profiler may be told, and we are: moments, the last one left out.
OURS_ASIDE = {"inside": [("S+", "K+"), ("K-", "S-")], "overlap": [("S+", "K+")], "around": [], "late": [("K-", "S-")],
              "behind": [("S+", "S-")], "before": [("S+", "S-")]}
OURS_SHARED = {**OURS_ASIDE, "inside": [("S+", "S-")]}


@pytest.fixture(scope="module")
def runs(simgpu, capture, python, tmp_path_factory):
    asked = [(model, ALONE, "aside") for model in dict.fromkeys((*MODELS, "graphs"))]
    asked += [(model, order, kernels) for model in MODELS for order in ORDERS.values() for kernels in ("none", "aside", "shared")]
    return runs_of(asked, simgpu, capture, python, tmp_path_factory.mktemp("runs"))


def of_ours(strata, session):
    """Our rows as a trace has them."""
    return device_rows(as_trace(strata, session))


def calls_in(strata, session):
    """Calls of the runtime and the driver in a session, by correlation."""
    with open(as_trace(strata, session), encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    return {e["args"]["correlation"]: e for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})}


def name_of(row):
    return row["name"].replace("std::", "").replace(" ", "")


def work_between(moments, begin, end):
    """Kernels, copies and sets that the device made between two moments."""
    first = next(counts for moment, counts in moments if moment == begin)
    last = next(counts for moment, counts in reversed(moments) if moment == end)
    return [last[kind] - first[kind] for kind in (KERNEL, COPY, SET)]


def all_of(spans, moments):
    sums = [0, 0, 0]
    for begin, end in spans:
        sums = [a + b for a, b in zip(sums, work_between(moments, begin, end))]
    return sums


def compare(name, ours, theirs, failures):
    """Every row of theirs is one of ours: the same piece, as long, on the same clock."""
    known = collections.defaultdict(list)
    for at, row in ours:
        known[told(row)].append((at, row))
    missing, lengths, shifts = 0, 0.0, []
    for at, row in theirs:
        found = known[told(row)]
        if not found:
            missing += 1
            continue
        our_at, our_row = found.pop(0)
        lengths = max(lengths, abs(our_row["dur"] - row["dur"]))
        shifts.append(our_at - at)
        if name_of(our_row) != name_of(row) and "graph" not in name:
            failures.expect(name, "name", name_of(our_row), name_of(row))
            break
    failures.expect(name, "rows of torch.profiler's that ours lacks", missing, 0)
    failures.expect(name, f"durations alike: {lengths:.3f} us apart", lengths < 0.1)
    shifts.sort()
    spread = shifts[-1] - shifts[0] if shifts else 0
    failures.expect(name, f"one clock: {shifts[0] if shifts else 0:.1f} us apart, {spread:.3f} us more or less", spread < 50)
    return spread


@pytest.mark.parametrize("model", MODELS)
def test_alone(strata, runs, model, failures):
    run = runs[model, ALONE, "aside"]
    assert not run.why
    wanted = work_between(run.moments, "S+", "S-")
    failures.expect(model, "kernels, copies and sets", counted(of_ours(strata, run.session)), wanted)
    failures.expect(model, "something was made", wanted[0] > 0)


@pytest.mark.parametrize("kernels, spans", [("aside", OURS_ASIDE), ("shared", OURS_SHARED)], ids=["aside", "shared"])
@pytest.mark.parametrize("label", ORDERS)
@pytest.mark.parametrize("model", MODELS)
def test_with_the_profiler(strata, runs, model, label, kernels, spans, failures):
    name = f"{model} {label} {kernels}"
    alone, run = (runs[model, ORDERS[label], each] for each in ("none", kernels))
    assert not alone.why and not run.why
    undisturbed, theirs = device_rows(alone.trace), device_rows(run.trace)
    failures.expect(name, "torch.profiler's, as without us", counted(theirs), counted(undisturbed))
    names = [collections.Counter(name_of(row) for _, row in rows) for rows in (theirs, undisturbed)]
    failures.expect(name, "... and the same kernels", names[0] == names[1])
    ours = of_ours(strata, run.session)
    if label == "twice":
        failures.expect(name, "ours around both", len(ours) > 0)
    else:
        failures.expect(name, "ours", counted(ours), all_of(spans[label], run.moments))
    if kernels == "shared" and label == "inside":
        compare(name, ours, theirs, failures)
    print(f"{name}: {len(undisturbed)} of torch.profiler's, ours {counted(ours)}", flush=True)


def test_killed(strata, python, tmp_path):
    """What was launched a second before the end is in the file."""
    program, session = tmp_path / "endless.py", str(tmp_path / "killed.strata")
    program.write_text(f"import sys, time\nsys.path.insert(0, {PROGRAMS!r})\nimport profiler_program\nstep = profiler_program.MODELS['mlp']()\n"
                       "step()\nprint('on', flush=True)\nwhile True:\n    step()\n    time.sleep(0.01)\n")
    process = subprocess.Popen([strata, "record", "--simulated", "A100-80GB", "--kernels", "-o", session, "--", python, str(program)],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    process.stdout.readline()
    time.sleep(1.5 + random.random() if LONG else 2)
    killed = time.time()
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    rows = of_ours(strata, session)
    assert rows
    assert killed - rows[-1][0] / 1e6 < 1, "the last kernel is older than a second"


@pytest.fixture(scope="module", params=["", pytest.param("expandable_segments:True", marks=pytest.mark.long)])
def commands(request, strata, python, tmp_path_factory):
    """Settings of the allocator; `strata record --kernels`, as people do, of profiler_program.py, and its trace; of outside_program.py, and
    the line that it printed."""
    folder = tmp_path_factory.mktemp("commands")
    profiler, outside = (os.path.join(PROGRAMS, name) for name in ("profiler_program.py", "outside_program.py"))
    done, [(_, session), (_, beside)] = recorded(strata, ["--simulated", "A100-80GB", "--kernels"], python,
                                                 [[profiler, "mlp", str(folder / "trace.json")], [outside]], folder, TRAINING,
                                                 env=with_environment(PYTORCH_CUDA_ALLOC_CONF=request.param))
    assert done.returncode == 0 and session and beside, done.stderr
    return request.param, session, str(folder / "trace.json"), beside, done.stdout.splitlines()[-1]


def test_command(strata, commands, tmp_path, failures):
    """Figures add up, and all of them are in what `strata share` makes."""
    _, session, trace, _, _ = commands
    _, timeline = strata_json(strata, ["timeline", "--json", session])
    ours = counted(of_ours(strata, session))
    failures.expect("command", "counts", [timeline["counts"].get(kind, 0) for kind in DEVICE_KINDS], ours)
    failures.expect("command", "torch.profiler goes first", len(device_rows(trace)), 60)
    _, summary = strata_json(strata, ["summary", "--json", session])
    failures.expect("command", "the memory is there too", summary["devices"][0]["events"] > 0 if summary else None, True)
    shared = str(tmp_path / "shared.strata")
    subprocess.run([strata, "share", session, "-o", shared], check=True, capture_output=True)
    failures.expect("command", "share keeps all kernels", counted(of_ours(strata, shared)), ours)


#: Options of `strata attach`, and whether torch.profiler comes and goes while it records.
ATTACHED = [((), False), (("--kernels",), True), (("--operators",), False)]
if LONG:
    ATTACHED += [(("--kernels",), False), (("--share-kernels",), True)]


class Attached:
    """A training that was started without a recorder."""

    def __init__(self, strata, simgpu, python, folder):
        self.strata, self.session = strata, str(folder / "attached.strata")
        self.environment = with_environment(XDG_RUNTIME_DIR=str(folder))
        self.process = subprocess.Popen([simgpu, "--", python, os.path.join(PROGRAMS, "attached_program.py"), "mlp"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment)
        self.process.stdout.readline()

    def tell(self, line):
        """Kernels, copies and sets that the device has made by then, for whoever asked for them."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        counts = json.loads(self.process.stdout.readline())
        return [counts[kind] for kind in (KERNEL, COPY, SET)]

    def attach(self, *options):
        """`strata attach`, once it records."""
        if os.path.exists(self.session):
            os.remove(self.session)
        viewer = subprocess.Popen([self.strata, "attach", "--inject", str(self.process.pid), "--yes", "-o", self.session, *options],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=self.environment)
        said = []
        for line in viewer.stderr:
            said.append(line)
            if "attached to process" in line:
                return viewer, ""
        return viewer, "".join(said)

    def end(self):
        _, said = self.process.communicate("end\n", timeout=60)
        return self.process.returncode, [line for line in said.splitlines() if "strata" in line]


def test_attached(strata, simgpu, python, tmp_path, failures):
    """`strata attach --inject --kernels`: all that the device makes from the beginning of the recording to its end, beside
    torch.profiler too; nothing is asked of the device before and behind."""
    program = Attached(strata, simgpu, python, tmp_path)
    program.tell("go")
    time.sleep(0.2)  # the first step makes more than the others
    failures.expect("attached", "records before", program.tell("hold"), [0, 0, 0])
    path = str(tmp_path / "theirs.json")
    before = program.tell("profile " + path)
    undisturbed = counted(device_rows(path))
    failures.expect("attached", "torch.profiler's, before anybody came", undisturbed, before)
    for options, profiles in ATTACHED:
        name = f"attached {' '.join(options)}{' and torch.profiler' if profiles else ''}"
        program.tell("go")
        viewer, why = program.attach(*options)
        failures.expect(name, "records", why, "")
        time.sleep(0.3)
        if profiles:
            program.tell("profile " + path)
            program.tell("go")
            time.sleep(0.1)
        program.tell("hold")  # a launch that goes on while a recording ends is in none
        viewer.send_signal(signal.SIGINT)
        said = viewer.communicate(timeout=30)[1]
        failures.expect(name, "ends", (viewer.returncode, "without its end" in said), (0, False))
        done = program.tell("hold")
        program.tell("go")
        time.sleep(0.1)
        failures.expect(name, "records behind", program.tell("hold"), done)
        made, before = [now - then for now, then in zip(done, before)], done
        if not options:
            failures.expect(name, "records without --kernels", made, [0, 0, 0])
            continue
        theirs = counted(device_rows(path)) if profiles and "--kernels" in options else [0, 0, 0]
        ours = counted(of_ours(strata, program.session))
        failures.expect(name, f"kernels, copies and sets, {theirs} of them torch.profiler's alone",
                        [a + b for a, b in zip(ours, theirs)], made)
        failures.expect(name, "something was recorded", ours[0] > 0)
        _, timeline = strata_json(strata, ["timeline", "--json", program.session])
        failures.expect(name, "operators", len(timeline["operators"]) > 0, "--operators" in options)
        if profiles:
            failures.expect(name, "torch.profiler's own", counted(device_rows(path)), undisturbed)
        print(f"{name}: ours {ours}, theirs {theirs}, made {made}", flush=True)
    program.tell("go")
    viewer, _ = program.attach("--kernels")
    viewer.kill()
    viewer.communicate()
    time.sleep(1)
    done = program.tell("hold")
    program.tell("go")
    time.sleep(0.3)
    failures.expect("attached", "records behind a viewer that was killed", program.tell("hold"), done)
    failures.expect("attached", "the program", program.end(), (0, []))


def test_graphs(strata, runs, failures):
    """What a graph runs is of the call that launched the graph: all of it, in its order, each time; and so it stands in a trace."""
    name, run = "graphs", runs["graphs", ALONE, "aside"]
    assert not run.why
    ours, calls = of_ours(strata, run.session), calls_in(strata, run.session)
    graphs = {number: call for number, call in calls.items() if call["name"] == "cudaGraphLaunch"}
    nodes = collections.defaultdict(list)
    for at, row in ours:
        nodes[row["args"]["correlation"]].append((at, row["name"]))
    failures.expect(name, "launches of the graph, three steps of it", len(graphs), 3)
    launched = [[kernel for _, kernel in nodes[number]] for number in graphs]
    failures.expect(name, f"each launches the same: {launched}", len(launched[0]) > 3 and all(each == launched[0] for each in launched))
    failures.expect(name, "no earlier than it is launched", all(call["ts"] <= nodes[number][0][0] for number, call in graphs.items()))
    failures.expect(name, "nothing without a launch", all(number in calls for number in nodes))
    failures.expect(name, "all that the device has made", counted(ours), work_between(run.moments, "S+", "S-"))
    _, timeline = strata_json(strata, ["timeline", "--json", run.session])
    failures.expect(name, "calls in the table", [call["calls"] for call in timeline["runtime_calls"]
                                                 if call["name"] == "cudaGraphLaunch"] if timeline else None, [3])


def test_outside(strata, commands, tmp_path, failures):
    """Memory that the driver handed out beside PyTorch, to the byte; segments are told apart, and every record is there."""
    settings, _, _, session, printed = commands
    name = f"outside {settings}"
    _, timeline = strata_json(strata, ["timeline", "--json", session])
    _, summary = strata_json(strata, ["summary", "--json", session])
    assert timeline and summary
    [handed_out], mega = timeline["ranks"][0]["driver_allocations"], 1 << 20
    failures.expect(name, "outside", {key: handed_out[key] for key in handed_out if key.startswith("outside") and not key.endswith("_ns")},
                    {"outside": 4, "outside_released": 1, "outside_peak_bytes": 10 * mega, "outside_end_bytes": 8 * mega})
    failures.expect(name, "segments are PyTorch's", handed_out["segments"], summary["devices"][0]["actions"].get("segment_alloc", 0))
    failures.expect(name, "there are some, unless they are virtual", (handed_out["segments"] > 0) == (not settings))
    failures.expect(name, "nothing older, nothing doubtful", (handed_out["older_released_bytes"], handed_out["may_be_segments"]), (0, False))
    pinned = 1
    failures.expect(name, "every record that the device made", handed_out["allocations"] + handed_out["releases"] + pinned, json.loads(printed)[MEMORY])
    text = subprocess.run([strata, "timeline", session], capture_output=True, text=True).stdout
    failures.expect(name, f"in words: {text[:800]}", "handed out memory of GPU 0 in 4 allocations" in " ".join(text.split()))
    shared = str(tmp_path / "shared.strata")
    subprocess.run([strata, "share", session, "-o", shared], check=True, capture_output=True)
    _, kept = strata_json(strata, ["timeline", "--json", shared])
    failures.expect(name, "share keeps it", kept and kept["ranks"][0]["driver_allocations"], [handed_out])


@pytest.mark.parametrize("kernels", [*(pytest.param(each, marks=pytest.mark.long) for each in ("off", "aside")), "shared"])
def test_cpp(strata, simgpu, capture, python, kernels, tmp_path, failures):
    """A program in C++ that records its kernels by options of strata/capture.h: every row against LibTorch's own profiler, and all of
    them against what the device has made."""
    program = compiled(python, failures, os.path.join(PROGRAMS, "kernels.cpp"), (
        "-O1", "-I" + os.path.join(PROJECT, "capture", "include"), "-L" + capture, "-Wl,-rpath," + capture, "-lstrata_capture"), ("-ldl",))
    if program is None:
        return
    session, trace = str(tmp_path / "cpp.strata"), str(tmp_path / "cpp.json")
    name = f"C++ {kernels}"
    done = subprocess.run([simgpu, "--", program, kernels, session, trace], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    begin, before, behind, end, last = ([counts[kind] for kind in (KERNEL, COPY, SET)] for counts in printed["made"][:-1])
    theirs = device_rows(trace)
    failures.expect(name, "nothing is asked for behind the recording", last, end)
    if kernels == "off":
        failures.expect(name, "LibTorch's profiler alone", (begin, before, behind), ([0, 0, 0], [0, 0, 0], counted(theirs)))
        run = subprocess.run([strata, "timeline", session], capture_output=True, text=True)
        failures.expect(name, "no timeline", run.returncode != 0)
        return
    ours, calls = of_ours(strata, session), calls_in(strata, session)
    whole = [now - then for now, then in zip(end, begin)]
    wanted = whole if kernels == "shared" else [a - b for a, b in zip(whole, counted(theirs))]
    failures.expect(name, "kernels, copies and sets", counted(ours), wanted)
    failures.expect(name, "LibTorch's own", counted(theirs), [b - a for a, b in zip(before, behind)])
    failures.expect(name, "something was made", wanted[0] > 20)
    launches = [calls.get(row["args"]["correlation"]) for _, row in ours]
    failures.expect(name, "each has its launch before it", all(call is not None and call["ts"] < row["ts"] for call, (_, row) in zip(launches, ours)))
    threads = collections.Counter(call["tid"] for call in launches if call)
    failures.expect(name, f"launched by the main thread and autograd's: {dict(threads)}", len(threads) == 2 and printed["thread"] in threads)
    if kernels == "shared":
        compare(name, ours, theirs, failures)
