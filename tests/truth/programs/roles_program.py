# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains one of the programs of roles_list.py, as people write it: nothing here watches memory.

usage: roles_program.py FAMILY [--seed N] [--optimizer NAME] [--steps N] [--option NAME]...

roles_watch.py runs the same program and replaces methods of Trainer to see what is what.
"""
import argparse
import contextlib
import os
import random

import torch
import torch.nn.functional as F

import roles_models

OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "adamw": lambda p: torch.optim.AdamW(p, foreach=True),
    "adamw_fused": lambda p: torch.optim.AdamW(p, fused=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, momentum=0.9),
    "adagrad": lambda p: torch.optim.Adagrad(p),
    # Every value is zero on the simulated device: the tolerances keep it going all the same.
    "lbfgs": lambda p: torch.optim.LBFGS(p, max_iter=3, tolerance_grad=-1.0, tolerance_change=-1.0)}
OPTIONS = ("accumulate", "evaluate", "evaluate_inference", "checkpoint", "checkpoint_reentrant", "variable_shapes", "autocast", "scaler",
           "keep_gradients", "zero_first", "clip", "penalty", "save", "in_backward", "two_optimizers", "average", "ddp", "ddp_views", "fsdp2",
           "bf16", "fp16", "autocast_fp16", "autocast_off", "same_batch", "zero_late")
TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


class Trainer:
    def __init__(self, arguments):
        self.options, self.seed = arguments.option, arguments.seed
        self.model, self.data = roles_models.FAMILIES[arguments.family](random.Random(arguments.seed))
        if "checkpoint" in self.options or "checkpoint_reentrant" in self.options:
            roles_models.checkpoint_blocks(self.model, "checkpoint_reentrant" in self.options)
        self.kind = next((TYPES[option] for option in self.options if option in TYPES), None)
        self.model = self.model.to("cuda", self.kind)
        self.plain = self.model
        if arguments.family == "lstm":
            with torch.no_grad():
                self.model(self.data()[0].to(next(self.model.parameters()).dtype))  # makes the lazy layer
        self.spread()
        self.optimizers = self.make_optimizers(OPTIMIZERS[arguments.optimizer])
        self.closures = arguments.optimizer == "lbfgs"
        self.scaler = torch.amp.GradScaler("cuda", enabled="scaler" in self.options)
        self.averaged = self.saved = self.kept = None

    def spread(self):
        if "ddp" in self.options or "ddp_views" in self.options:
            self.model = torch.nn.parallel.DistributedDataParallel(self.model, device_ids=[0],
                                                                   gradient_as_bucket_view="ddp_views" in self.options)
        elif "fsdp2" in self.options:
            from torch.distributed.fsdp import fully_shard
            for child in self.model.children():
                for block in child if isinstance(child, torch.nn.ModuleList) else ():
                    fully_shard(block)
            fully_shard(self.model)

    def parameters(self):
        return [p for p in self.model.parameters() if p.requires_grad]

    def make_optimizers(self, make):
        if hasattr(self.plain, "parts"):
            return [make(getattr(self.plain, part).parameters()) for part in self.plain.parts]
        parameters = self.parameters()
        if "two_optimizers" in self.options:
            flat = [p for p in parameters if p.dim() < 2]
            return [make([p for p in parameters if p.dim() >= 2]), torch.optim.SGD(flat, lr=0.1, momentum=0.9)]
        if "in_backward" in self.options:
            each = {p: make([p]) for p in parameters}

            def step(parameter):
                each[parameter].step()
                each[parameter].zero_grad()
            for p in parameters:
                p.register_post_accumulate_grad_hook(step)
            return []
        return [make(parameters)]

    def autocast(self):
        if "scaler" in self.options or "autocast_fp16" in self.options:
            return torch.autocast("cuda", dtype=torch.float16)
        if "autocast" in self.options:
            return torch.autocast("cuda", dtype=torch.bfloat16)
        if "autocast_off" in self.options:  # as programs with a switch for it have it
            return torch.autocast("cuda", dtype=torch.bfloat16, enabled=False)
        return contextlib.nullcontext()

    def draw(self, step):
        """The next batch."""
        if "same_batch" in self.options and self.kept is not None:
            return self.kept
        x, y = self.data()
        if self.kind is not None and x.is_floating_point():
            x = x.to(self.kind)
        if "variable_shapes" in self.options:
            rows = 2 + (step * 7 + self.seed) % max(1, len(x) - 1)
            x, y = x[:rows], y[:rows]
        if "same_batch" in self.options:
            self.kept = x, y
        return x, y

    def loss(self, x, y, part=None):
        with self.autocast():
            if part is not None:
                return self.plain.turn(part, x)
            if hasattr(self.plain, "loss"):
                return self.plain.loss(self.model, x, y)
            if "penalty" in self.options:
                x = x.detach().requires_grad_()
                out = self.model(x)
                slope, = torch.autograd.grad(out.sum(), x, create_graph=True)
                return F.cross_entropy(out.flatten(0, -2), y.flatten()) + slope.pow(2).mean()
            out = self.model(x)
            return F.cross_entropy(out.flatten(0, -2), y.flatten())

    def scaled(self, loss, micro):
        return self.scaler.scale(loss / micro if micro > 1 else loss)

    def backward(self, loss, micro=1):
        self.scaled(loss, micro).backward()

    def clip(self):
        torch.nn.utils.clip_grad_norm_(self.parameters(), 1.0)

    def update(self, optimizer):
        if "clip" in self.options:
            self.scaler.unscale_(optimizer)
            self.clip()
        self.scaler.step(optimizer)
        self.scaler.update()

    def zero(self, optimizer):
        optimizer.zero_grad(set_to_none="keep_gradients" not in self.options)

    def evaluate(self, step):
        self.model.eval()
        with torch.inference_mode() if "evaluate_inference" in self.options else torch.no_grad():
            total = torch.zeros((), device="cuda")
            for _ in range(2):
                x, y = self.draw(step)
                total += self.loss(x, y, self.plain.parts[0] if hasattr(self.plain, "parts") else None)
        self.model.train()

    def save(self):
        """A checkpoint of half the size, on the host."""
        self.saved = {name: value.half().cpu() for name, value in self.plain.state_dict().items() if value.is_floating_point()}

    @torch.no_grad()
    def average(self):
        if self.averaged is None:
            self.averaged = [p.detach().clone() for p in self.parameters()]
        else:
            torch._foreach_lerp_(self.averaged, [p.detach() for p in self.parameters()], 0.01)

    def step_closure(self, step):
        x, y = self.draw(step)
        optimizer, = self.optimizers

        def closure():
            optimizer.zero_grad()
            loss = self.loss(x, y)
            self.backward(loss)
            return loss
        optimizer.step(closure)

    def step(self, step):
        """One step of training, from the batch to the new parameters."""
        if self.closures:
            return self.step_closure(step)
        if hasattr(self.plain, "parts"):
            x, y = self.draw(step)
            for part, optimizer in zip(self.plain.parts, self.optimizers):
                optimizer.zero_grad()
                self.backward(self.loss(x, y, part))
                self.update(optimizer)
            return None
        for optimizer in self.optimizers if "zero_first" in self.options else ():
            self.zero(optimizer)
        micro = 4 if "accumulate" in self.options else 1
        for turn in range(micro):
            x, y = self.draw(step)
            loss = self.loss(x, y)
            for optimizer in self.optimizers if "zero_late" in self.options and turn == 0 else ():
                self.zero(optimizer)
            self.backward(loss, micro)
            loss = None
        for optimizer in self.optimizers:
            self.update(optimizer)
        for optimizer in self.optimizers if not {"zero_first", "zero_late"} & set(self.options) else ():
            self.zero(optimizer)
        return None

    def between(self, step):
        """What programs do between steps."""
        if "average" in self.options:
            self.average()
        if ("evaluate" in self.options or "evaluate_inference" in self.options) and step % 2 == 1:
            self.evaluate(step)
        if "save" in self.options and step % 3 == 2:
            self.save()


def parse(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("family", choices=roles_models.FAMILIES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="adamw")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--option", action="append", choices=OPTIONS, default=[])
    return parser.parse_args(words)


def distributed(options):
    return any(option in options for option in ("ddp", "ddp_views", "fsdp2"))


def train(arguments, trainer_class=Trainer):
    torch.manual_seed(0)
    torch.cuda.set_device(0)
    if distributed(arguments.option):
        os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0", MASTER_ADDR="localhost", MASTER_PORT="0")
        torch.distributed.init_process_group("nccl", store=torch.distributed.HashStore(), rank=0, world_size=1)
    trainer = trainer_class(arguments)
    for step in range(arguments.steps):
        trainer.step(step)
        trainer.between(step)
    torch.cuda.synchronize()
    return trainer


def main():
    trainer = train(parse(None))
    print("done")
    return trainer


if __name__ == "__main__":
    kept = main()  # what is held here is still there when the recording ends
