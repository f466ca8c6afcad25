# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that end in all ways, and what `strata dryrun` makes of them: a reason, a hint, the figures until then.

The short form takes each kind of ending once; the long one takes all of them with each PyTorch.
"""
import json
import os
import pickle
import shutil
import subprocess

import pytest

from against_truth import start_each
from running import PROGRAMS, dryrun, strata_json, with_environment

pytestmark = pytest.mark.torch("every")

USE = "import os, sys, torch\nx = torch.empty(1 << 20, device='cuda')\n"
UNSERVED = "import ctypes; ctypes.CDLL(None).strata_simgpu_unserved(b'cudaNoSuchCall')"
FORKS = ("for use in (False, True):\n pid = os.fork()\n if pid == 0:\n  if use: torch.ones(1, device='cuda')\n"
         "  del x\n  os._exit(7)\n assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == (1 if use else 7)\ny = x + x\n")
EXEC = "os.execv(sys.executable, [sys.executable, '-c', \"import torch; torch.empty(1 << 22, device='cuda')\"])"
#: Each step tells, past whatever Python keeps back, that it was made.
TRAIN = USE + """
p = torch.nn.Parameter(torch.ones(1 << 20, device='cuda'))
optimizer = torch.optim.Adam([p])
def step():
    p.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    os.write(1, b'step of NAME\\n')
