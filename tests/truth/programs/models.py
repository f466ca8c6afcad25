# SPDX-License-Identifier: GPL-3.0-or-later
"""Models of the truth corpus. Sizes come from a random generator, so that a seed names a program."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.heads = heads

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.project(y.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, layers, width, heads, vocabulary, context):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def mlp(rng):
    widths = [rng.randint(100, 3000) for _ in range(rng.randint(2, 6))]
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    batch = rng.randint(8, 512)
    model = nn.Sequential(*layers, nn.Linear(widths[-1], 10))
    return model, lambda: (torch.randn(batch, widths[0], device="cuda"), torch.randint(10, (batch,), device="cuda"))


def conv(rng):
    channels = [3] + [rng.randint(8, 96) for _ in range(rng.randint(2, 5))]
    layers = []
    for a, b in zip(channels, channels[1:]):
        layers += [nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)]
    batch, size = rng.randint(4, 32), 32 * rng.randint(1, 3)
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels[-1], 10))
    return model, lambda: (torch.randn(batch, 3, size, size, device="cuda"),
                           torch.randint(10, (batch,), device="cuda"))


def gpt(rng):
    heads = rng.randint(1, 6)
    width, layers, vocabulary = 64 * heads, rng.randint(1, 4), rng.randint(500, 5000)
    batch, context = rng.randint(1, 8), 32 * rng.randint(1, 8)
    model = Gpt(layers, width, heads, vocabulary, context)

    def data():
        ids = torch.randint(vocabulary, (batch, context), device="cuda")
        return ids, ids.roll(-1, 1)
    return model, data


def gpt2_124m(rng):
    model = Gpt(12, 768, 12, 50257, 1024)

    def data():
        ids = torch.randint(50257, (8, 1024), device="cuda")
        return ids, ids.roll(-1, 1)
    return model, data


def lstm(rng):
    width, hidden, layers = rng.randint(16, 128), rng.randint(16, 256), rng.randint(1, 3)
    batch, length = rng.randint(2, 16), rng.randint(8, 64)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = nn.LSTM(width, hidden, layers, batch_first=True, bidirectional=rng.random() < 0.5)
            self.head = nn.LazyLinear(10)

        def forward(self, x):
            return self.head(self.rnn(x)[0][:, -1])
    return Model(), lambda: (torch.randn(batch, length, width, device="cuda"),
                             torch.randint(10, (batch,), device="cuda"))


MODELS = {"mlp": mlp, "conv": conv, "gpt": gpt, "gpt2_124m": gpt2_124m, "lstm": lstm}
