# SPDX-License-Identifier: GPL-3.0-or-later
"""A training whose model lies on two GPUs, half of its layers on each, as whoever splits one by hand writes it; or with one thing another, which
`strata whatif` is asked.

usage: whatif_devices_program.py ITEMS [--steps N] [--optimizer NAME] [--checkpoint CLASS] [--autocast] [--without-extra] [--micro-steps K] [--optimizer-on-host]
"""
import argparse
import contextlib

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from whatif_program import OnHost

WIDTH, LENGTH, LAYERS, WORDS = 512, 64, 3, 2000  # layers of each device
OPTIMIZERS = {"SGD": (torch.optim.SGD, {}), "momentum": (torch.optim.SGD, {"momentum": 0.9}), "AdamW": (torch.optim.AdamW, {})}


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


class Half(nn.Module):
    def __init__(self, device, layers, first):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.words = nn.Embedding(WORDS, WIDTH) if first else None
        self.head = None if first else nn.Linear(WIDTH, WORDS)
        self.to(device)

    def forward(self, x, chosen):
        x = self.words(x) if self.words is not None else x
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if chosen == "Block" else block(x)
        return self.head(x) if self.head is not None else x


class Split(nn.Module):
    def __init__(self):
        super().__init__()
        self.near, self.far = Half("cuda:0", LAYERS, True), Half("cuda:1", LAYERS + 1, False)

    def forward(self, x, chosen=None):
        return self.far(self.near(x, chosen).to("cuda:1"), chosen)


def train(arguments):
    torch.manual_seed(0)
    model = Split()
    kind, options = OPTIMIZERS[arguments.optimizer]

    def make(parameters):
        return kind(parameters, lr=1e-3, **options)
    optimizer = OnHost(make, model.parameters()) if arguments.optimizer_on_host else make(model.parameters())
    for number in range(arguments.steps * arguments.micro_steps):
        text = torch.zeros(arguments.items, LENGTH, dtype=torch.long, device="cuda:0")
        wanted = torch.zeros(arguments.items * LENGTH, dtype=torch.long, device="cuda:1")
        with torch.autocast("cuda", torch.bfloat16) if arguments.autocast else contextlib.nullcontext():
            scores = model(text, arguments.checkpoint)
            extra = None
            if not arguments.without_extra:
                extra = scores.detach().float() * 2
            loss = nn.functional.cross_entropy(scores.flatten(0, 1), wanted)
        loss.backward()
        if (number + 1) % arguments.micro_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
    return model, optimizer, extra


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("items", type=int)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="AdamW")
    parser.add_argument("--checkpoint")
    parser.add_argument("--micro-steps", type=int, default=1)
    for switch in ("--autocast", "--without-extra", "--optimizer-on-host"):
        parser.add_argument(switch, action="store_true")
    kept = train(parser.parse_args())
