# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs programs of tests/truth under `strata dryrun` and holds its figures against torch's own.

usage: test_corpus.py STRATA [--python PYTHON]... [--seeds N] [--first-seed N]

Without a Python with PyTorch (see running.py) the test is skipped (exit 77) and says so.
"""
import os
import sys

from against_truth import check
from running import LONG, PROGRAMS, main, version

import generate

TRAIN = os.path.join(PROGRAMS, "train.py")

# Each model once, and each optimizer, precision and option at least once: options of strata dryrun, and arguments of train.py of the
# programs that are run under them.
GROUPS = {
    "": ["mlp --optimizer sgd", "mlp --optimizer adamw_loop --option accumulate", "lstm --optimizer adafactor",
         "mlp --optimizer momentum --option reset_peaks --option recorder_off",
         "gpt --option side_stream --option variable_shapes --steps 6", "lora --precision autocast --optimizer adamw_loop"],
    "--capacity 2GiB --addresses random:7": ["mlp --option out_of_memory", "vit --precision bf16 --optimizer adamw_fused"],
    "--devices 2 --device L40S-48GB": ["mlp --option two_devices", "diffusion --precision autocast"],
    "--device RTX-4090-24GB --set garbage_collection_threshold:0.6": [
        "conv --optimizer adamw_fused --precision autocast", "gan --optimizer adam"],
    "--device H100-80GB --addresses ascending": [
        "gpt --precision autocast", "gpt --precision bf16 --option checkpoint", "llama --precision bf16 --option variable_shapes"],
    "--set expandable_segments:True": ["gpt --optimizer adam --option tensors"],
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


def test(arguments, python, failures):
    groups = {options: [train.split() for train in programs if LONG or train in SHORT] for options, programs in GROUPS.items()}
    groups = {options: programs for options, programs in groups.items() if programs}
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
        drawn = generate.draw(seed)
        groups.setdefault(" ".join(drawn["dryrun"]), []).append(drawn["train"])
    for options, programs in groups.items():
        check(arguments.strata, python, options.split(),
              [[TRAIN, *words] for words in programs if known_to(python, words)], failures)


def add_options(parser):
    parser.add_argument("--seeds", type=int, default=0, help="programs drawn besides these")
    parser.add_argument("--first-seed", type=int, default=1)


if __name__ == "__main__":
    sys.exit(main(test, add_options=add_options))
