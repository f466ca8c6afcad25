# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a program of the corpus of roles as the first of many ranks, or alone, and nothing else changed.

usage: whatif_sharded_program.py HOW ITEMS WIDER FAMILY [--seed N] [--optimizer NAME] [--steps N] [--option NAME]...

HOW is "alone", or as `strata whatif --change` takes it: "ddp=N[,KEY=VALUE]...", "zero1=N[,KEY=VALUE]...", "fsdp=N[,KEY=VALUE]...". The model is
built on the device in all of them. NCCL is the simulated device's: its calls succeed, so that the other ranks are there as far as PyTorch sees.
WIDER is "0", or "LAYERSxWIDTH": the model has so many layers of that width more, through which one row goes, so that parameters are large and what
the batch makes is not.
"""
import inspect
import os
import sys

import torch
import torch.distributed as dist

import roles_program
import whatif_program

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "capture", "dryrun"))
import dryrun_fsdp


class Layer(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = torch.nn.LayerNorm(width), torch.nn.Linear(width, 2 * width), torch.nn.Linear(2 * width, width)

    def forward(self, row):
        return row + self.down(torch.nn.functional.gelu(self.up(self.norm(row))))


class Wider(torch.nn.Module):
    """A model with layers beside it; what else it has is the model's."""

    def __init__(self, body, layers, width):
        super().__init__()
        self.body, self.width = body, width
        self.layers = torch.nn.ModuleList(Layer(width) for _ in range(layers))

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("body"), name)

    def forward(self, *inputs):
        out = self.body(*inputs)
        first = out[0] if isinstance(out, tuple) else out
        row = torch.ones(1, self.width, device=first.device, dtype=self.layers[0].norm.weight.dtype)
        for layer in self.layers:
            row = layer(row)
        first = first + row.mean()
        return (first, *out[1:]) if isinstance(out, tuple) else first


def with_layers(family, layers, width):
    make = roles_program.roles_models.FAMILIES[family]

    def made(rng):
        model, draw = make(rng)
        return Wider(model, layers, width), draw
    roles_program.roles_models.FAMILIES[family] = made


def read(how):
    kind, _, value = how.partition("=")
    ranks, *options = value.split(",") if value else ("1",)
    return kind, int(ranks), {key: {"True": True, "False": False}.get(text, text) for key, text in (option.split("=", 1) for option in options)}


def join(ranks):
    os.environ.update(RANK="0", WORLD_SIZE=str(ranks), LOCAL_RANK="0", MASTER_ADDR="localhost", MASTER_PORT="0")
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=ranks)


def spread_ddp(trainer, options):
    more = {key: int(value) if key == "bucket_cap_mb" else value for key, value in options.items()}
    trainer.model = torch.nn.parallel.DistributedDataParallel(trainer.model, device_ids=[0], **more)


def spread_fsdp(trainer, options):
    """As `strata dryrun --change fsdp` does: blocks, then the model."""
    from torch.distributed.fsdp import CPUOffloadPolicy, fully_shard
    more = {key: value for key, value in options.items() if key == "reshard_after_forward"}
    more |= {"offload_policy": CPUOffloadPolicy()} if options.get("offload") else {}
    for block in dryrun_fsdp.find_blocks(trainer.model, options.get("modules"), torch.nn):
        fully_shard(block, **more)
    fully_shard(trainer.model, **more)


SPREAD = {"ddp": spread_ddp, "zero1": spread_ddp, "fsdp": spread_fsdp}


def sharding(make):
    """What makes a ZeroRedundancyOptimizer of what `make` makes."""
    from torch.distributed.optim import ZeroRedundancyOptimizer
    made = make([torch.nn.Parameter(torch.zeros(1))])
    taken = inspect.signature(type(made).__init__).parameters
    options = {key: value for key, value in made.defaults.items() if key in taken and value is not None}
    return lambda parameters: ZeroRedundancyOptimizer(parameters, optimizer_class=type(made), **options)


def spread_as(how, base):
    """A trainer that spreads its model so."""
    kind, ranks, options = read(how)

    class Spread(base):
        def spread(self):
            super().spread()
            if kind != "alone":
                join(ranks)
                SPREAD[kind](self, options)

        def make_optimizers(self, make):
            return super().make_optimizers(sharding(make) if kind == "zero1" else make)
    return Spread


def main():
    how, items, wider, *words = sys.argv[1:]
    arguments = roles_program.parse(words)
    whatif_program.with_batch(arguments.family, int(items))
    if wider != "0":
        with_layers(arguments.family, *map(int, wider.split("x")))
    return roles_program.train(arguments, spread_as(how, roles_program.Trainer))


if __name__ == "__main__":
    kept = main()  # what is held here is still there when the recording ends
