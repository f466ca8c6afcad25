# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what --spread says of other orders of addresses against runs with these orders.

The short form runs a C++ program, which starts in a third of the time; the long one a Python program with each PyTorch, too: those up
to 2.11 move what is reserved.
"""
import pytest

from cpp import compiled
from running import dryrun, version

#: Blocks of many sizes come and go. PyTorch up to 2.11 takes the lowest address among free blocks of equal size, so that what
#: is reserved depends on the order; 2.15 takes the oldest, and it does not.
PROGRAM = """
import random
import torch
rng, kept = random.Random(4), []
sizes = [n << 19 for n in (1, 2, 3, 4, 6, 8, 9, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48)]
for step in range(1500):
    if kept and (len(kept) > 40 or rng.random() < 0.45):
        kept.pop(rng.randrange(len(kept)) if rng.random() < 0.5 else len(kept) - 1)
    else:
        kept.append(torch.empty(rng.choice(sizes) * rng.choice((1, 1, 1, 4)), dtype=torch.uint8, device="cuda"))
"""
BY_ADDRESS = [2, 12]

pytestmark = [pytest.mark.torch("every"), pytest.mark.parametrize("language", ["C++", pytest.param("Python", marks=pytest.mark.long)])]


@pytest.fixture
def command(python, language, tmp_path, failures):
    if language == "Python":
        return [python, "-c", PROGRAM]
    program = compiled(python, failures)
    return program and [program, "gpt", "2", str(tmp_path / "truth.json")]


def peaks(report):
    device = report["ranks"][0]["devices"][0]
    return device["requested_bytes_peak"], device["reserved_bytes_peak"]


def test_orders(strata, python, language, command, failures):
    if not command:
        return
    run, report = dryrun(strata, ["--spread"], command)
    assert report and run.returncode == 0, run.stderr
    requested, reserved = peaks(report)
    told = {entry["addresses"]: entry["reserved_bytes_peak"] for entry in report["spread"]}
    failures.expect("--spread", "orders", sorted(told), ["ascending", "random:1", "random:2", "random:3"])
    failures.expect("--spread", "all fit", [entry["fits"] for entry in report["spread"]], [True] * 4)
    if language == "Python" and version(python) < BY_ADDRESS:
        failures.expect("--spread", "orders move what is reserved", len({reserved, *told.values()}) > 1)
    again = dryrun(strata, ["--addresses", "random:2"], command)[1]
    failures.expect("--spread", "a run of its own", again and peaks(again), (requested, told.get("random:2")))


@pytest.mark.torch("newest")
def test_too_small(strata, language, command, failures):
    """Starting from another order, the default one is among the others."""
    if not command:
        return
    run, report = dryrun(strata, ["--spread", "--addresses", "random:1", "--capacity", "32MiB"], command)
    failures.expect("too small", "exit", run.returncode, 1)
    failures.expect("too small", "none fits", report and [(entry["addresses"], entry["fits"]) for entry in report["spread"]],
                    [(order, False) for order in ("top-down", "ascending", "random:2", "random:3")])
