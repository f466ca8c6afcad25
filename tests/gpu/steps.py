# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a model of the corpus, recorded and not in turns of some steps, and prints as JSON what recording costs, for tests/gpu/run.

usage: steps.py MODEL STEPS ROUNDS FOLDER

Each round has STEPS steps of every kind, in an order that is turned from round to round, so that a clock or a card that drifts harms
all alike; a kind is held against the steps without a recording in the same round. Sessions go to FOLDER.
"""
import json
import os
import random
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "truth", "programs"), os.path.join(HERE, "..", "..", "capture", "python")]
import torch  # noqa: E402
import models  # noqa: E402

KINDS = {"none": None, "no stacks": "none", "python": "python", "auto": "auto"}


def quartile(seconds):
    """The first: what disturbs a step only adds."""
    return statistics.quantiles(seconds, n=4)[0]


class Training:
    def __init__(self, name):
        self.model, data = models.MODELS[name](random.Random(0))
        self.model = self.model.to("cuda")
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.x, self.y = (t.to("cuda") for t in data())

    def step(self):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        with torch.autocast("cuda", torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(self.model(self.x).flatten(0, -2), self.y.flatten())
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        torch.cuda.synchronize()
        return time.perf_counter() - begin

    def steps(self, count):
        """Seconds of each, after two that warm up."""
        return [self.step() for _ in range(count + 2)][2:]


def main(name, count, rounds, folder):
    import strata_capture
    training = Training(name)
    training.steps(15)
    seconds, events = {kind: [] for kind in KINDS}, 0
    for turn in range(rounds):
        order = list(KINDS)[turn % len(KINDS):] + list(KINDS)[:turn % len(KINDS)]
        for kind in order:
            session = os.path.join(folder, f"cost-{name}-{turn}-{kind.replace(' ', '-')}.strata")
            if KINDS[kind] and strata_capture.start(session, stacks=KINDS[kind]) != "recording":
                sys.exit(f"{session}: no recording")
            before = torch.cuda.memory_stats()["allocation.all.allocated"]
            seconds[kind].append(quartile(training.steps(count)))
            events = (torch.cuda.memory_stats()["allocation.all.allocated"] - before) // (count + 2)
            if KINDS[kind]:
                strata_capture.stop()
    halves = [statistics.median(seconds["none"][half::2]) for half in (0, 1)]
    out = {"seconds": statistics.median(seconds["none"]), "allocations": events, "halves": abs(halves[0] / halves[1] - 1)}
    for kind in list(KINDS)[1:]:
        ratios = [one / none - 1 for one, none in zip(seconds[kind], seconds["none"])]
        out[kind] = {"median": statistics.median(ratios), "quartiles": statistics.quantiles(ratios, n=4)[::2]}
    print(json.dumps(out))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
