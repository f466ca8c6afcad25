# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that end in all ways, and what `strata dryrun` makes of them: a reason, a hint, the figures until then.

usage: test_endings.py STRATA [--python PYTHON]...

The short form takes each kind of ending once, with the newest PyTorch; STRATA_LONG=1 takes all of them with each PyTorch.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from against_truth import start_each
from running import LONG, PROGRAMS, dryrun, main

USE = "import os, sys, torch\nx = torch.empty(1 << 20, device='cuda')\n"
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

# name, program, exit status, requested peaks of the processes in MiB, what the report or stderr must say
ENDINGS = [
    ("exception", USE + "raise ValueError('no such luck')", 1, [4], "no such luck"),
    ("exception by values", USE + "assert torch.ones(3, device='cuda').sum().item() == 3", 1, [4], "are zeros"),
    ("crash", USE + "import ctypes; ctypes.string_at(0)", 139, [4], "it crashed"),
    ("abort", "import os; os.abort()", 134, [], "it crashed"),
    ("abort when it is done", USE + "class Last:\n def __del__(self, abort=os.abort): abort()\nsys.last = Last()", 0, [4], "was done when"),
    ("abort in its own handler", USE + "import atexit; atexit.register(os.abort)", 134, [4], "it crashed"),
    ("kill", USE + "os.kill(os.getpid(), 9)", 137, [4], "it was killed"),
    ("status", "import sys; sys.exit(7)", 7, [], "its own output"),
    ("device that is not there", USE + "torch.empty(1, device='cuda:3')", 1, [4], "--devices"),
    ("no device used", "import torch; torch.ones(3)", 0, [], "torch.cuda.is_available() is true"),
    ("no torch used", "print('hello')", 0, [], "look for an option"),
    ("module that is missing", USE + "import no_such_module", 1, [4], "Python of the environment"),
    ("forks after", USE + "for use in (False, True):\n pid = os.fork()\n if pid == 0:\n  if use: torch.ones(1, device='cuda')\n"
     "  del x\n  os._exit(7)\n assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == (1 if use else 7)\ny = x + x", 0, [8],
     "forked subprocess"),
    ("fork before, and a child of it", "import os, subprocess, sys\nuse = \"import torch; torch.empty(1 << 20, device='cuda')\"\n"
     "pid = os.fork()\nif pid == 0:\n exec(use)\n subprocess.run([sys.executable, '-I', '-c', use], check=True)\n os._exit(0)\n"
     "assert os.waitpid(pid, 0)[1] == 0", 0, [4, 4], None),
    ("exec", USE + "os.execv(sys.executable, [sys.executable, '-c', \"import torch; torch.empty(1 << 21, device='cuda')\"])",
     0, [4, 8], None),
    ("late import, and again", "import importlib, sys, threading\ndef late():\n global x\n import torch\n"
     " x = torch.empty(1 << 20, device='cuda')\nt = threading.Thread(target=late); t.start(); t.join()\n"
     "importlib.reload(sys.modules['torch.optim.optimizer'])\nimport torch\ny = torch.empty(1 << 20, device='cuda')", 0, [8], None),
    ("spawn", "import torch, torch.multiprocessing as m\ndef f(i): torch.empty(1 << 20, device='cuda')\n"
     "if __name__ == '__main__': m.spawn(f, nprocs=2)", 0, [4, 4], None),
]

# name, loop of a program that trains, steps it may make under --steps 2, words on stderr
STEPS = [
    ("except Exception", "for i in range(9):\n try: step()\n except Exception: pass\n", 2, None),
    ("finally", "try:\n for i in range(9): step()\nfinally: print('tidied up')\n", 2, "tidied up"),
    ("bare except", "while True:\n try: step()\n except: pass\n", 2, "it is ended"),
    ("each optimizer for itself", "second = torch.optim.SGD([p], lr=1)\nsecond.step()\nfor i in range(9): step()\n", 2, None),
    ("optimizers made anew", "for i in range(9):\n optimizer = torch.optim.Adam([p]); step()\nprint('all nine')\n", 9,
     "all nine"),
]
#: In an interpreter of its own, which takes down what the program left: a file that was not closed, workers.
LEFT = """
class D(torch.utils.data.Dataset):
    def __len__(self): return 99
    def __getitem__(self, i): return i
if __name__ == '__main__':
    f = open(sys.argv[1], 'w')
    f.write('kept')
    for i in torch.utils.data.DataLoader(D(), num_workers=2): step()
"""


