# SPDX-License-Identifier: GPL-3.0-or-later
"""`strata attach --inject` into trainings that were started without a recorder, at random instants: what they do is what they do
without, and what is recorded is what torch's own recorder saw in between, event by event, from the state that it had.

The short form injects into each kind of program once, at instants that are always the same; --seeds N does it N times, --first-seed S
at others.
"""
import os
import pickle
import random
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

import record_tools
from cpp import compiled, facts_of
from running import LONG, PROGRAMS, strata_json

PROGRAM = os.path.join(PROGRAMS, "inject_program.py")
STEPS = {"python": 1500, "busy": 1200, "cpp": 200} if LONG else {"python": 500, "busy": 400, "cpp": 100}
PATIENCE = 120
TWO_RECORDERS = "strata: torch's own recorder is on too: it is left as it is, and finds marks of snapshots in its trace\n"


class Trial:
    """One program, watched or not."""

    def __init__(self, strata, simgpu, kind, command, folder):
        self.strata, self.kind, self.folder = strata, kind, folder
        self.snapshot, self.session = os.path.join(folder, "torch.pickle"), os.path.join(folder, "seen.strata")
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": folder}
        self.process = subprocess.Popen([simgpu, "--", *(word.replace("FOLDER", folder) for word in command)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, cwd=folder, env=self.environment)

    def inject(self, seconds, *options, process=None):
        return subprocess.Popen([self.strata, "attach", "--inject", str(process or self.process.pid), "--yes", "-o", self.session,
                                 *(("--seconds", str(seconds)) if seconds else ()), *options], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, cwd=self.folder, env=self.environment)

    def has_loaded(self):
        """Whether the program has PyTorch's libraries: nothing can be injected before."""
        with open(f"/proc/{self.process.pid}/maps", encoding="utf-8") as file:
            return "libc10_cuda" in file.read()

    def finish(self):
        """What it came to: exit status, what it says of itself, its complaints."""
        out, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out.replace("ready\n", ""), said.replace(TWO_RECORDERS, "")

    def trace(self):
        return trace_of(self.snapshot)


def trace_of(snapshot):
    with open(snapshot, "rb") as file:
        return pickle.load(file)["device_traces"]


def sequence(kind, trace):
    """What the program did: in its order, where that is always the same. A program of C++ destroys what it has at the end in the
    order of addresses; several threads mix."""
    done = [(event["action"], event["size"]) for device in trace for event in device if event["action"] != "snapshot"]
    return done if kind == "python" else sorted(done) if kind == "cpp" else None


def live(events):
    """Blocks and segments, as they stand behind events from the first on."""
    blocks, segments = {}, {}
    for event in events:
        if event["action"] == "alloc":
            blocks[event["addr"]] = event["size"]
        elif event["action"] == "free_completed":
            del blocks[event["addr"]]
        elif event["action"] == "segment_alloc":
            segments[event["addr"]] = event["size"]
        elif event["action"] == "segment_free":
            del segments[event["addr"]]
    return sorted(blocks.items()), sorted(segments.items())


def live_in(state):
    blocks = [(block["address"], block["requested_size"]) for segment in state["segments"] for block in segment["blocks"]
              if block["state"].startswith("active")]
    return sorted(blocks), sorted((segment["address"], segment["total_size"]) for segment in state["segments"])


def hold(trial, name, failures):
    """The session against torch's own trace; how many events."""
    [trace] = [device for device in trial.trace() if device]
    marks = [index for index, event in enumerate(trace) if event["action"] == "snapshot"]
    failures.expect(name, "cuts", len(marks) <= 2)
    if not marks and trial.kind != "cpp":
        return 0  # the program looked at its trace before
    got = record_tools.as_snapshot(trial.strata, trial.session, trial.folder)
    first, second, *_ = [*marks, len(trace), len(trace)]
    spans = [(first, second)]
    if trial.kind == "cpp":  # perhaps before torch's own recorder was switched on, and before anything was allocated
        spans.append((0, first))
    recorded = sum(event["action"] != "snapshot" for device in got["device_traces"] for event in device)
    begin, end = next((span for span in spans if sum(event["action"] != "snapshot" for event in trace[slice(*span)]) == recorded), spans[0])
    events, _ = record_tools.compare_events(name, got, {"device_traces": [trace[begin:end]]}, failures, None if trial.kind == "cpp" else "auto")
    for position, until in (("-1", begin), (str(recorded - 1), end)) if recorded else ():
        _, state = strata_json(trial.strata, ["state", trial.session, position, "--json"])
        failures.expect(name, f"state at {position}", state and live_in(state) == live(trace[:until]))
    failures.expect(name, "strata check", record_tools.checks(trial.strata, trial.session)[0], 0)
    if trial.kind == "python" and recorded > 5000:
        named = {row["name"] for row in record_tools.roles(trial.session) if row["role"] == "parameter"}
        failures.expect(name, "parameters by name", named, {f"{layer}.{part}" for layer in range(3) for part in ("weight", "bias")})
    return events


def inject(strata, simgpu, kind, command, wanted, draw, name, failures):
    """Injects into a fresh program at a random instant, for a random time or to its end."""
    with tempfile.TemporaryDirectory() as folder:  # a short name, for sockets
        trial = Trial(strata, simgpu, kind, command, folder)
        if kind == "cpp":
            failures.expect(name, "begins", waits_until(trial.has_loaded))
        else:
            failures.expect(name, "begins", trial.process.stdout.readline(), "ready\n")
        time.sleep(draw.uniform(0, 0.5))
        seconds = draw.choice([None, draw.uniform(0.05, 0.5)])
        viewer = trial.inject(seconds)
        code, out, said = trial.finish()
        viewed, told = viewer.wait(timeout=30), viewer.communicate()[1]
        ended = viewed == 1 and ("has ended" in told or "there is no process" in told)  # before it could be recorded
        failures.expect(name, "viewer", (viewed, told[-600:] if viewed and not ended else ""), (1 if ended else 0, ""))
        failures.expect(name, "result", (code, out), wanted[:2])
        failures.expect(name, "complaints", said, "")
        if not os.path.exists(trial.snapshot):
            return  # it did not come that far: its result tells
        failures.expect(name, "does the same", sequence(kind, trial.trace()) == wanted[2])
        failures.expect(name, "file", os.path.exists(trial.session), viewed == 0)
        if os.path.exists(trial.session):
            print(f"{name}: {hold(trial, name, failures)} events")
        if viewed == 0:
            failures.expect(name, "complete", "without its end" in told, False)


def reference(strata, simgpu, kind, command):
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(strata, simgpu, kind, command, folder)
        code, out, _ = trial.finish()
        return code, out, sequence(kind, trial.trace())


def inject_into(strata, simgpu, python, kind, command, config, failures):
    subprocess.run([strata, "doctor", "--", python], capture_output=True)  # makes the hook
    wanted, seed = reference(strata, simgpu, kind, command), config.getoption("first_seed")
    draw = random.Random(f"{kind} {int(time.time()) if LONG and seed is None else seed or 0}")
    for number in range(config.getoption("seeds") or 1):
        inject(strata, simgpu, kind, command, wanted, draw, f"{kind} {number}", failures)


@pytest.mark.torch("older")
def test_python(strata, simgpu, python, pytestconfig, failures):
    inject_into(strata, simgpu, python, "python", [python, PROGRAM, str(STEPS["python"]), "FOLDER/torch.pickle"], pytestconfig, failures)


def test_threads_children_and_signals(strata, simgpu, python, pytestconfig, failures):
    inject_into(strata, simgpu, python, "busy", [python, PROGRAM, str(STEPS["busy"]), "FOLDER/torch.pickle", "busy"], pytestconfig, failures)


def test_cpp(strata, simgpu, python, pytestconfig, failures):
    if program := compiled(python, failures):
        command = [program, "gpt", str(STEPS["cpp"]), "FOLDER/truth.json", "FOLDER/torch.pickle"]
        inject_into(strata, simgpu, python, "cpp", command, pytestconfig, failures)


#: Allocates while it is told to go, and does no call of CUDA otherwise. Its child does none at all.
WAITS = """
import os, signal, sys, time, torch
def is_told(name):
    return os.path.exists(os.path.join(sys.argv[1], name))
held = torch.empty(1 << 20, device="cuda")
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
parent, child = os.getpid(), os.fork()
if child == 0:
    while os.getppid() == parent and not is_told("end"):
        time.sleep(0.01)
    os._exit(0)
print("ready", child, flush=True)
while not is_told("end"):
    if is_told("go"):
        torch.empty(1 << 20, device="cuda")
        time.sleep(0.001)
    else:
        time.sleep(0.01)
print("done")
"""


def waits_until(is_so):
    for _ in range(500):
        if is_so():
            return True
        time.sleep(0.02)
    return False


class Corner:
    """A program that waits until it is told to go."""

    def __init__(self, strata, simgpu, python, folder, before=""):
        self.trial = Trial(strata, simgpu, "waits", [python, "-c", before + WAITS, folder], folder)
        self.strata, self.failures = strata, None

    def is_ready(self):
        word, child = self.trial.process.stdout.readline().split()
        assert word == "ready"
        self.child = int(child)

    def expect(self, what, got, wanted=True):
        self.failures.expect("it", what, got, wanted)

    def tell(self, name):
        open(os.path.join(self.trial.folder, name), "w").close()

    def hold(self):
        """It waits again, and has no recording."""
        for name in os.listdir(self.trial.folder):
            if name == "go" or name.endswith(".strata"):
                os.remove(os.path.join(self.trial.folder, name))
        time.sleep(0.2)

    def is_loaded(self):
        with open(f"/proc/{self.trial.process.pid}/maps", encoding="utf-8") as maps:
            return "libstrata_capture" in maps.read()

    def run(self, *command):
        run = subprocess.run([self.strata, *map(str, command)], capture_output=True, text=True, env=self.trial.environment, cwd=self.trial.folder,
                             stdin=subprocess.DEVNULL)
        return run.returncode, run.stderr

    def is_listed(self):
        listed = strata_json(self.strata, ["list", "--json"], env=self.trial.environment)[1]["processes"]
        return [process["pid"] for process in listed if process["state"] == "live"]

    def waits_for(self, listed):
        return waits_until(lambda: self.is_listed() == listed)

    def finish(self):
        self.tell("go")
        self.tell("end")
        assert self.trial.finish() == (0, "done\n", "")  # as it would without all that


@pytest.fixture(scope="module")
def waiting(strata, simgpu, newest):
    """One program for all corners: each leaves it as it was."""
    with tempfile.TemporaryDirectory() as folder:
        program = Corner(strata, simgpu, newest, folder)
        program.is_ready()
        yield program
        program.finish()


@pytest.fixture
def corner(waiting, failures):
    waiting.failures = failures
    waiting.hold()
    return waiting


def text_of(process):
    """Code and tables of LibTorch's allocator as they are in the process, which the loader may still change."""
    with open(f"/proc/{process}/maps", encoding="utf-8") as maps, open(f"/proc/{process}/mem", "rb") as memory:
        for line in maps:
            if "libc10_cuda.so" in line and "r-xp" in line:
                begin, end = (int(number, 16) for number in line.split()[0].split("-"))
                memory.seek(begin)
                return memory.read(end - begin)
    return b""


def test_never_asks(corner):
    """No call of CUDA: a timeout, and the process as it was. Then it goes."""
    number, loaded = corner.trial.process.pid, corner.is_loaded()
    code, told = corner.run("attach", "--inject", number, "-o", "no.strata", "--yes", "--timeout", "0.7")
    corner.expect("timeout", (code, "did not use CUDA" in told, "goes on as before" in told), (1, True, True))
    corner.expect("no file", os.path.exists(os.path.join(corner.trial.folder, "no.strata")), False)
    corner.tell("go")
    time.sleep(0.3)
    corner.expect("nothing was loaded", corner.is_loaded(), loaded)
    corner.expect("traced by", [line for line in open(f"/proc/{number}/status") if "TracerPid" in line], ["TracerPid:\t0\n"])


def test_killed_while_it_waits(corner):
    """SIGKILL of the one that injects, before the process came by: it comes by later, and nobody is there."""
    for _ in range(2):
        viewer = corner.trial.inject(None)
        time.sleep(0.7)
        code, told = corner.run("attach", "--inject", corner.trial.process.pid, "-o", "no.strata", "--yes")
        corner.expect("two at once", (code, "somebody else" in told), (3, True))
        viewer.kill()
        viewer.communicate()
    before = text_of(corner.trial.process.pid)
    corner.tell("go")
    time.sleep(0.7)
    corner.expect("records for nobody", corner.is_listed(), [])
    corner.expect("code", text_of(corner.trial.process.pid) == before)
    code, told = corner.run("attach", "--inject", corner.trial.process.pid, "-o", "again.strata", "--yes", "--seconds", "0.3")
    corner.expect("again", (code, told if code else ""), (0, ""))


def test_killed_while_it_records(corner):
    """Then nobody wants it any more: the recording ends, and the process goes on."""
    corner.tell("go")
    viewer = corner.trial.inject(None)
    corner.expect("recorded", corner.waits_for([corner.trial.process.pid]))
    viewer.kill()
    viewer.communicate()
    corner.expect("no longer recorded", corner.waits_for([]))


def test_interrupted(corner):
    """Ctrl+C while it waits leaves it as it was; while it records it ends the recording, which is complete."""
    viewer = corner.trial.inject(None)
    time.sleep(0.7)
    viewer.send_signal(signal.SIGINT)
    told = viewer.communicate(timeout=20)[1]
    corner.expect("while it waits", (viewer.returncode, "goes on as before" in told), (3, True))
    corner.tell("go")
    viewer = corner.trial.inject(None)
    corner.expect("is written", waits_until(lambda: os.path.exists(corner.trial.session)))
    viewer.send_signal(signal.SIGINT)
    told = viewer.communicate(timeout=20)[1]
    corner.expect("while it records", (viewer.returncode, "without its end" in told), (0, False))
    corner.expect("no longer recorded", corner.is_listed(), [])
    os.remove(corner.trial.session)
    for turn in range(20 if LONG else 2):  # at the instant at which it is recorded, wherever the one that injects is by then
        viewer = corner.trial.inject(None)
        corner.expect("recorded", corner.waits_for([corner.trial.process.pid]))
        time.sleep(0.005 * turn)
        viewer.send_signal(signal.SIGINT)
        told = viewer.communicate(timeout=20)[1]
        corner.expect(f"amid it, turn {turn}", (viewer.returncode in (0, 3), "without its end" in told), (True, False))
        corner.expect("nor recorded then", corner.waits_for([]))
        if os.path.exists(corner.trial.session):
            os.remove(corner.trial.session)


def test_kept(corner):
    """A recording that goes on; it cannot be begun twice, and can be watched as any other."""
    corner.tell("go")
    number = corner.trial.process.pid
    code, told = corner.run("attach", "--inject", number, "--yes", "--keep")
    corner.expect("kept", (code, f"strata attach {number} watches it" in told), (0, True))
    corner.expect("listed", corner.is_listed(), [number])
    code, told = corner.run("attach", "--inject", number, "--yes", "--keep")
    corner.expect("twice", (code, f"watch it: strata attach {number}" in told), (3, True))
    code, told = corner.run("attach", number, "-o", "kept.strata", "--seconds", "0.3")
    corner.expect("watched", (code, "attached to process" in told), (0, True))
    corner.expect("still listed", corner.is_listed(), [number])
    code, told = corner.run("attach", "--inject", number, "--yes", "--end")
    corner.expect("ended", (code, "has ended" in told, corner.is_listed()), (0, True, []))
    code, told = corner.run("attach", "--inject", number, "--yes", "--end")
    corner.expect("ended twice", (code, "it is not recorded" in told), (3, True))


def test_many_times(corner):
    """One after the other, in the same process."""
    corner.tell("go")
    for turn in range(30 if LONG else 3):
        code, told = corner.run("attach", "--inject", corner.trial.process.pid, "-o", f"{turn}.strata", "--yes", "--seconds", "0.05")
        corner.expect(f"turn {turn}", (code, told if code else ""), (0, ""))


def test_killed_itself(corner):
    """The process ends while it is waited for."""
    viewer = corner.trial.inject(None, "--timeout", "20", process=corner.child)
    time.sleep(0.7)
    os.kill(corner.child, signal.SIGKILL)
    told = viewer.communicate(timeout=10)[1]
    is_told = "has ended" in told or "there is no process" in told
    corner.expect("told", (viewer.returncode, "" if is_told else told[-300:]), (1, ""))


def test_not_asked(corner):
    code, told = corner.run("attach", "--inject", corner.trial.process.pid, "-o", "no.strata")
    ended, _ = corner.run("attach", "--inject", corner.trial.process.pid, "--yes", "--end", "--timeout", "0.7")
    corner.expect("no end of nothing", ended, 1)
    corner.expect("without a terminal", (code, "agree with --yes" in told, "Memory that it has allocated" in told), (2, True, True))
    corner.trial.process.send_signal(signal.SIGSTOP)
    time.sleep(0.2)
    code, told = corner.run("attach", "--inject", corner.trial.process.pid, "-o", "no.strata", "--yes")
    corner.expect("stopped", (code, "kill -CONT" in told), (3, True))
    corner.trial.process.send_signal(signal.SIGCONT)


#: Loads a library as the system loads a program's: calls are bound when they are made.
LOADS = """
import ctypes
load = ctypes.CDLL(None).dlopen
load.restype = ctypes.c_void_p
assert load({!r}.encode(), 1)
"""


def slow_library(python, folder, go):
    """One that needs LibTorch's allocator, and then one that the loader links once the file `go` is there."""
    torch = os.path.join(facts_of(python)[0], "lib")
    slow, path = os.path.join(folder, "libslow.so"), os.path.join(folder, "needs_slow.so")
    compiler = ["gcc", "-shared", "-fPIC", "-L" + torch, "-L" + folder, f"-Wl,--no-as-needed,--allow-shlib-undefined,-rpath,{torch}:{folder}"]
    subprocess.run([*compiler, f'-DGO="{go}"', os.path.join(PROGRAMS, "slow_loading.c"), "-o", slow], check=True)
    subprocess.run([*compiler, "-x", "c", os.devnull, "-x", "none", "-o", path, "-lc10_cuda", "-lslow"], check=True)
    return path


def test_while_it_loads(strata, simgpu, newest, failures):
    """The loader still adds to addresses of what it has mapped: one that was changed then led nowhere."""
    if not shutil.which("gcc"):
        failures.skip("not tried while libraries load: no gcc")
        return
    with tempfile.TemporaryDirectory() as folder:
        go = os.path.join(folder, "go")
        corner = Corner(strata, simgpu, newest, folder, LOADS.format(slow_library(newest, folder, go)))
        corner.failures = failures
        maps = f"/proc/{corner.trial.process.pid}/maps"
        corner.expect("maps the allocator", waits_until(lambda: "libc10_cuda.so" in open(maps).read()))
        code, told = corner.run("attach", "--inject", corner.trial.process.pid, "-o", "no.strata", "--yes", "--timeout", "0.5")
        corner.expect("told", (code, "still loads its libraries, and goes on as before" in told), (1, True))
        viewer = corner.trial.inject(0.3)
        time.sleep(0.5)  # the viewer waits meanwhile
        with open(go, "w", encoding="utf-8"):
            pass
        corner.is_ready()
        corner.tell("go")
        told = viewer.communicate(timeout=PATIENCE)[1]
        corner.expect("recorded", (viewer.returncode, told[-600:] if viewer.returncode else ""), (0, ""))
        corner.finish()
