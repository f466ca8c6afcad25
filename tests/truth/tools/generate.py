# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws programs of the corpus from a seed, so that anybody can hold seeds back.

usage: generate.py SEED...   (prints, for each seed, the arguments of train.py and of strata dryrun as a line of JSON)
"""
import json
import random
import sys

MODELS = ("mlp", "conv", "gpt", "lstm", "resnet", "unet", "vit", "diffusion", "gan", "llama", "experts", "t5", "lora")
OPTIMIZERS = ("sgd", "momentum", "adam", "adamw", "adamw_loop", "adamw_fused", "adafactor")
OPTIONS = ("accumulate", "side_stream", "variable_shapes", "reset_peaks", "out_of_memory", "checkpoint", "two_devices")
#: Models that make their own loss, or a state that a second forward would change.
NO_CHECKPOINT = ("unet", "diffusion", "gan")
CARDS = ("A100-80GB", "RTX-4090-24GB", "H100-80GB", "L40S-48GB", "T4-16GB", "A10-24GB")
SETTINGS = ("expandable_segments:True", "max_split_size_mb:64", "garbage_collection_threshold:0.6",
            "roundup_power2_divisions:4")
ORDERS = ("top-down", "ascending", "random:3")


def draw(seed):
    rng = random.Random(f"corpus {seed}")
    model = rng.choice(MODELS)
    card = rng.choice(CARDS)
    precisions = ["fp32", "autocast", "fp16"] + ([] if card == "T4-16GB" else ["bf16"])
    precision = rng.choice(precisions)
    options = [o for o in OPTIONS if rng.random() < 0.2]
    if model in NO_CHECKPOINT and "checkpoint" in options:
        options.remove("checkpoint")
    optimizer = rng.choice(OPTIMIZERS)
    if precision == "bf16" and model == "lstm":
        precision = "autocast"
    train = [model, "--seed", str(seed), "--optimizer", optimizer, "--precision", precision, "--steps",
             str(rng.randint(1, 5))]
    for option in options:
        train += ["--option", option]
    device = ["--device", card, "--addresses", rng.choice(ORDERS)]
    if rng.random() < 0.4:
        device += ["--set", rng.choice(SETTINGS)]
    if "two_devices" in options:
        device += ["--devices", "2"]
    return {"seed": seed, "train": train, "dryrun": device}


def main():
    for seed in sys.argv[1:]:
        print(json.dumps(draw(int(seed))))


if __name__ == "__main__":
    main()
