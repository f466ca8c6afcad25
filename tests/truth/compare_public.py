# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds recordings that somebody made on a real GPU against the same program on the simulated device.

usage: compare_public.py STRATA_SIMGPU SETTINGS [--ranges] --pair RECORDING WRITTEN [--pair ...] -- COMMAND...

The command is run on the device of SETTINGS (as strata-simgpu takes them) and must write a snapshot to each WRITTEN by itself, as
it did on the GPU. --ranges lets cudaMalloc answer with the addresses of the recordings, from the lowest on: where best fit finds
two blocks of one size it takes the lower (up to 2.11), so the order of addresses decides which is cut. Recordings of Linux may come
nearer without it. Prints a line for each pair; exits 0 when every event (action, requested size, stream in order of appearance),
the requested peak, the reserved peak and what is reserved at the end are equal, 1 when one is not, 2 when a snapshot was not
written. Frees in a row may come in another order: those of the cache of autocast come in that of a set of host addresses.
Recordings and programs of others stay where they are.
"""
import argparse
import itertools
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import recordings  # noqa: E402


def settings_of(text, snapshots, ranges):
    if not ranges:
        return text
    kept = ";".join(entry for entry in text.split(";") if entry and not entry.startswith("addresses="))
    places = ",".join(f"{begin:#x}-{end:#x}" for begin, end in recordings.ranges(snapshots))
    return f"{kept};addresses=ranges:{places}"


def compare(name, real, simulated):
    """Prints what differs and by how much; gives whether nothing does."""
    wanted, got = recordings.events(real), recordings.events(simulated)
    same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(wanted, got)))
    one, other = recordings.peaks(real), recordings.peaks(simulated)
    in_order = same == len(wanted) == len(got)
    equal = (in_order or recordings.runs(real) == recordings.runs(simulated)) and one == other
    print(f"{'EQUAL' if equal else 'DIFFERENT'} {name}: {same:,} of {len(wanted):,} events equal ({len(got):,} simulated); "
          + ", ".join(f"{what} {one[what]:,} {other[what] - one[what]:+,}" for what in one), flush=True)
    if not in_order:
        place = f"event {same}: {wanted[same:same + 1]} on the GPU, {got[same:same + 1]} simulated"
        print("  " + ("frees in a row come in another order, first at " if equal else "") + place)
    return equal


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("simgpu")
    parser.add_argument("settings")
    parser.add_argument("--ranges", action="store_true")
    parser.add_argument("--pair", nargs=2, action="append", required=True, metavar=("RECORDING", "WRITTEN"))
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    arguments, command = parser.parse_args(sys.argv[1:split]), sys.argv[split + 1:]
    real = [recordings.load(recording) for recording, _ in arguments.pair]
    for _, written in arguments.pair:
        if os.path.exists(written):
            os.remove(written)
    settings = settings_of(arguments.settings, real, arguments.ranges)
    run = subprocess.run([arguments.simgpu, settings, "--", *command], capture_output=True, text=True)
    missing = [written for _, written in arguments.pair if not os.path.exists(written)]
    if missing:
        print(f"{', '.join(missing)}: not written by the command (status {run.returncode}):\n{run.stderr[-3000:]}")
        return 2
    pairs = zip(arguments.pair, real)
    equal = [compare(os.path.basename(r), snapshot, recordings.load(w)) for (r, w), snapshot in pairs]
    return 0 if all(equal) else 1


if __name__ == "__main__":
    sys.exit(main())
