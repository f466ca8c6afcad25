# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains twelve blocks, each of which keeps much for its backward."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Blocks(nn.Module):
    def __init__(self, width=256, depth=12):
        super().__init__()
        self.blocks, self.head = nn.ModuleList(Block(width) for _ in range(depth)), nn.Linear(width, 10)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def main():
    model = Blocks().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(6):
        x, y = torch.randn(8192, 256, device="cuda"), torch.zeros(8192, dtype=torch.long, device="cuda")
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
