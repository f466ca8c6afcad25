# SPDX-License-Identifier: GPL-3.0-or-later
"""Trainings with memory that nothing uses in a step, and with memory that only looks so: see test_unused_memory.py.

usage: unused_memory.py NAME
"""
import copy
import os
import sys
import tempfile

import torch

WIDTH, LAYERS, STEPS = 512, 4, 6


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner, self.outer = torch.nn.Linear(width, 2 * width), torch.nn.Linear(2 * width, width)

    def forward(self, x):
        y = torch.relu(self.inner(x))
        return x + self.outer(y)


def net():
    return torch.nn.Sequential(*[Block(WIDTH) for _ in range(LAYERS)])


def batch(rows=256):
    return torch.randn(rows, WIDTH, device="cuda")


def train(model, each_step=lambda step: None, optimizer=None, loss_of=None):
    optimizer = optimizer or torch.optim.AdamW(model.parameters())
    for step in range(STEPS):
        x = batch()
        loss = loss_of(x) if loss_of else model(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        each_step(step)
    return model, optimizer


def saved(tensors):
    path = os.path.join(tempfile.mkdtemp(), "last.pt")
    torch.save(tensors, path)
    return path


def checkpoint():
    """A loaded checkpoint that stays beside the model that took its weights."""
    model = net().cuda()
    loaded = torch.load(saved({"model": net().state_dict()}), map_location="cuda")
    model.load_state_dict(loaded["model"])
    return train(model), loaded


def resumed():
    """The same with states of an optimizer: the optimizer goes on with the loaded tensors themselves."""
    before = net()
    states = torch.optim.AdamW(before.parameters()).state_dict()
    states["state"] = {i: {"step": torch.tensor(1.0), "exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}
                       for i, p in enumerate(before.parameters())}
    loaded = torch.load(saved({"model": before.state_dict(), "optimizer": states}), map_location="cuda")
    model = net().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    model.load_state_dict(loaded["model"])
    optimizer.load_state_dict(loaded["optimizer"])
    return train(model, optimizer=optimizer), loaded


def old_model():
    """A model that nobody runs any more."""
    old = net().cuda()
    with torch.no_grad():
        old(batch())
    return train(net().cuda()), old


def trained_before():
    """Two trainings: the deep step is one of the first, and a model of the second has the peak."""
    old = train(net().cuda())[0]
    return train(net().cuda()), old


def view():
    """A part of a large tensor, which each step takes."""
    features = torch.randn(4096, 4096, device="cuda")
    mean = features[:1, :WIDTH]
    del features
    model = net().cuda()
    return train(model, loss_of=lambda x: model(x - mean).square().mean()), mean


def step_views():
    """In each step a part of the output, which keeps all of it."""
    model, head, kept = net().cuda(), torch.nn.Linear(WIDTH, 8192).cuda(), []

    def loss_of(x):
        logits = head(model(x))
        kept.append(logits.detach()[:, :1])
        return logits.square().mean()
    return train(model, loss_of=loss_of), head, kept


def graph():
    """An output whose graph keeps all that its forward saved."""
    model = net().cuda()
    reference = model(batch(4096)).mean()
    return train(model), reference


def outputs():
    """In each step the output, without its graph."""
    model, kept = net().cuda(), []

    def loss_of(x):
        y = model(x)
        kept.append(y.detach())
        return y.square().mean()
    return train(model, loss_of=loss_of), kept


def average():
    """Averages of weights, as each step makes them."""
    model = net().cuda()
    ema = copy.deepcopy(model).requires_grad_(False)

    def each_step(_):
        torch._foreach_lerp_(list(ema.parameters()), [p.detach() for p in model.parameters()], 0.1)
    return train(model, each_step), ema


def teacher():
    """A model without gradients, which each step runs."""
    model, other = net().cuda(), net().cuda().requires_grad_(False)

    def loss_of(x):
        with torch.no_grad():
            wanted = other(x)
        return (model(x) - wanted).square().mean()
    return train(model, loss_of=loss_of), other


def evaluation():
    """A model of its own that only every fourth step evaluates, and results that stay."""
    model, other, kept = net().cuda(), net().cuda(), []

    def each_step(step):
        if step % 4 == 0:
            with torch.no_grad():
                kept.append(other(batch()).mean())
    return train(model, each_step), other, kept


def cache():
    """Keys of what came before, which each step takes and adds to."""
    model = net().cuda()
    keys = torch.zeros(STEPS * 256, WIDTH, device="cuda")
    at = 0

    def loss_of(x):
        nonlocal at
        y = model(x)
        keys[at:at + 256] = y.detach()
        at += 256
        return (y @ keys[:at].T).square().mean()
    return train(model, loss_of=loss_of), keys


def buffers():
    """A mask that a forward takes a part of, statistics, and weights of an LSTM that lie in one block."""
    class Masked(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.norm, self.cells = net(), torch.nn.BatchNorm1d(WIDTH), torch.nn.LSTM(WIDTH, WIDTH)
            self.register_buffer("mask", torch.ones(2048, 2048))

        def forward(self, x):
            y = self.norm(self.inner(x)) * self.mask[:1, :WIDTH]
            return self.cells(y[None])[0]
    return train(Masked().cuda())


def batches():
    """All batches lie on the device: a list of them, and parts of one tensor."""
    model = net().cuda()
    many, whole = [batch() for _ in range(STEPS)], torch.randn(STEPS * 256, WIDTH, device="cuda")
    turn = iter(range(STEPS))

    def loss_of(x):
        at = next(turn)
        return model(x + many[at] + whole[256 * at:256 * (at + 1)]).square().mean()
    return train(model, loss_of=loss_of), many, whole


def experts():
    """Layers of which each step runs another one; the optimizer has them all."""
    layers = torch.nn.ModuleList(net() for _ in range(STEPS)).cuda()
    turn = iter(range(STEPS))
    return train(layers, loss_of=lambda x: layers[next(turn)](x).square().mean())


def main():
    return globals()[sys.argv[1]]()


if __name__ == "__main__":
    kept = main()  # what is held here is there when the recording ends
    torch.cuda.synchronize()
