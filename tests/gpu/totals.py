# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints what the driver counts as used beyond PyTorch's reserved bytes, at the points of a program where libraries come in, and
what can be reserved until the card is full, for tests/gpu/run. Other processes on the card must not change meanwhile."""
import torch


def used():
    free, total = torch.cuda.mem_get_info()
    return total - free


def say(what):
    torch.cuda.synchronize()
    now = used() - torch.cuda.memory_reserved()
    print(f"{what} {now - say.last:+,} B", end="; ")
    say.last = now


say.last = 0
torch.cuda.init()
say("context")
x = torch.ones(1024, 1024, device="cuda")
say("first kernel")
x @ x
say("cuBLAS")
torch.nn.functional.conv2d(torch.ones(8, 3, 64, 64, device="cuda"), torch.ones(8, 3, 3, 3, device="cuda"))
say("cuDNN")
print(f"in all {say.last:,} B", end="; ")
kept, block = [], 1 << 30
while block >= 2 << 20:
    try:
        kept.append(torch.empty(block, dtype=torch.uint8, device="cuda"))
    except torch.cuda.OutOfMemoryError:
        block //= 2
free, total = torch.cuda.mem_get_info()
print(f"{torch.cuda.memory_reserved():,} B of {total:,} B can be reserved, then {free:,} B are free")
