# SPDX-License-Identifier: GPL-3.0-or-later
"""Proves what --fit finds by runs of its own: the value fits, the next does not; with two variables, each pair."""
import pytest

from running import dryrun

pytestmark = pytest.mark.torch("newest")

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

#: Of these so many fit into as many times 20 MiB. Killed once, as a busy machine does it, with three.
KILLED_ONCE = """
import os
import sys
batch, flag = int(sys.argv[1]), sys.argv[2]
if batch == 3 and not os.path.exists(flag):
    open(flag, "w").close()
    os.kill(os.getpid(), 9)
import torch
torch.empty(batch, 20 << 20, dtype=torch.uint8, device="cuda")
"""


@pytest.mark.parametrize("capacity, values, tried", [
    pytest.param("40MiB", "1..3", {1: True, 3: False, 2: True}, id="three values"),
    pytest.param("100MiB", "1..1000", {1: True, 3: True, 7: False, 5: True, 6: False}, id="five values", marks=pytest.mark.long)])
def test_killed_once(strata, python, tmp_path, failures, capacity, values, tried):
    """One value fails once for another reason than memory."""
    run, report = dryrun(strata, ["--capacity", capacity, "--fit", "N=" + values], [python, "-c", KILLED_ONCE, "{N}", str(tmp_path / "flag")])
    failures.expect("killed once", "exit", run.returncode, 0)
    failures.expect("killed once", "said", "N=3: the command ended with status 137" in run.stderr)
    failures.expect("killed once", "table", report and {t["values"]["N"]: t["fits"] for t in report["fit"]["tried"]}, tried)
    failures.expect("killed once", "best", report and report["fit"]["best"][0]["values"]["N"], max(n for n, fits in tried.items() if fits))


def test_program_that_fails(strata, python):
    run, _ = dryrun(strata, ["--fit", "N=1..8"], [python, "-c", "raise ValueError({N})"])
    assert run.returncode == 1
    assert "ValueError: 1" in run.stderr and "N=1: " in run.stderr
    assert "once more" not in run.stderr


@pytest.mark.parametrize("bad", ["N", "=1..2", "N=2..1", "N=a..b", "OTHER=1..2", "N=-1..2", "N=1"])
def test_usage(strata, python, bad):
    assert dryrun(strata, ["--fit", bad], [python, "{N}"])[0].returncode == 2


@pytest.mark.long
class TestTraining:
    """Some sixty runs of a program that trains."""

    @pytest.fixture
    def command(self, python, tmp_path):
        path = tmp_path / "program.py"
        path.write_text(PROGRAM)
        return [python, str(path)]

    def fits(self, strata, command, batch, width):
        run, report = dryrun(strata, ["--capacity", "100MiB"], [*command, f"--batch={batch}", str(width)])
        return run.returncode == 0 and report["ranks"][0]["devices"][0]["fits"]

    def test_one_variable(self, strata, command, failures):
        run, report = dryrun(strata, ["--capacity", "100MiB", "--fit", "BATCH=1..100000"], [*command, "--batch={BATCH}", "500"])
        assert run.returncode == 0, run.stderr
        best = report["fit"]["best"][0]["values"]["BATCH"]
        tried = {t["values"]["BATCH"]: t["fits"] for t in report["fit"]["tried"]}
        failures.expect("one variable", "no value twice", len(tried), len(report["fit"]["tried"]))
        failures.expect("one variable", "table", (tried.get(best), tried.get(best + 1)), (True, False))
        failures.expect("one variable", "the value fits", self.fits(strata, command, best, 500))
        failures.expect("one variable", "the next fits", self.fits(strata, command, best + 1, 500), False)
        failures.expect("one variable", "runs", len(tried) <= 2 * 17)
        failures.expect("one variable", "progress", f"strata: BATCH={best}: " in run.stderr)

    def test_two_variables(self, strata, command, failures):
        run, report = dryrun(strata, ["--capacity", "100MiB", "--fit", "WIDTH=1000..1600", "--fit", "BATCH=1..8"],
                             [*command, "--batch={BATCH}", "{WIDTH}"])
        failures.expect("two variables", "exit", run.returncode, 0)
        pairs = [(t["values"]["WIDTH"], t["values"]["BATCH"]) for t in report["fit"]["best"]]
        failures.expect("two variables", "widths", [w for w, _ in pairs], [1000, 1600][:len(pairs)])
        for width, batch in pairs:
            failures.expect("two variables", f"{width} x {batch}", self.fits(strata, command, batch, width))

    def test_nothing_fits(self, strata, command):
        run, report = dryrun(strata, ["--capacity", "20MiB", "--fit", "BATCH=1..8"], [*command, "--batch={BATCH}", "4000"])
        assert (run.returncode, report["fit"]["best"]) == (1, [])
