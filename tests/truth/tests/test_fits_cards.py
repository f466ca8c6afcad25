# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what a dry run says of every card of the catalogue against a dry run on that card, which is the truth here.

Each program runs on one card, with --on-each-card and without, and then on each card by itself. With --on-each-card every answer is
the card's own, and no card is not comparable unless its run fails. Without it "yes" is never wrong, and cards of other GPU generations
are not comparable; "no" is wrong where PyTorch frees cached memory on a smaller card. Sizes are such that some cards have room, some
have not, and some are tight. Prints how many answers the figure of one card, taken for all of them, gets wrong.
"""
import collections
import concurrent.futures
import json
import os

import pytest

from running import PROGRAMS, PROJECT, dryrun, jobs

pytestmark = [pytest.mark.torch("newest"), pytest.mark.long]

#: The logits of a language model without gradients.
LOGITS = """
import sys
sys.path.insert(0, sys.argv[1])
import torch
import models
with torch.device("cuda"):
    model = models.Gpt(12, 1024, 16, 128256, 2048)
with torch.inference_mode():
    for _ in range(2):
        model(torch.randint(128256, (int(sys.argv[2]), 2048), device="cuda")).softmax(-1)
"""

#: The card that a program runs on, and what follows whatif_program.py.
CASES = {
    "mlp": ("A100-80GB", "400000 mlp"),
    "convolution": ("A100-80GB", "2080 conv"),
    "resnet": ("H100-80GB", "1150 resnet"),
    "autocast": ("A100-80GB", "770 gpt --option autocast"),
    "attention": ("H100-80GB", "500 --attention math gpt"),
    "gpt": ("L40S-48GB", "400 gpt"),
    "lstm": ("RTX-5090-32GB", "20000 lstm"),
    "transformer": ("A100-80GB", "800 t5"),
    "checkpointing": ("L40S-48GB", "1000 --checkpoint TransformerEncoderLayer vit"),
    "evaluation": ("A100-80GB", "3000 experts --option evaluate"),
    "embedding": ("T4-16GB", "1500000 recommender"),
    "logits": ("A100-80GB", None),
}


def cards():
    with open(os.path.join(PROJECT, "resources", "devices.json")) as file:
        return {each["name"]: each["capacity_bytes"] for each in json.load(file)["devices"]}


def command_of(python, words):
    if words is None:
        return [python, "-c", LOGITS, PROGRAMS, "6"]
    return [python, os.path.join(PROGRAMS, "whatif_program.py"), *words.split(), "--steps", "2"]


def reserved(report):
    return max(device["reserved_bytes_peak"] for rank in report["ranks"] for device in rank["devices"])


def test_every_card(strata, python, failures, request):
    only, counted = request.config.getoption("only"), collections.Counter()
    for name, (card, words) in CASES.items():
        if not only or only in name:
            judge(strata, name, card, command_of(python, words), failures, counted)
    print("\n" + ", ".join(f"{what}: {count}" for what, count in sorted(counted.items())))


def judge(strata, name, card, command, failures, counted):
    each = dryrun(strata, ["--device", card, "--on-each-card"], command)[1]
    plain = dryrun(strata, ["--device", card], command)[1]
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        alone = dict(zip(cards(), pool.map(lambda other: dryrun(strata, ["--device", other], command)[1], cards())))
    failures.expect(name, f"runs on {card}", bool(each and plain and plain["ranks"] and plain["fits"] != "no"))
    if not (each and plain and plain["ranks"] and plain["fits"] != "no"):
        return
    order = [run["device"] for run in each["each_card"]]
    failures.expect(name, "in the catalogue's order", order, [other for other in cards() if other in order])
    context = next(one for one in plain["outside"] if one["name"] == "CUDA context")
    said, said_plain = ({one["name"]: one["fits"] for one in report["fits_on"]} for report in (each, plain))
    row = []
    for other, capacity in cards().items():
        truth = alone[other] and alone[other]["fits"] or "not_comparable"  # that run fails
        if truth == "tight":
            left = capacity - reserved(alone[other])
            failures.expect(name, f"{other} is tight", context["low_bytes"] <= left < context["high_bytes"])
        failures.expect(name, f"{other} with --on-each-card", said.get(other, "no"), truth)
        without = said_plain.get(other, "no")
        if without == "yes":
            failures.expect(name, f"{other} without", without, truth)
        left = capacity - reserved(plain)
        of_one = "no" if left < 0 else "tight" if left < context["high_bytes"] else "yes"
        counted.update({"answers": 1, f"truth {truth}": 1, "without, not comparable": without == "not_comparable",
                        "without, wrong": without not in ("not_comparable", truth),
                        "one card for all, wrong": of_one != truth, "one card for all, wrong yes": of_one == "yes" and truth != "yes"})
        row.append(f"{other} {truth}" + ("" if said.get(other, "no") == truth else f" (said {said.get(other, 'no')})"))
    print(f"{name}, {reserved(plain) >> 20} MiB on {card}: " + ", ".join(row), flush=True)
