# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels that `strata record --kernels` and strata_capture.start(kernels=...) record, on the simulated device: against what the
device itself has made, and against torch.profiler's trace of the same run, in every order in which the two can begin and end; those of
a training that was begun without, by `strata attach --inject`; those of graphs; those of a program in C++; and what the driver hands out.

usage: test_kernels.py STRATA STRATA_SIMGPU CAPTURE_FOLDER [--python PYTHON]... [--model NAME]...

Skipped (exit 77) without PyTorch.
"""
import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from running import LONG, PROGRAMS, PROJECT, main, strata_json, with_environment
from cpp import compiled

PROGRAM = os.path.join(PROGRAMS, "kernels_program.py")
MODELS = ("mlp", "graphs", "streams") if LONG else ("mlp",)
#: The recording alone; then with the profiler: within it, over its end, over its beginning, around it, behind it and before it.
ALONE = "S+,S-"
ORDERS = {"inside": "S+,K+,K-,S-", "overlap": "S+,K+,S-,K-", "around": "K+,S+,S-,K-", "late": "K+,S+,K-,S-", "behind": "K+,K-,S+,S-",
          "before": "S+,S-,K+,K-", "twice": "S+,K+,K-,K+,K-,S-"}
if not LONG:
    ORDERS = {label: ORDERS[label] for label in ("inside", "around")}
KERNEL, COPY, SET, PEER, MEMORY = 10, 1, 2, 22, 49
DEVICE_KINDS = ("kernel", "gpu_memcpy", "gpu_memset")
#: From when to when the profiler may be told, and we are: moments, the last one left out.
OURS_ASIDE = {"inside": [("S+", "K+"), ("K-", "S-")], "overlap": [("S+", "K+")], "around": [], "late": [("K-", "S-")],
              "behind": [("S+", "S-")], "before": [("S+", "S-")]}
OURS_SHARED = {**OURS_ASIDE, "inside": [("S+", "S-")]}


def device_rows(path):
    with open(path) as file:
        content = json.load(file)
    base = int(content.get("baseTimeNanoseconds", 0)) / 1000
    rows = [(e["ts"] + base, e) for e in content["traceEvents"] if e.get("ph") == "X" and e.get("cat") in DEVICE_KINDS]
    return sorted(rows, key=lambda row: row[0])


def name_of(row):
    return row["name"].replace("std::", "").replace(" ", "")


def told(row):
    """What two recordings of the same piece must agree in. (Kineto demangles by its own rules: spaces are no difference.)"""
    arguments = row["args"]
    return row["cat"], arguments["stream"], arguments["correlation"], arguments.get("bytes")


def run(arguments, python, model, order, kernels, folder):
    session, trace = os.path.join(folder, "run.strata"), os.path.join(folder, "run.json")
    for path in (session, trace):
        if os.path.exists(path):
            os.remove(path)
    done = subprocess.run([arguments.strata_simgpu, "--", python, PROGRAM, model, order, kernels, session, trace], capture_output=True,
                          text=True, timeout=300, env=with_environment(
                              PYTHONPATH=os.path.join(PROJECT, "capture", "python"),
                              STRATA_CAPTURE_LIBRARY=os.path.join(arguments.capture, "libstrata_capture.so")))
    moments = json.loads(done.stdout) if done.returncode == 0 else None
    return done, moments, session, trace


def of_ours(arguments, session, folder, failures, name):
    """Our rows as a trace has them."""
    path = os.path.join(folder, "ours.json")
    done = subprocess.run([arguments.strata, "timeline", session, "-o", path], capture_output=True, text=True)
    failures.expect(name, f"written as a trace: {done.stderr.strip()}", done.returncode, 0)
    if done.returncode != 0:
        return []
    rows = device_rows(path)
    os.remove(path)
    return rows


def work_between(moments, begin, end):
    """Kernels, copies and sets that the device made between two moments."""
    first = next(counts for moment, counts in moments if moment == begin)
    last = next(counts for moment, counts in reversed(moments) if moment == end)
    return [last[kind] - first[kind] for kind in (KERNEL, COPY, SET)]


def counted(rows):
    by_kind = collections.Counter(row["cat"] for _, row in rows)
    return [by_kind[kind] for kind in DEVICE_KINDS]


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


def test_orders(arguments, python, model, version, folder, failures):
    done, moments, session, _ = run(arguments, python, model, ALONE, "aside", folder)
    name = f"{version} {model} alone"
    failures.expect(name, "exit", (done.returncode, done.stderr if done.returncode else ""), (0, ""))
    if moments is None:
        return
    ours = of_ours(arguments, session, folder, failures, name)
    wanted = work_between(moments, "S+", "S-")
    failures.expect(name, "kernels, copies and sets", counted(ours), wanted)
    failures.expect(name, "something was made", wanted[0] > 0)
    for label, order in ORDERS.items():
        _, alone, _, trace = run(arguments, python, model, order, "none", folder)
        undisturbed = device_rows(trace) if alone is not None else []
        for kernels, spans in (("aside", OURS_ASIDE), ("shared", OURS_SHARED)):
            name = f"{version} {model} {label} {kernels}"
            done, moments, session, trace = run(arguments, python, model, order, kernels, folder)
            failures.expect(name, "exit", (done.returncode, done.stderr if done.returncode else ""), (0, ""))
            if moments is None:
                continue
            theirs = device_rows(trace)
            failures.expect(name, "torch.profiler's, as without us", counted(theirs), counted(undisturbed))
            names = [collections.Counter(name_of(row) for _, row in rows) for rows in (theirs, undisturbed)]
            failures.expect(name, "... and the same kernels", names[0] == names[1])
            ours = of_ours(arguments, session, folder, failures, name)
            if label == "twice":
                failures.expect(name, "ours around both", len(ours) > 0)
            else:
                failures.expect(name, "ours", counted(ours), all_of(spans[label], moments))
            if kernels == "shared" and label == "inside":
                compare(name, ours, theirs, failures)
        print(f"{version} {model} {label}: {len(undisturbed)} of torch.profiler's, ours {counted(ours)}", flush=True)


def test_killed(arguments, python, version, folder, failures):
    """What was launched a second before the end is in the file."""
    program = os.path.join(folder, "endless.py")
    with open(program, "w") as file:
        file.write("import sys, time\nsys.path.insert(0, %r)\nimport profiler_program\nstep = profiler_program.MODELS['mlp']()\n"
                   "step()\nprint('on', flush=True)\nwhile True:\n    step()\n    time.sleep(0.001)\n" % PROGRAMS)
    session = os.path.join(folder, "killed.strata")
    process = subprocess.Popen([arguments.strata, "record", "--overwrite", "--simulated", "A100-80GB", "--kernels", "-o", session, "--",
                                python, program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    process.stdout.readline()
    time.sleep(1.5 + random.random())
    killed = time.time()
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    rows = of_ours(arguments, session, folder, failures, f"{version} killed")
    behind = killed - rows[-1][0] / 1e6 if rows else 1e9
    failures.expect(f"{version} killed", f"the last kernel is of {behind:.2f} s before", behind < 1)
    print(f"{version} killed: {len(rows)} pieces, the last one {behind:.2f} s before", flush=True)


def test_command(arguments, python, version, folder, failures):
    """`strata record --kernels`, as people do: calls on named threads, no piece without its launch, figures that add up."""
    session = os.path.join(folder, "command.strata")
    trace = os.path.join(folder, "command.json")
    done = subprocess.run([arguments.strata, "record", "--overwrite", "--simulated", "A100-80GB", "--kernels", "-o", session, "--", python,
                           os.path.join(PROGRAMS, "profiler_program.py"), "mlp", trace], capture_output=True, text=True)
    failures.expect(version, f"record --kernels beside torch.profiler: {done.stderr}", done.returncode, 0)
    theirs = device_rows(trace)
    _, timeline = strata_json(arguments.strata, ["timeline", "--json", session])
    counts = timeline["counts"]
    ours = of_ours(arguments, session, folder, failures, version)
    failures.expect(version, "counts", [counts.get(kind, 0) for kind in DEVICE_KINDS], counted(ours))
    failures.expect(version, "torch.profiler goes first", len(theirs), 60)
    _, summary = strata_json(arguments.strata, ["summary", "--json", session])
    failures.expect(version, "the memory is there too", summary["devices"][0]["events"] > 0 if summary else None, True)
    shared = os.path.join(folder, "shared.strata")
    done = subprocess.run([arguments.strata, "share", session, "-o", shared], capture_output=True, text=True)
    failures.expect(version, f"share keeps kernels: {done.stderr}", done.returncode, 0)
    failures.expect(version, "... all of them", counted(of_ours(arguments, shared, folder, failures, version)), counted(ours))
    per_kernel(session, counts.get("kernel", 0), version)


class Attached:
    """A training that was started without a recorder."""

    def __init__(self, arguments, python, folder):
        self.strata, self.session = arguments.strata, os.path.join(folder, "attached.strata")
        self.environment = with_environment(XDG_RUNTIME_DIR=folder)
        self.process = subprocess.Popen([arguments.strata_simgpu, "--", python, os.path.join(PROGRAMS, "attached_program.py"), "mlp"],
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


def test_attached(arguments, python, version, folder, failures):
    """`strata attach --inject --kernels`: all that the device makes from the beginning of the recording to its end, beside
    torch.profiler too; nothing is asked of the device before and behind."""
    program = Attached(arguments, python, folder)
    program.tell("go")
    time.sleep(0.2)  # the first step makes more than the others
    failures.expect(f"{version} attached", "records before", program.tell("hold"), [0, 0, 0])
    path = os.path.join(folder, "theirs.json")
    before = program.tell("profile " + path)
    undisturbed = counted(device_rows(path))
    failures.expect(f"{version} attached", "torch.profiler's, before anybody came", undisturbed, before)
    for options, profiles in (((), False), (("--kernels",), False), (("--kernels",), True), (("--share-kernels",), True), (("--operators",), False)):
        name = f"{version} attached {' '.join(options)}{' and torch.profiler' if profiles else ''}"
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
        told = viewer.communicate(timeout=30)[1]
        failures.expect(name, "ends", (viewer.returncode, "without its end" in told), (0, False))
        done = program.tell("hold")
        program.tell("go")
        time.sleep(0.1)
        failures.expect(name, "records behind", program.tell("hold"), done)
        made, before = [now - then for now, then in zip(done, before)], done
        if not options:
            failures.expect(name, "records without --kernels", made, [0, 0, 0])
            continue
        theirs = counted(device_rows(path)) if profiles and "--kernels" in options else [0, 0, 0]
        ours = counted(of_ours(arguments, program.session, folder, failures, name))
        failures.expect(name, f"kernels, copies and sets, {theirs} of them torch.profiler's alone",
                        [a + b for a, b in zip(ours, theirs)], made)
        failures.expect(name, "something was recorded", ours[0] > 0)
        _, timeline = strata_json(arguments.strata, ["timeline", "--json", program.session])
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
    failures.expect(f"{version} attached", "records behind a viewer that was killed", program.tell("hold"), done)
    failures.expect(f"{version} attached", "the program", program.end(), (0, []))


def test_graphs(arguments, python, version, folder, failures):
    """What a graph runs is of the call that launched the graph: all of it, in its order, each time; and so it stands in a trace."""
    name = f"{version} graphs"
    done, moments, session, _ = run(arguments, python, "graphs", ALONE, "aside", folder)
    failures.expect(name, "exit", (done.returncode, done.stderr if done.returncode else ""), (0, ""))
    if moments is None:
        return
    ours, calls = of_ours(arguments, session, folder, failures, name), calls_in(arguments, session, folder)
    graphs = {number: call for number, call in calls.items() if call["name"] == "cudaGraphLaunch"}
    nodes = collections.defaultdict(list)
    for at, row in ours:
        nodes[row["args"]["correlation"]].append((at, row["name"]))
    failures.expect(name, "launches of the graph, three steps of it", len(graphs), 3)
    runs = [[kernel for _, kernel in nodes[number]] for number in graphs]
    failures.expect(name, f"each launches the same: {runs}", len(runs[0]) > 3 and all(run == runs[0] for run in runs))
    failures.expect(name, "no earlier than it is launched", all(call["ts"] <= nodes[number][0][0] for number, call in graphs.items()))
    failures.expect(name, "nothing without a launch", all(number in calls for number in nodes))
    failures.expect(name, "all that the device has made", counted(ours), work_between(moments, "S+", "S-"))
    _, timeline = strata_json(arguments.strata, ["timeline", "--json", session])
    failures.expect(name, "calls in the table", [call["calls"] for call in timeline["runtime_calls"]
                                                 if call["name"] == "cudaGraphLaunch"] if timeline else None, [3])
    print(f"{name}: {len(graphs)} launches of {len(runs[0])} pieces", flush=True)


def test_outside(arguments, python, version, folder, failures):
    """Memory that the driver handed out beside PyTorch, to the byte; segments are told apart, and every record is there."""
    session = os.path.join(folder, "outside.strata")
    for settings in ("", "expandable_segments:True") if LONG else ("",):
        name = f"{version} outside {settings}"
        done = subprocess.run([arguments.strata, "record", "--overwrite", "--simulated", "A100-80GB", "--kernels", "-o", session, "--",
                               python, os.path.join(PROGRAMS, "outside_program.py")], capture_output=True, text=True,
                              env=with_environment(PYTORCH_CUDA_ALLOC_CONF=settings))
        failures.expect(name, f"records: {done.stderr}", done.returncode, 0)
        _, timeline = strata_json(arguments.strata, ["timeline", "--json", session])
        _, summary = strata_json(arguments.strata, ["summary", "--json", session])
        if done.returncode != 0 or not timeline or not summary:
            failures.expect(name, "a timeline and a summary", False)
            continue
        [told], mega = timeline["ranks"][0]["driver_allocations"], 1 << 20
        failures.expect(name, "outside", {key: told[key] for key in told if key.startswith("outside") and not key.endswith("_ns")},
                        {"outside": 4, "outside_released": 1, "outside_peak_bytes": 10 * mega, "outside_end_bytes": 8 * mega})
        failures.expect(name, "segments are PyTorch's", told["segments"], summary["devices"][0]["actions"].get("segment_alloc", 0))
        failures.expect(name, "there are some, unless they are virtual", (told["segments"] > 0) == (not settings))
        failures.expect(name, "nothing older, nothing doubtful", (told["older_released_bytes"], told["may_be_segments"]), (0, False))
        pinned = 1
        failures.expect(name, "every record that the device made", told["allocations"] + told["releases"] + pinned,
                        json.loads(done.stdout.splitlines()[-1])[MEMORY])
        text = subprocess.run([arguments.strata, "timeline", session], capture_output=True, text=True).stdout
        failures.expect(name, f"in words: {text[:800]}", "handed out memory of GPU 0 in 4 allocations" in " ".join(text.split()))
        shared = os.path.join(folder, f"outside{bool(settings)}.strata")
        subprocess.run([arguments.strata, "share", session, "-o", shared], check=True, capture_output=True)
        _, kept = strata_json(arguments.strata, ["timeline", "--json", shared])
        failures.expect(name, "share keeps it", kept and kept["ranks"][0]["driver_allocations"], [told])
        print(f"{name}: {told}", flush=True)


def test_cpp(arguments, python, version, folder, failures):
    """A program in C++ that records its kernels by options of strata/capture.h: every row against LibTorch's own profiler, and all of
    them against what the device has made."""
    capture = os.path.join(PROJECT, "capture", "include")
    program = compiled(python, failures, os.path.join(PROGRAMS, "kernels.cpp"), ("-O1", "-I" + capture),
                    ("-L" + arguments.capture, "-Wl,-rpath," + arguments.capture, "-lstrata_capture", "-ldl"))
    if program is None:
        return
    session, trace = os.path.join(folder, "cpp.strata"), os.path.join(folder, "cpp.json")
    for kernels in ("off", "aside", "shared") if LONG else ("off", "shared"):
        name = f"{version} C++ {kernels}"
        done = subprocess.run([arguments.strata_simgpu, "--", program, kernels, session, trace], capture_output=True, text=True, timeout=300)
        failures.expect(name, "exit", (done.returncode, done.stderr[-1000:] if done.returncode else ""), (0, ""))
        if done.returncode != 0:
            continue
        told = json.loads(done.stdout)
        begin, before, behind, end, last = ([counts[kind] for kind in (KERNEL, COPY, SET)] for counts in told["made"][:-1])
        theirs = device_rows(trace)
        failures.expect(name, "nothing is asked for behind the recording", last, end)
        if kernels == "off":
            failures.expect(name, "LibTorch's profiler alone", (begin, before, behind), ([0, 0, 0], [0, 0, 0], counted(theirs)))
            run = subprocess.run([arguments.strata, "timeline", session], capture_output=True, text=True)
            failures.expect(name, "no timeline", run.returncode != 0)
            continue
        ours, calls = of_ours(arguments, session, folder, failures, name), calls_in(arguments, session, folder)
        whole = [now - then for now, then in zip(end, begin)]
        wanted = whole if kernels == "shared" else [a - b for a, b in zip(whole, counted(theirs))]
        failures.expect(name, "kernels, copies and sets", counted(ours), wanted)
        failures.expect(name, "LibTorch's own", counted(theirs), [b - a for a, b in zip(before, behind)])
        failures.expect(name, "something was made", wanted[0] > 20)
        launches = [calls.get(row["args"]["correlation"]) for _, row in ours]
        failures.expect(name, "each has its launch before it", all(
            call is not None and call["ts"] < row["ts"] for call, (_, row) in zip(launches, ours)))
        threads = collections.Counter(call["tid"] for call in launches if call)
        failures.expect(name, f"launched by the main thread and autograd's: {dict(threads)}",
                        len(threads) == 2 and told["thread"] in threads)
        if kernels == "shared":
            compare(name, ours, theirs, failures)
        print(f"{name}: ours {counted(ours)}, LibTorch's {counted(theirs)}, made {whole}", flush=True)


def calls_in(arguments, session, folder):
    """Calls of the runtime and the driver in a session, by correlation."""
    path = os.path.join(folder, "calls.json")
    subprocess.run([arguments.strata, "timeline", session, "-o", path], check=True, capture_output=True)
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    os.remove(path)
    return {e["args"]["correlation"]: e for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})}


def per_kernel(session, kernels, version):
    print(f"{version}: {os.path.getsize(session)} B, {kernels} kernels", flush=True)


def test(arguments, python, failures):
    version = os.path.basename(os.path.dirname(os.path.dirname(python)))
    with tempfile.TemporaryDirectory() as folder:
        for model in arguments.model or MODELS:
            test_orders(arguments, python, model, version, folder, failures)
        test_killed(arguments, python, version, folder, failures)
        test_attached(arguments, python, version, folder, failures)
        test_graphs(arguments, python, version, folder, failures)
        test_outside(arguments, python, version, folder, failures)
        test_cpp(arguments, python, version, folder, failures)
        test_command(arguments, python, version, folder, failures)


def add_options(parser):
    parser.add_argument("--model", action="append", default=[])


if __name__ == "__main__":
    sys.exit(main(test, ("strata", "strata_simgpu", "capture"), add_options=add_options))
