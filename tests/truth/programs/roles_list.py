# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs whose memory is told category by category: thirteen families by six optimizers, and ways to train.

usage: roles_list.py [--held-back]   prints them
"""
import collections
import sys

#: `died` is the phase in which a device that is too small ends it.
Program = collections.namedtuple("Program", "name family words died")

FAMILIES = ("mlp", "conv", "resnet", "gpt", "lstm", "t5", "unet", "vit", "experts", "vae", "gan", "recommender", "siamese")
#: Never tuned against: their figures are reported apart. A third of the families.
HELD_BACK = ("lstm", "unet", "experts", "recommender")
OPTIMIZERS = ("sgd", "momentum", "adamw", "adamw_fused", "rmsprop", "lbfgs")

#: Options, the families that train with them, the optimizer.
WAYS = (
    ("evaluate", "gpt conv vae recommender", "adamw"),
    ("evaluate_inference", "resnet siamese lstm", "adamw_fused"),
    ("accumulate evaluate", "vit unet", "adamw"),
    ("checkpoint", "gpt resnet vit vae unet experts siamese", "adamw"),
    ("checkpoint_reentrant", "gpt resnet vae experts", "adamw_fused"),
    ("checkpoint accumulate", "gpt unet", "momentum"),
    ("variable_shapes", "gpt mlp resnet t5 lstm recommender siamese", "adamw"),
    ("variable_shapes accumulate", "vae experts", "momentum"),
    ("autocast", "gpt resnet t5 mlp unet experts", "adamw"),
    ("autocast accumulate clip", "vit conv", "adamw_fused"),
    ("scaler", "conv gpt unet", "momentum"),
    ("scaler clip", "vae lstm", "adamw"),
    ("bf16", "gpt vit recommender", "adamw"),
    ("keep_gradients", "mlp resnet gpt lstm", "adamw"),
    ("keep_gradients accumulate", "siamese unet", "sgd"),
    ("zero_first", "conv t5 recommender", "adamw_fused"),
    ("clip", "gpt mlp vit lstm", "adamw"),
    ("penalty", "mlp conv", "adamw"),
    ("save", "vae resnet experts", "adamw"),
    ("evaluate save average", "conv siamese", "momentum"),
    ("average", "gpt mlp", "adamw_fused"),
    ("in_backward", "mlp gpt vit unet", "adamw_fused"),
    ("two_optimizers", "gpt mlp resnet recommender", "adamw"),
    ("two_optimizers accumulate", "vae", "rmsprop"),
    ("same_batch", "mlp vit", "adamw"),
    ("ddp", "gpt resnet mlp unet", "adamw"),
    ("ddp_views", "vit vae experts", "adamw_fused"),
    ("ddp accumulate", "gpt", "momentum"),
    ("fsdp2", "gpt vae t5 siamese", "adamw"),
    ("fsdp2 accumulate", "gpt", "adamw_fused"),
    ("fsdp2 autocast evaluate", "gpt", "adamw"),
)
DEATHS = (("forward", "gpt conv vae unet", "adamw", ""), ("backward", "gpt mlp resnet experts", "adamw", ""),
          ("optimizer", "gpt mlp t5 recommender", "adamw", ""), ("forward", "resnet t5", "momentum", "variable_shapes"),
          ("backward", "vit siamese", "adamw", "checkpoint"), ("forward", "gpt", "adamw", "accumulate"))


def make(family, optimizer, options="", seed=0, died=None):
    words = [family, "--seed", str(seed), "--optimizer", optimizer]
    for option in options.split():
        words += ["--option", option]
    name = " ".join([family, optimizer, *options.split(), *([f"out of memory in {died}"] if died else [])])
    return Program(name, family, words, died)


def programs():
    found = []
    for column, optimizer in enumerate(OPTIMIZERS):
        for row, family in enumerate(FAMILIES):
            if (optimizer, family) == ("lbfgs", "gan"):
                continue  # whose two players have no closure
            accumulate = optimizer != "lbfgs" and family != "gan" and (row + column) % 3 == 0
            other = "adagrad" if optimizer == "rmsprop" and row % 2 else optimizer
            found.append(make(family, other, "accumulate" if accumulate else "", row + 13 * column))
    for number, (options, families, optimizer) in enumerate(WAYS):
        found += [make(family, optimizer, options, 200 + number) for family in families.split()]
    for number, (died, families, optimizer, options) in enumerate(DEATHS):
        found += [make(family, optimizer, options, 300 + number, died) for family in families.split()]
    return found


def sampled(count, held_back=False):
    """So many of them, the same each time: a quarter that differ in model and optimizer alone, one out-of-memory, other ways."""
    chosen = [program for program in programs() if (program.family in HELD_BACK) == held_back]
    plain = [program for program in chosen if len(program.name.split()) == 2]
    deaths = [program for program in chosen if program.died]
    ways = [program for program in chosen if program not in plain and program not in deaths]

    def every(some, most):
        most = max(1, min(most, len(some)))
        return [some[(2 * index + 1) * len(some) // (2 * most)] for index in range(most)]
    return every(plain, count // 4) + every(ways, count - count // 4 - 1) + every(deaths, 1)


if __name__ == "__main__":
    for each in programs():
        if "--held-back" not in sys.argv or each.family in HELD_BACK:
            print(each.name)
