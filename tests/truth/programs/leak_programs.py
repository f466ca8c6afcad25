# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a small model and leaks, or only looks as if it did.

usage: leak_programs.py KIND [--seed N] [--steps N] [--fixed] [--truth FILE] [--snapshot FILE [--stacks all|none]]

KIND is a method of Leaks, each of which keeps something of every step (or every second), or of Clean, whose growth ends, or is none. The truth
is, for each step, how many allocations there were before it, before what leaks, after that, and at its end: what is born in a step and
lives at the end of the last one has leaked, since nothing else of the program lives so long. --fixed is without the lines that leak.
"""
import argparse
import collections
import gc
import json
import pickle
import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


class Perceptron(nn.Module):
    def __init__(self, rng):
        super().__init__()
        self.width, self.batch = rng.randint(20, 400), rng.randint(4, 64)
        layers = []
        for _ in range(rng.randint(1, 4)):
            layers += [nn.Linear(self.width, self.width), rng.choice((nn.ReLU, nn.GELU, nn.Tanh))()]
        self.layers = nn.Sequential(*layers, nn.Linear(self.width, 10))

    def forward(self, x):
        return self.layers(x)

    def data(self, share=1.0):
        rows = max(1, int(self.batch * share))
        return torch.randn(rows, self.width, device="cuda"), torch.zeros(rows, dtype=torch.long, device="cuda")


class Images(nn.Module):
    def __init__(self, rng):
        super().__init__()
        self.size, self.batch, width = rng.choice((8, 16, 24)), rng.randint(2, 12), rng.choice((4, 8, 12))
        self.layers = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2),
                                    nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                                    nn.Linear(2 * width, 10))

    def forward(self, x):
        return self.layers(x)

    def data(self, share=1.0):
        rows = max(1, int(self.batch * share))
        return torch.randn(rows, 3, self.size, self.size, device="cuda"), torch.zeros(rows, dtype=torch.long, device="cuda")


class Words(nn.Module):
    def __init__(self, rng):
        super().__init__()
        self.length, self.batch, width, self.words = rng.randint(8, 48), rng.randint(1, 6), rng.choice((16, 32, 64)), rng.randint(50, 500)
        self.embed = nn.Embedding(self.words, width)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, 2, 2 * width, rng.choice((0.0, 0.1)), batch_first=True)
                                    for _ in range(rng.randint(1, 2)))
        self.head = nn.Linear(width, self.words, bias=False)

    def forward(self, x):
        x = self.embed(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)

    def data(self, share=1.0):
        shape = self.batch, max(2, int(self.length * share))
        return (torch.zeros(shape, dtype=torch.long, device="cuda"), torch.zeros(shape, dtype=torch.long, device="cuda"))


class Holder:
    """An object that holds itself: only Python's collector frees what else it holds."""

    def __init__(self, tensor):
        self.tensor, self.me = tensor, self


def allocations():
    stats = torch.cuda.memory_stats_as_nested_dict(0)
    return stats["allocation"]["all"]["allocated"] if stats else 0


