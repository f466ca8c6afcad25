# SPDX-License-Identifier: GPL-3.0-or-later
"""What the recorder's hooks of Python cost in a step of an optimizer: CPU time of the thread that steps, GPT-2 124M (148 tensors).

usage: bench_hooks.py STRATA [--python PYTHON] [--steps N] [--optimizer NAME]

The hooks are called as PyTorch calls them, with a clock around each. Gradients are elsewhere after each zero_grad(), states and
parameters stay. On the simulated device, so that the CPU alone counts; on a busy machine look at the lowest.
"""
import argparse
import os
import subprocess
import sys
import tempfile

PROGRAM = r"""
import statistics, sys, time
import torch
from torch import nn
from torch.optim import optimizer as optimizers

spent = {"before": [], "after": []}
def timed(hook, to):
    def call(*arguments, **named):
        begin = time.thread_time_ns()
        result = hook(*arguments, **named)
        to[-1] += time.thread_time_ns() - begin
        return result
    return call
hooks = 0
for name, table in (("before", optimizers._global_optimizer_pre_hooks), ("after", optimizers._global_optimizer_post_hooks)):
    for key in list(table):
        hooks += 1
        table[key] = timed(table[key], spent[name])

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.c_fc, self.c_out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = self.c_attn(self.ln_1(x)).chunk(3, -1)
        split = lambda t: t.unflatten(-1, (12, -1)).transpose(1, 2)
        x = x + self.c_proj(nn.functional.scaled_dot_product_attention(split(q), split(k), split(v), is_causal=True).transpose(1, 2).flatten(2))
        return x + self.c_out(nn.functional.gelu(self.c_fc(self.ln_2(x))))

class Gpt(nn.Module):
    def __init__(self, width=768):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(50257, width), nn.Embedding(1024, width)
        self.h = nn.ModuleList(Block(width) for _ in range(12))
        self.ln_f = nn.LayerNorm(width)

    def forward(self, ids):
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1], device=ids.device))
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.t()

model = Gpt().to("cuda")
tensors = list(model.parameters())
optimizer = getattr(torch.optim, sys.argv[2])(tensors, lr=1e-4)
ids = torch.zeros(2, 256, dtype=torch.long, device="cuda")
for step in range(int(sys.argv[1])):
    for times in spent.values():
        times.append(0)
    loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
steady = [(a + b) / 1e6 for a, b in zip(spent["before"][3:], spent["after"][3:])]
print(f"torch {torch.__version__}, {sys.argv[2]}, {len(tensors)} tensors, {hooks} hooks, {len(steady)} steps: "
      f"lowest {min(steady):.3f} ms of CPU a step, median {statistics.median(steady):.3f}, "
      f"first step {(spent['before'][0] + spent['after'][0]) / 1e6:.2f}")
"""


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2][len("usage: "):])
    parser.add_argument("strata")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--steps", default="40")
    parser.add_argument("--optimizer", default="AdamW")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([os.path.realpath(arguments.strata), "record", "-o", os.path.join(folder, "out.strata"), "--simulated", "A100-80GB",
                              "--", arguments.python, "-c", PROGRAM, arguments.steps, arguments.optimizer], capture_output=True, text=True)
    print(run.stdout.strip() or run.stderr)
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
