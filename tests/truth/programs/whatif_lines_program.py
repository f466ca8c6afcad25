# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a program of the corpus of roles in a loop as people write it, with lines that cost memory, or with these lines edited.

usage: whatif_lines_program.py recorded|edited KIND ITEMS FAMILY [--seed N] [--optimizer NAME] [--steps N] [--option NAME]...

KIND is what is edited. Lines that hold tensors beyond their last use, where `edited` has a del, or does not store them:

    loop         what the loop has by a name, which the next step gives another value
    hooks        outputs of modules, in a list that the next step empties
    kept         batches, outputs and losses, in a list that grows
    zero_first   gradients, until the next backward

and lines that allocate, which are not there where it is `edited`:

    debug        a copy of something in each step, kept for good
    cache        a few large tensors by key
    clones       copies of outputs of modules, by hooks, until the next step
    average      an average of the parameters
    scores       a forward with gradients beside that of the training, whose result is kept until the next step
"""
import sys

import torch
import torch.nn.functional as F

import roles_program
import whatif_program

HELD, ALLOCATED = ("loop", "hooks", "kept", "zero_first"), ("debug", "cache", "clones", "average", "scores")


class Loop:
    def __init__(self, trainer, kind, edited):
        self.trainer, self.kind, self.edited = trainer, kind, edited
        self.activations, self.history, self.cache, self.averaged = [], [], {}, None
        if not edited and kind in ("hooks", "clones"):
            keep = self.keep_output if kind == "hooks" else self.keep_clone
            for module in trainer.plain.modules():
                if next(module.children(), None) is None:
                    module.register_forward_hook(keep)

    def keep_output(self, module, inputs, output):
        if isinstance(output, torch.Tensor):
            self.activations.append(output)

    def keep_clone(self, module, inputs, output):
        if isinstance(output, torch.Tensor):
            self.activations.append(output.detach().clone())

    def debug(self, x):
        self.history.append(x.detach().repeat(2, *[1] * (x.dim() - 1)))

    def fill_cache(self, step):
        self.cache.setdefault(step % 3, torch.empty(1 << 20 << step % 3, device="cuda"))

    @torch.no_grad()
    def average(self):
        now = [p.detach() for p in self.trainer.parameters()]
        self.averaged = [p.clone() for p in now] if self.averaged is None else [a.lerp(p, 0.01) for a, p in zip(self.averaged, now)]

    def score(self, step):
        x, y = self.trainer.draw(step)
        self.cache["score"] = self.trainer.loss(x, y)

    def lines(self, step, x):
        """Lines that allocate."""
        if self.kind == "debug":
            self.debug(x)
        elif self.kind == "cache":
            self.fill_cache(step)
        elif self.kind == "average":
            self.average()
        elif self.kind == "scores":
            self.score(step)

    def zero(self):
        for optimizer in self.trainer.optimizers:
            self.trainer.zero(optimizer)

    def step(self, step):
        trainer = self.trainer
        self.activations.clear()
        x, y = trainer.draw(step)
        if self.kind in ALLOCATED and not self.edited:
            self.lines(step, x)
        loss = trainer.loss(x, y)
        if self.kind == "kept" and not self.edited:
            self.history.append((x, y, loss))
        del x, y
        if self.kind == "zero_first" and not self.edited:
            self.zero()
        trainer.backward(loss)
        del loss
        for optimizer in trainer.optimizers:
            trainer.update(optimizer)
        if self.kind != "zero_first" or self.edited:
            self.zero()

    def loop(self, steps):
        """What has a name stays until it gets another value."""
        trainer = self.trainer
        for step in range(steps):
            raw, y = trainer.draw(step)
            x = raw + torch.randn_like(raw) if raw.is_floating_point() else raw.clone()
            if hasattr(trainer.plain, "loss"):
                with trainer.autocast():
                    loss = trainer.plain.loss(trainer.model, x, y)
            else:
                with trainer.autocast():
                    out = trainer.model(x)
                scores = out.float()
                chances = scores.softmax(-1); best = chances.argmax(-1)  # a branch that backward never comes to
                seen = (best.flatten() == y.flatten()).float().mean()
                loss = F.cross_entropy(scores.flatten(0, -2), y.flatten()) + 0 * seen
            trainer.backward(loss)
            for optimizer in trainer.optimizers:
                trainer.update(optimizer)
            self.zero()

    def edited_loop(self, steps):
        trainer = self.trainer
        for step in range(steps):
            raw, y = trainer.draw(step)
            x = raw + torch.randn_like(raw) if raw.is_floating_point() else raw.clone()
            del raw
            if hasattr(trainer.plain, "loss"):
                with trainer.autocast():
                    loss = trainer.plain.loss(trainer.model, x, y)
                del x, y
            else:
                with trainer.autocast():
                    out = trainer.model(x)
                del x
                scores = out.float()
                del out
                chances = scores.softmax(-1); best = chances.argmax(-1)
                del chances
                seen = (best.flatten() == y.flatten()).float().mean()
                del best
                loss = F.cross_entropy(scores.flatten(0, -2), y.flatten()) + 0 * seen
                del scores, seen, y
            trainer.backward(loss)
            del loss
            for optimizer in trainer.optimizers:
                trainer.update(optimizer)
            self.zero()


def main():
    way, kind, items, *words = sys.argv[1:]
    arguments = roles_program.parse(words)
    whatif_program.with_batch(arguments.family, int(items))
    torch.manual_seed(0)
    torch.cuda.set_device(0)
    loop = Loop(roles_program.Trainer(arguments), kind, way == "edited")
    if kind == "loop":
        (loop.edited_loop if loop.edited else loop.loop)(arguments.steps)
    else:
        for step in range(arguments.steps):
            loop.step(step)
    torch.cuda.synchronize()
    return loop


if __name__ == "__main__":
    kept = main()  # what is held here is still there when the recording ends
    whatif_program.leave(0)