class Program:
    """A training. `after` comes when a step's optimizer is done, `before` before its backward."""

    def __init__(self, kind, seed, steps, fixed=False):
        self.kind, self.steps, self.fixed = kind, steps, fixed
        self.rng = random.Random(f"{kind} {seed}")
        self.model = self.rng.choice((Perceptron, Images, Words))(self.rng).cuda()
        self.size = 512 * self.rng.choice((1, 1, 1, 2, 3, 8, 20, 100, 1000))  # bytes a step, where a kind may choose
        self.first = self.rng.choice((0, 0, 1, 3))  # the step that it begins in
        self.accumulate = self.rng.choice((1, 1, 1, 2))
        self.to_none = self.rng.random() < 0.8
        self.kept, self.cache = [], {}
        self.optimizer = self.make_optimizer(self.model.parameters())
        self.prepare()

    def make_optimizer(self, parameters):
        return self.rng.choice((lambda p: torch.optim.AdamW(p), lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
                                lambda p: torch.optim.AdamW(p, fused=True), lambda p: torch.optim.SGD(p, lr=0.1),
                                lambda p: torch.optim.Adam(p, foreach=False), lambda p: torch.optim.RMSprop(p)))(list(parameters))

    def prepare(self):
        pass

    def share(self, step):
        """Of the rows, or the length, that the step works on."""
        return 1.0

    def loss(self, x, y):
        out = self.model(x)
        return F.cross_entropy(out.flatten(0, -2), y.flatten()), out

    def before(self, step, x, out, loss):
        pass

    def after(self, step, x, out, loss):
        getattr(self, self.kind)(step, x, out, loss)

    def step(self, step):
        """How many allocations there were before and after what leaks."""
        for _ in range(self.accumulate):
            x, y = self.model.data(self.share(step))
            loss, out = self.loss(x, y)
            self.before(step, x, out, loss)
            loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=self.to_none)
        begin = allocations()
        if step >= self.first and not self.fixed:
            self.after(step, x, out, loss)
        return begin, allocations()

    def small(self):
        return torch.empty(self.size, dtype=torch.uint8, device="cuda")


