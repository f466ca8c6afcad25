# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a program of the corpus of roles with a batch of so many items, and nothing else changed.

usage: whatif_program.py ITEMS FAMILY [--seed N] [--optimizer NAME] [--steps N] [--option NAME]...
"""
import sys

import roles_program


def set_batch(draw, items):
    """What draws a batch knows its size as `batch`, it or what it calls."""
    found = 0
    for name, cell in zip(draw.__code__.co_freevars, draw.__closure__ or ()):
        if name == "batch":
            cell.cell_contents = items
            found += 1
        elif callable(cell.cell_contents) and getattr(cell.cell_contents, "__closure__", None):
            found += set_batch(cell.cell_contents, items)
    return found


def with_batch(family, items):
    make = roles_program.roles_models.FAMILIES[family]

    def made(rng):
        model, draw = make(rng)
        if not set_batch(draw, items):
            raise LookupError(f"nothing in {family} is called batch")
        return model, draw
    roles_program.roles_models.FAMILIES[family] = made


def main():
    items, *words = sys.argv[1:]
    arguments = roles_program.parse(words)
    with_batch(arguments.family, int(items))
    return roles_program.train(arguments)


if __name__ == "__main__":
    kept = main()  # what is held here is still there when the recording ends
