# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains one of the programs of roles_program.py, or of a family of its own here, and tells what torch itself sees of one step.

usage: deep_program.py LOOK STEP FILE FAMILY [options of roles_program.py]...

The step with that number (from 1 on) reaches from the end of the optimizer's step before it to the end of its own. LOOK says who looks at
it: `none`; `operators`, torch.profiler counts operators by name; `saved`, hooks count what autograd saves and which modules run;
`held`, the wrong way to see it, which keeps each saved tensor as it is until the step has ended; `astride`, `extra`, `functional`, `graph`
and `compiled` do in it what a deep step does not go together with. FILE gets it as JSON, with the time of the processor that the process had taken at the end of each step.
"""
import collections
import json
import os
import sys
import time

import torch
import torch.nn as nn
from torch.optim.optimizer import register_optimizer_step_post_hook

import language
import models
import roles_models
import roles_program


def with_dropout(rng):
    """A GPT that saves the masks of dropout."""
    model, data = models.gpt(rng)
    for block in model.blocks:
        block.down = nn.Sequential(nn.Dropout(0.1), block.down, nn.Dropout(0.1))
    return model, data


class Slim(nn.Module):
    """Goes on with what it does not need again: temporaries, views, in-place operators, a tuple and a dictionary between modules."""

    class Half(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.up = nn.Linear(width, 2 * width)

        def forward(self, x):
            a, b = self.up(x).chunk(2, -1)
            return {"a": (a * 2).relu_(), "b": (b, torch.sigmoid(b))}

    def __init__(self, width, depth):
        super().__init__()
        self.halves = nn.ModuleList(self.Half(width) for _ in range(depth))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        for half in self.halves:
            parts = half(x)
            x = x + parts["a"].mul(2).tanh_() * parts["b"][1]
            with torch.no_grad():
                x.data.clamp_(-10, 10)
        return self.head(x)


def slim(rng):
    width, batch = rng.randint(100, 900), rng.randint(8, 300)
    return Slim(width, rng.randint(2, 5)), lambda: (torch.randn(batch, width, device="cuda"), torch.zeros(batch, device="cuda").long())


roles_models.FAMILIES.update({"gpt_dropout": with_dropout, "llama": language.llama, "gpt2_124m": models.gpt2_124m, "lora": language.lora,
                              "slim": slim})


class Look:
    """Nobody looks."""

    def begin(self):
        pass

    def end(self):
        pass

    def told(self):
        return {}


class Operators(Look):
    def begin(self):
        self.profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
        self.profile.__enter__()

    def end(self):
        self.profile.__exit__(None, None, None)

    def told(self):
        kinds = (torch._C._autograd.DeviceType.CPU,)
        events = [e for e in self.profile.profiler.kineto_results.events() if e.device_type() in kinds and not e.is_user_annotation()
                  and not e.name().startswith("cuda")]  # calls of CUDA's, in 2.6
        return {"operators": collections.Counter(e.name() for e in events)}


class Saved(Look):
    def begin(self):
        self.saved, self.modules = 0, collections.Counter()
        self.hooks = torch.autograd.graph.saved_tensors_hooks(self.pack, lambda tensor: tensor)
        self.hooks.__enter__()
        self.handle = nn.modules.module.register_module_forward_pre_hook(self.enters)

    def pack(self, tensor):
        self.saved += tensor.is_cuda
        return tensor

    def enters(self, module, _):
        self.modules[type(module).__name__] += 1

    def end(self):
        self.hooks.__exit__(None, None, None)
        self.handle.remove()

    def told(self):
        return {"saved": self.saved, "modules": self.modules}


class Held(Look):
    def begin(self):
        self.kept = []
        self.hooks = torch.autograd.graph.saved_tensors_hooks(self.pack, lambda tensor: tensor)
        self.hooks.__enter__()

    def pack(self, tensor):
        self.kept.append(tensor)
        return tensor

    def end(self):
        self.hooks.__exit__(None, None, None)
        self.kept.clear()


class Extra(Look):
    """Nobody looks, and the step allocates what others do not."""

    def begin(self):
        torch.empty(100_000, device="cuda")


class Functional(Look):
    """What lets nobody see what autograd saves, and must go on as if nobody did."""

    def begin(self):
        self.value = torch.func.grad(lambda x: (x * x).sum())(torch.ones(2, device="cuda"))


class Graph(Look):
    def begin(self):
        graph, self.x = torch.cuda.CUDAGraph(), torch.ones(8, device="cuda")
        with torch.cuda.graph(graph):
            self.y = self.x * 2
        graph.replay()
        self.graph = graph


class Compiled(Look):
    def begin(self):
        self.value = torch.compile(lambda x: x * 2, backend="eager")(torch.ones(8, device="cuda"))


class Astride(Look):
    """Hooks of the program's that go amid the step."""

    def __init__(self):
        self.hooks = torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.detach(), lambda tensor: tensor)
        self.hooks.__enter__()

    def begin(self):
        self.hooks.__exit__(None, None, None)


LOOKS = {"astride": Astride, "none": Look, "operators": Operators, "saved": Saved, "held": Held, "extra": Extra, "functional": Functional, "graph": Graph,
         "compiled": Compiled}


def main():
    look, number, path = LOOKS[sys.argv[1]](), int(sys.argv[2]), sys.argv[3]
    state, ends = {"first": None, "steps": 0}, []

    def stepped(optimizer, *_):
        state["first"] = state["first"] or optimizer
        if state["first"] is optimizer:
            ends.append(time.process_time())
            state["steps"] += 1
            if state["steps"] == number - 1:
                look.begin()
            elif state["steps"] == number:
                look.end()
    register_optimizer_step_post_hook(stepped)
    if "STRATA_DEEP_API" in os.environ:  # it records itself
        import strata_capture
        strata_capture.start(os.environ["STRATA_DEEP_API"], existing="replace", deep_step=number)
    trainer = roles_program.train(roles_program.parse(sys.argv[4:]))
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"ends": ends, **look.told()}, file)
    return trainer


if __name__ == "__main__":
    kept = main()
