# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains models with a large vocabulary that compute their cross entropy each in its own way, or in chunks by
torch.nn.functional.linear_cross_entropy there.

usage: logits_programs.py KIND [--seed N] [--autocast] [--bf16] [--checkpoints] [--items N] --loss plain|chunks:N

`tied` flattens what a head makes that shares the weight of the embedding; `shift` casts to float32 and slices off the last token, `biased` has a
bias and ignores a class, `held` has its logits until the next step. Held back: `classes` moves classes to the second dimension, `product` multiplies by the embedding's weight, `weighted` weighs
classes and sums, `masked` takes the loss of each token by itself, `two` has two heads, `last` looks at the last token alone, `inside` computes its loss in
the model; `summed` and `fused` make logits as LibTorch's nn::Linear does in C++, of hidden states as they are and of a matrix of
them. What is refused: `smooth` smooths labels, `capped` squeezes logits, `counted` counts what it hit.
"""
import argparse
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

import whatif_program
from models import Block

CONTEXT = 256


class Tied(nn.Module):
    """`plain` is the loss of hidden states as the program has it, `chunked` as it is written with linear_cross_entropy."""

    def __init__(self, width, vocabulary, layers, chunks):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(CONTEXT, width)
        self.blocks = nn.ModuleList(Block(width, width // 64) for _ in range(layers))
        self.norm, self.chunks, self.has_checkpoints = nn.LayerNorm(width), chunks, False
        self.make(width, vocabulary)

    def make(self, width, vocabulary):
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight

    def hidden(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.has_checkpoints else block(x)
        return self.norm(x)

    def forward(self, ids):
        x = self.hidden(ids)
        return self.out(x) if not self.chunks else x

    def out(self, x):
        return self.head(x)

    def loss(self, ids):
        target = ids.roll(-1, 1)
        out = self(ids)
        return self.chunked(out, target) if self.chunks else self.plain(out, target)

    def plain(self, logits, target):
        return F.cross_entropy(logits.flatten(0, -2), target.flatten())

    def chunked(self, x, target):
        return self.in_chunks(x.flatten(0, -2), self.head, target.flatten())

    def in_chunks(self, x, layer, target, **options):
        weight, bias = layer.weight, getattr(layer, "bias", None)
        if torch.is_autocast_enabled("cuda"):
            x, weight, bias = (each if each is None else each.bfloat16() for each in (x, weight, bias))
        chunk = -(-x.shape[0] // self.chunks)
        return F.linear_cross_entropy(x, weight, target, linear_bias=bias, **options,
                                      options=torch.nn.LinearCrossEntropyOptions(batch_chunk_size=chunk, chunking_method=None))


class Shift(Tied):
    def loss(self, ids):
        if self.chunks:
            x = self(ids)[..., :-1, :]
            labels = ids[..., 1:].contiguous()
            return self.in_chunks(x.reshape(-1, x.size(-1)), self.head, labels.view(-1), ignore_index=-100)
        logits = self(ids).float()
        shifted = logits[..., :-1, :].contiguous()
        labels = ids[..., 1:].contiguous()
        return F.cross_entropy(shifted.view(-1, shifted.size(-1)), labels.view(-1), ignore_index=-100)


class Biased(Tied):
    def make(self, width, vocabulary):
        self.head = nn.Linear(width, vocabulary)

    def plain(self, logits, target):
        return F.cross_entropy(logits.view(-1, logits.size(-1)), target.reshape(-1), ignore_index=0)

    def chunked(self, x, target):
        return self.in_chunks(x.view(-1, x.size(-1)), self.head, target.reshape(-1), ignore_index=0)


class Held(Biased):
    """Who calls it has its logits until the next step."""

    def plain(self, logits, target):
        self.logits = logits
        return super().plain(logits, target)


class Classes(Biased):
    def plain(self, logits, target):
        return nn.CrossEntropyLoss()(logits.transpose(1, 2), target)

    def chunked(self, x, target):
        return self.in_chunks(x.reshape(-1, x.size(-1)), self.head, target.reshape(-1))


class Product(Tied):
    def make(self, width, vocabulary):
        """It has the embedding."""

    def out(self, x):
        return x @ self.tokens.weight.T

    def chunked(self, x, target):
        return self.in_chunks(x.flatten(0, -2), self.tokens, target.flatten())


class Weighted(Biased):
    def make(self, width, vocabulary):
        super().make(width, vocabulary)
        self.register_buffer("weights", torch.ones(vocabulary))

    def plain(self, logits, target):
        return F.cross_entropy(logits.flatten(0, 1), target.flatten(), weight=self.weights, reduction="sum") / target.numel()

    def chunked(self, x, target):
        return self.in_chunks(x.flatten(0, 1), self.head, target.flatten(), weight=self.weights, reduction="sum") / target.numel()


class Masked(Biased):
    def loss(self, ids):
        target, mask = ids.roll(-1, 1), torch.ones_like(ids, dtype=torch.float32)
        out = self(ids)
        if self.chunks:
            each = self.in_chunks(out.reshape(-1, out.size(-1)), self.head, target.reshape(-1), reduction="none")
        else:
            each = F.cross_entropy(out.reshape(-1, out.size(-1)), target.reshape(-1), reduction="none")
        mask = mask.reshape(-1)
        return (each * mask).sum() / mask.sum()


class Two(Tied):
    def make(self, width, vocabulary):
        self.head, self.other = nn.Linear(width, vocabulary, bias=False), nn.Linear(width, vocabulary // 2)

    def out(self, x):
        return self.head(x), self.other(x)

    def plain(self, logits, target):
        first, second = logits
        return F.cross_entropy(first.flatten(0, 1), target.flatten()) + 0.5 * F.cross_entropy(second.flatten(0, 1), target.flatten())

    def chunked(self, x, target):
        return (self.in_chunks(x.reshape(-1, x.size(-1)), self.head, target.flatten())
                + 0.5 * self.in_chunks(x.reshape(-1, x.size(-1)), self.other, target.flatten()))


class Last(Biased):
    def plain(self, logits, target):
        return F.cross_entropy(logits[:, 1:].flatten(0, 1), target[:, 1:].flatten())

    def chunked(self, x, target):
        return self.in_chunks(x[:, 1:].flatten(0, 1), self.head, target[:, 1:].flatten())


class Inside(Biased):
    """As the model of a library, which returns loss and logits."""

    def forward(self, ids):
        x = self.hidden(ids)
        target = ids.roll(-1, 1)
        if self.chunks:
            return self.chunked(x, target)
        logits = self.head(x)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), target.reshape(-1), ignore_index=0)

    def loss(self, ids):
        return self(ids)


class Summed(Biased):
    def out(self, x):
        logits = x.matmul(self.head.weight.t())
        logits += self.head.bias
        return logits


class Fused(Summed):
    def out(self, x):
        return torch.addmm(self.head.bias, x.view(-1, x.size(-1)), self.head.weight.t())


class Smooth(Biased):
    def plain(self, logits, target):
        return F.cross_entropy(logits.flatten(0, 1), target.flatten(), label_smoothing=0.1)


class Capped(Biased):
    def out(self, x):
        return torch.tanh(self.head(x) / 30.0) * 30.0


class Counted(Biased):
    def plain(self, logits, target):
        self.hits = (logits.argmax(-1) == target).sum()
        return F.cross_entropy(logits.flatten(0, 1), target.flatten())


KINDS = {"tied": Tied, "shift": Shift, "biased": Biased, "held": Held, "classes": Classes, "product": Product, "weighted": Weighted, "masked": Masked, "two": Two,
         "last": Last, "inside": Inside, "summed": Summed, "fused": Fused, "smooth": Smooth, "capped": Capped, "counted": Counted}


def train(arguments):
    rng = random.Random(f"{arguments.kind} {arguments.seed}")
    width, vocabulary, layers = 64 * rng.randint(1, 3), rng.randint(2000, 9000), rng.randint(1, 3)
    items, context = arguments.items or rng.randint(4, 8), 32 * rng.randint(3, 8)
    chunks = 0 if arguments.loss == "plain" else int(arguments.loss.partition(":")[2])
    model = KINDS[arguments.kind](width, vocabulary, layers, chunks).to("cuda", torch.bfloat16 if arguments.bf16 else None)
    model.has_checkpoints = arguments.checkpoints
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(5):
        ids = torch.randint(vocabulary // 2, (items, context), device="cuda")
        with torch.autocast("cuda", torch.bfloat16, enabled=arguments.autocast):
            loss = model.loss(ids)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model, optimizer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--autocast", action="store_true")
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--checkpoints", action="store_true", help="around each block")
    parser.add_argument("--items", type=int, default=0, help="0: as the seed draws them")
    parser.add_argument("--loss", required=True)
    return train(parser.parse_args())


if __name__ == "__main__":
    kept = main()  # what is held here is still there when the recording ends
    whatif_program.leave(0)
