# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a recurrent network that was called before: once as in training, with another batch, or not at all.

usage: early_program.py [--cell LSTM|GRU|RNN] [--early same|other|none] [--dtype float32|bfloat16|float16] [--hidden N] [--items N]
"""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

LENGTH, WIDTH = 24, 64


class Model(nn.Module):
    def __init__(self, arguments):
        super().__init__()
        self.rnn = getattr(nn, arguments.cell)(WIDTH, arguments.hidden, 2, batch_first=True, dropout=0.1)
        self.head = nn.LazyLinear(10) if arguments.early != "none" else nn.Linear(arguments.hidden, 10)

    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cell", default="LSTM")
    parser.add_argument("--early", default="same")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--hidden", type=int, default=192)
    parser.add_argument("--items", type=int, default=16)
    arguments = parser.parse_args()
    kind = getattr(torch, arguments.dtype)

    def draw(items):
        return torch.randn(items, LENGTH, WIDTH, device="cuda", dtype=kind), torch.randint(10, (items,), device="cuda")
    model = Model(arguments).to("cuda", kind)
    if arguments.early != "none":
        with torch.no_grad():
            model(draw(arguments.items // (2 if arguments.early == "other" else 1))[0])
    optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
    for _ in range(5):
        x, y = draw(arguments.items)
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.synchronize()
    return model, optimizer


if __name__ == "__main__":
    kept = main()  # what is held here is still there when the recording ends
