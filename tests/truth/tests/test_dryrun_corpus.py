# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs programs of tests/truth under `strata dryrun` and holds its figures against torch's own. The long form draws more, by --seeds and
--first-seed."""
import os

import pytest

import generate
from against_truth import check
from running import LONG, PROGRAMS, version

pytestmark = pytest.mark.torch("every")

TRAIN = os.path.join(PROGRAMS, "train.py")

# Each model once, and each optimizer, precision and option at least once: options of strata dryrun, and arguments of train.py of the
# programs that are run under them.
GROUPS = {
    "": ["mlp --optimizer sgd", "mlp --optimizer adamw_loop --option accumulate", "lstm --optimizer adafactor",
         "mlp --optimizer momentum --option reset_peaks --option recorder_off",
         "gpt --option side_stream --option variable_shapes --steps 6", "lora --precision autocast --optimizer adamw_loop"],
    "--capacity 2GiB --addresses random:7 --devices 2": [
        "mlp --option out_of_memory", "mlp --option two_devices", "vit --precision bf16 --optimizer adamw_fused"],
    "--devices 2 --device L40S-48GB": ["diffusion --precision autocast"],
    "--device RTX-4090-24GB --set garbage_collection_threshold:0.6": [
        "conv --optimizer adamw_fused --precision autocast", "gan --optimizer adam"],
    "--device H100-80GB --addresses ascending": ["gpt --precision autocast", "llama --precision bf16 --option variable_shapes"],
    "--device H100-80GB --addresses ascending --set expandable_segments:True": [
        "gpt --optimizer adam --option tensors", "gpt --precision bf16 --option checkpoint"],
    "--device T4-16GB --set max_split_size_mb:64": [
        "resnet --optimizer momentum --precision fp16", "unet --precision autocast --option accumulate"],
    "--device A10-24GB --set roundup_power2_divisions:4": ["experts --precision autocast", "t5 --option checkpoint"],
}
#: Programs of the short form: a plain one, what their options name, and each kind of address.
SHORT = ("mlp --optimizer sgd", "gpt --option side_stream --option variable_shapes --steps 6", "mlp --option out_of_memory", "mlp --option two_devices",
         "gan --optimizer adam", "gpt --precision bf16 --option checkpoint", "gpt --optimizer adam --option tensors")
CASES = [(train, options) for options, programs in GROUPS.items() for train in programs]


def known_to(python, arguments):
    """Adafactor came with PyTorch 2.5."""
    if "adafactor" not in arguments:
        return True
    return version(python) >= [2, 5]


def hold(strata, python, options, programs, failures):
    check(strata, python, options, [[TRAIN, *words] for words in programs if known_to(python, words)], failures)


@pytest.mark.parametrize("options", [options for options, programs in GROUPS.items() if LONG or set(programs) & set(SHORT)])
def test_figures(strata, python, failures, options):
    hold(strata, python, options.split(), [train.split() for train in GROUPS[options] if LONG or train in SHORT], failures)


@pytest.mark.long
def test_drawn(strata, python, failures, request):
    seeds, first = (request.config.getoption(name) for name in ("seeds", "first_seed"))
    for seed in range(first or 1, (first or 1) + (seeds or 2)):
        drawn = generate.draw(seed)
        hold(strata, python, drawn["dryrun"], [drawn["train"]], failures)
