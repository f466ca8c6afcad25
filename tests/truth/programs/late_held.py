# SPDX-License-Identifier: GPL-3.0-or-later
"""A program whose snapshot begins late, and of which rules know nothing.

usage: late_held.py SNAPSHOT KIND FAMILY [--items N] [--length N] [--width N] [--depth N] [--optimizer NAME] [--steps M]

KIND says what the program did before or does in each step: `sanity` two batches of validation, then the first step of all; `unfrozen` trained
the head alone; `averaged` an average of the weights; `searched` tried learning rates; `distilled` a teacher's answers, two batches in advance;
`projected` vectors of a dataset; `clipped` begins between the backward and the step; `zeroed` keeps its gradients; `mined` trains the hardest
of more items; `resumed` goes on from a file.
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

import late_held_list  # noqa: E402
from late_program import OPTIMIZERS, begin, keep  # noqa: E402

WORDS, SIDE, FIELDS = 3000, 64, 12


class Classifier(nn.Module):
    def loss(self, x, target):
        return F.cross_entropy(self(x).flatten(0, -2), target.flatten())


class Translator(Classifier):
    def __init__(self, width, depth):
        super().__init__()
        self.words, self.head = nn.Embedding(WORDS, width), nn.Linear(width, WORDS)
        self.layers = nn.Transformer(width, width // 64, depth, depth, 2 * width, batch_first=True, norm_first=True)

    def draw(self, items, length):
        ids = torch.randint(WORDS, (items, 2, length), device="cuda")
        return ids, ids[:, 1]

    def forward(self, ids):
        source, target = self.words(ids).unbind(1)
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[-1], device="cuda")
        return self.head(self.layers(source, target, tgt_mask=mask))


class Listener(Classifier):
    """Sound of four times the length."""

    def __init__(self, width, depth):
        super().__init__()
        self.first = nn.Sequential(nn.Conv1d(80, width, 3, 2, 1), nn.GELU(), nn.Conv1d(width, width, 3, 2, 1), nn.GELU())
        self.layers = nn.ModuleList(nn.ModuleDict({"norm": nn.LayerNorm(width), "mix": nn.Conv1d(width, width, 9, padding=4, groups=width),
                                                   "up": nn.Linear(width, 4 * width), "down": nn.Linear(2 * width, width)}) for _ in range(depth))
        self.head = nn.Linear(width, 400)

    def draw(self, items, length):
        return torch.randn(items, 80, 4 * length, device="cuda"), torch.randint(400, (items, length), device="cuda")

    def forward(self, x):
        x = self.first(x).transpose(1, 2)
        for layer in self.layers:
            x = x + layer["mix"](layer["norm"](x).transpose(1, 2)).transpose(1, 2)
            x = x + layer["down"](F.glu(layer["up"](x)))
        return self.head(x)


class Denoiser(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        width //= 8
        self.first, self.last = nn.Conv2d(3, width, 3, padding=1), nn.Conv2d(width, 3, 3, padding=1)
        self.down = nn.ModuleList(self.part(width) for _ in range(depth))
        self.up = nn.ModuleList(self.part(2 * width, width) for _ in range(depth))

    @staticmethod
    def part(before, after=None):
        return nn.Sequential(nn.GroupNorm(1, before), nn.SiLU(), nn.Conv2d(before, after or before, 3, padding=1))

    def draw(self, items, length):
        return torch.randn(items, 3, SIDE, SIDE, device="cuda"), torch.randn(items, 3, SIDE, SIDE, device="cuda")

    def forward(self, x):
        x, sides = self.first(x), []
        for layer in self.down:
            x = x + layer(x)
            sides.append(x)
            x = F.avg_pool2d(x, 2) if x.shape[-1] > 8 else x
        for layer in self.up:
            side = sides.pop()
            x = layer(torch.cat([F.interpolate(x, side.shape[-2:]), side], 1))
        return self.last(x)

    def loss(self, x, noise):
        return F.mse_loss(self(x + 0.3 * noise), noise)


class Ranker(nn.Module):
    """Many rows for each item of the batch, and most memory in tables."""

    def __init__(self, width, depth):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(20000, 64) for _ in range(FIELDS))
        parts = [nn.Linear(FIELDS * 64, width), nn.ReLU()]
        for _ in range(depth):
            parts += [nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.1)]
        self.layers, self.head = nn.Sequential(*parts), nn.Linear(width, 1)

    def draw(self, items, length):
        return torch.randint(20000, (1024 * items, FIELDS), device="cuda"), torch.rand(1024 * items, device="cuda")

    def forward(self, x):
        return self.head(self.layers(torch.cat([table(x[:, field]) for field, table in enumerate(self.tables)], 1)))

    def loss(self, x, target):
        return F.binary_cross_entropy_with_logits(self(x)[:, 0], target)


class Seer(nn.Module):
    """A vision transformer in bfloat16 by autocast."""

    def __init__(self, width, depth):
        super().__init__()
        self.patches, self.mark = nn.Conv2d(3, width, 8, 8), nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.zeros(1, (SIDE // 8) ** 2 + 1, width))
        self.layers = nn.ModuleList(nn.ModuleDict({"first": nn.LayerNorm(width), "qkv": nn.Linear(width, 3 * width), "out": nn.Linear(width, width),
                                                   "second": nn.LayerNorm(width), "up": nn.Linear(width, 4 * width),
                                                   "down": nn.Linear(4 * width, width)}) for _ in range(depth))
        self.head = nn.Linear(width, 1000)

    def draw(self, items, length):
        return torch.randn(items, 3, SIDE, SIDE, device="cuda"), torch.randint(1000, (items,), device="cuda")

    def forward(self, x):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            x = self.patches(x).flatten(2).transpose(1, 2)
            x = torch.cat([self.mark.expand(len(x), -1, -1), x], 1) + self.places
            for layer in self.layers:
                q, k, v = layer["qkv"](layer["first"](x)).unflatten(-1, (3, -1, 64)).permute(2, 0, 3, 1, 4)
                x = x + layer["out"](F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
                x = x + layer["down"](F.gelu(layer["up"](layer["second"](x))))
            return self.head(x[:, 0])

    def loss(self, x, target):
        return F.cross_entropy(self(x).float(), target)


MODELS = {"translator": Translator, "listener": Listener, "denoiser": Denoiser, "ranker": Ranker, "seer": Seer}


class Loop:
    def __init__(self, asked):
        self.asked, self.sizes = asked, (asked.items, asked.length)
        self.model = MODELS[asked.family](asked.width, asked.depth).cuda()
        self.renew()
        self.average = self.teacher = None
        self.answers, self.to_none = [], asked.kind != "zeroed"

    def renew(self):
        self.optimizer = OPTIMIZERS[self.asked.optimizer](p for p in self.model.parameters() if p.requires_grad)

    @torch.no_grad()
    def ask(self):
        """Keeps a batch with its teacher's answer."""
        x, target = self.model.draw(*self.sizes)
        self.answers.append((x, target, self.teacher(x)))

    def drawn(self):
        if self.asked.kind != "mined":
            return self.model.draw(*self.sizes)
        x, target = self.model.draw(4 * self.asked.items, self.asked.length)
        with torch.no_grad():
            hardest = self.model(x).float().flatten(1).square().mean(1).topk(len(x) // 4).indices
        return x[hardest], target[hardest]

    def backward(self):
        if self.teacher is not None:
            self.ask()
            x, target, answer = self.answers.pop(0)
            out = self.model(x)
            loss = F.mse_loss(out, answer) + 0 * target.sum()
        else:
            loss = self.model.loss(*self.drawn())
        loss.backward()

    def update(self):
        if self.asked.kind == "clipped":
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=self.to_none)
        if self.average is not None:
            with torch.no_grad():
                for mine, other in zip(self.average.parameters(), self.model.parameters()):
                    mine.lerp_(other, 0.01)

    def step(self):
        self.backward()
        self.update()

    @torch.no_grad()
    def validate(self, batches):
        found = []
        for _ in range(batches):
            x, target = self.model.draw(*self.sizes)
            found.append((self.model(x), target))
        return len(found)


