# SPDX-License-Identifier: GPL-3.0-or-later
"""A training program and the same one changed by hand, which `strata dryrun --change` is held against.

usage: program_change.py [--amp] [--bf16] [--scaler] [--in-backward] [--checkpoint] [--offload] [--zero after|first|late] [--optimizer NAME] [--parallel ddp|fsdp|fsdp_on_host] [--loop LOOP]
"""
import argparse
import contextlib
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

parser = argparse.ArgumentParser()
parser.add_argument("--amp", action="store_true")
parser.add_argument("--bf16", action="store_true")
parser.add_argument("--scaler", action="store_true", help="scales losses, where the program is not in bf16")
parser.add_argument("--zero", choices=("after", "first", "late"), default="after", help="where zero_grad() stands: behind steps, before forward or backward")
parser.add_argument("--in-backward", action="store_true", help="optimizers step as gradients come")
parser.add_argument("--checkpoint", action="store_true")
parser.add_argument("--offload", action="store_true")
parser.add_argument("--optimizer", default="momentum")
parser.add_argument("--parallel", choices=("ddp", "fsdp", "fsdp_on_host"))
parser.add_argument("--loop", choices=("plain", "accumulate", "evaluate", "gan"), default="plain")
arguments = parser.parse_args()


def of_bitsandbytes():
    import bitsandbytes

    return bitsandbytes.optim


OPTIMIZERS = {
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "groups": lambda p: torch.optim.SGD([{"params": list(p), "lr": 0.1, "weight_decay": 0.1}], lr=1, momentum=0.9),
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.5, nesterov=True),
    "adam_groups": lambda p: torch.optim.Adam([{"params": list(p), "lr": 0.1, "weight_decay": 0.1}], lr=1),
    "adam": lambda p: torch.optim.Adam(p, lr=0.1),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0),
    "adamw_loop": lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0, foreach=False),
    "adafactor": lambda p: torch.optim.Adafactor(p, lr=0.1, weight_decay=0),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.1),
    "adamw8bit": lambda p: of_bitsandbytes().AdamW8bit(p, lr=0.1, weight_decay=0),
    "paged": lambda p: of_bitsandbytes().PagedAdamW8bit(p, lr=0.1, weight_decay=0),
}


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.dropout = nn.LayerNorm(width), nn.Dropout(0.1)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, scale=1.0):
        return x + self.dropout(self.down(F.gelu(self.up(self.norm(x))))) * scale


class Net(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(4))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            if arguments.checkpoint and self.training and torch.is_grad_enabled():
                x = checkpoint(block, x, use_reentrant=False, scale=0.5)
            else:
                x = block(x, scale=0.5)
        return self.head(x)


@contextlib.contextmanager
def forward():
    with torch.autocast("cuda", dtype=torch.bfloat16) if arguments.amp else contextlib.nullcontext():
        with torch.autograd.graph.save_on_cpu(pin_memory=True) if arguments.offload else contextlib.nullcontext():
            yield


def typed(x):
    return x.bfloat16() if arguments.bf16 else x


def spread(model):
    """Over ranks, as --parallel says."""
    if arguments.parallel == "ddp":
        return nn.parallel.DistributedDataParallel(model, device_ids=[torch.cuda.current_device()])
    if arguments.parallel:
        try:
            from torch.distributed.fsdp import fully_shard
        except ImportError:  # before 2.6
            from torch.distributed._composable.fsdp import fully_shard
        options = {}
        if arguments.parallel == "fsdp_on_host":
            from torch.distributed.fsdp import CPUOffloadPolicy
            options = {"offload_policy": CPUOffloadPolicy()}
        for block in model.blocks:
            fully_shard(block, **options)
        fully_shard(model, **options)
    return model


if arguments.parallel:
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
net, other = (spread(model) for model in (typed(Net(320, 1000)).cuda(), typed(Net(96, 320)).cuda()))
criterion = nn.CrossEntropyLoss()


def step_in_backward(parameters):
    for parameter in parameters:
        def step(parameter, each=OPTIMIZERS[arguments.optimizer]([parameter])):
            each.step()
            each.zero_grad()
        parameter.register_post_accumulate_grad_hook(step)


optimizer = second = None
if arguments.in_backward:
    step_in_backward(net.parameters())
    step_in_backward(other.parameters())
else:
    optimizer = OPTIMIZERS[arguments.optimizer](net.parameters())
    second = OPTIMIZERS[arguments.optimizer](other.parameters())
scaler = torch.amp.GradScaler("cuda", 2.0**10, enabled=not arguments.bf16) if arguments.scaler else None
for step in range(3):
    if arguments.zero == "first":
        optimizer.zero_grad()
    if arguments.loop == "gan":
        noise = typed(torch.randn(64, 96, device="cuda"))
        with forward():
            loss = net(other(noise)).float().mean()
        second.zero_grad()
        loss.backward()
        second.step()
    for turn in range(2 if arguments.loop == "accumulate" else 1):
        x, y = torch.randn(512, 320, device="cuda"), torch.randint(1000, (512,), device="cuda")
        x = typed(x)
        with forward():
            loss = criterion(net(x), y) / 2
        if arguments.zero == "late" and turn == 0:
            optimizer.zero_grad()
        (scaler.scale(loss) if scaler else loss).backward()
    if scaler:
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
    elif optimizer:
        optimizer.step()
    if arguments.zero == "after" and optimizer:
        optimizer.zero_grad()
    if arguments.loop == "evaluate":
        net.eval()
        with torch.no_grad():
            with forward():
                predicted = net(typed(torch.randn(2048, 320, device="cuda")))
            accuracy = (predicted.argmax(1) == 1).float().mean()
        net.train()
        del predicted, accuracy
if arguments.parallel:
    dist.destroy_process_group()
