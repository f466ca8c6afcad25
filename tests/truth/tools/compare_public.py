# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds recordings that somebody made on a real GPU against the same program on the simulated device.

usage: compare_public.py STRATA_SIMGPU SETTINGS [--ranges] --pair RECORDING WRITTEN [--pair ...] -- COMMAND...

The command is run on the device of SETTINGS (as strata-simgpu takes them) and must write a snapshot to each WRITTEN by itself, as
it did on the GPU. --ranges lets cudaMalloc answer with the addresses of the recordings, in the order in which they came: where best
fit finds two blocks of one size it takes the lower (up to 2.11), so the order of addresses decides which is cut, and on a real
device it follows from what libraries take for themselves in between.

Prints a line for each pair; exits 0 when every event (action, requested size, stream in order of appearance), the requested peak,
the reserved peak and what is reserved at the end are equal, 1 when one is not, 2 when a snapshot was not written. Frees in a row may
come in another order: those of the cache of autocast come in that of a set of host addresses. From the first such place on segments
may be others, here as in two runs on one GPU: what the program asks for is equal then, and it is said by how much the reserved bytes
differ. Recordings and programs of others stay where they are.
"""
import argparse
import itertools
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests"))
import recordings  # noqa: E402


def settings_of(text, snapshots, ranges):
    if not ranges:
        return text
    kept = ";".join(entry for entry in text.split(";") if entry and not entry.startswith("addresses="))
    places = ",".join(f"{begin:#x}-{end:#x}" for begin, end in recordings.ranges(snapshots))
    return f"{kept};addresses=ranges:{places}"


def verdict(wanted, got, same):
    """What may be said of two lists of events of which the first `same` are equal."""
    if same == len(wanted) == len(got):
        return "EQUAL"
    if recordings.runs(wanted) == recordings.runs(got):
        return "EQUAL but for the order of frees in a row"
    reordered = all(rows[same:same + 1] and rows[same][0] in recordings.FREES for rows in (wanted, got))
    asked = (recordings.runs(recordings.requests(rows)) for rows in (wanted, got))
    return "EQUAL in what is asked for, after another order of frees in a row" if reordered and next(asked) == next(asked) else "DIFFERENT"


def compare(name, real, simulated):
    """Prints what differs and by how much; gives whether nothing does that the device decides."""
    wanted, got = recordings.events(real), recordings.events(simulated)
    same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(wanted, got)))
    one, other = recordings.peaks(real), recordings.peaks(simulated)
    said = verdict(wanted, got, same)
    decided = ["requested peak"] if "asked" in said else list(one)
    if any(one[what] != other[what] for what in decided):
        said = "DIFFERENT"
    print(f"{said} {name}: {same:,} of {len(wanted):,} events equal ({len(got):,} simulated); "
          + ", ".join(f"{what} {one[what]:,} {other[what] - one[what]:+,}" for what in one), flush=True)
    if same < max(len(wanted), len(got)):
        print(f"  event {same}: {wanted[same:same + 1]} on the GPU, {got[same:same + 1]} simulated")
    return said != "DIFFERENT"


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
