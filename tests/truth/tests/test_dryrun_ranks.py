# SPDX-License-Identifier: GPL-3.0-or-later
"""One rank of many on one machine, with the real process groups of PyTorch: `strata dryrun --rank R --world-size N`.

usage: test_ranks.py STRATA [--python PYTHON]...

STRATA_LONG=1 runs all programs as every rank, with each PyTorch. Without a Python with
PyTorch (see running.py) the test is skipped (exit 77) and says so.
"""
import os
import sys

from against_truth import check_peaks, run_many
from running import LONG, PROGRAMS, dryrun, main

RANKS = os.path.join(PROGRAMS, "ranks.py")
COLLECTIVES = os.path.join(PROGRAMS, "collectives.py")
SPREADS = ("ddp", "fsdp1", "fsdp2", "zero1")
#: 252 rows do not split evenly over 8 ranks: the last one holds fewer.
SIZES = ["--width", "252"]
WORLD = 8
#: What the programs would import each for itself.
IMPORTS = [word for module in ("fsdp", "optim", "tensor.parallel") for word in ("--import", f"torch.distributed.{module}")]


RESERVED = 2


def peaks_of(device):
    return tuple(device[f"{key}_bytes_peak"] for key in ("requested", "allocated", "reserved"))


def run_rank(strata, python, names, rank, world, failures, options=()):
    """By program, peaks of the devices that the rank used, which must be torch's own. Other than SPREADS are paths of programs."""
    options = ["--rank", str(rank), "--world-size", str(world), *options]
    programs = [[RANKS, name, *SIZES] if not name.endswith(".py") else [name] for name in names]
    folder, found = run_many(strata, python, options, programs, failures, IMPORTS)
    folder.cleanup()
    peaks = {}
    for program, each in zip(names, found):
        name = f"{python} {program} {' '.join(options)}"
        if each is None or each[0] is None:
            failures.expect(name, "trained", False)
            continue
        process, truth = each
        failures.expect(name, "rank", (process["rank"], process["world_size"]), (rank, world))
        check_peaks(name, process, truth, failures)
        peaks[program] = {d["device"]: peaks_of(d) for d in process["devices"] if d["reserved_bytes_peak"] > 0}
    return peaks


def check_spreads(strata, python, failures):
    """Rank 5 is on a node of two devices, where it is local rank 1."""
    programs = {0: [*SPREADS, COLLECTIVES], 5: [*SPREADS, COLLECTIVES] if LONG else ["ddp"], 7: SPREADS}
    peaks = {rank: run_rank(strata, python, programs[rank], rank, WORLD, failures, options)
             for rank, options in ((0, []), (5, ["--devices", "2"]), (7, []))}
    if any(len(each) < len(SPREADS) for rank, each in peaks.items() if LONG or rank != 5):
        return
    used = {rank: {program: list(devices) for program, devices in each.items()} for rank, each in peaks.items()}
    failures.expect(python, "devices used", used, {rank: dict.fromkeys(names, [int(rank == 5)]) for rank, names in programs.items()})
    peaks = {rank: {program: max(devices.values()) for program, devices in each.items()} for rank, each in peaks.items()}
    # What PyTorch's watchdog thread frees, it frees when it comes by, as on a real device: on a loaded machine requested moves.
    failures.expect(python, "ddp reserves the same on all ranks", len({each["ddp"][RESERVED] for each in peaks.values()}), 1)
    failures.expect(python, "fsdp2: the last rank holds less", peaks[7]["fsdp2"] < peaks[0]["fsdp2"])
    failures.expect(python, "zero1 is the same on all ranks", len({each["zero1"] for each in peaks.values() if "zero1" in each}) == 1, False)
    return peaks[0]["fsdp2"]


def check_fewer_ranks(strata, python, of_eight, failures):
    fewer = run_rank(strata, python, ["fsdp2", "tensor"], 3, 4, failures)
    failures.expect(python, "fsdp2 of 4 needs more than of 8", fewer["fsdp2"][0] > of_eight)


def check_torchrun(strata, python, failures):
    """Real ranks of a launcher inside the command win over ours."""
    name = f"{python} torchrun"
    run, report = dryrun(strata, ["--rank", "3", "--world-size", "8", "--devices", "2"],
                         [python, "-m", "torch.distributed.run", "--nproc-per-node", "2", RANKS, "ddp", *SIZES])
    if report is None or run.returncode != 0:
        failures.expect(name, "output", (run.returncode, run.stderr[-2000:]), "a report")
        return
    failures.expect(name, "ranks", [(r["rank"], r["world_size"]) for r in report["ranks"]], [(0, 2), (1, 2)])
    used = [[d["requested_bytes_peak"] > 0 for d in r["devices"]] for r in report["ranks"]]
    failures.expect(name, "devices used", used, [[True, False], [False, True]])
    first, second = report["ranks"][0]["devices"][0], report["ranks"][1]["devices"][1]
    failures.expect(name, "reserved peaks", first["reserved_bytes_peak"], second["reserved_bytes_peak"])


def check_usage(arguments, python, failures):
    for options in (["--rank", "8", "--world-size", "8"], ["--rank", "1"], ["--rank", "-1", "--world-size", "2"]):
        run, _ = dryrun(arguments.strata, options, [python, "-c", ""])
        failures.expect(f"usage {options}", "exit", run.returncode, 2)


def test(arguments, python, failures):
    of_eight = check_spreads(arguments.strata, python, failures)
    if of_eight:
        check_fewer_ranks(arguments.strata, python, of_eight, failures)
        check_torchrun(arguments.strata, python, failures)


if __name__ == "__main__":
    sys.exit(main(test, once=check_usage))