"""
MIB = 1 << 20

# program, exit status, requested peaks of the processes in MiB, what the report or stderr must say
ENDINGS = {
    "exception after a call that is not served": (USE + UNSERVED + "; raise ValueError('no such luck')", 1, [4], "no such luck"),
    "crash": (USE + "import ctypes; ctypes.string_at(0)", 139, [4], "it crashed"),
    "abort": ("import os; os.abort()", 134, [], "it crashed"),
    "abort when it is done": (USE + "class Last:\n def __del__(self, abort=os.abort): abort()\nsys.last = Last()", 0, [4], "was done when"),
    "status": ("import sys; sys.exit(7)", 7, [], "its own output"),
    "no torch used": ("print('hello')", 0, [], "look for an option"),
    "forks after, and exec": (USE + FORKS + EXEC, 0, [8, 16], "forked subprocess"),
}
#: What ends as another one does.
LONG_ALONE = {
    "exception": (USE + "raise ValueError('no such luck')", 1, [4], "no such luck"),
    "exception by values": (USE + "assert torch.ones(3, device='cuda').sum().item() == 3", 1, [4], "are zeros"),
    "abort after a call that is not served": (USE + UNSERVED + "; os.abort()", 134, [4], "does not serve"),
    "call that is not served before the device is used": (UNSERVED + "\n" + USE + "os.abort()", 134, [4], "does not serve"),
    "abort in its own handler": (USE + "import atexit; atexit.register(os.abort)", 134, [4], "it crashed"),
    "kill": (USE + "os.kill(os.getpid(), 9)", 137, [4], "it was killed"),
    "device that is not there": (USE + "torch.empty(1, device='cuda:3')", 1, [4], "--devices"),
    "no device used": ("import torch; torch.ones(3)", 0, [], "torch.cuda.is_available() is true"),
    "module that is missing": (USE + "import no_such_module", 1, [4], "Python of the environment"),
    "forks after": (USE + FORKS, 0, [8], "forked subprocess"),
    "fork before, and a child of it": (
        "import os, subprocess, sys\nuse = \"import torch; torch.empty(1 << 20, device='cuda')\"\n"
        "pid = os.fork()\nif pid == 0:\n exec(use)\n subprocess.run([sys.executable, '-I', '-c', use], check=True)\n os._exit(0)\n"
        "assert os.waitpid(pid, 0)[1] == 0", 0, [4, 4], None),
    "exec": (USE + EXEC, 0, [4, 16], None),
    "late import, and again": (
        "import importlib, sys, threading\ndef late():\n global x\n import torch\n"
        " x = torch.empty(1 << 20, device='cuda')\nt = threading.Thread(target=late); t.start(); t.join()\n"
        "importlib.reload(sys.modules['torch.optim.optimizer'])\nimport torch\ny = torch.empty(1 << 20, device='cuda')", 0, [8], None),
    "spawn": ("import torch, torch.multiprocessing as m\ndef f(i): torch.empty(1 << 20, device='cuda')\n"
              "if __name__ == '__main__': m.spawn(f, nprocs=2)", 0, [4, 4], None),
}


@pytest.mark.parametrize("name", [*ENDINGS, *(pytest.param(name, marks=pytest.mark.long) for name in LONG_ALONE)])
def test_ending(strata, python, tmp_path, failures, name):
    program, status, peaks, words = {**ENDINGS, **LONG_ALONE}[name]
    path = tmp_path / "program.py"
    path.write_text(program)
    run, report = dryrun(strata, [], [python, str(path)])
    assert report, run.stderr[-1500:]
    failures.expect(name, "exit_status", report["exit_status"], status)
    failures.expect(name, "exit", run.returncode, 1 if status else 0)
    got = [r["devices"][0]["requested_bytes_peak"] // MIB for r in report["ranks"]]
    failures.expect(name, "peaks", sorted(got), peaks)
    failures.expect(name, "calls that are not served", report["unserved_calls"], UNSERVED in program)
    failures.expect(name, "hint at them", "does not serve" in json.dumps(report["failure"]), UNSERVED in program)
    if words:
        failures.expect(name, f"'{words}' is said", words in json.dumps(report["failure"]) + run.stderr)
    if "exception" in name:
        failures.expect(name, "line", f"{path}:3" in report["failure"]["where"])
        failures.expect(name, "what was recorded is shown", len(report["groups"]) > 0)
    if status == 0 and peaks:
        failures.expect(name, "no other card is named where it fits", (report["try_on"], report["needed_at_least_bytes"]), ([], None))
    if peaks:
        lines = [line for line in run.stderr.splitlines() if line.startswith("strata: ")]
        failures.expect(name, "progress in whole lines", len(lines) > 0 and "\r" not in run.stderr)


#: What a program does last, peak allocated, whether that may be more: 4 MiB and a byte are rounded.
BLOCK = "y = torch.empty((4 << 20) + 1, dtype=torch.uint8, device='cuda')\n"
KILL = "os.kill(os.getpid(), 9)"
LAST = [
    pytest.param(BLOCK + KILL, 8 * MIB + 512, True, id="killed at an allocation"),
    pytest.param(BLOCK + "del y\n" + KILL, 8 * MIB + 512, False, id="killed later", marks=pytest.mark.long),
    pytest.param("y = torch.empty(1 << 20, device='cuda')\ndel y\nz = torch.empty(1, device='cuda')\n" + KILL, 8 * MIB, False,
                 id="killed below the peak", marks=pytest.mark.long),
    pytest.param(BLOCK, 8 * MIB + 512, False, id="returned", marks=pytest.mark.long),
]


@pytest.mark.parametrize("last, allocated, is_least", LAST)
def test_last_allocation(strata, python, failures, last, allocated, is_least):
    """The last thing that a program did counts too, or it is said that it may have been more."""
    run, report = dryrun(strata, [], [python, "-c", USE + last])
    device = report["ranks"][0]["devices"][0]
    failures.expect(last, "peak allocated", device["allocated_bytes_peak"], allocated)
    failures.expect(last, "is at least that", report["tracked"][0]["allocated_is_least"], is_least)
    if KILL in last:
        failures.expect(last, "killed", (report["exit_status"], run.returncode, "it was killed" in json.dumps(report["failure"])), (137, 1, True))


TOO_LARGE = "import torch\nx = torch.empty(1 << 28, device='cuda')\ny = torch.empty(5 << 30, device='cuda')"


@pytest.mark.long
def test_text(strata, python):
    def text(options, program):
        return subprocess.run([strata, "dryrun", *options, "--", python, "-c", program], capture_output=True, text=True).stdout

    assert "at least: the program ended with its last allocation" in text([], USE + BLOCK + KILL)
    said = text(["--device", "T4-16GB"], TOO_LARGE)
    assert "Needs at least 21.0 GiB" in said and "A100-40GB" in said


def test_out_of_memory(strata, python, tmp_path, failures):
    """Cards are named that have more, and room for what was refused; the session has what the report says."""
    session, command = str(tmp_path / "kept.strata"), [python, "-I", "-c", TOO_LARGE]
    run, report = dryrun(strata, ["--device", "T4-16GB", "-o", session], command)
    names, device = [card["name"] for card in report["try_on"]], report["ranks"][0]["devices"][0]
    failures.expect("report", "refused", (device["fits"], device["oom_count"], device["first_refused_bytes"], report["fits_on"],
                                          report["exit_status"], run.returncode), (False, 1, 20 << 30, [], 1, 1))
    failures.expect("report", "line", "<string>:3" in report["failure"]["where"])
    failures.expect("cards", "needed", report["needed_at_least_bytes"], 21 << 30)
    failures.expect("cards", f"{names} are to be tried", ("A100-40GB" in names, "T4-16GB" in names, "V100-16GB" in names),
                    (True, False, False))
    hold_session(strata, session, report, command, failures)


def hold_session(strata, session, report, command, failures):
    failures.expect("session", "groups", [group["key"] for group in report["groups"]], ["<string>:2"])
    _, summary = strata_json(strata, ["summary", "--json", session])
    kept, told = summary["devices"][0], report["ranks"][0]["devices"][0]
    for figure in ("requested_bytes_peak", "reserved_bytes_peak"):
        failures.expect("session", figure, kept[figure], told[figure])
    failures.expect("session", "command", kept["settings"]["simulated_device"]["command"], command)


CAUGHT = "import torch\ntry: torch.empty(5 << 30, device='cuda')\nexcept torch.OutOfMemoryError: pass"


@pytest.mark.long
def test_out_of_memory_that_is_caught(strata, python, tmp_path, failures):
    snapshot, command = str(tmp_path / "kept.pickle"), [python, "-c", CAUGHT]
    run, report = dryrun(strata, ["--capacity", "4GiB", "-o", snapshot], command)
    device = report["ranks"][0]["devices"][0]
    failures.expect("out of memory", "refused", (device["fits"], device["oom_count"], device["first_refused_bytes"],
                                                 report["fits_on"], run.returncode), (False, 1, 20 << 30, [], 1))
    _, summary = strata_json(strata, ["summary", "--json", snapshot])
    failures.expect("snapshot", "simulated", '"simulated": true' in json.dumps(summary))
    with open(snapshot, "rb") as file:
        about = pickle.load(file)["allocator_settings"]["simulated_device"]
    failures.expect("snapshot", "command", (about["command"], about["capacity_bytes"]), (command, 4 << 30))


@pytest.mark.long
def test_session_of_torchs_recorder(strata, python, tmp_path, failures):
    """A Strata that has no hook and can make none: its dry runs keep torch's own recorder on."""
    libraries = os.path.join(os.path.dirname(os.path.dirname(strata)), "lib", "strata")
    shutil.copytree(libraries, tmp_path / "lib" / "strata", ignore=shutil.ignore_patterns("libstrata_torch*", "hook-src"))
    os.makedirs(tmp_path / "bin")
    session, command = str(tmp_path / "kept.strata"), [python, "-c", USE + CAUGHT]
    _, report = dryrun(shutil.copy(strata, tmp_path / "bin" / "strata"), ["--capacity", "4GiB", "-o", session], command)
    hold_session(strata, session, report, command, failures)


