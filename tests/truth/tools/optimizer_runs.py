# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes optimizers of torch.optim, or of a package, and has them step, each over several lists of parameters, for make_optimizer_templates.py.

usage: optimizer_runs.py MODULE RUNS.json DONE.json
       optimizer_runs.py MODULE TAKES.json

RUNS is a list of {"optimizer", "options", "groups": [[[shape, dtype], ...], ...], "steps", "without": {index: steps}}, where the
parameter of that index has no gradient in so many steps from the first. A marker, a block of MARKER bytes, stands before the optimizer is
made, behind that, and behind each step. DONE gets, for each run, the number of its first marker and of its last, and whether states
are in managed memory, or what was raised. TAKES gets the
versions of PyTorch and of the package, and of each optimizer that MODULE has and torch.optim has not, or of those of torch.optim, the names and
defaults of what it takes: numbers, flags, None; of a learning rate without a default LR.
"""
import gc
import importlib
import inspect
import json
import sys

import torch

MARKER = 999983  # a prime: no parameter has it
LR = 0.001


class Marks:
    def __init__(self):
        self.count = 0

    def mark(self):
        torch.empty(MARKER, dtype=torch.uint8, device="cuda")
        self.count += 1


def run(module, spec, marks):
    """One run; what it made is gone when it returns: whether it keeps states in managed memory."""
    groups = [[torch.nn.Parameter(torch.empty(shape, dtype=getattr(torch, dtype), device="cuda")) for shape, dtype in group]
              for group in spec["groups"]]
    flat = [each for group in groups for each in group]
    gradients = [torch.empty_like(each) for each in flat]
    marks.mark()
    made = getattr(module, spec["optimizer"])([{"params": group} for group in groups], **spec["options"])
    marks.mark()
    for step in range(spec["steps"]):
        for index, (parameter, gradient) in enumerate(zip(flat, gradients)):
            parameter.grad = None if step < spec["without"].get(str(index), 0) else gradient
        made.step()
        marks.mark()
    return getattr(made, "is_paged", False)


def takes(optimizer):
    defaults = {name: LR if name == "lr" and each.default is each.empty else each.default
                for name, each in inspect.signature(optimizer.__init__).parameters.items()}
    return {name: default for name, default in defaults.items() if isinstance(default, (int, float, bool, type(None)))}


def tell_takes(module, path):
    known = {name: takes(each) for name, each in vars(module).items()
             if inspect.isclass(each) and issubclass(each, torch.optim.Optimizer) and each is not torch.optim.Optimizer
             and (module is torch.optim or not hasattr(torch.optim, name))}
    package = sys.modules[module.__name__.partition(".")[0]]
    with open(path, "w", encoding="utf-8") as file:
        json.dump([torch.__version__.split("+")[0], package.__version__.split("+")[0], known], file)


def main():
    module = importlib.import_module(sys.argv[1])
    if len(sys.argv) == 3:
        tell_takes(module, sys.argv[2])
        return
    with open(sys.argv[2], encoding="utf-8") as file:
        runs = json.load(file)
    marks, done = Marks(), []
    gc.disable()  # nothing of an earlier run goes within a step of a later one
    for spec in runs:
        first = marks.count
        try:
            paged = run(module, spec, marks)
            done.append({"first": first, "last": marks.count - 1, "paged": paged})
        except Exception as error:  # whatever the package has in store
            done.append({"raised": str(error)})
        if len(done) % 50 == 0:
            gc.collect()
    with open(sys.argv[3], "w", encoding="utf-8") as file:
        json.dump(done, file)


if __name__ == "__main__":
    main()