#: Left to the long form: what ends as another one does.
LONG_ALONE = ("exception by values", "abort in its own handler", "device that is not there", "no device used", "module that is missing",
              "fork before, and a child of it", "late import, and again")


def check_endings(strata, python, folder, failures):
    path = os.path.join(folder, "program.py")
    for name, program, status, peaks, words in ENDINGS:
        if not LONG and name in LONG_ALONE:
            continue
        with open(path, "w", encoding="utf-8") as file:
            file.write(program)
        run, report = dryrun(strata, [], [python, path])
        if report is None:
            failures.expect(name, "a report", run.stderr[-1500:])
            continue
        failures.expect(name, "exit_status", report["exit_status"], status)
        failures.expect(name, "exit", run.returncode, 1 if status else 0)
        got = [r["devices"][0]["requested_bytes_peak"] // MIB for r in report["ranks"]]
        failures.expect(name, "peaks", sorted(got), peaks)
        failures.expect(name, "calls that are not served", report["unserved_calls"], False)
        failures.expect(name, "hint at them", "does not serve" in json.dumps(report["failure"]), False)
        if words:
            failures.expect(name, f"'{words}' is said", words in json.dumps(report["failure"]) + run.stderr)
        if "exception" in name:
            failures.expect(name, "line", f"{path}:3" in report["failure"]["where"])
            failures.expect(name, "what was recorded is shown", len(report["groups"]) > 0)


#: What a program does last, peak allocated, whether that may be more: 4 MiB and a byte are rounded.
LAST = [
    ("killed at an allocation", "y = torch.empty((4 << 20) + 1, dtype=torch.uint8, device='cuda')\nos.kill(os.getpid(), 9)",
     8 * MIB + 512, True),
    ("killed later", "y = torch.empty((4 << 20) + 1, dtype=torch.uint8, device='cuda')\ndel y\nos.kill(os.getpid(), 9)",
     8 * MIB + 512, False),
    ("killed below the peak", "y = torch.empty(1 << 20, device='cuda')\ndel y\nz = torch.empty(1, device='cuda')\n"
     "os.kill(os.getpid(), 9)", 8 * MIB, False),
    ("returned", "y = torch.empty((4 << 20) + 1, dtype=torch.uint8, device='cuda')", 8 * MIB + 512, False),
]


def check_last_allocation(strata, python, _, failures):
    """The last thing that a program did counts too, or it is said that it may have been more."""
    for name, program, allocated, is_least in LAST if LONG else LAST[:2]:
        _, report = dryrun(strata, [], [python, "-c", USE + program])
        device = report["ranks"][0]["devices"][0]
        failures.expect(name, "peak allocated", device["allocated_bytes_peak"], allocated)
        failures.expect(name, "is at least that", report["tracked"][0]["allocated_is_least"], is_least)
    run = subprocess.run([strata, "dryrun", "--", python, "-c", USE + LAST[0][1]], capture_output=True, text=True)
    failures.expect(LAST[0][0], "said", "at least: the program ended with its last allocation" in run.stdout)


def check_hints(strata, python, _, failures):
    """Calls that were not served are spoken of where there were any; check_endings() has those without."""
    unserved = "import ctypes\nctypes.CDLL(None).strata_simgpu_unserved(b'cudaNoSuchCall')\n"
    for name, program, words in (
            ("crash after one", USE + unserved + "os.abort()", True), ("before the device is used", unserved + USE + "os.abort()", True),
            ("exception after one", USE + unserved + "raise ValueError('x')", True))[None if LONG else 2:]:
        _, report = dryrun(strata, [], [python, "-c", program])
        failures.expect(name, "calls that are not served", report["unserved_calls"], words)
        failures.expect(name, "hint", "does not serve" in report["failure"]["hint"], words)


def check_cards(strata, python, _, failures):
    """After an out-of-memory cards are named that have more, and room for what was refused."""
    program = "import torch\nx = torch.empty(1 << 28, device='cuda')\ny = torch.empty(5 << 30, device='cuda')"
    _, report = dryrun(strata, ["--device", "T4-16GB"], [python, "-c", program])
    names = [card["name"] for card in report["try_on"]]
    failures.expect("cards", "needed", report["needed_at_least_bytes"], 21 << 30)
    failures.expect("cards", f"{names} are to be tried", ("A100-40GB" in names, "T4-16GB" in names, "V100-16GB" in names),
                    (True, False, False))
    run = subprocess.run([strata, "dryrun", "--device", "T4-16GB", "--", python, "-c", program], capture_output=True, text=True)
    failures.expect("cards", "said", "Needs at least 21.0 GiB" in run.stdout and "A100-40GB" in run.stdout)
    _, report = dryrun(strata, [], [python, "-c", USE])
    failures.expect("cards", "none where it fits", (report["try_on"], report["needed_at_least_bytes"]), ([], None))


def check_steps(strata, python, folder, failures):
    def written(name, loop):
        path = os.path.join(folder, name.replace(" ", "_") + ".py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(TRAIN.replace("NAME", name) + loop)
        return path

    commands = [[written(name, loop)] for name, loop, _, _ in STEPS]
    run, report, ended = start_each(strata, python, ["--steps", "2"], commands, folder)
    failures.expect("steps", "exit", (run.returncode, report and report["steps"]), (0, 2))
    failures.expect("steps", "programs ended well", [e["status"] for e in ended[0]] if ended else run.stderr, [0] * len(STEPS))
    failures.expect("steps", "snapshot", report and len(report["groups"]) > 0)
    for name, _, steps, words in STEPS:
        failures.expect(name, "steps", run.stderr.count(f"step of {name}\n"), steps)
        if words:
            failures.expect(name, f"'{words}' is said", words in run.stderr)

    kept = os.path.join(folder, "kept")
    run, report = dryrun(strata, ["--steps", "2"], [python, written("left", LEFT), kept])
    failures.expect("left", "exit", (run.returncode, report and report["steps"]), (0, 2))
    failures.expect("left", "steps", run.stderr.count("step of left\n"), 2)
    with open(kept, encoding="utf-8") as file:
        failures.expect("left", "flushed", file.read(), "kept")


def check_start(strata, python, folder, failures):
    def usage(name, options, command, words, **more):
        run, _ = dryrun(strata, options, command, **more)
        failures.expect(name, "exit", run.returncode, 2)
        failures.expect(name, f"'{words}' is said", words in run.stderr)

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
    found = {**os.environ, "PATH": os.path.dirname(python) + ":" + os.environ["PATH"]}
    run, report = dryrun(strata, [], ["true"], env=found)
    failures.expect("not LibTorch, PyTorch on the path", "ranks", (run.returncode, report and report["ranks"]), (0, []))
    library = os.path.join(folder, "torch", "lib")
    os.makedirs(library)
    for file in ("../__init__.py", "libtorch_cpu.so"):
        open(os.path.join(library, file), "w", encoding="utf-8").close()
    usage("CPU alone", [], [python, "-c", ""], "install the CUDA build of PyTorch", env={**os.environ, "PYTHONPATH": folder})


def without_hooks(strata, folder):
    """A Strata that has no hook and can make none: its dry runs keep torch's own recorder on."""
    libraries = os.path.join(os.path.dirname(os.path.dirname(strata)), "lib", "strata")
    shutil.copytree(libraries, os.path.join(folder, "lib", "strata"),
                    ignore=shutil.ignore_patterns("libstrata_torch*", "hook-src"))
    os.makedirs(os.path.join(folder, "bin"))
    return shutil.copy(strata, os.path.join(folder, "bin", "strata"))


def check_terminated(strata, python, folder, failures):
    """Who ends `strata` ends the command, and leaves nothing behind."""
    run = subprocess.Popen([strata, "dryrun", "--json", "--", python, "-c", "import time; print('begun', flush=True); time.sleep(600)"],
                           env={**os.environ, "TMPDIR": folder}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while run.poll() is None and run.stderr.readline() not in ("begun\n", ""):
        pass
    run.terminate()
    out, _ = run.communicate()
    failures.expect("terminated", "exit", (run.returncode, out and json.loads(out)["exit_status"]), (1, 143))
    failures.expect("terminated", "temporary files", os.listdir(folder), [])


def check_output(strata, python, folder, failures):
    run, report = dryrun(strata, [], [python, "-I", "-c", USE + "sys.stdout.buffer.write(b'\\xff\\0raw')"],
                         stdin=subprocess.DEVNULL)
    failures.expect("-I", "groups", len(report["groups"]) > 0)
    raw = subprocess.run([strata, "dryrun", "--json", "--", python, "-c", "import os; os.write(1, b'\\xff\\0raw')"],
                         capture_output=True)
    failures.expect("stdout", "byte for byte on stderr", b"\xff\0raw" in raw.stderr)
    lines = [l for l in run.stderr.splitlines() if l.startswith("strata: ")]
    failures.expect("progress", "whole lines", len(lines) > 0 and "\r" not in run.stderr)

    snapshot, session = os.path.join(folder, "kept.pickle"), os.path.join(folder, "kept.strata")
    code = "import torch\ntry: torch.empty(5 << 30, device='cuda')\nexcept torch.OutOfMemoryError: pass"
    run, report = dryrun(strata, ["--capacity", "4GiB", "-o", snapshot], [python, "-c", code])
    device = report["ranks"][0]["devices"][0]
    failures.expect("out of memory", "refused", (device["fits"], device["oom_count"], device["first_refused_bytes"],
                                                 report["fits_on"], run.returncode), (False, 1, 20 << 30, [], 1))
    summary = json.loads(subprocess.run([strata, "summary", "--json", snapshot], capture_output=True).stdout)
    failures.expect("snapshot", "simulated", '"simulated": true' in json.dumps(summary))
    with open(snapshot, "rb") as file:
        import pickle
        about = pickle.load(file)["allocator_settings"]["simulated_device"]
    failures.expect("snapshot", "command", (about["command"], about["capacity_bytes"]), ([python, "-c", code], 4 << 30))

    bare = without_hooks(strata, os.path.join(folder, "bare"))
    for name, program in (("session", strata), ("session of torch's recorder", bare)):
        run, report = dryrun(program, ["--capacity", "4GiB", "--overwrite", "-o", session], [python, "-c", USE + code])
        failures.expect(name, "groups", [group["key"] for group in report["groups"]], ["<string>:2"])
        summary = json.loads(subprocess.run([strata, "summary", "--json", session], capture_output=True).stdout)
        kept, told = summary["devices"][0], report["ranks"][0]["devices"][0]
        failures.expect(name, "peaks", [kept[f"{figure}_bytes_peak"] for figure in ("requested", "reserved")],
                        [told[f"{figure}_bytes_peak"] for figure in ("requested", "reserved")])
        failures.expect(name, "command", kept["settings"]["simulated_device"]["command"], [python, "-c", USE + code])

    show = "import os; print([os.environ.get(n) for n in ('PYTORCH_CUDA_ALLOC_CONF', 'PYTORCH_ALLOC_CONF')])"
    environment = {**os.environ, "PYTORCH_CUDA_ALLOC_CONF": "roundup_power2_divisions:4"}
    environment.pop("PYTORCH_ALLOC_CONF", None)
    for options, wanted in (([], "['roundup_power2_divisions:4', None]"), (["--set", ""], "[None, None]"),
                            (["--set", "a:b"], "['a:b', 'a:b']")):
        run, _ = dryrun(strata, options, [python, "-c", show], env=environment)
        failures.expect("--set", str(options), wanted in run.stderr)

    host = "import torch, resource\nm = torch.nn.Linear(14000, 14000)\nx = torch.ones(1, device='cuda')\n" \
           "print('RSS', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)"
    for options, low, high in (([], 0, 700), (["--no-skip-init"], 850, 9999)):
        run, report = dryrun(strata, options, [python, "-c", host])
        used = int(run.stderr.split("RSS ")[1].split()[0])
        failures.expect("skip-init", f"{options}: {used} MiB of host memory", low < used < high)
        failures.expect("skip-init", "said", (report["skip_init"], report["weights_skipped"]), (not options, not options))


def test(arguments, python, failures):
    strata = arguments.strata
    for check in (check_endings, check_last_allocation, check_hints, check_cards, check_steps, check_start, check_terminated,
                  check_output):
        with tempfile.TemporaryDirectory() as folder:
            check(strata, python, folder, failures)


sys.exit(main(test))