# loop of a program that trains, steps it may make under --steps 2, words on stderr
STEPS = {
    "except Exception": ("for i in range(9):\n try: step()\n except Exception: pass\n", 2, None),
    "finally": ("try:\n for i in range(9): step()\nfinally: print('tidied up')\n", 2, "tidied up"),
    "bare except": ("while True:\n try: step()\n except: pass\n", 2, "it is ended"),
    "each optimizer for itself": ("second = torch.optim.SGD([p], lr=1)\nsecond.step()\nfor i in range(9): step()\n", 2, None),
    "optimizers made anew": ("for i in range(9):\n optimizer = torch.optim.Adam([p]); step()\nprint('all nine')\n", 9, "all nine"),
    # Its interpreter takes down what the program left: a file that was not closed, workers.
    "left": ("""
class D(torch.utils.data.Dataset):
    def __len__(self): return 99
    def __getitem__(self, i): return i
if __name__ == '__main__':
    f = open(sys.argv[1], 'w')
    f.write('kept')
    for i in torch.utils.data.DataLoader(D(), num_workers=2): step()
""", 2, None),
}
HOST = ("import torch, resource\nm = torch.nn.Linear(14000, 14000)\nx = torch.ones(1, device='cuda')\n"
        "print('RSS', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)")


def check_host(run, report, is_skipped, failures):
    """Of MiB that weights on the CPU would take."""
    used, (low, high) = int(run.stderr.split("RSS ")[1].split()[0]), (0, 700) if is_skipped else (850, 9999)
    failures.expect("skip-init", f"{used} MiB of host memory", low < used < high)
    failures.expect("skip-init", "said", (report["skip_init"], report["weights_skipped"]), (is_skipped, is_skipped))


