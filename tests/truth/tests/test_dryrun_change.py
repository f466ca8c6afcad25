# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds each --change against the same program changed by hand: 0 bytes and the same number of allocations.

usage: test_change.py STRATA [--python PYTHON]...

The short form takes each change once, with the newest PyTorch; STRATA_LONG=1 takes all cases with each PyTorch.
"""
import os
import subprocess
import sys
import tempfile

from against_truth import start_each
from running import LONG, PROGRAMS, dryrun, main, version, with_bitsandbytes

PROGRAM = os.path.join(PROGRAMS, "program_change.py")
PRUDENT = ["--optimizer", "adam"]
LAST = ["--rank", "7", "--world-size", "8"]
ALONE = []

# changes, options of the dry runs, pairs of arguments: of the program, and of the one changed by hand
CASES = [
    (["checkpoint=Block", "amp=bf16", "optimizer=adafactor"], ALONE,
     [(["--loop", "evaluate", "--optimizer", "nesterov"],
       ["--loop", "evaluate", "--checkpoint", "--amp", "--optimizer", "adafactor"])]),
    (["dtype=bf16", "checkpoint=path:blocks.[0-3]"], ALONE, [(["--scaler"], ["--scaler", "--bf16", "--checkpoint"])]),
    (["zero_grad=before-backward"], ALONE, [([], ["--zero", "late"])]),
    (["optimizer=adamw,in_backward=True"], ALONE, [(PRUDENT, ["--optimizer", "adamw", "--in-backward"])]),
    (["checkpoint=none", "optimizer=AdamW,foreach=False"], ALONE, [(["--checkpoint"], ["--optimizer", "adamw_loop"])]),
    (["offload=activations", "checkpoint=Block", "amp=bf16"], ALONE,
     [(["--loop", "evaluate"], ["--loop", "evaluate", "--checkpoint", "--amp", "--offload"])]),
    (["fsdp=Block", "checkpoint=Block", "amp=bf16", "optimizer=adamw"], LAST,
     [(["--parallel", "ddp", "--loop", "gan"],
       ["--parallel", "fsdp", "--loop", "gan", "--checkpoint", "--amp", "--optimizer", "adamw"])]),
]
MORE = [
    (["amp=bf16"], ALONE, [([], ["--amp"]),
                           (["--loop", "accumulate"], ["--loop", "accumulate", "--amp"]),
                           (["--loop", "evaluate"], ["--loop", "evaluate", "--amp"]),
                           (["--loop", "gan"], ["--loop", "gan", "--amp"])]),
    (["dtype=bf16", "checkpoint=Block"], ALONE, [(["--loop", "evaluate"], ["--loop", "evaluate", "--bf16", "--checkpoint"]),
                                                 (["--scaler"], ["--scaler", "--bf16", "--checkpoint"])]),
    (["zero_grad=after-step"], ALONE, [(["--zero", "late"], []), (["--zero", "first", "--loop", "evaluate"], ["--loop", "evaluate"])]),
    (["zero_grad=before-backward"], ALONE, [(["--loop", "accumulate"], ["--loop", "accumulate", "--zero", "late"])]),
    (["zero_grad=before-forward"], ALONE, [(["--loop", "evaluate"], ["--loop", "evaluate", "--zero", "first"])]),
    (["optimizer=adam"], ALONE, [(["--optimizer", "groups"], ["--optimizer", "adam_groups"])]),
    (["optimizer=AdamW,foreach=False", "checkpoint=Nobody"], ALONE, [([], ["--optimizer", "adamw_loop"])]),
    (["checkpoint=none"], ALONE, [(["--checkpoint"], [])]),
    (["checkpoint=path:blocks.[0-3]"], ALONE, [([], ["--checkpoint"])]),
    (["offload=activations"], ALONE, [([], ["--offload"]), (["--loop", "gan"], ["--loop", "gan", "--offload"])]),
    (["fsdp=Block,offload=True"], LAST, [(["--parallel", "ddp"], ["--parallel", "fsdp_on_host"])]),
    (["fsdp"], LAST, [(["--loop", "accumulate"], ["--loop", "accumulate", "--parallel", "fsdp"])]),
    (["checkpoint=Block"], ALONE, [([], ["--checkpoint"])]),
    (["dtype=bf16"], ALONE, [([], ["--bf16"]), (["--loop", "gan"], ["--loop", "gan", "--bf16"]), (["--loop", "accumulate"], ["--loop", "accumulate", "--bf16"])]),
    (["dtype=bf16", "amp=bf16"], ALONE, [([], ["--bf16", "--amp"])]),
    (["optimizer=sgd"], ALONE, [(PRUDENT, ["--optimizer", "sgd"])]),
    (["optimizer=sgd,momentum=0.9"], ALONE, [(["--optimizer", "adamw"], ["--optimizer", "momentum"])]),
    (["optimizer=adamw"], ALONE, [(PRUDENT, ["--optimizer", "adamw"])]),
    (["optimizer=adafactor"], ALONE, [(PRUDENT, ["--optimizer", "adafactor"])]),
    (["optimizer=rmsprop"], ALONE, [(PRUDENT, ["--optimizer", "rmsprop"])]),
]
OF_BITSANDBYTES = [
    (["optimizer=AdamW8bit", "checkpoint=Block"], ALONE, [(PRUDENT, ["--optimizer", "adamw8bit", "--checkpoint"])]),
    (["optimizer=pagedadamw8bit"], ALONE, [(PRUDENT, ["--optimizer", "paged"])]),
]
FIGURES = ("requested_bytes_peak", "allocated_bytes_peak", "reserved_bytes_peak", "oom_count")


def by_process(ranks, tracked):
    """Figures of the only device that each process used, with its number of allocations."""
    used = [(rank["process"], device) for rank in ranks for device in rank["devices"] if device["reserved_bytes_peak"] > 0]
    return {process: {**{figure: device[figure] for figure in FIGURES}, "allocations": counted["allocations"]}
            for (process, device), counted in zip(used, tracked)}


def run(strata, python, options, programs, failures):
    """stderr, and the figures of each program from each run of them all; without what did not end well."""
    with tempfile.TemporaryDirectory() as folder:
        done, report, ended = start_each(strata, python, options, [[PROGRAM, *words] for words in programs], folder)
    name = f"{python} {' '.join(options) or 'by hand'}"
    failures.expect(name, "exit", done.returncode, 0)
    if report is None or done.returncode != 0:
        print(done.stderr[-3000:])
        return done.stderr, []
    runs = [report, report["changed"]] if "changed" in report else [report]
    failures.expect(name, "runs", len(ended), len(runs))
    out = []
    for document, statuses in zip(runs, ended):
        failures.expect(name, "statuses", [each["status"] for each in statuses], [0] * len(programs))
        figures = by_process(document["ranks"], document["tracked"])
        out.append([figures.get(each["process"]) for each in statuses])
    return done.stderr, out


def hold(strata, python, case, by_hand, failures):
    """Gives the number of pairs, and of those whose peak the change moves."""
    changes, options, pairs = case
    words = [word for change in changes for word in ("--change", change)] + options
    said, runs = run(strata, python, words, [program for program, _ in pairs], failures)
    if len(runs) != 2:
        return 0, 0
    for (program, changed_by_hand), got in zip(pairs, runs[1]):
        name = f"{python} {' '.join(words)} {' '.join(program)}"
        failures.expect(name, "figures", got, by_hand[tuple(options), tuple(changed_by_hand)])
    if "checkpoint=Nobody" in changes:
        failures.expect(python, "class that is not there is said", "checkpoint=Nobody: no module" in said)
    return len(pairs), sum(base != changed for base, changed in zip(*runs))


def known_to(python, case):
    """Adafactor came with PyTorch 2.5, and torch.distributed.fsdp.fully_shard with 2.6."""
    return ("adafactor" not in str(case) or version(python) >= [2, 5]) and ("on_host" not in str(case) or version(python) >= [2, 6])


def test(arguments, python, failures):
    cases = [case for case in CASES + (MORE if LONG else []) if known_to(python, case)]
    cases += OF_BITSANDBYTES[:None if LONG else 1] if with_bitsandbytes(failures) else []
    by_hand = {}
    for options in (ALONE, LAST):
        programs = list(dict.fromkeys(tuple(by_hand) for _, ranks, pairs in cases if ranks == options for _, by_hand in pairs))
        _, figures = run(arguments.strata, python, options, programs, failures)
        for index, program in enumerate(programs):
            by_hand[tuple(options), program] = figures[0][index] if figures else "the program changed by hand ends well"
    held = [hold(arguments.strata, python, case, by_hand, failures) for case in cases]
    # A change that changed nothing would be equal to nothing by luck alone: Adam and AdamW alone need the same.
    failures.expect(python, "changes that move the peak", sum(moved for _, moved in held) >= sum(count for count, _ in held) - 2)


def scaled(arguments, python, failures):
    """A GradScaler is switched off in 16 bits, which is said; calls of one are refused by name."""
    with tempfile.TemporaryDirectory() as folder:
        session = os.path.join(folder, "scaled.strata")
        subprocess.run([arguments.strata, "record", "--simulated", "A100-80GB", "-o", session, "--", python, PROGRAM, "--scaler"], check=True,
                       capture_output=True)
        asked = [arguments.strata, "whatif", session, "--change", "dtype=bf16", "--confirm"]
        by_calls = subprocess.run([*asked, "--python", python], capture_output=True, text=True)
        failures.expect(python, "calls of a GradScaler", (by_calls.returncode, "a GradScaler among them" in by_calls.stderr), (1, True))
        by_program = subprocess.run([*asked, "--", python, PROGRAM, "--scaler"], capture_output=True, text=True)
        failures.expect(python, "a program without its GradScaler", (by_program.returncode, "a GradScaler is switched off" in by_program.stderr), (0, True))


def usage(arguments, python, failures):
    scaled(arguments, python, failures)
    said = dryrun(arguments.strata, ["--change", "checkpoint=Nobody"], [python, PROGRAM])[0].stderr if not LONG else ""
    failures.expect(python, "a class that is not there is said", LONG or "checkpoint=Nobody: no module" in said)
    done = dryrun(arguments.strata, ["--change", "fsdp"], [python, PROGRAM])[0]
    failures.expect(python, "fsdp without ranks", (done.returncode, "--world-size 8" in done.stderr), (2, True))
    for bad in ("fsdp=", "amp=int8", "checkpoint=", "optimizer=", "optimizer=sgd,momentum", "offload=yes", "sideways", ""):
        done = dryrun(arguments.strata, ["--change", bad], [python, PROGRAM])[0]
        failures.expect(python, f"--change '{bad}'", (done.returncode, "there are amp=bf16" in done.stderr), (2, True))


sys.exit(main(test, once=usage))
