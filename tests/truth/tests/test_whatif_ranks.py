# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what `strata whatif` says of many ranks and of several GPUs, with simulated devices and NCCL, real PyTorch and its real allocator.

Of a program that is alone: `ddp=`, `zero1=` and `fsdp=` against the same program as the first of many ranks, with DistributedDataParallel, with
ZeroRedundancyOptimizer too, and with FSDP2's fully_shard. FSDP2 has no experts: which expert gets how many rows goes by values, which a copy on the
simulated device does not carry; and no siamese, whose loss takes a parameter outside of the model. Gradients that the host has are clipped by ranks
that are not there: those programs do not run.

Of a program with two GPUs, half of its layers on each: each device by itself, with the evidence of each. What cannot be known is rejected with an error
that names why: a step on several GPUs is not seen deeply.
"""
import os

import pytest

from running import PROGRAMS, version
from whatif_cases import FIGURES, SPREAD, WIDE_PROGRAM, WIDE_SHORT, Bar, Question, Recording, Suite, changes, figures, wide_cases

pytestmark = pytest.mark.torch("newest")

NAMES = {"ddp": "DDP", "zero1": "ZeRO-1", "fsdp": "FSDP2", "fsdp_on_host": "FSDP2, CPUOffloadPolicy"}


def spread_questions(case, whatif):
    def of(how):
        return Recording((how, str(case.items), case.wider, *case.words), program=WIDE_PROGRAM)
    for kind in SPREAD:
        if kind.startswith("fsdp") and case.family in ("experts", "siamese") or kind == "fsdp_on_host" and "clip" in case.words:
            continue
        for how in case.hows[kind][:1 if whatif.short else 2]:
            yield Question(case, NAMES[kind], of("alone"), changes(how), of(how), evidence=("roles", "deep"))


SUITE = Suite("spread", lambda whatif: whatif.cases(wide_cases, short=WIDE_SHORT), spread_questions,
              {name: Bar((2, 5), (3, 8), points=1, outside=int(kind == "fsdp")) for kind, name in NAMES.items()})


@pytest.mark.parametrize("suite", [SUITE], ids=[SUITE.name])
def test_answers(whatif, suite, failures):
    whatif.check(suite, failures)


# Two GPUs.
PROGRAM = os.path.join(PROGRAMS, "whatif_devices_program.py")


def of(*words, settings=""):
    return Recording(words, ("--devices", "2"), settings, PROGRAM)


BASE, TWICE, THRICE, SGD = of("16"), of("32"), of("48"), of("16", "--optimizer", "SGD")
BF16, WITHOUT = of("16", "--autocast"), of("16", "--without-extra")
GROWABLE = "expandable_segments:True"
SEVERAL = "the step has tensors of several devices"

#: Percent, of any figure. Micro-steps are told less closely, on one GPU as on two: a second gradient lies beside the first for a while.
MOST_OFF, ACCUMULATE, MOST_ACCUMULATE_OFF = 0.5, changes("accumulate=2"), 3
KNOWN_ORDER = [2, 13]  # before, the order of addresses is not known, which moves what a small program reserves beyond what has a point

#: What is asked of the first recording, of the run with the change, the evidence of each device, and whether there is a point.
ANSWERED = (
    (BASE, TWICE, [*changes("batch=x2"), "--batch-of", "16,48"], "recordings", True),
    (BASE, TWICE, [*changes("batch=x2"), "--batch-of", "16"], "roles", False),
    (BASE, SGD, changes("optimizer=SGD"), "roles", True),
    (BASE, of("16", "--optimizer", "momentum"), changes("optimizer=SGD,momentum=0.9"), "roles", True),
    (SGD, BASE, changes("optimizer=AdamW"), "roles", True),
    (BASE, of("16", "--optimizer-on-host"), changes("offload=optimizer"), "roles", True),
    (BASE, of("16", "--micro-steps", "2"), ACCUMULATE, "roles", True),
    (BASE, of("16", "--checkpoint", "Block"), changes("checkpoint=path:*.blocks.*"), "windows", True),
    (BASE, of("16", settings=GROWABLE), ["--set", GROWABLE], "replay", True))
#: What is asked, and what the refusal says.
REFUSED = (
    (changes("checkpoint=Block"), "of GPU 0: ", SEVERAL, "dryrun --devices 2"),
    ([*changes("checkpoint=Block"), "--device", "1"], SEVERAL, "--confirm -- COMMAND"),
    (changes("offload=activations"), "of GPU 0: ", SEVERAL),
    ([*changes("free=last-use"), "--device", "1"], SEVERAL),
    ([*changes("fsdp=2"), "--device", "1"], "ranks with several GPUs", "on one GPU"),
    (changes("ddp=2"), "of GPU 0: ", "ranks with several GPUs"),
    ([*changes("zero1=2"), "--device", "0"], "ranks with several GPUs"),
    ([*changes("checkpoint=path:far.blocks.*"), "--device", "0"], "no module of that path"),
    (["--plan", "100MiB"], "a plan is of one GPU", "--device"),
    ([*changes("amp=bf16"), "--confirm", "--device", "0"], SEVERAL))


@pytest.fixture(scope="module")
def two(whatif):
    wanted = {BASE, THRICE, BF16, WITHOUT, *(each for pair in ANSWERED for each in pair[:2])}
    made = whatif.record(sorted(wanted))
    assert len(made) == len(wanted)
    return whatif


def hold(whatif, name, run, answer, truth, evidence, points, failures, confirmed=False):
    """Each device of an answer against the truth of it."""
    _, told = whatif.ask(truth)
    wanted = {device["device"]: figures(device["recorded"]) for device in told["devices"]}
    if not answer or not answer["devices"]:
        failures.expect(name, "an answer", run.stderr.strip()[:400])
        return
    accumulates = ACCUMULATE[1] in name
    for device in answer["devices"]:
        truth, about = wanted[device["device"]], f"{name}, GPU {device['device']}"
        got = figures(device["confirmed"] if confirmed else device["predicted"])
        errors = got and [(a - b) / b * 100 for a, b in zip(got, truth)]
        print(f"  {about}: {' '.join(f'{error:+.3f}' for error in errors or ())} % {'' if errors else 'bounds alone'}", flush=True)
        if points is not None:
            failures.expect(about, "a point", got is not None, points)
        failures.expect(about, f"{errors} are small", all(abs(error) <= (MOST_ACCUMULATE_OFF if accumulates else MOST_OFF) for error in errors or ()))
        if not confirmed:
            failures.expect(about, "evidence", device["evidence"], evidence)
            spans = [device["interval"][f"{figure}_bytes_peak"] for figure in FIGURES]
            failures.expect(about, f"{truth} in {spans}", accumulates or all(low <= value <= high for value, (low, high) in zip(truth, spans)))


@pytest.mark.parametrize("case", ANSWERED, ids=[" ".join(case[2]) for case in ANSWERED])
def test_each_of_two_gpus(two, case, failures):
    before, truth, words, evidence, points = case
    more = ["--with", two.path(THRICE)] if evidence == "recordings" else []
    points = None if more and version(two.python) < KNOWN_ORDER else points
    hold(two, " ".join(words), *two.ask(before, *words, *more), truth, evidence, points, failures)


@pytest.mark.parametrize("words", [[], pytest.param(["--device", "0"], marks=pytest.mark.long)], ids=["both", "one"])
def test_confirmed_on_two_gpus(two, words, failures):
    """The one more GPU that is not asked about is there when the program runs."""
    asked = [*changes("amp=bf16"), *words, "--confirm", "--", two.python, PROGRAM, *BASE.words]
    hold(two, "amp=bf16", *two.ask(BASE, *asked), BF16, None, True, failures, confirmed=True)


@pytest.mark.parametrize("case", REFUSED, ids=[" ".join(case[0]) for case in REFUSED])
def test_rejected_on_two_gpus(two, case):
    words, *says = case
    run, _ = two.ask(BASE, *words)
    assert run.returncode in (1, 2) and all(text in run.stderr for text in says), run.stderr


def test_a_line_of_one_gpu(two, failures):
    """A line that allocates on one device is of that one: of the other there is nothing to take out."""
    with open(PROGRAM, encoding="utf-8") as file:
        line = next(number for number, line in enumerate(file, 1) if "extra = scores.detach()" in line)
    site = f"remove={os.path.basename(PROGRAM)}:{line}"
    hold(two, site, *two.ask(BASE, *changes(site), "--device", "1"), WITHOUT, "frames", True, failures)
    # Asked of both, the one has its answer, and the other says why it has none.
    for change, why in ((site, "no block of the recording was asked for"), ("checkpoint=path:far.blocks.*", "no module of that path")):
        run, both = two.ask(BASE, *changes(change))
        _, alone = two.ask(BASE, *changes(change), "--device", "1")
        failures.expect(change, "exit", run.returncode, 0)
        none, one = both["devices"]
        failures.expect(change, f"it is named where there is none: {none['refused']}",
                        none["refused"] is not None and why in none["refused"] and "of GPU" not in none["refused"])
        failures.expect(change, "no figures where there is none", [none["predicted"], none["interval"], none["needed_bytes"], none["fits_on"]], [None, None, None, []])
        failures.expect(change, "the other", one, alone["devices"][0])
        failures.expect(change, "evidence, and no refusal", [both["evidence"], both["refused"]], [alone["evidence"], None])
        run, _ = two.ask(BASE, *changes(change), "--max-peak", "80GiB")
        failures.expect(change, "exit where one GPU is not told to be below a limit", run.returncode, 1)
