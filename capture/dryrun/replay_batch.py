# SPDX-License-Identifier: Apache-2.0
"""Of calls that are made again: another batch. Which sizes follow it is not guessed: two recordings of the program, with different batches,
have the same calls in the same order, and each number in them is a + b * items, or there is no answer.
"""
import math

import torch

MOST_HOST_ELEMENTS = 1 << 29


class Apart(RuntimeError):
    """The two recordings are not of the same calls, or a number goes by something else than the items."""


class Line:
    """Numbers by the items of the batch."""

    def __init__(self, before, other, after):
        self.before, self.other, self.after = before, other, after

    def number(self, here, there, what):
        if here == there:
            return here
        value, rest = divmod((there - here) * (self.after - self.before), self.other - self.before)
        if rest or here + value < 0:
            raise Apart(f"{what} does not go linearly with the batch")
        return here + value

    def value(self, here, there, what):
        """Of an argument."""
        if isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
            return [self.value(a, b, what) for a, b in zip(here, there)]
        if isinstance(here, dict) and isinstance(there, dict) and here.keys() == there.keys():
            made = {key: self.value(here[key], there[key], what) for key in here}
            if "h" in made and math.prod(made["h"][1]) > MOST_HOST_ELEMENTS:
                raise Apart(f"{what} would be a tensor of the host beyond all measure")
            return made
        if isinstance(here, float) and isinstance(there, float):
            if here != there and "aten::arange" in what:
                raise Apart(f"{what} is given other numbers with another batch")
            return here  # no bytes hang on it but where it counts elements
        if type(here) is int and type(there) is int:
            return self.number(here, there, what)
        if type(here) is not type(there) or here != there:
            raise Apart(f"{what} is given something else with another batch")
        return here


def same(here, there, what):
    if here != there:
        raise Apart(f"the recordings do not have the same {what}")


def with_batch(document):
    """The document for the other batch. Addresses stay those of the first recording, and so does where its blocks lie."""
    batch = document.pop("batch")
    other, line = batch["with"], Line(batch["before"], batch["with"]["items"], batch["after"])
    for what in ("rows", "tensors", "blocks", "before"):
        same(len(document[what]), len(other[what]), "calls" if what == "rows" else "blocks" if what == "before" else what)
    for here, there in zip(document["rows"], other["rows"]):
        same((*here[:3], *here[4:]), (*there[:3], *there[4:]), "calls")
        here[3] = line.value(here[3], there[3], f"an argument of {here[2] or 'a call'}")
    for here, there in zip(document["tensors"], other["tensors"]):
        same((here[0], len(here[3]), here[6]), (there[0], len(there[3]), there[6]), "tensors")
        here[2] = line.number(here[2], there[2], "where a tensor begins")
        here[3], here[4] = line.value(here[3], there[3], "a size of a tensor"), line.value(here[4], there[4], "a stride of a tensor")
        here[5] = bytes_of(*here[:5])
    document["block_sizes"] = []
    for here, there in zip(document["blocks"], other["blocks"]):
        same(here[2:], there[2:], "blocks")
        document["block_sizes"].append(line.number(here[1], there[1], "a block"))
    for here, there in zip(document["before"], other["before"]):
        same((here[0], *here[2:]), (there[0], *there[2:]), "blocks before the training")
        if len(here) > 1:
            here[1] = line.number(here[1], there[1], "a block before the training")
    return document


def bytes_of(kind, _, offset, sizes, strides):
    if 0 in sizes:
        return 0
    return (offset + sum((size - 1) * stride for size, stride in zip(sizes, strides)) + 1) * getattr(torch, kind).itemsize
