# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a program of the corpus of roles with a batch of so many items, and nothing else changed; with --length, with sequences of that
length, or pictures with sides of it; with --checkpoint, with
torch.utils.checkpoint around each call in training of the outermost modules of a class, or of a path; with --offload, with
torch.autograd.graph.save_on_cpu around forward and loss (activations), or around each call in training of modules of a class, or of a path
(activations:CLASS, activations:path:GLOB), or with optimizers on the host (optimizer, activations+optimizer); with --code, with that file of the folder WHATIF_CODE run right after the model was made, as if
it were pasted there; with --attention, attention as a word of attention.py has it; with --capacity, with no more than that of the device
for PyTorch, and status 3 where that is not enough.

usage: whatif_program.py ITEMS [--attention WORD] [--capacity BYTES] [--length N] [--checkpoint CLASS|path:GLOB] [--offload WHAT] [--code NAME]
                         FAMILY [--seed N] [--optimizer NAME] [--steps N] [--option NAME]...
"""
import fnmatch
import os
import sys

import torch
from torch.utils.checkpoint import checkpoint

import roles_program

OUT_OF_MEMORY = 3


LENGTHS = ("context", "length", "size")  #: what draws a batch knows the length of its sequences as


def set_number(draw, names, number):
    """What draws a batch knows it by one of these names, it or what it calls."""
    found = 0
    for name, cell in zip(draw.__code__.co_freevars, draw.__closure__ or ()):
        if name in names:
            cell.cell_contents = number
            found += 1
        elif callable(cell.cell_contents) and getattr(cell.cell_contents, "__closure__", None):
            found += set_number(cell.cell_contents, names, number)
    return found


def with_number(family, names, number):
    make = roles_program.roles_models.FAMILIES[family]

    def made(rng):
        model, draw = make(rng)
        if not set_number(draw, names, number):
            raise LookupError(f"nothing in {family} is called {' or '.join(names)}")
        return model, draw
    roles_program.roles_models.FAMILIES[family] = made


def with_batch(family, items):
    with_number(family, ("batch",), items)


def with_checkpoints(chosen):
    """As a person would write it in the forward of what has those modules."""
    plain, inside = torch.nn.Module.__call__, []

    def is_chosen(module):
        if chosen.startswith("path:"):
            return fnmatch.fnmatch(paths(module), chosen[len("path:"):])
        return type(module).__name__ == chosen

    def call(module, *inputs, **named):
        if inside or not module.training or not torch.is_grad_enabled() or not is_chosen(module):
            return plain(module, *inputs, **named)

        def run(*again):
            inside.append(module)
            try:
                return plain(module, *again, **named)
            finally:
                inside.pop()
        return checkpoint(run, *inputs, use_reentrant=False)
    torch.nn.Module.__call__ = call
    known = {}

    def paths(module):
        """Of a module within the model, which is the first that is called."""
        if not known:
            known.update({part: name for name, part in module.named_modules()})
        return known.get(module, "")


class OnHost:
    """An optimizer that keeps parameters of its own on the host, as a person would write it around one of torch.optim."""

    def __init__(self, make, parameters):
        self.parameters = list(parameters)
        self.copies = [torch.nn.Parameter(each.detach().cpu()) for each in self.parameters]
        self.optimizer = make(self.copies)
        self.param_groups = [{"params": self.parameters}]  # gradient scalers ask for them

    @torch.no_grad()
    def step(self):
        for parameter, copy in zip(self.parameters, self.copies):
            copy.grad = parameter.grad.cpu() if parameter.grad is not None else None
        self.optimizer.step()
        for parameter, copy in zip(self.parameters, self.copies):
            parameter.copy_(copy)

    def zero_grad(self, set_to_none=True):
        for parameter in self.parameters:
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad.zero_()


def with_optimizer_on_host():
    plain = roles_program.Trainer.make_optimizers

    def made(self, make):
        optimizers = plain(self, lambda parameters: OnHost(make, parameters))
        return [each if isinstance(each, OnHost) else OnHost(lambda copies, like=each: type(like)(copies, **like.defaults), each.param_groups[0]["params"])
                for each in optimizers]
    roles_program.Trainer.make_optimizers = made


def with_offload(what):
    """As a person would write it around forward and loss, or in the forward of what has those modules; or around the optimizer; or both."""
    what, _, optimizer = what.partition("+") if what != "optimizer" else ("", "", what)
    if optimizer:
        with_optimizer_on_host()
    if not what:
        return
    _, _, chosen = what.partition(":")
    if not chosen:
        loss = roles_program.Trainer.loss

        def on_host(self, *arguments, **options):
            with torch.autograd.graph.save_on_cpu(pin_memory=True):
                return loss(self, *arguments, **options)
        roles_program.Trainer.loss = on_host
        return
    plain, known = torch.nn.Module.__call__, {}

    def is_chosen(module):
        if not chosen.startswith("path:"):
            return type(module).__name__ == chosen
        known.update({part: name for name, part in module.named_modules()} if not known else {})
        return fnmatch.fnmatch(known.get(module, ""), chosen[len("path:"):])

    def call(module, *inputs, **named):
        if not is_chosen(module) or not module.training or not torch.is_grad_enabled():
            return plain(module, *inputs, **named)
        with torch.autograd.graph.save_on_cpu(pin_memory=True):
            return plain(module, *inputs, **named)
    torch.nn.Module.__call__ = call


def with_code(family, name):
    make = roles_program.roles_models.FAMILIES[family]
    with open(os.path.join(os.environ["WHATIF_CODE"], name), encoding="utf-8") as file:
        code = compile(file.read(), name, "exec")

    def made(rng):
        model, draw = make(rng)
        exec(code, {"model": model})
        return model, draw
    roles_program.roles_models.FAMILIES[family] = made


def leave(status):
    """Autograd's thread lets go of what it keeps of Python behind backward(), sometime: PyTorch ends the process with SIGABRT where that is
    while Python ends, which a busy machine makes likely."""
    sys.stdout.flush()
    os._exit(status)


def main():
    items, *words = sys.argv[1:]
    if words[0] == "--attention":
        import attention
        with attention.chosen(words[1]):
            return train(items, words[2:])
    return train(items, words)


def train(items, words):
    if words[0] == "--capacity":
        torch.cuda.set_per_process_memory_fraction(int(words[1]) / torch.cuda.get_device_properties(0).total_memory)
        words = words[2:]
    length = None
    if words[0] == "--length":
        length, words = int(words[1]), words[2:]
    if words[0] == "--checkpoint":
        with_checkpoints(words[1])
        words = words[2:]
    if words[0] == "--offload":
        with_offload(words[1])
        words = words[2:]
    code = None
    if words[0] == "--code":
        code, words = words[1], words[2:]
    arguments = roles_program.parse(words)
    if code is not None:
        with_code(arguments.family, code)
    with_batch(arguments.family, int(items))
    if length is not None:
        with_number(arguments.family, LENGTHS, length)
    return roles_program.train(arguments)


if __name__ == "__main__":
    status = 0
    try:
        kept = main()  # what is held here is still there when the recording ends
    except torch.OutOfMemoryError:
        status = OUT_OF_MEMORY
    except RuntimeError as error:
        if "--capacity" not in sys.argv or "unable to find an engine" not in str(error):
            raise
        status = OUT_OF_MEMORY  # cuDNN has found no algorithm whose workspace there was memory for
    leave(status)
