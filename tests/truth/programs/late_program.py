# SPDX-License-Identifier: GPL-3.0-or-later
"""A program whose snapshot begins late: PyTorch records its memory from a later step on, as people switch that on once a run is warm.

usage: late_program.py SNAPSHOT FAMILY MODE [--items N] [--length N] [--width N] [--depth N] [--optimizer NAME] [--warm K] [--steps M]

MODE says what is there when the recording begins, besides the model: `kept` outputs of a forward with its graph; `steps` the batch and
the loss of K steps of training; `middle` a forward whose backward follows; `evaluated` what a larger evaluation left cached before
these steps; `history` an output of each step; `emptied` what empty_cache() leaves.
"""
import argparse
import os
import pickle
import sys

os.environ.setdefault("TORCH_SYMBOLIZE_MODE", "dladdr")  # names of C++ frames in milliseconds instead of minutes
import device_options  # noqa: F401, E402  before torch
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

VOCABULARY, CLASSES, SIDE = 1000, 100, 32


class Mlp(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.Sequential(*(part for _ in range(depth) for part in (nn.Linear(width, width), nn.GELU())), nn.Linear(width, CLASSES))
        self.width = width

    def draw(self, items, length):
        return torch.randn(items, length, self.width, device="cuda"), torch.randint(CLASSES, (items, length), device="cuda")

    def forward(self, x):
        return self.layers(x)


class Transformer(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, width)
        layer = nn.TransformerEncoderLayer(width, max(1, width // 64), 4 * width, batch_first=True)
        self.layers, self.head = nn.TransformerEncoder(layer, depth), nn.Linear(width, VOCABULARY)

    def draw(self, items, length):
        ids = torch.randint(VOCABULARY, (items, length), device="cuda")
        return ids, ids.roll(-1, 1)

    def forward(self, x):
        return self.head(self.layers(self.tokens(x)))


class Conv(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        channels = [3] + [width // 8] * depth
        self.layers = nn.Sequential(*(part for a, b in zip(channels, channels[1:])
                                      for part in (nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU())))
        self.head = nn.Linear(width // 8, CLASSES)

    def draw(self, items, length):
        return torch.randn(items, 3, SIDE, SIDE, device="cuda"), torch.randint(CLASSES, (items,), device="cuda")

    def forward(self, x):
        return self.head(self.layers(x).mean((2, 3)))


class Recurrent(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.tokens, self.layers = nn.Embedding(VOCABULARY, width), nn.LSTM(width, width, depth, batch_first=True)
        self.head = nn.Linear(width, VOCABULARY)

    draw = Transformer.draw

    def forward(self, x):
        return self.head(self.layers(self.tokens(x))[0])


class Pyramid(nn.Module):
    """Down to half the side and up again, with what lies between beside it."""

    def __init__(self, width, depth):
        super().__init__()
        width //= 16
        self.first, self.last = nn.Conv2d(3, width, 3, padding=1), nn.Conv2d(2 * width, CLASSES, 1)
        self.down = nn.ModuleList(nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.GroupNorm(1, width), nn.SiLU()) for _ in range(depth))

    draw = Conv.draw

    def forward(self, x):
        x = side = self.first(x)
        for layer in self.down:
            x = layer(F.avg_pool2d(x, 2) if x.shape[-1] > 4 else x)
        return self.last(torch.cat([F.interpolate(x, side.shape[-2:]), side], 1)).mean((2, 3))


class Scored(nn.Module):
    """Attention as people write it themselves, with half of the numbers in bfloat16."""

    def __init__(self, width, depth):
        super().__init__()
        self.tokens, self.head = nn.Embedding(VOCABULARY, width), nn.Linear(width, VOCABULARY, bias=False)
        self.layers = nn.ModuleList(nn.ModuleDict({"in": nn.Linear(width, 3 * width), "out": nn.Linear(width, width)}) for _ in range(depth))

    draw = Transformer.draw

    def forward(self, x):
        x = self.tokens(x)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            for layer in self.layers:
                q, k, v = layer["in"](x).chunk(3, -1)
                x = x + layer["out"]((q @ k.transpose(1, 2)).softmax(-1).to(v.dtype) @ v)
            return self.head(x)


FAMILIES = {"mlp": Mlp, "transformer": Transformer, "conv": Conv, "recurrent": Recurrent, "pyramid": Pyramid, "scored": Scored}
OPTIMIZERS = {"sgd": lambda p: torch.optim.SGD(p, lr=0.1), "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
              "adam": lambda p: torch.optim.Adam(p), "adamw_fused": lambda p: torch.optim.AdamW(p, fused=True)}


def keep(path):
    if "torch._inductor" not in sys.modules:
        torch._inductor = type(sys)("torch._inductor")  # asked for by what makes stacks, and a second to import
    with open(path, "wb") as file:
        pickle.dump(torch.cuda.memory._snapshot(), file)


def begin():
    torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("snapshot")
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("mode", choices=["kept", "steps", "middle", "evaluated", "history", "emptied"])
    for name, usual in (("items", 8), ("length", 64), ("width", 256), ("depth", 4), ("warm", 2), ("steps", 2)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="sgd")
    asked = parser.parse_args()
    model = FAMILIES[asked.family](asked.width, asked.depth).cuda()
    sizes = asked.items, asked.length
    if asked.mode == "kept":
        for round in range(asked.warm + asked.steps):
            if round == asked.warm:
                begin()
            y = model(model.draw(*sizes)[0])
        return keep(asked.snapshot), y
    optimizer, outputs = OPTIMIZERS[asked.optimizer](model.parameters()), []
    if asked.mode == "evaluated":
        with torch.no_grad():
            model(model.draw(3 * asked.items, asked.length)[0])
    for step in range(asked.warm + asked.steps):
        if step == asked.warm and asked.mode == "emptied":
            torch.cuda.empty_cache()
        if step == asked.warm and asked.mode != "middle":
            begin()
        x, target = model.draw(*sizes)
        y = model(x)
        loss = F.cross_entropy(y.flatten(0, -2).float(), target.flatten())
        if step == asked.warm and asked.mode == "middle":
            begin()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if asked.mode == "history":
            outputs.append(y.detach())
    return keep(asked.snapshot), outputs


if __name__ == "__main__":
    kept = main()
