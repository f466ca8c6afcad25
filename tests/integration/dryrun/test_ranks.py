# SPDX-License-Identifier: GPL-3.0-or-later
"""One rank of many on one machine, with the real process groups of PyTorch: `strata dryrun --rank R --world-size N`.

usage: test_ranks.py STRATA [--python PYTHON]...

Without a Python with PyTorch (see running.py) the test is skipped (exit 77) and says so.
"""
import os
import sys

from against_truth import check_peaks, run_many
from running import TRUTH, dryrun, main

RANKS = os.path.join(TRUTH, "ranks.py")
COLLECTIVES = os.path.join(TRUTH, "collectives.py")
#: 252 rows do not split evenly over 8 ranks: the last one holds fewer.
SIZES = ["--width", "252"]
WORLD = 8


def peaks_of(device):
    return {key: device[f"{key}_bytes_peak"] for key in ("requested", "allocated", "reserved")}


def run_rank(strata, python, hows, rank, world, failures, options=()):
    """By way to spread: peaks of the rank, which must be torch's own."""
    options = ["--rank", str(rank), "--world-size", str(world), *options]
    folder, found = run_many(strata, python, options, [[RANKS, how, *SIZES] for how in hows], failures)
    folder.cleanup()
    peaks = {}
    for how, each in zip(hows, found):
        name = f"{python} {how} rank {rank} of {world}"
        if each is None or each[0] is None:
            failures.expect(name, "trained", False)
            continue
        process, truth = each
        failures.expect(name, "rank", (process["rank"], process["world_size"]), (rank, world))
        check_peaks(name, process, truth, failures)
        peaks[how] = tuple(tuple(peaks_of(d).values()) for d in process["devices"])
    return peaks


def check_spreads(strata, python, failures):
    hows = ("ddp", "fsdp1", "fsdp2", "zero1")
    peaks = {rank: run_rank(strata, python, hows, rank, WORLD, failures) for rank in (0, 5, 7)}
    run_rank(strata, python, ["tensor"], 3, 4, failures)
    if any(len(each) < len(hows) for each in peaks.values()):
        return
    failures.expect(python, "ddp is the same on all ranks", peaks[0]["ddp"] == peaks[7]["ddp"])
    failures.expect(python, "fsdp2: the last rank holds less", peaks[7]["fsdp2"] < peaks[0]["fsdp2"])
    failures.expect(python, "zero1 is the same on all ranks", len({peaks[rank]["zero1"] for rank in (0, 5, 7)}) == 1, False)
    fewer = run_rank(strata, python, ["fsdp2"], 0, 4, failures)
    failures.expect(python, "fsdp2 of 4 needs more than of 8", fewer.get("fsdp2", ()) > peaks[0]["fsdp2"])


def check_local_rank(strata, python, failures):
    """Rank 5 on nodes of 2 devices is local rank 1."""
    peaks = run_rank(strata, python, ["ddp"], 5, WORLD, failures, ["--devices", "2"]).get("ddp", ())
    failures.expect(python, "devices used", [device[0] > 0 for device in peaks], [False, True])


def check_collectives(strata, python, failures):
    """Groups on the CPU, objects and meshes: the program checks what comes back."""
    for rank in (0, 5):
        run, report = dryrun(strata, ["--rank", str(rank), "--world-size", str(WORLD)], [python, COLLECTIVES])
        failures.expect(f"{python} collectives rank {rank}", "trained",
                        (run.returncode, f"done {rank} of {WORLD}" in run.stderr), (0, True))
        if run.returncode != 0:
            print(run.stderr[-1500:])


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
    failures.expect(name, "peaks", peaks_of(report["ranks"][0]["devices"][0]),
                    peaks_of(report["ranks"][1]["devices"][1]))


def check_usage(arguments, python, failures):
    for options in (["--rank", "8", "--world-size", "8"], ["--rank", "1"], ["--rank", "-1", "--world-size", "2"]):
        run, _ = dryrun(arguments.strata, options, [python, "-c", ""])
        failures.expect(f"usage {options}", "exit", run.returncode, 2)


def test(arguments, python, failures):
    for check in (check_spreads, check_local_rank, check_collectives, check_torchrun):
        check(arguments.strata, python, failures)


if __name__ == "__main__":
    sys.exit(main(test, once=check_usage))
