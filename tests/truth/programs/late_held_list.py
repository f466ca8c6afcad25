# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn for programs of late_held.py, of which rules know nothing. Nothing here needs torch."""
import random

KINDS = ("sanity", "unfrozen", "averaged", "searched", "distilled", "projected", "clipped", "zeroed", "mined", "resumed")
FAMILIES = ("translator", "listener", "denoiser", "ranker", "seer")
#: Those whose input has a length.
SEQUENCES = ("translator", "listener")
#: Times of a unit that are recorded, and what is asked for.
BATCHES = (((2, 3), 6), ((1, 3), 2), ((3, 4), 1), ((1, 2), 5), ((2, 5), 3), ((1, 2, 4), 3), ((3, 5), 4))


def draws(seeds):
    """Words of late_held.py, the option that changes, its unit, and how many units are recorded and asked for."""
    for place, kind in enumerate(KINDS):
        for seed in seeds:
            rng = random.Random(f"held {kind} {seed}")
            family = FAMILIES[(place + 2 * seed) % len(FAMILIES)]
            option = "length" if family in SEQUENCES and rng.random() < 0.5 else "items"
            recorded, asked = rng.choice(BATCHES)
            sizes = {"items": rng.choice((7, 10, 14, 18, 22, 26)), "length": 24 * rng.randint(3, 9), "width": 128 * rng.randint(4, 10),
                     "depth": rng.randint(4, 10), "steps": rng.randint(1, 3)}
            optimizer, unit = rng.choice(("sgd", "momentum", "adam", "adamw_fused")), sizes.pop(option)
            words = [kind, family, "--optimizer", optimizer, *(word for name, value in sizes.items() for word in (f"--{name}", str(value)))]
            yield words, option, unit, recorded, asked
