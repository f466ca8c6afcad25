# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a model of the corpus and writes what torch itself counted: the truth that Strata is held against.

usage: train.py MODEL [--seed N] [--optimizer NAME] [--precision NAME] [--steps N] [--option NAME]... [--truth FILE]

Options: checkpoint, accumulate, side_stream, variable_shapes, reset_peaks, recorder_off, out_of_memory, two_devices.
"""
import argparse
import json
import random
import sys

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

from models import MODELS

OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "adamw": lambda p: torch.optim.AdamW(p, foreach=True),
    "adamw_loop": lambda p: torch.optim.AdamW(p, foreach=False),
    "adamw_fused": lambda p: torch.optim.AdamW(p, fused=True),
    "adam": lambda p: torch.optim.Adam(p),
    "adafactor": lambda p: torch.optim.Adafactor(p),
}


class Truth:
    """Peaks by torch's own count, kept over resets of them, one entry a device."""

    def __init__(self):
        self.peaks = [dict.fromkeys(("requested", "allocated", "reserved"), 0)
                      for _ in range(torch.cuda.device_count())]

    def look(self):
        for device, peaks in enumerate(self.peaks):
            stats = torch.cuda.memory_stats(device)
            for name in peaks:
                peaks[name] = max(peaks[name], stats.get(f"{name}_bytes.all.peak", 0))

    def write(self, path):
        self.look()
        stats = [torch.cuda.memory_stats(d) for d in range(len(self.peaks))]
        ends = ("requested", "allocated", "active", "reserved")
        truth = {"torch": torch.__version__, "devices": [
            {**peaks, "out_of_memories": s.get("num_ooms", 0),
             **{f"end_{name}": s.get(f"{name}_bytes.all.current", 0) for name in ends}}
            for peaks, s in zip(self.peaks, stats)]}
        with open(path, "w") as file:
            json.dump(truth, file)


def loss_of(model, x, y, options):
    out = checkpoint(model, x, use_reentrant=False) if "checkpoint" in options else model(x)
    return F.cross_entropy(out.flatten(0, -2), y.flatten())


def train(arguments, truth):
    options = arguments.option
    model, data = MODELS[arguments.model](random.Random(arguments.seed))
    model = model.to("cuda", torch.bfloat16 if arguments.precision == "bf16" else None)
    if arguments.model == "lstm":
        model(data()[0])
    optimizer = OPTIMIZERS[arguments.optimizer](model.parameters())
    side = torch.cuda.Stream()
    for step in range(arguments.steps):
        for _ in range(2 if "accumulate" in options else 1):
            x, y = data()
            if x.is_floating_point() and arguments.precision == "bf16":
                x = x.bfloat16()
            if "variable_shapes" in options:
                x, y = x[:1 + step * 7 % len(x)], y[:1 + step * 7 % len(y)]
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled=arguments.precision == "autocast"):
                loss = loss_of(model, x, y, options)
            loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if "side_stream" in options:
            with torch.cuda.stream(side):
                copy = x.clone()
            copy.record_stream(torch.cuda.current_stream())
            del copy
        if "two_devices" in options:
            torch.empty(step + 1, 1000, 1000, device="cuda:1")
        if "reset_peaks" in options:
            truth.look()
            torch.cuda.reset_peak_memory_stats()
        if "recorder_off" in options:
            torch.cuda.memory._record_memory_history(enabled=None)
        if "out_of_memory" in options:
            try:
                torch.empty(torch.cuda.mem_get_info()[1] * 2, dtype=torch.uint8, device="cuda")
            except torch.OutOfMemoryError as error:
                print("caught:", str(error).split(".")[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="adamw")
    parser.add_argument("--precision", choices=("fp32", "autocast", "bf16"), default="fp32")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--truth")
    arguments = parser.parse_args()
    torch.cuda.init()
    truth = Truth()
    train(arguments, truth)
    torch.cuda.synchronize()
    if arguments.truth:
        truth.write(arguments.truth)
    print("done", file=sys.stdout)


if __name__ == "__main__":
    main()
