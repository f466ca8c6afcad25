# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a small transformer spread over ranks, and writes what torch itself counted.

usage: ranks.py ddp|fsdp1|fsdp2|zero1|tensor [--layers N] [--width N] [--heads N] [--steps N] [--truth FILE]
"""
import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F

from models import Gpt
from truth import Truth

VOCABULARY, CONTEXT = 1000, 64


def spread_ddp(model, device):
    model = torch.nn.parallel.DistributedDataParallel(model.to(device), device_ids=[device.index])
    return model, torch.optim.AdamW(model.parameters())


def spread_fsdp1(model, device):
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy

    from models import Block
    model = FullyShardedDataParallel(model, auto_wrap_policy=ModuleWrapPolicy({Block}), device_id=device)
    return model, torch.optim.AdamW(model.parameters())


def spread_fsdp2(model, device):
    try:
        from torch.distributed.fsdp import fully_shard
    except ImportError:  # before 2.6
        from torch.distributed._composable.fsdp import fully_shard
    model = model.to(device)
    for block in model.blocks:
        fully_shard(block)
    fully_shard(model)
    return model, torch.optim.AdamW(model.parameters())


def spread_zero1(model, device):
    from torch.distributed.optim import ZeroRedundancyOptimizer

    model = torch.nn.parallel.DistributedDataParallel(model.to(device), device_ids=[device.index])
    return model, ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.AdamW)


def spread_tensor(model, device):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    mesh = init_device_mesh("cuda", (dist.get_world_size(),))
    model = model.to(device)
    for block in model.blocks:
        parallelize_module(block, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    return model, torch.optim.AdamW(model.parameters(), foreach=False)


SPREAD = {"ddp": spread_ddp, "fsdp1": spread_fsdp1, "fsdp2": spread_fsdp2, "zero1": spread_zero1, "tensor": spread_tensor}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("how", choices=SPREAD)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--made-on", choices=("cpu", "cuda"), default="cpu", help="where the model is first built")
    parser.add_argument("--truth")
    parser.add_argument("--leave", action="store_true", help="end without taking leave of the other ranks")
    arguments = parser.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    truth = Truth()
    dist.init_process_group("nccl")
    with torch.device(arguments.made_on):
        model = Gpt(arguments.layers, arguments.width, arguments.heads, VOCABULARY, CONTEXT)
    model, optimizer = SPREAD[arguments.how](model, device)
    for _ in range(arguments.steps):
        ids = torch.randint(VOCABULARY, (4, CONTEXT), device=device)
        loss = F.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.synchronize()
    if arguments.truth:
        truth.write(arguments.truth)
    print("done", dist.get_rank(), "of", dist.get_world_size())
    if not arguments.leave:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