class Leaks(Program):
    def prepare(self):
        if self.kind == "cycles":
            gc.disable()
        if self.kind == "hook" and not self.fixed:
            chosen = self.rng.choice([module for module in self.model.modules() if type(module) is nn.Linear])  # others are not called
            chosen.register_forward_hook(self.keep_some)

    def keep_some(self, module, inputs, output):
        if self.model.training:
            self.kept.append(output.detach().flatten()[:self.size // 4].clone())

    def outputs(self, step, x, out, loss):
        self.kept.append(out)

    def losses(self, step, x, out, loss):
        self.kept.append(loss)

    def hook(self, step, x, out, loss):
        pass

    def evaluation(self, step, x, out, loss):
        if step % self.cache.setdefault("every", self.rng.choice((1, 2, 3))) == 0:
            self.model.eval()
            self.kept.append(self.model(self.model.data()[0]))
            self.model.train()

    def concatenation(self, step, x, out, loss):
        new = torch.zeros(self.size // 4, device="cuda") + loss.detach()
        self.cache["history"] = torch.cat([self.cache["history"], new]) if "history" in self.cache else new

    def keys_and_values(self, step, x, out, loss):
        with torch.no_grad():
            for name in ("keys", "values"):
                new = torch.empty(1, 2, 1, self.size // 8, device="cuda")
                self.cache[name] = torch.cat([self.cache[name], new], 2) if name in self.cache else new

    def optimizers(self, step, x, out, loss):
        parameter = nn.Parameter(torch.empty(self.size // 4, device="cuda"))
        optimizer = torch.optim.SGD([parameter], lr=0.1, momentum=0.9)
        parameter.sum().backward()
        optimizer.step()
        self.kept.append(optimizer)

    def streams(self, step, x, out, loss):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            self.kept.append((stream, self.small()))

    def batches(self, step, x, out, loss):
        self.kept.append(x)

    def attributes(self, step, x, out, loss):
        if self.first:
            self.model.register_buffer(f"seen{step}", self.small())
        else:
            self.cache[step] = self.small()

    def cycles(self, step, x, out, loss):
        Holder(self.small())


class Clean(Program):
    def prepare(self):
        self.late, self.side = [], torch.cuda.Stream()
        rng, kind = self.rng, self.kind
        if kind in ("collected_by_hand", "collected"):
            gc.disable()
        if kind == "collected_by_python":
            gc.set_threshold(rng.choice((300, 700, 1500)), 3, 3)
        self.most = rng.randint(self.steps // 4, self.steps // 2)
        self.window_of = rng.randint(3, 12)
        self.every = rng.randint(3, 7)
        if kind == "metrics":
            self.numbers = torch.zeros(rng.randint(100, 5000), device="cuda")
        if kind == "two_models":
            self.other = Perceptron(rng).cuda()
            self.other_optimizer = self.make_optimizer(self.other.parameters())
        if kind == "history_of_optimizer":
            self.optimizer = torch.optim.LBFGS(self.model.parameters(), max_iter=1, history_size=rng.randint(3, 8))

    def share(self, step):
        if self.kind in ("longer_inputs", "longer_kept"):
            return 0.2 + 0.8 * (step + 1) / self.steps
        if self.kind in ("variable_shapes", "variable_kept"):
            return self.rng.uniform(0.3, 1)
        return 1.0

    def step(self, step):
        if self.kind != "history_of_optimizer":
            return super().step(step)
        x, y = self.model.data()

        def closure():
            self.optimizer.zero_grad()
            loss, _ = self.loss(x, y)
            loss.backward()
            return loss + torch.ones((), device="cuda") * len(self.kept)
        self.optimizer.step(closure)
        return allocations(), allocations()

    def plain(self, step, x, out, loss):
        pass

    def late_state(self, step, x, out, loss):
        """New groups of parameters, whose state is made when they are first stepped."""
        if step in (self.steps // 3, self.steps // 2):
            layer = nn.Linear(self.rng.randint(50, 400), 100).cuda()
            self.optimizer.add_param_group({"params": list(layer.parameters())})
            self.late.append(layer)
        for layer in self.late:
            layer(torch.ones(4, layer.in_features, device="cuda")).sum().backward()

    def unfreezing(self, step, x, out, loss):
        """Every few steps one layer more is trained."""
        if step % 5 == 4 and len(self.late) < 4:
            layer = nn.Linear(60, 60).cuda()
            self.optimizer.add_param_group({"params": list(layer.parameters())})
            self.late.append(layer)
        for layer in self.late:
            layer(torch.ones(4, 60, device="cuda")).sum().backward()

    def saturating(self, step, x, out, loss):
        if len(self.kept) < self.most:
            self.kept.append(self.small())

    def memoised(self, step, x, out, loss):
        """A cache by key, of few keys that are drawn."""
        key = self.rng.randrange(self.most)
        if key not in self.cache:
            self.cache[key] = self.small()

    def full_early(self, step, x, out, loss):
        self.cache.setdefault(step % 7, self.small())

    def window(self, step, x, out, loss):
        if not self.kept:
            self.kept = collections.deque(maxlen=self.window_of)
        self.kept.append(loss.detach() + 0)

    def window_of_outputs(self, step, x, out, loss):
        if not self.kept:
            self.kept = collections.deque(maxlen=self.window_of)
        self.kept.append(out.detach().clone())

    def longer_inputs(self, step, x, out, loss):
        pass

    def longer_kept(self, step, x, out, loss):
        self.cache["last"] = x, out.detach()

    def variable_shapes(self, step, x, out, loss):
        pass

    def variable_kept(self, step, x, out, loss):
        self.cache["last"] = x, out.detach()

    def evaluation(self, step, x, out, loss):
        if step % self.every == 0:
            self.model.eval()
            with torch.no_grad():
                losses = [self.loss(*self.model.data())[0] for _ in range(3)]
                self.cache["best"] = torch.stack(losses).mean()
            self.model.train()

    def evaluation_emptied(self, step, x, out, loss):
        """Results that are kept until the next evaluation."""
        if step % self.every == 0:
            self.kept.clear()
        with torch.no_grad():
            self.kept.append(self.model(x).sum())

    def saving(self, step, x, out, loss):
        if step % self.every == 0:
            self.cache["saved"] = {name: value.clone() for name, value in self.model.state_dict().items()}

    @torch.no_grad()
    def average(self, step, x, out, loss):
        held = self.cache.get("average")
        now = [p.detach() for p in self.model.parameters()]
        self.cache["average"] = [p.clone() for p in now] if held is None else [a.lerp(p, 0.1) for a, p in zip(held, now)]

    def two_models(self, step, x, out, loss):
        if step % 2:
            inputs, labels = self.other.data()
            F.cross_entropy(self.other(inputs), labels).backward()
            self.other_optimizer.step()
            self.other_optimizer.zero_grad(set_to_none=self.to_none)

    def collected(self, step, x, out, loss):
        """Cycles, and a collector that runs in a step that nobody chose."""
        Holder(self.small())
        if self.rng.random() < 0.2:
            gc.collect()

    def collected_by_hand(self, step, x, out, loss):
        Holder(self.small())
        if step % self.every == self.every - 1:
            gc.collect()

    def collected_by_python(self, step, x, out, loss):
        Holder(self.small())
        for _ in range(50):
            Holder(None)

    def other_stream(self, step, x, out, loss):
        copy = x.clone()
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.cache["sum"] = copy.sum()
        copy.record_stream(self.side)

    def metrics(self, step, x, out, loss):
        self.numbers[step % len(self.numbers)] = loss.detach()
        if step % 10 == 9:
            self.cache["mean"] = self.numbers.mean()

    def reserved(self, step, x, out, loss):
        """Ever larger blocks that nothing keeps: segments for each size."""
        held = [torch.empty((8 + step) << 18, device="cuda") for _ in range(3)]
        del held

    def accumulators(self, step, x, out, loss):
        """Sums that are made anew each step from the ones before."""
        for name in ("loss", "seen"):
            self.cache[name] = self.cache.get(name, torch.zeros((), device="cuda")) + loss.detach()

    def generation(self, step, x, out, loss):
        """Keys and values that grow within a sequence and are dropped with it."""
        if step % self.every == 0:
            self.cache.clear()
        with torch.no_grad():
            for name in ("keys", "values"):
                new = torch.empty(1, 2, 1, self.size // 8, device="cuda")
                self.cache[name] = torch.cat([self.cache[name], new], 2) if name in self.cache else new

    def history_of_optimizer(self, step, x, out, loss):
        pass


def kinds(of):
    return [name for name, value in vars(of).items() if callable(value) and name not in ("prepare", "share", "step", "keep_some")]


LEAKS, CLEAN = kinds(Leaks), kinds(Clean)

#: What a growth that is seen has to be called, where it is seen.
CALLED = {"late_state": "optimizer_state", "unfreezing": "optimizer_state", "saturating": "saturating", "full_early": "saturating",
          "window": "saturating", "window_of_outputs": "saturating", "longer_inputs": "longer_inputs", "longer_kept": "longer_inputs",
          "collected_by_hand": "freed_late", "evaluation_emptied": "freed_late", "reserved": "reserved_only"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind")
    parser.add_argument("--clean", action="store_true", help="the kind is one of those that do not leak")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--fixed", action="store_true", help="without the lines that leak")
    parser.add_argument("--truth")
    parser.add_argument("--snapshot")
    parser.add_argument("--stacks", default="all")
    arguments = parser.parse_args()
    if arguments.snapshot:
        torch.cuda.memory._record_memory_history(context=arguments.stacks if arguments.stacks != "none" else None, stacks="all")
    torch.manual_seed(0)
    program = (Clean if arguments.clean else Leaks)(arguments.kind, arguments.seed, arguments.steps, arguments.fixed)
    steps = []
    for step in range(arguments.steps):
        begin = allocations()
        steps.append((begin, *program.step(step), allocations()))
    torch.cuda.synchronize()
    if arguments.truth:
        with open(arguments.truth, "w", encoding="utf-8") as file:
            json.dump({"kind": arguments.kind, "first": program.first, "steps": steps}, file)
    if arguments.snapshot:
        if "torch._inductor" not in sys.modules:
            torch._inductor = type(sys)("torch._inductor")  # asked for by what makes stacks, and a second to import
        with open(arguments.snapshot, "wb") as file:
            pickle.dump(torch.cuda.memory._snapshot(), file)
    return program


if __name__ == "__main__":
    kept = main()  # what is held here is there when the recording ends