def prepare(loop, kind):
    """What was done before the recording begins; returns what stays."""
    if kind == "sanity":
        loop.validate(2)
        return None
    if kind == "unfrozen":
        last = next(reversed(list(loop.model.children())))
        loop.model.requires_grad_(False)
        last.requires_grad_(True)
        loop.renew()
        for _ in range(2):
            loop.step()
        loop.model.requires_grad_(True)
        loop.renew()
    elif kind == "averaged":
        loop.average = copy.deepcopy(loop.model).requires_grad_(False)
    elif kind == "searched":
        saved = copy.deepcopy(loop.model.state_dict())
        for power in range(3):
            for group in loop.optimizer.param_groups:
                group["lr"] = 10 ** (power - 4)
            loop.step()
        loop.model.load_state_dict(saved)
        del saved
        loop.renew()
    elif kind == "distilled":
        loop.teacher = MODELS[loop.asked.family](2 * loop.asked.width, loop.asked.depth).cuda().eval().requires_grad_(False)
        for _ in range(2):
            loop.ask()
    elif kind == "projected":
        with torch.no_grad():
            kept = [loop.model(loop.model.draw(16, loop.asked.length)[0]) for _ in range(8)]
        loop.step()
        return kept
    elif kind == "resumed":
        loop.step()
        file = io.BytesIO()
        torch.save({"model": loop.model.state_dict(), "optimizer": loop.optimizer.state_dict()}, file)
        file.seek(0)
        asked, loop.model, loop.optimizer = loop.asked, None, None
        loop.__init__(asked)
        state = torch.load(file, map_location="cuda")
        loop.model.load_state_dict(state["model"])
        loop.optimizer.load_state_dict(state["optimizer"])
        loop.step()
        return state
    loop.step()
    if kind in ("zeroed", "mined"):
        loop.step()
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("snapshot")
    parser.add_argument("kind", choices=late_held_list.KINDS)
    parser.add_argument("family", choices=MODELS)
    for name, usual in (("items", 8), ("length", 64), ("width", 256), ("depth", 4), ("steps", 2)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="sgd")
    asked = parser.parse_args()
    loop = Loop(asked)
    kept = prepare(loop, asked.kind)
    if asked.kind == "clipped":
        loop.backward()
        begin()
        loop.update()
    else:
        begin()
    for _ in range(asked.steps):
        loop.step()
    return keep(asked.snapshot), loop, kept


if __name__ == "__main__":
    kept = main()