def test_steps(strata, python, tmp_path, failures):
    """Programs that --steps ends, and one without a step, whose weights are not made."""
    def written(name, source, *words):
        path = tmp_path / (name.replace(" ", "_") + ".py")
        path.write_text(source)
        return [str(path), *words]

    kept = tmp_path / "kept"
    commands = [written(name, TRAIN.replace("NAME", name) + loop, str(kept)) for name, (loop, _, _) in STEPS.items()]
    run, report, ended = start_each(strata, python, ["--steps", "2"], [*commands, written("host", HOST)], tmp_path, ["--to-the-end"])
    failures.expect("steps", "exit", (run.returncode, report and report["steps"]), (0, 2))
    failures.expect("steps", "programs ended well", [e["status"] for e in ended[0]] if ended else run.stderr, [0] * (len(STEPS) + 1))
    failures.expect("steps", "snapshot", report and len(report["groups"]) > 0)
    for name, (_, steps, words) in STEPS.items():
        failures.expect(name, "steps", run.stderr.count(f"step of {name}\n"), steps)
        if words:
            failures.expect(name, f"'{words}' is said", words in run.stderr)
    failures.expect("left", "flushed", kept.read_text(), "kept")
    check_host(run, report, True, failures)


@pytest.mark.long
@pytest.mark.parametrize("options", [[], ["--no-skip-init"]], ids=["skipped", "made"])
def test_host_memory(strata, python, failures, options):
    run, report = dryrun(strata, options, [python, "-c", HOST])
    check_host(run, report, not options, failures)


def test_start(strata, python, tmp_path, failures):
    """What cannot start is said, before anything does."""
    def usage(name, options, command, words, **more):
        run, _ = dryrun(strata, options, command, **more)
        failures.expect(name, "exit", run.returncode, 2)
        failures.expect(name, f"'{words}' is said", words in run.stderr)

    folder = str(tmp_path)
    usage("not found", [], ["no-such-program"], "no-such-program: command not found")
    usage("not there", [], ["/no/such/program"], "/no/such/program: no such program")
    usage("a folder", [], [PROGRAMS], "it is a folder")
    usage("a script", [], [os.path.join(PROGRAMS, "train.py")], "train.py: no such program: it may not be executed, put python before it")
    usage("capacity", ["--capacity", "much"], [python, "-c", ""], "much")
    usage("addresses", ["--addresses", "sideways"], [python, "-c", ""], "sideways")
    bare = {"PATH": folder, "HOME": folder}
    run, report = dryrun(strata, [], ["/bin/true"], env=bare)  # it might have started who knows what
    failures.expect("not LibTorch", "ranks", (run.returncode, report and report["ranks"]), (0, []))
    usage("no torch", [], ["/usr/bin/python3", "-c", ""], "install the CUDA build of PyTorch", env={"PATH": "/usr/bin"})
    usage("device", ["--device", "H100"], [python, "-c", ""], "H100-80GB")
    usage("no command", [], [], "no command")
    done = subprocess.run([strata, "dryrun", python, "-c", ""], capture_output=True, text=True)
    failures.expect("command without --", "exit", done.returncode, 2)
    failures.expect("command without --", "said", python in done.stderr and "a command goes behind --" in done.stderr)
    run, report = dryrun(strata, [], ["true"], env=with_environment(PATH=os.path.dirname(python) + ":" + os.environ["PATH"]))
    failures.expect("not LibTorch, PyTorch on the path", "ranks", (run.returncode, report and report["ranks"]), (0, []))
    library = tmp_path / "torch" / "lib"
    os.makedirs(library)
    for file in ("../__init__.py", "libtorch_cpu.so"):
        (library / file).touch()
    usage("CPU alone", [], [python, "-c", ""], "install the CUDA build of PyTorch", env=with_environment(PYTHONPATH=folder))


