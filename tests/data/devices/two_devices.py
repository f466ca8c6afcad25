# SPDX-License-Identifier: GPL-3.0-or-later
# Two devices, uneven: strata dryrun --devices 2 --device RTX-4090-24GB -o two_devices.pickle -- python two_devices.py
import torch, torch.nn as nn
a = nn.Linear(4096, 4096, device="cuda:0"); b = nn.Linear(4096, 1024, device="cuda:1")
opt = torch.optim.AdamW(list(a.parameters()) + list(b.parameters()))
for step in range(6):
    x = torch.randn(256, 4096, device="cuda:0")
    h = torch.relu(a(x)).to("cuda:1")
    loss = b(h).square().mean(); loss.backward(); opt.step(); opt.zero_grad()
