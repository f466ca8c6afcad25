# SPDX-License-Identifier: GPL-3.0-or-later
"""What a reader of the README has: a training program on a GPU that leaves a snapshot behind, as the README says."""

import torch

torch.cuda.memory._record_memory_history(max_entries=1_000_000)
model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 16)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    loss = model(torch.randn(64, 256, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
torch.cuda.memory._dump_snapshot("snapshot.pickle")
