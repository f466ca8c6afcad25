# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds each --change against the same program changed by hand: 0 bytes and the same number of allocations.

usage: test_change.py STRATA [--python PYTHON]...
"""
import os
import sys

from running import THOROUGH, HERE, dryrun, main

PROGRAM = os.path.join(HERE, "program_change.py")
PRUDENT = ["--optimizer", "adam"]
LAST = ["--rank", "7", "--world-size", "8"]

# changes, arguments of the program, arguments of the one changed by hand[, options of both runs]
CASES = [
    (["amp=bf16"], [], ["--amp"]),
    (["amp=bf16"], ["--loop", "accumulate"], ["--loop", "accumulate", "--amp"]),
    (["amp=bf16"], ["--loop", "evaluate"], ["--loop", "evaluate", "--amp"]),
    (["amp=bf16"], ["--loop", "gan"], ["--loop", "gan", "--amp"]),
    (["checkpoint=Block"], [], ["--checkpoint"]),
    (["checkpoint=Block", "amp=bf16", "optimizer=adafactor"], ["--loop", "evaluate", "--optimizer", "nesterov"],
     ["--loop", "evaluate", "--checkpoint", "--amp", "--optimizer", "adafactor"]),
    (["optimizer=sgd"], PRUDENT, ["--optimizer", "sgd"]),
    (["optimizer=sgd,momentum=0.9"], ["--optimizer", "adamw"], ["--optimizer", "momentum"]),
    (["optimizer=adam"], ["--optimizer", "groups"], ["--optimizer", "adam_groups"]),
    (["optimizer=adamw"], PRUDENT, ["--optimizer", "adamw"]),
    (["optimizer=AdamW,foreach=False"], [], ["--optimizer", "adamw_loop"]),
    (["optimizer=adafactor"], PRUDENT, ["--optimizer", "adafactor"]),
    (["optimizer=rmsprop"], PRUDENT, ["--optimizer", "rmsprop"]),
    (["fsdp"], ["--loop", "accumulate"], ["--loop", "accumulate", "--parallel", "fsdp"], LAST),
    (["fsdp=Block", "checkpoint=Block", "amp=bf16", "optimizer=adamw"], ["--parallel", "ddp", "--loop", "gan"],
     ["--parallel", "fsdp", "--loop", "gan", "--checkpoint", "--amp", "--optimizer", "adamw"], LAST),
]
FIGURES = ("requested_bytes_peak", "allocated_bytes_peak", "reserved_bytes_peak", "oom_count")


def test(arguments, python, failures):
    strata = arguments.strata
    bases, differing = {}, 0
    for changes, arguments, by_hand, *ranks in CASES:
        name = f"{python} {' '.join(changes)} {' '.join(arguments)}"
        ranks = ranks[0] if ranks else []
        options = [word for change in changes for word in ("--change", change)] + ranks
        run, report = dryrun(strata, options, [python, PROGRAM, *arguments])
        if tuple(by_hand) not in bases:
            bases[tuple(by_hand)] = dryrun(strata, ranks, [python, PROGRAM, *by_hand])[1]
        hand = bases[tuple(by_hand)]
        if not report or not hand or not report["ranks"] or not hand["ranks"] or not report["changed"]["ranks"]:
            failures.expect(name, "reports", run.stderr[-2000:])
            continue
        failures.expect(name, "exit", (run.returncode, report["changed"]["exit_status"], hand["exit_status"]), (0, 0, 0))
        failures.expect(name, "changes", report["changed"]["changes"], changes)
        changed, wanted = report["changed"]["ranks"][0]["devices"][0], hand["ranks"][0]["devices"][0]
        base = report["ranks"][0]["devices"][0]
        for figure in FIGURES:
            failures.expect(name, figure, changed[figure], wanted[figure])
        failures.expect(name, "allocations", report["changed"]["tracked"][0]["allocations"],
                        hand["tracked"][0]["allocations"])
        differing += changed["requested_bytes_peak"] != base["requested_bytes_peak"]
    # A change that changed nothing would be equal to nothing by luck alone: Adam and AdamW alone need the same.
    failures.expect(python, "changes that move the peak", differing >= len(CASES) - 2)
    run, report = dryrun(strata, ["--change", "checkpoint=Nobody"], [python, PROGRAM])
    failures.expect(python, "class that is not there is said", "checkpoint=Nobody: no module" in run.stderr)
    run = dryrun(strata, ["--change", "fsdp"], [python, PROGRAM])[0]
    failures.expect(python, "fsdp without ranks", (run.returncode, "--world-size 8" in run.stderr), (2, True))
    for bad in ("fsdp=", "amp=int8", "checkpoint=", "optimizer=", "optimizer=sgd,momentum", "sideways", ""):
        run = dryrun(strata, ["--change", bad], [python, PROGRAM])[0]
        failures.expect(python, f"--change '{bad}'", (run.returncode, "there are amp=bf16" in run.stderr), (2, True))


sys.exit(main(test, every_python=THOROUGH))
