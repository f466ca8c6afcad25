# SPDX-License-Identifier: GPL-3.0-or-later
"""A program whose snapshot begins late, and that did other work before.

usage: late_phases.py SNAPSHOT KIND FAMILY [--items N] [--length N] [--width N] [--depth N] [--optimizer NAME] [--steps M]

KIND says what the program did before the steps that are recorded: `validated` evaluated a few batches after each epoch; `warmed` trained with
twice the batch; `tuned` tried other batch sizes; `replaced` trained another model that is gone; `served` answers requests with a KV cache;
`accumulated` began in the middle of a step of four micro-batches; `growing` trained with shorter sequences, or smaller batches;
`generated` sampled from the model before training goes on; `checkpointed` wrote and read a copy of its model.
"""
import argparse
import copy
import io
import os

os.environ.setdefault("TORCH_SYMBOLIZE_MODE", "dladdr")
import device_options  # noqa: F401, E402  before torch
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

from late_program import FAMILIES, OPTIMIZERS, VOCABULARY, Transformer, begin, keep  # noqa: E402


class Decoder(nn.Module):
    """Causal attention with a cache of keys and values, as language models have it."""

    def __init__(self, width, depth):
        super().__init__()
        self.tokens, self.head, self.heads = nn.Embedding(VOCABULARY, width), nn.Linear(width, VOCABULARY, bias=False), max(1, width // 64)
        self.layers = nn.ModuleList(nn.ModuleDict({"norm": nn.LayerNorm(width), "in": nn.Linear(width, 3 * width), "out": nn.Linear(width, width),
                                                   "up": nn.Linear(width, 3 * width), "down": nn.Linear(3 * width, width)}) for _ in range(depth))

    draw = Transformer.draw

    def forward(self, ids, cache=None):
        x = self.tokens(ids)
        for index, layer in enumerate(self.layers):
            q, k, v = layer["in"](layer["norm"](x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
            if cache is not None:
                if cache[index] is not None:
                    k, v = torch.cat([cache[index][0], k], 2), torch.cat([cache[index][1], v], 2)
                cache[index] = k, v
            scores = F.scaled_dot_product_attention(q, k, v, is_causal=q.shape[2] == k.shape[2])
            x = x + layer["out"](scores.transpose(1, 2).flatten(2))
            x = x + layer["down"](F.silu(layer["up"](x)))
        return self.head(x)


MODELS = {**FAMILIES, "decoder": Decoder}
KINDS = ("validated", "warmed", "tuned", "replaced", "served", "accumulated", "growing", "generated", "checkpointed")


class Loop:
    def __init__(self, asked):
        self.asked = asked
        self.model = MODELS[asked.family](asked.width, asked.depth).cuda()
        self.optimizer = OPTIMIZERS[asked.optimizer](self.model.parameters())

    def loss(self, items, length):
        x, target = self.model.draw(items, length)
        return F.cross_entropy(self.model(x).flatten(0, -2).float(), target.flatten())

    def step(self, items=None, length=None, micro=1):
        for _ in range(micro):
            (self.loss(items or self.asked.items, length or self.asked.length) / micro).backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    @torch.no_grad()
    def evaluate(self, items):
        return sum(self.loss(items, self.asked.length) for _ in range(3)).item()

    @torch.no_grad()
    def serve(self, tokens):
        ids, _ = self.model.draw(self.asked.items, self.asked.length)
        cache = [None] * len(self.model.layers)
        for _ in range(tokens):
            ids = self.model(ids, cache)[:, -1:].argmax(-1)
        return ids


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("snapshot")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("family", choices=MODELS)
    for name, usual in (("items", 8), ("length", 64), ("width", 256), ("depth", 4), ("steps", 2)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="sgd")
    asked = parser.parse_args()
    loop, kept = Loop(asked), None
    if asked.kind == "served":
        loop.serve(4)
        begin()
        for _ in range(asked.steps):
            kept = loop.serve(4)
        return keep(asked.snapshot), kept
    if asked.kind == "validated":
        for _ in range(2):
            loop.step()
            kept = loop.evaluate(2 * asked.items)
    elif asked.kind == "warmed":
        for _ in range(2):
            loop.step(items=2 * asked.items)
    elif asked.kind == "tuned":
        for share in (1, 2, 3):
            loop.loss(max(1, asked.items * share // 2), asked.length).backward()
            loop.model.zero_grad()
        loop.step()
    elif asked.kind == "replaced":
        loop.step()
        loop = None
        loop = Loop(asked)
        loop.step()
    elif asked.kind == "accumulated":
        loop.step(micro=4)
        for _ in range(2):
            (loop.loss(asked.items, asked.length) / 4).backward()
        begin()
        for _ in range(2):
            (loop.loss(asked.items, asked.length) / 4).backward()
        loop.optimizer.step()
        loop.optimizer.zero_grad()
        for _ in range(asked.steps):
            loop.step(micro=4)
        return keep(asked.snapshot), kept
    elif asked.kind == "growing":
        for share in (1, 2, 3):
            loop.step(items=max(1, asked.items * share // 4) if asked.family in ("conv", "pyramid") else None,
                      length=asked.length * share // 4)
    elif asked.kind == "generated":
        loop.step()
        with torch.no_grad():
            kept = [loop.model(loop.model.draw(asked.items, max(1, asked.length * at // 8))[0])[:, -1] for at in range(4, 8)]
    elif asked.kind == "checkpointed":
        loop.step()
        file = io.BytesIO()
        torch.save(copy.deepcopy(loop.model).state_dict(), file)
        file.seek(0)
        loop.model.load_state_dict(torch.load(file))
        loop.step()
    begin()
    for _ in range(asked.steps):
        loop.step()
    return keep(asked.snapshot), kept


if __name__ == "__main__":
    kept = main()
