# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what `strata whatif` says of one recording of a program with two GPUs, half of its layers on each, against the same program with that change,
with real PyTorch and its real allocator on simulated devices: each device by itself, with the evidence of each. What nothing tells is refused by
name: a step on several GPUs is not seen deeply.

usage: test_whatif_devices.py STRATA [--python PYTHON]... [--keep FOLDER]

It prints the error of requested, allocated and reserved in percent of the truth. Without a Python with PyTorch the test is skipped (exit 77) and
says so.
"""
import os
import sys
import tempfile

from running import LONG, PROGRAMS, main, strata_json, version
from test_whatif import FIGURES, figures, record

PROGRAM = os.path.join(PROGRAMS, "whatif_devices_program.py")
BASE, TWICE, THRICE = ("16",), ("32",), ("48",)
SGD, MOMENTUM = (*BASE, "--optimizer", "SGD"), (*BASE, "--optimizer", "momentum")
CHECKPOINTED, BF16, WITHOUT = (*BASE, "--checkpoint", "Block"), (*BASE, "--autocast"), (*BASE, "--without-extra")
MICRO_STEPS, ON_HOST = (*BASE, "--micro-steps", "2"), (*BASE, "--optimizer-on-host")
PROGRAMS = [BASE, TWICE, THRICE, SGD, MOMENTUM, CHECKPOINTED, BF16, WITHOUT, MICRO_STEPS, ON_HOST]
GROWABLE = "expandable_segments:True"
LINE = "extra = scores.detach()"  # of the second device alone
SEVERAL = "the step has tensors of several devices"

#: Percent, of any figure. Micro-steps are told less closely, on one GPU as on two: a second gradient lies beside the first for a while.
MOST_OFF, ACCUMULATE, MOST_ACCUMULATE_OFF = 0.5, "accumulate=2", 3
TOLD_ORDER = [2, 13]  # before, the order of addresses is not known, which moves what a small program reserves beyond what has a point

#: What is asked of the first recording, of the run with the change, the evidence of each device, and whether there is a point.
ANSWERED = (
    ("batch, two recordings", BASE, TWICE, ["--change", "batch=x2", "--batch-of", "16,48"], "recordings", True),
    ("batch, roles", BASE, TWICE, ["--change", "batch=x2", "--batch-of", "16"], "roles", False),
    ("optimizer=SGD", BASE, SGD, ["--change", "optimizer=SGD"], "roles", True),
    ("optimizer=SGD,momentum=0.9", BASE, MOMENTUM, ["--change", "optimizer=SGD,momentum=0.9"], "roles", True),
    ("optimizer=AdamW, of SGD", SGD, BASE, ["--change", "optimizer=AdamW"], "roles", True),
    ("offload=optimizer", BASE, ON_HOST, ["--change", "offload=optimizer"], "roles", True),
    (ACCUMULATE, BASE, MICRO_STEPS, ["--change", ACCUMULATE], "roles", True),
    ("checkpoint=path:*.blocks.*", BASE, CHECKPOINTED, ["--change", "checkpoint=path:*.blocks.*"], "windows", True),
)
#: What is asked, and what the refusal says.
REFUSED = (
    (["--change", "checkpoint=Block"], "of GPU 0: ", SEVERAL, "dryrun --devices 2"),
    (["--change", "checkpoint=Block", "--device", "1"], SEVERAL, "--confirm -- COMMAND"),
    (["--change", "offload=activations"], "of GPU 0: ", SEVERAL),
    (["--change", "free=last-use", "--device", "1"], SEVERAL),
    (["--change", "fsdp=2", "--device", "1"], "ranks with several GPUs", "on one GPU"),
    (["--change", "ddp=2"], "of GPU 0: ", "ranks with several GPUs"),
    (["--change", "zero1=2", "--device", "0"], "ranks with several GPUs"),
    (["--change", "checkpoint=path:far.blocks.*", "--device", "0"], "no module of that path"),
    (["--plan", "100MiB"], "a plan is of one GPU", "--device"),
    (["--change", "amp=bf16", "--confirm", "--device", "0"], SEVERAL),
)


def truth_of(strata, path):
    _, answer = strata_json(strata, ["whatif", path, "--json"])
    return {device["device"]: figures(device["recorded"]) for device in answer["devices"]}


def hold(name, answer, stderr, wanted, evidence, points, failures, confirmed=False):
    """Each device of an answer against the truth of it."""
    if not answer or not answer["devices"]:
        failures.expect(name, "an answer", stderr.strip()[:400])
        return
    for device in answer["devices"]:
        truth, about = wanted[device["device"]], f"{name}, GPU {device['device']}"
        got = figures(device["confirmed"] if confirmed else device["predicted"])
        errors = got and [(a - b) / b * 100 for a, b in zip(got, truth)]
        print(f"  {about}: {' '.join(f'{error:+.3f}' for error in errors or ())} % {'' if errors else 'bounds alone'}", flush=True)
        if points is not None:
            failures.expect(about, "a point", got is not None, points)
        failures.expect(about, f"{errors} are small", all(abs(error) <= (MOST_ACCUMULATE_OFF if name == ACCUMULATE else MOST_OFF) for error in errors or ()))
        if not confirmed:
            failures.expect(about, "evidence", device["evidence"], evidence)
            spans = [device["interval"][f"{figure}_bytes_peak"] for figure in FIGURES]
            if name != ACCUMULATE:
                failures.expect(about, f"{truth} in {spans}", all(low <= value <= high for value, (low, high) in zip(truth, spans)))


def line_of(text):
    with open(PROGRAM, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


def test(arguments, python, failures):
    strata = arguments.strata
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or temporary
        options = ("--devices", "2", "--deep-step", "3")
        made = record(strata, python, folder, PROGRAMS, options, program=PROGRAM, needs="whatif_program")
        growable = record(strata, python, os.path.join(folder, "growable"), [BASE], options, settings=GROWABLE, program=PROGRAM, needs="whatif_program")
        failures.expect("recordings", "all of them", [len(made), len(growable)], [len(PROGRAMS), 1])
        if len(made) < len(PROGRAMS) or len(growable) < 1:
            return
        for name, recorded, changed, words, evidence, points in ANSWERED:
            more = ["--with", made[THRICE]] if evidence == "recordings" else []
            points = None if more and version(python) < TOLD_ORDER else points
            run, answer = strata_json(strata, ["whatif", made[recorded], "--json", *words, *more])
            hold(name, answer, run.stderr, truth_of(strata, made[changed]), evidence, points, failures)
        run, answer = strata_json(strata, ["whatif", made[BASE], "--json", "--set", GROWABLE])
        hold(GROWABLE, answer, run.stderr, truth_of(strata, growable[BASE]), "replay", True, failures)
        check_line(strata, made, failures)
        # The one more GPU that is not asked about is there when the program runs.
        for words in ([], ["--device", "0"]) if LONG else ([],):
            run, answer = strata_json(strata, ["whatif", made[BASE], "--json", "--change", "amp=bf16", *words, "--confirm", "--", python, PROGRAM, *BASE])
            hold(f"amp=bf16 {' '.join(words)}", answer, run.stderr, truth_of(strata, made[BF16]), None, True, failures, confirmed=True)
        for words, *says in REFUSED:
            run, _ = strata_json(strata, ["whatif", made[BASE], "--json", *words])
            failures.expect(" ".join(words), f"it is refused by name: {run.stderr.strip()[:400]}",
                            run.returncode in (1, 2) and all(text in run.stderr for text in says))


def check_line(strata, made, failures):
    """A line that allocates on one device is of that one: of the other there is nothing to take out."""
    site = f"remove={os.path.basename(PROGRAM)}:{line_of(LINE)}"
    run, answer = strata_json(strata, ["whatif", made[BASE], "--json", "--change", site, "--device", "1"])
    hold(site, answer, run.stderr, truth_of(strata, made[WITHOUT]), "frames", True, failures)
    # Asked of both, the one has its answer, and the other says why it has none.
    for change, why in ((site, "no block of the recording was asked for"), ("checkpoint=path:far.blocks.*", "no module of that path")):
        run, both = strata_json(strata, ["whatif", made[BASE], "--json", "--change", change])
        _, alone = strata_json(strata, ["whatif", made[BASE], "--json", "--change", change, "--device", "1"])
        failures.expect(change, "exit", run.returncode, 0)
        none, one = both["devices"]
        failures.expect(change, f"it is named where there is none: {none['refused']}",
                        none["refused"] is not None and why in none["refused"] and "of GPU" not in none["refused"])
        failures.expect(change, "no figures where there is none", [none["predicted"], none["interval"], none["needed_bytes"], none["fits_on"]], [None, None, None, []])
        failures.expect(change, "the other", one, alone["devices"][0])
        failures.expect(change, "evidence, and no refusal", [both["evidence"], both["refused"]], [alone["evidence"], None])
        run, _ = strata_json(strata, ["whatif", made[BASE], "--json", "--change", change, "--max-peak", "80GiB"])
        failures.expect(change, "exit where one GPU is not told to be below a limit", run.returncode, 1)


def add_options(parser):
    parser.add_argument("--keep", metavar="FOLDER", help="leaves the recordings there, and takes those that are there already")


if __name__ == "__main__":
    sys.exit(main(test, every_python=False, add_options=add_options))
