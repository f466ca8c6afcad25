# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that end in all ways, and what `strata dryrun` makes of them: a reason, a hint, the figures until then.

usage: test_endings.py STRATA [--python PYTHON]...
"""
import json
import os
import subprocess
import sys
import tempfile

from running import dryrun, main

USE = "import os, sys, torch\nx = torch.empty(1 << 20, device='cuda')\n"
TRAIN = USE + """
p = torch.nn.Parameter(torch.ones(1 << 20, device='cuda'))
optimizer = torch.optim.Adam([p])
def step():
    p.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
MIB = 1 << 20

# name, program, exit status, requested peaks of the processes in MiB, what the report or stderr must say
ENDINGS = [
    ("exception", USE + "raise ValueError('no such luck')", 1, [4], "no such luck"),
    ("exception by values", USE + "assert torch.ones(3, device='cuda').sum().item() == 3", 1, [4], "are zeros"),
    ("crash", USE + "import ctypes; ctypes.string_at(0)", 139, [4], "it crashed"),
    ("abort", USE + "os.abort()", 134, [4], "it crashed"),
    ("kill", USE + "os.kill(os.getpid(), 9)", 137, [4], "it was killed"),
    ("status", USE + "sys.exit(7)", 7, [4], "its own output"),
    ("device that is not there", USE + "torch.empty(1, device='cuda:3')", 1, [4], "--devices"),
    ("no device used", "import torch; torch.ones(3)", 0, [], "torch.cuda.is_available() is true"),
    ("no torch used", "print('hello')", 0, [], "look for an option"),
    ("module that is missing", USE + "import no_such_module", 1, [4], "Python of the environment"),
    ("fork after", USE + "pid = os.fork()\nif pid == 0:\n del x\n os._exit(0)\nos.waitpid(pid, 0)\ny = x + x", 0, [8], None),
    ("use in a fork", USE + "pid = os.fork()\nif pid == 0:\n torch.ones(1, device='cuda')\nos.waitpid(pid, 0)\n", 0, [4],
     "forked subprocess"),
    ("fork before", "import os\npid = os.fork()\nif pid == 0:\n import torch\n torch.empty(1 << 20, device='cuda')\n"
     " os._exit(0)\nos.waitpid(pid, 0)", 0, [4], None),
    ("exec", USE + "os.execv(sys.executable, [sys.executable, '-c', \"import torch; torch.empty(1 << 21, device='cuda')\"])",
     0, [4, 8], None),
    ("late import", "import threading\ndef late():\n import torch\n torch.empty(1 << 20, device='cuda')\n"
     "t = threading.Thread(target=late); t.start(); t.join()", 0, [4], None),
    ("import twice", USE + "import importlib\nimportlib.reload(sys.modules['torch.optim.optimizer'])\nimport torch\n"
     "y = torch.empty(1 << 20, device='cuda')", 0, [8], None),
    ("spawn", "import torch, torch.multiprocessing as m\ndef f(i): torch.empty(1 << 20, device='cuda')\n"
     "if __name__ == '__main__': m.spawn(f, nprocs=2)", 0, [4, 4], None),
]

# name, loop of a program that trains, options, steps of the report, words on stderr
STEPS = [
    ("except Exception", "for i in range(9):\n try: step()\n except Exception: pass\n", 2, None),
    ("finally", "try:\n for i in range(9): step()\nfinally: print('tidied up')\n", 2, "tidied up"),
    ("bare except", "while True:\n try: step()\n except: pass\n", 2, "it is ended"),
    ("each optimizer for itself", "second = torch.optim.SGD([p], lr=1)\nsecond.step()\nfor i in range(9): step()\n", 2, None),
    ("optimizers made anew", "for i in range(9):\n optimizer = torch.optim.Adam([p]); step()\nprint('all nine')\n", 1,
     "all nine"),
    ("files", "f = open(sys.argv[1], 'w'); f.write('kept')\nfor i in range(9): step()\n", 2, None),
    ("workers", "class D(torch.utils.data.Dataset):\n def __len__(self): return 99\n def __getitem__(self, i): return i\n"
     "if __name__ == '__main__':\n for i in torch.utils.data.DataLoader(D(), num_workers=2): step()\n", 2, None),
]


def check_endings(strata, python, folder, failures):
    path = os.path.join(folder, "program.py")
    for name, program, status, peaks, words in ENDINGS:
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
        if words:
            failures.expect(name, f"'{words}' is said", words in json.dumps(report["failure"]) + run.stderr)
        if "exception" in name:
            failures.expect(name, "line", f"{path}:3" in report["failure"]["where"])
            failures.expect(name, "what was recorded is shown", len(report["groups"]) > 0)


