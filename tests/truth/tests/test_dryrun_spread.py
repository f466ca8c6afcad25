# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what --spread says of other orders of addresses against runs with these orders.

usage: test_spread.py STRATA [--python PYTHON]...

The short form runs with the newest PyTorch; STRATA_LONG=1 takes each, and those up to 2.11 move what is reserved.
"""
import sys

from running import dryrun, main, version

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


def peaks(report):
    device = report["ranks"][0]["devices"][0]
    return device["requested_bytes_peak"], device["reserved_bytes_peak"]


def test(arguments, python, failures):
    name, command = f"{python} --spread", [python, "-c", PROGRAM]
    run, report = dryrun(arguments.strata, ["--spread"], command)
    failures.expect(name, "exit", run.returncode, 0)
    if report is None:
        print(run.stderr)
        return
    requested, reserved = peaks(report)
    told = {entry["addresses"]: entry["reserved_bytes_peak"] for entry in report["spread"]}
    failures.expect(name, "orders", sorted(told), ["ascending", "random:1", "random:2", "random:3"])
    failures.expect(name, "all fit", [entry["fits"] for entry in report["spread"]], [True] * 4)
    if version(python) < BY_ADDRESS:
        failures.expect(name, "orders move what is reserved", len({reserved, *told.values()}) > 1)
    again = dryrun(arguments.strata, ["--addresses", "random:2"], command)[1]
    failures.expect(name, "a run of its own", again and peaks(again), (requested, told.get("random:2")))


def too_small(arguments, python, failures):
    """Starting from another order, the default one is among the others."""
    run, report = dryrun(arguments.strata, ["--spread", "--addresses", "random:1", "--capacity", "64MiB"],
                         [python, "-c", PROGRAM])
    failures.expect("too small", "exit", run.returncode, 1)
    failures.expect("too small", "none fits", [(entry["addresses"], entry["fits"]) for entry in report["spread"]],
                    [(order, False) for order in ("top-down", "ascending", "random:2", "random:3")])


sys.exit(main(test, once=too_small))
