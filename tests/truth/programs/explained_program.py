# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a program of explained_list.py and writes what it knows of its own memory: BEGIN.truth.json.

usage: explained_program.py KIND FAMILY SEED BEGIN [--edit NAME] [--settings TEXT] [--no-snapshot]

PyTorch records beside whatever else does, with stacks, into BEGIN.pickle: at the end, or where the first request is refused. --edit runs an
out-of-memory with a change that its family names, --settings with such settings of the allocator.
"""
import argparse
import contextlib
import importlib
import json
import os
import pickle
import random
import sys

import device_options  # noqa: F401  before torch
import torch

import explained_list
from roles_watch import Watch, count


class Notes(Watch):
    """What a program says of its memory while it runs. Nothing is held, allocated or hooked."""

    def __init__(self):
        super().__init__(nodes=False)
        self.turns = []
        self.mark()

    @contextlib.contextmanager
    def phase(self, name):
        """"forward", "backward", "optimizer" or "no_grad": what allocates here does so for that."""
        listed = {"backward": self.backwards, "optimizer": self.optimizers}.get(name)
        row = [count(), None] + [0] * (name == "backward")
        if listed is not None:
            listed.append(row)
        try:
            with self.state(name, None, False):
                yield
        finally:
            row[1] = count()

    def all(self, role, tensors, name=None):
        """Notes tensors: one, or in lists and dictionaries as deep as they are."""
        if torch.is_tensor(tensors):
            self.note(role, name, tensors)
        elif isinstance(tensors, dict):
            for key, value in tensors.items():
                self.all(role, value, str(key))
        elif isinstance(tensors, (list, tuple)):
            for index, value in enumerate(tensors):
                self.all(role, value, f"{name or ''}{index}")

    def weights(self, module):
        self.note_model(module)

    def gradients(self, parameters):
        self.all("gradient", [parameter.grad for parameter in parameters])

    def states_of(self, optimizer):
        for state in optimizer.state.values():
            self.all("optimizer_state", state)

    def turn(self):
        """A loop begins once more."""
        self.turns.append([count(), torch.cuda.memory_allocated()])


def keep(path):
    if "torch._inductor" not in sys.modules:
        torch._inductor = type(sys)("torch._inductor")  # asked for by what makes stacks, and a second to import
    with open(path, "wb") as file:
        pickle.dump(torch.cuda.memory._snapshot(), file)


def program_of(kind, family):
    """The function of a family. In explained_held.py its name begins with the kind."""
    if family in explained_list.HELD_BACK[kind]:
        return getattr(importlib.import_module("explained_held"), f"{kind[:-1]}_{family}")
    return getattr(importlib.import_module(f"explained_{kind}"), family)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind")
    parser.add_argument("family")
    parser.add_argument("seed", type=int)
    parser.add_argument("begin")
    parser.add_argument("--edit")
    parser.add_argument("--settings")
    parser.add_argument("--no-snapshot", action="store_true")
    words = parser.parse_args()
    if words.settings is not None:
        os.environ["PYTORCH_CUDA_ALLOC_CONF"] = words.settings  # which nobody has asked for yet
    snapshot, refused = words.begin + ".pickle", []

    def no_memory(*_):
        if not refused and not words.no_snapshot:
            keep(snapshot)
        refused.append(count())
    torch.cuda.memory._record_memory_history(stacks="all") if not words.no_snapshot else torch.cuda.init()
    torch._C._cuda_attach_out_of_memory_observer(no_memory)
    torch.manual_seed(0)
    rng, notes, held = random.Random(f"{words.kind} {words.family} {words.seed}"), Notes(), None
    program = program_of(words.kind, words.family)
    try:
        held = program(notes, rng, words.edit) if words.kind == "ooms" else program(notes, rng)
        torch.cuda.synchronize()
    except torch.cuda.OutOfMemoryError:
        pass
    notes.turn()
    with open(words.begin + ".truth.json", "w", encoding="utf-8") as file:
        json.dump({"torch": torch.__version__, "kind": words.kind, "family": words.family, "seed": words.seed, "served": not refused,
                   "peak": torch.cuda.max_memory_allocated(), "turns": notes.turns, "tensors": notes.notes, "marks": notes.marks,
                   "backwards": notes.backwards, "optimizers": notes.optimizers}, file)
    if not refused and not words.no_snapshot:
        keep(snapshot)
    return held


if __name__ == "__main__":
    kept = main()  # what is held here is there when the recording ends
