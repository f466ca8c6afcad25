# SPDX-License-Identifier: GPL-3.0-or-later
"""Proves what --fit finds by runs of its own: the value fits, the next does not; with two variables, each pair.

usage: test_fit.py STRATA [--python PYTHON]...
"""
import os
import sys
import tempfile

from running import LONG, dryrun, main

PROGRAM = """
import sys
import torch
batch, width = int(sys.argv[1].removeprefix("--batch=")), int(sys.argv[2])
model = torch.nn.Sequential(torch.nn.Linear(width, 4 * width), torch.nn.ReLU(), torch.nn.Linear(4 * width, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(2):
    model(torch.randn(batch, width, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""

#: Five of these fit into 100 MiB. Killed once, as a busy machine does it, with three.
KILLED_ONCE = """
import os
import sys
import torch
batch, flag = int(sys.argv[1]), sys.argv[2]
if batch == 3 and not os.path.exists(flag):
    open(flag, "w").close()
    os.kill(os.getpid(), 9)
torch.empty(batch, 20 << 20, dtype=torch.uint8, device="cuda")
"""


def fits(strata, python, program, batch, width, options):
    run, report = dryrun(strata, options, [python, program, f"--batch={batch}", str(width)])
    return run.returncode == 0 and report["ranks"][0]["devices"][0]["fits"]


def check_short(strata, python, failures):
    """A search of five values, one of which fails once for another reason than memory."""
    with tempfile.TemporaryDirectory() as folder:
        run, report = dryrun(strata, ["--capacity", "100MiB", "--fit", "N=1..1000"],
                             [python, "-c", KILLED_ONCE, "{N}", os.path.join(folder, "flag")])
    failures.expect("killed once", "exit", run.returncode, 0)
    failures.expect("killed once", "said", "N=3: the command ended with status 137" in run.stderr)
    tried = {t["values"]["N"]: t["fits"] for t in report["fit"]["tried"]} if report else {}
    failures.expect("killed once", "table", tried, {1: True, 3: True, 7: False, 5: True, 6: False})
    run, _ = dryrun(strata, ["--fit", "N=1..8"], [python, "-c", "raise ValueError({N})"])
    failures.expect("program that fails", "exit", run.returncode, 1)
    failures.expect("program that fails", "its words", "ValueError: 1" in run.stderr and "N=1: " in run.stderr)
    failures.expect("program that fails", "tried once", "once more" not in run.stderr)
    for bad in ("N", "=1..2", "N=2..1", "N=a..b", "OTHER=1..2", "N=-1..2", "N=1"):
        run, _ = dryrun(strata, ["--fit", bad], [python, "{N}"])
        failures.expect(f"--fit {bad}", "exit", run.returncode, 2)


def check_long(strata, python, failures):
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        options = ["--capacity", "100MiB"]
        command = [python, program, "--batch={BATCH}", "{WIDTH}"]

        run, report = dryrun(strata, [*options, "--fit", "BATCH=1..100000"],
                             [python, program, "--batch={BATCH}", "500"])
        failures.expect("one variable", "exit", run.returncode, 0)
        if run.returncode != 0:
            print(run.stderr, flush=True)
            return
        best = report["fit"]["best"][0]["values"]["BATCH"]
        tried = {t["values"]["BATCH"]: t["fits"] for t in report["fit"]["tried"]}
        failures.expect("one variable", "no value twice", len(tried), len(report["fit"]["tried"]))
        failures.expect("one variable", "table", (tried.get(best), tried.get(best + 1)), (True, False))
        failures.expect("one variable", "the value fits", fits(strata, python, program, best, 500, options))
        failures.expect("one variable", "the next fits", fits(strata, python, program, best + 1, 500, options), False)
        failures.expect("one variable", "runs", len(tried) <= 2 * 17)
        failures.expect("one variable", "progress", f"strata: BATCH={best}: " in run.stderr)

        run, report = dryrun(strata, [*options, "--fit", "WIDTH=1000..1600", "--fit", "BATCH=1..8"], command)
        failures.expect("two variables", "exit", run.returncode, 0)
        pairs = [(t["values"]["WIDTH"], t["values"]["BATCH"]) for t in report["fit"]["best"]]
        failures.expect("two variables", "widths", [w for w, _ in pairs], [1000, 1600][:len(pairs)])
        for width, batch in pairs:
            failures.expect("two variables", f"{width} x {batch}", fits(strata, python, program, batch, width, options))

        run, report = dryrun(strata, ["--capacity", "20MiB", "--fit", "BATCH=1..8"],
                             [python, program, "--batch={BATCH}", "4000"])
        failures.expect("nothing fits", "exit", (run.returncode, report["fit"]["best"]), (1, []))


def test(arguments, python, failures):
    check_short(arguments.strata, python, failures)
    if LONG:
        check_long(arguments.strata, python, failures)
    else:
        print("the long form (STRATA_LONG=1) makes some sixty runs of a program that trains, too")


sys.exit(main(test, every_python=False))
