# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds each --change against the same program changed by hand: 0 bytes and the same number of allocations.

`strata dryrun --change` runs a command twice. The programs changed by hand run in its first run, to which no change is made.
The short form takes each change once; the long one takes all cases.
"""
import os
import subprocess

import pytest

from against_truth import start_each
from running import PROGRAMS, dryrun, version, with_bitsandbytes

pytestmark = pytest.mark.torch("every")

PROGRAM = os.path.join(PROGRAMS, "program_change.py")
PRUDENT = ["--optimizer", "adam"]
LAST = ["--rank", "7", "--world-size", "8"]
FIGURES = ("requested_bytes_peak", "allocated_bytes_peak", "reserved_bytes_peak", "oom_count")

# changes, pairs of arguments: of the program, and of the one changed by hand. FSDP runs as rank 7 of 8.
SHORT = [
    (["dtype=bf16", "checkpoint=path:blocks.[0-3]", "zero_grad=before-backward"],
     [(["--scaler"], ["--scaler", "--bf16", "--checkpoint", "--zero", "late"])]),
    (["offload=activations", "checkpoint=Block", "amp=bf16", "optimizer=adafactor,in_backward=True"],
     [(["--loop", "evaluate", "--optimizer", "nesterov"],
       ["--loop", "evaluate", "--checkpoint", "--amp", "--offload", "--optimizer", "adafactor", "--in-backward"])]),
    (["fsdp=Block", "checkpoint=Block", "amp=bf16", "optimizer=adamw"],
     [(["--parallel", "ddp", "--loop", "gan"],
       ["--parallel", "fsdp", "--loop", "gan", "--checkpoint", "--amp", "--optimizer", "adamw"])]),
]
LONG_ALONE = [
    (["offload=activations", "checkpoint=Block", "amp=bf16", "optimizer=adafactor"],
     [(["--loop", "evaluate", "--optimizer", "nesterov"],
       ["--loop", "evaluate", "--checkpoint", "--amp", "--offload", "--optimizer", "adafactor"])]),
    (["amp=bf16"], [([], ["--amp"]),
                    (["--loop", "accumulate"], ["--loop", "accumulate", "--amp"]),
                    (["--loop", "evaluate"], ["--loop", "evaluate", "--amp"]),
                    (["--loop", "gan"], ["--loop", "gan", "--amp"])]),
    (["dtype=bf16", "checkpoint=Block"], [(["--loop", "evaluate"], ["--loop", "evaluate", "--bf16", "--checkpoint"]),
                                          (["--scaler"], ["--scaler", "--bf16", "--checkpoint"])]),
    (["zero_grad=after-step"], [(["--zero", "late"], []), (["--zero", "first", "--loop", "evaluate"], ["--loop", "evaluate"])]),
    (["zero_grad=before-backward"], [([], ["--zero", "late"]),
                                     (["--loop", "accumulate"], ["--loop", "accumulate", "--zero", "late"])]),
    (["zero_grad=before-forward"], [(["--loop", "evaluate"], ["--loop", "evaluate", "--zero", "first"])]),
    (["optimizer=adam"], [(["--optimizer", "groups"], ["--optimizer", "adam_groups"])]),
    (["optimizer=AdamW,foreach=False", "checkpoint=Nobody"], [([], ["--optimizer", "adamw_loop"])]),
    (["optimizer=AdamW,foreach=False", "checkpoint=none"], [(["--checkpoint"], ["--optimizer", "adamw_loop"])]),
    (["checkpoint=none"], [(["--checkpoint"], [])]),
    (["checkpoint=path:blocks.[0-3]"], [([], ["--checkpoint"])]),
    (["offload=activations"], [([], ["--offload"]), (["--loop", "gan"], ["--loop", "gan", "--offload"])]),
    (["fsdp=Block,offload=True"], [(["--parallel", "ddp"], ["--parallel", "fsdp_on_host"])]),
    (["fsdp"], [(["--loop", "accumulate"], ["--loop", "accumulate", "--parallel", "fsdp"])]),
    (["checkpoint=Block"], [([], ["--checkpoint"])]),
    (["dtype=bf16"], [([], ["--bf16"]), (["--loop", "gan"], ["--loop", "gan", "--bf16"]),
                      (["--loop", "accumulate"], ["--loop", "accumulate", "--bf16"])]),
    (["dtype=bf16", "amp=bf16"], [([], ["--bf16", "--amp"])]),
    (["optimizer=sgd"], [(PRUDENT, ["--optimizer", "sgd"])]),
    (["optimizer=sgd,momentum=0.9"], [(["--optimizer", "adamw"], ["--optimizer", "momentum"])]),
    (["optimizer=adamw"], [(PRUDENT, ["--optimizer", "adamw"])]),
    (["optimizer=adamw,in_backward=True"], [(PRUDENT, ["--optimizer", "adamw", "--in-backward"])]),
    (["optimizer=adafactor"], [(PRUDENT, ["--optimizer", "adafactor"])]),
    (["optimizer=rmsprop"], [(PRUDENT, ["--optimizer", "rmsprop"])]),
    (["optimizer=AdamW8bit", "checkpoint=Block"], [(PRUDENT, ["--optimizer", "adamw8bit", "--checkpoint"])]),
    (["optimizer=pagedadamw8bit"], [(PRUDENT, ["--optimizer", "paged"])]),
]
#: A change that changed nothing would be equal to nothing by luck alone: Adam and AdamW alone need the same.
MOVES_NOTHING = (["optimizer=adamw"],)


def known_to(python, changes):
    """Adafactor came with PyTorch 2.5, and torch.distributed.fsdp.fully_shard with 2.6."""
    return ("adafactor" not in str(changes) or version(python) >= [2, 5]) and ("fsdp=Block,offload=True" not in changes or version(python) >= [2, 6])


def by_process(document):
    """Figures of the only device that each process used, with its number of allocations."""
    used = [(rank["process"], device) for rank in document["ranks"] for device in rank["devices"] if device["reserved_bytes_peak"] > 0]
    return {process: {**{figure: device[figure] for figure in FIGURES}, "allocations": counted["allocations"]}
            for (process, device), counted in zip(used, document["tracked"])}


@pytest.mark.parametrize("changes, pairs", [*SHORT, *(pytest.param(*case, marks=pytest.mark.long) for case in LONG_ALONE)],
                         ids=lambda value: " ".join(value) if isinstance(value[0], str) else f"{len(value)} programs")
def test_change(strata, python, tmp_path, failures, changes, pairs):
    if not known_to(python, changes):
        pytest.skip("not in this PyTorch")
    if "8bit" in changes[0] and not with_bitsandbytes(failures):
        return
    programs = [[PROGRAM, *words] for pair in zip(*pairs) for words in pair]
    options = [word for change in changes for word in ("--change", change)] + (LAST if changes[0].startswith("fsdp") else [])
    done, report, ended = start_each(strata, python, options, programs, tmp_path, ["--once", str(len(pairs))])
    assert report and done.returncode == 0, done.stderr[-3000:]
    statuses = [[each["status"] for each in run] for run in ended]
    failures.expect("both runs", "statuses", statuses, [[0] * len(programs), [0] * len(pairs)])
    before, after = ([by_process(document).get(each["process"]) for each in run] for document, run in zip((report, report["changed"]), ended))
    for (program, _), base, changed, by_hand in zip(pairs, before, after, before[len(pairs):]):
        failures.expect(" ".join(program), "figures", changed, by_hand)
        failures.expect(" ".join(program), "the change moves them", base != changed, changes not in MOVES_NOTHING)
    if "checkpoint=Nobody" in changes:
        failures.expect("Nobody", "class that is not there is said", "checkpoint=Nobody: no module" in done.stderr)
    if "--scaler" in pairs[0][0]:
        failures.expect("dtype", "GradScaler that is switched off is said", "a GradScaler is switched off" in done.stderr)


@pytest.mark.long
@pytest.mark.torch("newest")
def test_scaler(strata, python, tmp_path):
    """A GradScaler is switched off in 16 bits, which is said; calls of one are refused by name."""
    session, program = str(tmp_path / "scaled.strata"), [python, PROGRAM, "--scaler"]
    subprocess.run([strata, "record", "--simulated", "A100-80GB", "-o", session, "--", *program], check=True, capture_output=True)
    asked = [strata, "whatif", session, "--change", "dtype=bf16", "--confirm"]
    by_calls = subprocess.run([*asked, "--python", python], capture_output=True, text=True)
    assert by_calls.returncode == 1 and "a GradScaler among them" in by_calls.stderr
    by_program = subprocess.run([*asked, "--", *program], capture_output=True, text=True)
    assert by_program.returncode == 0 and "a GradScaler is switched off" in by_program.stderr


@pytest.mark.torch("newest")
@pytest.mark.parametrize("change, words", [
    ("fsdp", "--world-size 8"),
    *((bad, "there are checkpoint=MODULE_CLASS") for bad in ("fsdp=", "amp=int8", "checkpoint=", "optimizer=", "optimizer=sgd,momentum", "offload=yes", "sideways", ""))])
def test_refused(strata, python, change, words):
    done, _ = dryrun(strata, ["--change", change], [python, PROGRAM])
    assert done.returncode == 2 and words in done.stderr
