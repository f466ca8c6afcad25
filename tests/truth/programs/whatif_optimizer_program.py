# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a program of the corpus of roles with a batch of so many items and an optimizer of torch.optim, or else of bitsandbytes, and nothing
else changed.

usage: whatif_optimizer_program.py ITEMS BESIDE NAME[,KEY=VALUE]... FAMILY [--seed N] [--steps N] [--option NAME]...

BESIDE is "0", or "LAYERSxWIDTH": so many linear layers of that width stand beside the model and see one row, so that parameters are large and
what the batch makes is not: then it is the step of the optimizer that makes the peak.
"""
import sys

import torch

import roles_program
import whatif_program


def read_value(text):
    return {"True": True, "False": False, "None": None}[text] if text in ("True", "False", "None") else float(text)


def named(wanted):
    """What makes that optimizer."""
    name, *given = wanted.split(",")
    options = {key: read_value(value) for key, value in (item.split("=", 1) for item in given)}
    if hasattr(torch.optim, name):
        return lambda parameters: getattr(torch.optim, name)(parameters, **options)

    def make(parameters):
        import bitsandbytes

        return getattr(bitsandbytes.optim, name)(parameters, **{"lr": 0.001, **options})
    return make


class Trainer(roles_program.Trainer):
    """Where there are two optimizers, both are of that kind."""

    def make_optimizers(self, make):
        if "two_optimizers" not in self.options or hasattr(self.plain, "parts"):
            return super().make_optimizers(make)
        parameters = self.parameters()
        return [make([p for p in parameters if p.dim() >= 2]), make([p for p in parameters if p.dim() < 2])]


def with_layers_beside(layers, width):
    """A Trainer of a model with such layers beside it."""
    class Beside(Trainer):
        def spread(self):
            self.beside = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(layers)).to("cuda", next(self.model.parameters()).dtype)
            super().spread()

        def parameters(self):
            return super().parameters() + list(self.beside.parameters())

        def loss(self, x, y, part=None):
            with self.autocast():
                row = torch.ones(1, width, device="cuda", dtype=self.beside[0].weight.dtype)
                for layer in self.beside:
                    row = layer(row)
            return super().loss(x, y, part) + row.float().mean()
    return Beside


def main():
    items, beside, optimizer, *words = sys.argv[1:]
    roles_program.OPTIMIZERS[optimizer] = named(optimizer)
    arguments = roles_program.parse([*words, "--optimizer", optimizer])
    whatif_program.with_batch(arguments.family, int(items))
    trainer = with_layers_beside(*map(int, beside.split("x"))) if beside != "0" else Trainer
    return roles_program.train(arguments, trainer)


if __name__ == "__main__":
    kept = main()  # what is held here is still there when the recording ends
