# SPDX-License-Identifier: GPL-3.0-or-later
"""How `strata dryrun` stands what programs do: bad input, crashes, children, stubborn loops, ends of processes.

usage: test_programs.py STRATA STRATA_SIMGPU [--python PYTHON]... [--exits N]

Without a Python with PyTorch (see running.py) the test is skipped (exit 77) and says so.
"""
import os
import subprocess
import sys
import tempfile

import programs
from against_truth import start_many
from running import TRUTH, dryrun, main, with_environment

MIB = 1 << 20


def requested(report):
    return [[d["requested_bytes_peak"] for d in rank["devices"]] for rank in report["ranks"]]


def check_program(strata, python, source, failures, exit_status=0, peak=4 * MIB, options=(), says=None, fits=True):
    """Runs a program; `peak` is what its only process that touches a device holds at most, None for whatever."""
    name = f"{python} -c {source.strip()[:60]!r}"
    run, report = dryrun(strata, options, [python, "-c", source])
    if report is None:
        failures.expect(name, "output", (run.returncode, run.stderr[-2000:]), "a report")
        return
    failures.expect(name, "exit status", (report["exit_status"], run.returncode),
                    (exit_status, 0 if exit_status == 0 and fits else 1))
    if exit_status != report["exit_status"]:
        print(run.stderr[-1500:])
    if peak is not None:
        failures.expect(name, "requested", requested(report), [[peak]])
    if says:
        failures.expect(name, "says", says in run.stderr, True)


def check_programs(strata, python, failures):
    def check(*arguments, **options):
        check_program(strata, python, *arguments, failures, **options)

    check(programs.LATE)
    check(programs.FORKS)
    check(programs.CHILD)
    check(programs.EXECS)
    check(programs.LOADER, peak=None)
    check(programs.CUDA_GRAPH, peak=None)
    check(programs.MULTI_STREAM, peak=None)
    check(programs.MISSING_DEVICE, exit_status=1, peak=None, says="invalid device ordinal")
    check(programs.CRASHES, exit_status=128 + 11)
    check(programs.KILLED, exit_status=128 + 9)
    check(programs.RAISES, exit_status=1, says="ours")


def check_steps(strata, python, failures):
    name = f"{python} --steps"
    full = dryrun(strata, [], [python, os.path.join(TRUTH, "train.py"), "mlp", "--steps", "2"])[1]
    run, report = dryrun(strata, ["--steps", "2"], [python, os.path.join(TRUTH, "train.py"), "mlp", "--steps", "50"])
    if report is None or full is None:
        failures.expect(name, "output", run.stderr[-2000:], "a report")
        return
    failures.expect(name, "exit", (run.returncode, report["steps"]), (0, 2))
    failures.expect(name, "peaks", [r["devices"] for r in report["ranks"]], [r["devices"] for r in full["ranks"]])
    for caught in ("Exception", "BaseException"):
        run, report = dryrun(strata, ["--steps", "1"], [python, "-c", programs.STUBBORN.format(caught=caught)])
        failures.expect(name, f"steps of a loop that catches {caught}",
                        (run.returncode, report and report["steps"]), (0, 1))
    failures.expect(name, "said that it was ended", "it is ended" in run.stderr, True)


def check_usage(strata, python, failures):
    for options, command, wanted in (
            (["--device", "H100"], [python, "-c", ""], "H100-80GB"),
            (["--capacity", "much"], [python, "-c", ""], "much"),
            ([], ["no-such-program"], "no-such-program"),
            ([], ["/no/such/program"], "/no/such/program"),
            ([], [TRUTH], TRUTH),
            (["--addresses", "sideways"], [python, "-c", ""], "sideways")):
        run, _ = dryrun(strata, options, command)
        failures.expect(f"usage {options} {command}", "exit", run.returncode, 2)
        failures.expect(f"usage {options} {command}", "named", wanted in run.stderr, True)
    run, report = dryrun(strata, [], [python, "-c", "import sys; sys.exit(3)"])
    failures.expect("program that fails", "exit", (run.returncode, report["exit_status"], report["ranks"]), (1, 3, []))
    path = os.path.dirname(python) + ":" + os.environ["PATH"]
    run, report = dryrun(strata, [], ["true"], env=with_environment(PATH=path))
    failures.expect("program without PyTorch", "ranks", report and report["ranks"], [])


def check_cpu_only(strata, python, failures):
    """A PyTorch for the CPU, as far as its files tell."""
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "torch", "lib"))
        for name in ("__init__.py", "lib/libtorch_cpu.so"):
            open(os.path.join(folder, "torch", name), "w").close()
        run, _ = dryrun(strata, [], [python, "-c", "import torch"], env=with_environment(PYTHONPATH=folder))
    failures.expect("PyTorch for the CPU", "exit", run.returncode, 2)
    failures.expect("PyTorch for the CPU", "says how to get another", "pip install torch" in run.stderr, True)
    bare = "/usr/bin/python3"
    if os.path.exists(bare):
        run, _ = dryrun(strata, [], [bare, "-I", "-c", ""])
        failures.expect("Python without PyTorch", "exit", run.returncode, 2)


def check_leak(simgpu, python, failures):
    """Without torch's recorder, which keeps every event: what grows is the simulator's."""
    run = subprocess.run([simgpu, "--", python, "-c", programs.LEAK], capture_output=True, text=True)
    words = [line.split() for line in run.stdout.splitlines() if line.startswith("RESIDENT")]
    if not words:
        failures.expect(f"{python} leak", "output", (run.returncode, run.stderr[-1500:]), "two figures")
        return
    first, last = (int(word) for word in words[0][1:])
    print(f"{python}: {(last - first) / 900:.0f} B a step over 900 steps, {last / MIB:.0f} MiB resident", flush=True)
    failures.expect(f"{python} leak", "grew by more than 2 MiB", last - first > 2 * MIB, False)


def check_exits(strata, python, count, failures):
    """Processes end with threads of the process group running and with tensors in globals: none may abort."""
    with tempfile.TemporaryDirectory() as folder:
        small = os.path.join(folder, "small.py")
        with open(small, "w", encoding="utf-8") as file:
            file.write(programs.ENDS)
        ranks = [os.path.join(TRUTH, "ranks.py"), "ddp", "--layers", "1", "--steps", "1", "--leave"]
        run, _, ended = start_many(strata, python, ["--rank", "5", "--world-size", "8"], [[small], ranks] * (count // 2), folder)
    name = f"{python} exits"
    failures.expect(name, "ended well", [each["status"] for each in ended or []], [0] * (count // 2 * 2))
    failures.expect(name, "terminated", "terminate called" in run.stderr, False)


def test(arguments, python, failures):
    if not arguments.only_exits:
        check_programs(arguments.strata, python, failures)
        check_steps(arguments.strata, python, failures)
        check_leak(arguments.simgpu, python, failures)
    check_exits(arguments.strata, python, arguments.exits, failures)


def once(arguments, python, failures):
    check_usage(arguments.strata, python, failures)
    check_cpu_only(arguments.strata, python, failures)


def add_options(parser):
    parser.add_argument("--exits", type=int, default=4)
    parser.add_argument("--only-exits", action="store_true")


if __name__ == "__main__":
    sys.exit(main(test, ("strata", "simgpu"), once=once, add_options=add_options))
