# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a model of the corpus and writes what torch itself counted: the truth that Strata is held against.

usage: train.py MODEL [--seed N] [--optimizer NAME] [--precision NAME] [--steps N] [--option NAME]... [--truth FILE]

Options
  checkpoint, accumulate, side_stream, variable_shapes, two_devices   ways to train
  reset_peaks, recorder_off, out_of_memory                            what programs do to the figures
  tensors   also writes which storages are parameters, gradients, optimizer state and saved tensors in the last step;
            watching saved tensors makes them live a little longer
"""
import argparse
import contextlib
import random

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

import language
import models
import vision
from truth import Truth

MODELS = {**models.MODELS, **vision.MODELS, **language.MODELS}
OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "adamw": lambda p: torch.optim.AdamW(p, foreach=True),
    "adamw_loop": lambda p: torch.optim.AdamW(p, foreach=False),
    "adamw_fused": lambda p: torch.optim.AdamW(p, fused=True),
    "adam": lambda p: torch.optim.Adam(p),
}
if hasattr(torch.optim, "Adafactor"):  # from 2.5 on
    OPTIMIZERS["adafactor"] = lambda p: torch.optim.Adafactor(p)
PRECISIONS = ("fp32", "autocast", "fp16", "bf16")
OPTIONS = ("checkpoint", "accumulate", "side_stream", "variable_shapes", "two_devices", "reset_peaks", "recorder_off",
           "out_of_memory", "tensors")


def loss_of(model, x, y, options):
    if hasattr(model, "loss"):
        return model.loss(model, x, y)
    out = checkpoint(model, x, use_reentrant=False) if "checkpoint" in options else model(x)
    return F.cross_entropy(out.flatten(0, -2), y.flatten())


class Trainer:
    def __init__(self, arguments, truth):
        self.options, self.precision, self.steps = arguments.option, arguments.precision, arguments.steps
        self.truth = truth
        model, self.data = MODELS[arguments.model](random.Random(arguments.seed))
        self.model = model.to("cuda", torch.bfloat16 if self.precision == "bf16" else None)
        if arguments.model == "lstm":
            self.model(self.draw()[0])
        self.optimizer = OPTIMIZERS[arguments.optimizer]([p for p in self.model.parameters() if p.requires_grad])
        self.scaler = torch.amp.GradScaler("cuda", enabled=self.precision == "fp16")
        self.side = torch.cuda.Stream()

    def draw(self, step=None):
        x, y = self.data()
        if x.is_floating_point() and self.precision == "bf16":
            x = x.bfloat16()
        if step is not None and "variable_shapes" in self.options:
            x, y = x[:1 + step * 7 % len(x)], y[:1 + step * 7 % len(y)]
        return x, y

    def autocast(self):
        if self.precision in ("autocast", "fp16"):
            return torch.autocast("cuda", dtype=torch.float16 if self.precision == "fp16" else torch.bfloat16)
        return contextlib.nullcontext()

    def watch_saved(self, kept):
        def pack(tensor):
            kept.append(tensor)
            return tensor
        return torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)

    def step(self, step):
        last = step == self.steps - 1 and "tensors" in self.options
        saved = []
        self.truth.mark("step", step)
        for _ in range(2 if "accumulate" in self.options else 1):
            x, y = self.draw(step)
            self.truth.mark("forward", step)
            with self.autocast(), self.watch_saved(saved) if last else contextlib.nullcontext():
                loss = loss_of(self.model, x, y, self.options)
            if last:
                self.truth.keep("saved", saved)
                saved.clear()
            self.truth.mark("backward", step)
            self.scaler.scale(loss).backward()
        if last:
            self.truth.keep("gradients", [p.grad for p in self.model.parameters()])
        self.truth.mark("optimizer", step)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        if last:
            self.truth.keep("parameters", self.model.parameters())
            self.truth.keep("optimizer_state", [value for state in self.optimizer.state.values()
                                                for value in state.values() if torch.is_tensor(value)])
        self.optimizer.zero_grad(set_to_none=True)
        self.misbehave(step, x)

    def misbehave(self, step, x):
        if "side_stream" in self.options:
            with torch.cuda.stream(self.side):
                copy = x.clone()
            copy.record_stream(torch.cuda.current_stream())
            del copy
        if "two_devices" in self.options:
            torch.empty(step + 1, 1000, 1000, device="cuda:1")
        if "reset_peaks" in self.options:
            self.truth.look()
            torch.cuda.reset_peak_memory_stats()
        if "recorder_off" in self.options:
            torch.cuda.memory._record_memory_history(enabled=None)
        if "out_of_memory" in self.options:
            try:
                torch.empty(torch.cuda.mem_get_info()[1] * 2, dtype=torch.uint8, device="cuda")
            except torch.cuda.OutOfMemoryError as error:
                print("caught:", str(error).split(".")[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="adamw")
    parser.add_argument("--precision", choices=PRECISIONS, default="fp32")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--option", action="append", choices=OPTIONS, default=[])
    parser.add_argument("--truth")
    arguments = parser.parse_args()
    torch.cuda.init()
    truth = Truth()
    trainer = Trainer(arguments, truth)
    for step in range(arguments.steps):
        trainer.step(step)
    torch.cuda.synchronize()
    if arguments.truth:
        truth.write(arguments.truth)
    print("done")
    return trainer


if __name__ == "__main__":
    kept = main()  # what is counted here is still there when the recording ends