def check_steps(strata, python, folder, failures):
    path, kept = os.path.join(folder, "program.py"), os.path.join(folder, "kept")
    for name, loop, steps, words in STEPS:
        with open(path, "w", encoding="utf-8") as file:
            file.write(TRAIN + loop)
        run, report = dryrun(strata, ["--steps", "2"], [python, path, kept])
        if report is None:
            failures.expect(name, "a report", run.stderr[-1500:])
            continue
        failures.expect(name, "exit", (run.returncode, report["exit_status"], report["steps"]), (0, 0, steps))
        failures.expect(name, "snapshot", len(report["groups"]) > 0)
        if words:
            failures.expect(name, f"'{words}' is said", words in run.stderr)
    with open(kept, encoding="utf-8") as file:
        failures.expect("files", "flushed", file.read(), "kept")


def check_start(strata, python, folder, failures):
    def usage(name, options, command, words, **more):
        run, _ = dryrun(strata, options, command, **more)
        failures.expect(name, "exit", run.returncode, 2)
        failures.expect(name, f"'{words}' is said", words in run.stderr)

    usage("not found", [], ["no-such-program"], "no-such-program: command not found")
    bare = {"PATH": folder, "HOME": folder}
    usage("not LibTorch", [], ["/bin/true"], "neither Python nor linked with LibTorch", env=bare)
    usage("no torch", [], ["/usr/bin/python3", "-c", ""], "install the CUDA build of PyTorch", env={"PATH": "/usr/bin"})
    usage("device", ["--device", "H100"], [python, "-c", ""], "H100-80GB")
    usage("no command", [], [], "no command")
    library = os.path.join(folder, "torch", "lib")
    os.makedirs(library)
    for file in ("../__init__.py", "libtorch_cpu.so"):
        open(os.path.join(library, file), "w", encoding="utf-8").close()
    usage("CPU alone", [], [python, "-c", ""], "install the CUDA build of PyTorch", env={**os.environ, "PYTHONPATH": folder})


def check_output(strata, python, folder, failures):
    run, report = dryrun(strata, [], [python, "-I", "-c", USE + "sys.stdout.buffer.write(b'\\xff\\0raw')"],
                         stdin=subprocess.DEVNULL)
    failures.expect("-I", "groups", len(report["groups"]) > 0)
    raw = subprocess.run([strata, "dryrun", "--json", "--", python, "-c", "import os; os.write(1, b'\\xff\\0raw')"],
                         capture_output=True)
    failures.expect("stdout", "byte for byte on stderr", b"\xff\0raw" in raw.stderr)
    lines = [l for l in run.stderr.splitlines() if l.startswith("strata: ")]
    failures.expect("progress", "whole lines", len(lines) > 0 and "\r" not in run.stderr)

    snapshot = os.path.join(folder, "kept.pickle")
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

    show = "import os; print([os.environ.get(n) for n in ('PYTORCH_CUDA_ALLOC_CONF', 'PYTORCH_ALLOC_CONF')])"
    environment = {**os.environ, "PYTORCH_CUDA_ALLOC_CONF": "roundup_power2_divisions:4"}
    environment.pop("PYTORCH_ALLOC_CONF", None)
    for options, wanted in (([], "['roundup_power2_divisions:4', None]"), (["--set", ""], "[None, None]"),
                            (["--set", "a:b"], "['a:b', 'a:b']")):
        run, _ = dryrun(strata, options, [python, "-c", show], env=environment)
        failures.expect("--set", str(options), wanted in run.stderr)

    host = "import torch, resource\nm = torch.nn.Linear(20000, 20000)\nx = torch.ones(1, device='cuda')\n" \
           "print('RSS', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)"
    for options, low, high in (([], 0, 1200), (["--no-skip-init"], 1500, 9999)):
        run, report = dryrun(strata, options, [python, "-c", host])
        used = int(run.stderr.split("RSS ")[1].split()[0])
        failures.expect("skip-init", f"{options}: {used} MiB of host memory", low < used < high)
        failures.expect("skip-init", "said", report["skip_init"], not options)


def test(arguments, python, failures):
    strata = arguments.strata
    for check in (check_endings, check_steps, check_start, check_output):
        with tempfile.TemporaryDirectory() as folder:
            check(strata, python, folder, failures)


sys.exit(main(test, every_python=False))
