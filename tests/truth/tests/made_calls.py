# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded calls that tests write down, as capture/dryrun/replay_*.py take them, which it makes known. No PyTorch is needed."""
import collections
import os
import sys

from running import PROJECT

sys.path.insert(0, os.path.join(PROJECT, "capture", "dryrun"))
from replay_rows import CALL, GONE  # noqa: E402

Tensor = collections.namedtuple("Tensor", "type address offset sizes strides bytes gradient_of")
Row = collections.namedtuple("Row", "kind gradients name detail taken returned index", defaults=[None])


class Calls:
    """One after the other. Tensors are named by their numbers; those that autograd goes through are odd in rows."""

    def __init__(self, sizes, constants=()):
        self.tensors, self.rows, self.constants = [], [], constants
        for each in sizes:
            self.tensor(each)

    def tensor(self, sizes):
        self.tensors.append(Tensor("float32", 4096 * len(self.tensors), 0, list(sizes), [1] * len(sizes), 512, None))
        return len(self.tensors) - 1

    def call(self, name, detail, taken, sizes, learns=True):
        made = self.tensor(sizes)
        self.add(CALL, name, detail, [2 * each + (each not in self.constants) for each in taken], [2 * made + learns])
        return made

    def add(self, kind, name="", detail=None, taken=(), returned=()):
        self.rows.append(Row(kind, True, "aten::" + name if name else "", detail, list(taken), list(returned), len(self.rows)))

    def gone(self, number):
        self.add(GONE, taken=[2 * number])


def calls(rows):
    return [row.name for row in rows if row.kind == CALL]
