# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains models that write attention by hand each in its own way, or call scaled_dot_product_attention there under one kernel.

usage: attention_programs.py KIND [--seed N] [--autocast] --attention hand|math|efficient|flash|cudnn

`gpt2` fills in what a buffer hides by torch.where, `bert` adds a mask of padding that came with the batch, `cross` looks from few tokens at many, without a
mask, `scaled` scales in place and fills in place, `upcast` computes its softmax in float32, `flat` has one head and multiplies by bmm, `einsum` multiplies by einsum.
"""
import argparse
import contextlib
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

import attention
import whatif_program

CONTEXT = 256


class Attention(nn.Module):
    def __init__(self, width, heads, dropout, is_by_hand):
        super().__init__()
        self.heads, self.rate, self.is_by_hand = heads, dropout, is_by_hand
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.dropout = nn.Dropout(dropout)
        self.make()

    def make(self):
        """What it keeps beside."""

    def apart(self, x):
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def forward(self, x, other, mask):
        q, k, v = self.apart(self.query(x)), self.apart(self.key(other)), self.apart(self.value(other))
        y = self.by_hand(q, k, v, mask) if self.is_by_hand else self.call(q, k, v, mask)
        return self.out(y.transpose(1, 2).reshape(x.shape))

    def call(self, q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, dropout_p=self.rate if self.training else 0.0, is_causal=True)


class Gpt2(Attention):
    def make(self):
        self.register_buffer("seen", torch.ones(CONTEXT, CONTEXT, dtype=torch.bool).tril().view(1, 1, CONTEXT, CONTEXT))

    def by_hand(self, q, k, v, mask):
        weights = torch.matmul(q, k.transpose(-1, -2))
        weights = weights / torch.full([], v.size(-1) ** 0.5, dtype=weights.dtype, device=weights.device)
        t, s = q.size(-2), k.size(-2)
        seen = self.seen[:, :, s - t:s, :s]
        least = torch.full([], torch.finfo(weights.dtype).min, dtype=weights.dtype, device=weights.device)
        weights = torch.where(seen, weights, least)
        weights = nn.functional.softmax(weights, dim=-1)
        weights = weights.type(v.dtype)
        weights = self.dropout(weights)
        return torch.matmul(weights, v)


class Bert(Attention):
    def by_hand(self, q, k, v, mask):
        scores = torch.matmul(q, k.transpose(-1, -2))
        scores = scores / (q.size(-1) ** 0.5)
        scores = scores + mask
        probabilities = self.dropout(nn.Softmax(dim=-1)(scores))
        return torch.matmul(probabilities, v)

    def call(self, q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=self.rate if self.training else 0.0)


class Cross(Attention):
    def by_hand(self, q, k, v, mask):
        weights = (q @ k.mT).div(q.size(-1) ** 0.5).softmax(-1)
        return self.dropout(weights) @ v

    def call(self, q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, dropout_p=self.rate if self.training else 0.0)


class Scaled(Attention):
    def by_hand(self, q, k, v, mask):
        scores = q @ k.transpose(2, 3)
        scores *= q.size(-1) ** -0.5
        hidden = torch.triu(torch.ones(q.size(2), k.size(2), device=q.device), diagonal=1).bool()
        scores.masked_fill_(hidden, -1e9)
        return F.dropout(scores.softmax(dim=-1), self.rate, self.training) @ v


class Upcast(Attention):
    def by_hand(self, q, k, v, mask):
        weights = torch.matmul(q, k.transpose(2, 3)) * self.query.in_features ** -0.5
        t = q.size(2)
        bias = torch.zeros(t, t, dtype=weights.dtype, device=q.device).masked_fill(
            torch.arange(t, device=q.device)[:, None] < torch.arange(t, device=q.device), torch.finfo(weights.dtype).min)
        weights = weights + bias
        weights = nn.functional.softmax(weights, dim=-1, dtype=torch.float32).to(q.dtype)
        return torch.matmul(self.dropout(weights), v)


class Flat(Attention):
    """One head, as in pictures; the call wants a dimension of heads."""

    def apart(self, x):
        return x

    def forward(self, x, other, mask):
        q, k, v = self.query(x), self.key(other), self.value(other)
        if self.is_by_hand:
            weights = torch.bmm(q, k.transpose(1, 2)) * q.size(-1) ** -0.5
            return self.out(torch.bmm(weights.softmax(-1), v))
        return self.out(F.scaled_dot_product_attention(q.unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1)).squeeze(1))


class Einsum(Attention):
    def by_hand(self, q, k, v, mask):
        q = q * q.size(-1) ** -0.5
        sim = torch.einsum("b h i d, b h j d -> b h i j", q, k)
        hidden = torch.ones(sim.shape[-2:], device=q.device, dtype=torch.bool).triu(1)
        sim = sim.masked_fill(hidden, -torch.finfo(sim.dtype).max)
        return torch.einsum("b h i j, b h j d -> b h i d", self.dropout(sim.softmax(dim=-1)), v)

    def call(self, q, k, v, mask):
        q = q * q.size(-1) ** -0.5
        return F.scaled_dot_product_attention(q, k, v, dropout_p=self.rate if self.training else 0.0, is_causal=True, scale=1.0)


KINDS = {"gpt2": Gpt2, "bert": Bert, "cross": Cross, "scaled": Scaled, "upcast": Upcast, "flat": Flat, "einsum": Einsum}


class Layer(nn.Module):
    def __init__(self, kind, width, heads, dropout, is_by_hand):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = KINDS[kind](width, heads, dropout, is_by_hand)
        self.mlp = nn.Sequential(nn.Linear(width, 3 * width), nn.SiLU(), nn.Linear(3 * width, width))

    def forward(self, x, other, mask):
        y = self.norm1(x)
        x = x + self.attention(y, y if other is None else other, mask)
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self, kind, width, heads, layers, dropout, is_by_hand):
        super().__init__()
        self.kind, self.tokens = kind, nn.Embedding(600, width)
        self.layers = nn.ModuleList(Layer(kind, width, heads, dropout, is_by_hand) for _ in range(layers))
        self.head = nn.Linear(width, 600)

    def forward(self, ids, seen):
        x, other, mask = self.tokens(ids), None, None
        if self.kind == "bert":
            mask = (1.0 - seen[:, None, None, :].to(x.dtype)) * torch.finfo(x.dtype).min
        if self.kind == "cross":
            other, x = x, x[:, ::4].contiguous()
        for layer in self.layers:
            x = layer(x, other, mask)
        return self.head(x)


def train(arguments):
    rng = random.Random(f"{arguments.kind} {arguments.seed}")
    heads, dropout = rng.randint(2, 6), 0.0 if arguments.kind == "flat" else rng.choice((0.0, 0.125))
    batch, context = rng.randint(2, 8), 32 * rng.randint(3, 8)
    width = 128 if arguments.kind == "flat" else 64 * heads
    model = Model(arguments.kind, width, heads, rng.randint(2, 4), dropout, arguments.attention == "hand").cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(5):
        ids = torch.randint(600, (batch, context), device="cuda")
        seen = torch.ones(batch, context, device="cuda")
        with torch.autocast("cuda", torch.bfloat16, enabled=arguments.autocast):
            out = model(ids, seen)
            loss = F.cross_entropy(out.flatten(0, 1), ids[:, ::len(ids[0]) // out.size(1)].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model, optimizer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--autocast", action="store_true")
    parser.add_argument("--attention", choices=("hand", *attention.KERNELS), required=True)
    arguments = parser.parse_args()
    with contextlib.nullcontext() if arguments.attention == "hand" else attention.chosen(arguments.attention):
        return train(arguments)


if __name__ == "__main__":
    kept = main()  # what is held here is still there when the recording ends
    whatif_program.leave(0)