def test_terminated(strata, python, tmp_path):
    """Who ends `strata` ends the command, and leaves nothing behind."""
    run = subprocess.Popen([strata, "dryrun", "--json", "--", python, "-c", "import time; print('begun', flush=True); time.sleep(600)"],
                           env=with_environment(TMPDIR=str(tmp_path)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while run.poll() is None and run.stderr.readline() not in ("begun\n", ""):
        pass
    run.terminate()
    out, _ = run.communicate()
    assert (run.returncode, out and json.loads(out)["exit_status"]) == (1, 143)
    assert os.listdir(tmp_path) == []


#: Ends as an interrupted program does, but on a card of the compute capability 8.0.
INTERRUPTED_ELSEWHERE = TRAIN + """
step()
own = torch.cuda.get_device_capability() == (8, 0)
with open('runs', 'a') as file:
    print('own' if own else 'other', type(optimizer).__name__, file=file)
sys.exit(0 if own else 130)
"""


def test_an_interrupt_ends_runs_on_other_cards(strata, python, tmp_path):
    dryrun(strata, ["--device", "A100-80GB", "--on-each-card", "--change", "optimizer=SGD"], [python, "-c", INTERRUPTED_ELSEWHERE], cwd=tmp_path)
    runs = (tmp_path / "runs").read_text().splitlines()
    assert runs[:2] == ["own Adam", "own SGD"] and set(runs[2:]) == {"other Adam"} and len(runs) <= 4


def test_output_is_passed_on(strata, python):
    raw = subprocess.run([strata, "dryrun", "--json", "--", python, "-c", "import os; os.write(1, b'\\xff\\0raw')"], capture_output=True)
    assert b"\xff\0raw" in raw.stderr


COMPILED = """
import torch
inner = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64)).cuda()
model = torch.compile(inner, fullgraph=True, backend="eager")
optimizer = torch.optim.AdamW(model.parameters())
for step in range(5):
    model(torch.randn(8, 64, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_a_compiled_program_ends_as_it_does_without_a_recording(strata, python, tmp_path):
    """Dynamo would trace the hooks of the deep step."""
    run, found = dryrun(strata, ["-o", str(tmp_path / "compiled.strata")], [python, "-c", COMPILED])
    assert run.returncode == 0, run.stderr
    assert found["exit_status"] == 0 and found["steps"] == 5
    assert "torch.compile" in found["deep_step_unusable"]


@pytest.mark.parametrize("options, wanted", [([], "['roundup_power2_divisions:4', None]"), (["--set", ""], "[None, None]"),
                                             (["--set", "a:b"], "['a:b', 'a:b']")], ids=["none", "empty", "set"])
def test_settings(strata, python, options, wanted):
    show = "import os; print([os.environ.get(n) for n in ('PYTORCH_CUDA_ALLOC_CONF', 'PYTORCH_ALLOC_CONF')])"
    environment = with_environment(PYTORCH_CUDA_ALLOC_CONF="roundup_power2_divisions:4")
    environment.pop("PYTORCH_ALLOC_CONF", None)
    run, _ = dryrun(strata, options, [python, "-c", show], env=environment)
    assert wanted in run.stderr
