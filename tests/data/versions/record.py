# SPDX-License-Identifier: GPL-3.0-or-later
import sys, torch, torch.nn as nn
out, kind = sys.argv[1:3]
torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python")
class Mlp(nn.Module):
    def __init__(self): super().__init__(); self.net = nn.Sequential(nn.Linear(300, 700), nn.ReLU(), nn.Linear(700, 11))
    def forward(self, x): return self.net(x).square().mean()
model = Mlp().cuda(); optimizer = torch.optim.Adam(model.parameters(), foreach=False)
for step in range(3):
    loss = model(torch.randn(64 + 37 * step, 300, device="cuda")); loss.backward(); optimizer.step(); optimizer.zero_grad(set_to_none=True)
side = torch.cuda.Stream()
with torch.cuda.stream(side): other = torch.empty(123457, device="cuda")
other.record_stream(torch.cuda.current_stream()); del other
if kind == "oom":
    keep = []
    try:
        while True: keep.append(torch.empty(40_000_000, device="cuda"))
    except torch.cuda.OutOfMemoryError as error: print(str(error)[:90])
torch.cuda.memory._dump_snapshot(out)
