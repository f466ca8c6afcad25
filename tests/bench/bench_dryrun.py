# SPDX-License-Identifier: GPL-3.0-or-later
"""What a change costs a dry run that does not ask for it: GPT-2 under two builds in turns, each pair in either order.

usage: bench_dryrun.py STRATA_BEFORE STRATA_AFTER PYTHON [--pairs N] [--options '...']

Prints CPU time (user and system, of the command and all that it starts) and elapsed time of both, as medians, and the median of the
ratios of pairs with the interval in which it lies in 95 of 100 draws. `--options` go to the second alone.
"""
import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth", "programs")

PROGRAM = """
import torch, models, random
model, data = models.gpt2_124m(random.Random(0))
model = model.cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(20):
    x, y = data()
    with torch.autocast("cuda", torch.bfloat16):
        loss = torch.nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def run(strata, options, python, folder):
    path = os.path.join(folder, "gpt2.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    before, begin = os.times(), time.monotonic()
    subprocess.run([strata, "dryrun", *options, "--", python, path], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={**os.environ, "PYTHONPATH": PROGRAMS, "OMP_NUM_THREADS": "1"})
    after = os.times()
    return (after.children_user - before.children_user + after.children_system - before.children_system, time.monotonic() - begin)


def interval(ratios):
    draw = random.Random(0)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(2000))
    return medians[50], medians[1949]


def main():
    parser = argparse.ArgumentParser()
    for name in ("before", "after", "python"):
        parser.add_argument(name)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--options", default="")
    arguments = parser.parse_args()
    rows = {"before": [], "after": []}
    with tempfile.TemporaryDirectory() as folder:
        ways = [("before", arguments.before, []), ("after", arguments.after, arguments.options.split())]
        for pair in range(arguments.pairs + 1):
            for name, strata, options in ways if pair % 2 else ways[::-1]:
                taken = run(strata, options, arguments.python, folder)
                if pair > 0:  # the first loads files
                    rows[name].append(taken)
    for index, what in enumerate(("CPU", "elapsed")):
        ratios = [after[index] / before[index] for before, after in zip(rows["before"], rows["after"])]
        low, high = interval(ratios)
        medians = [statistics.median(row[index] for row in rows[name]) for name in ("before", "after")]
        print(f"{what}: {medians[0]:.3f} s before, {medians[1]:.3f} s after, ratio {statistics.median(ratios):.4f} "
              f"({low:.4f} to {high:.4f}), {len(ratios)} pairs")


if __name__ == "__main__":
    sys.exit(main())
