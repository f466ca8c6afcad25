# SPDX-License-Identifier: GPL-3.0-or-later
"""One rank of many on one machine, with the real process groups of PyTorch: `strata dryrun --rank R --world-size N`.

The long form runs all programs as every rank, with each PyTorch.
"""
import os

import pytest

from against_truth import check_peaks, run_many
from running import LONG, PROGRAMS, dryrun

pytestmark = pytest.mark.torch("every")

RANKS = os.path.join(PROGRAMS, "ranks.py")
COLLECTIVES = os.path.join(PROGRAMS, "collectives.py")
SPREADS = ("ddp", "fsdp1", "fsdp2", "zero1")
#: 252 rows do not split evenly over 8 ranks: the last one holds fewer.
SIZES = ["--width", "252"]
WORLD = 8
#: Rank 0 has a node of its own, and its interpreters end as they do alone: none may abort while threads of the process group run. The
#: others are on a node of two devices, where they are local rank 1.
BY_RANK = {0: (*SPREADS, COLLECTIVES), 5: (*SPREADS, COLLECTIVES), 7: SPREADS} if LONG else {0: ("ddp", "fsdp2", COLLECTIVES), 7: SPREADS[1:]}
#: What the programs would import each for itself.
IMPORTS = [word for module in ("fsdp", "optim", "tensor.parallel") for word in ("--import", f"torch.distributed.{module}")]
RESERVED = 2


def peaks_of(device):
    return tuple(device[f"{key}_bytes_peak"] for key in ("requested", "allocated", "reserved"))


def command_of(name):
    """Other than SPREADS are paths of programs. DDP ends without taking leave of the other ranks."""
    return [name] if name.endswith(".py") else [RANKS, name, *SIZES, *(["--leave"] if name == "ddp" else [])]


def run_rank(strata, python, names, rank, world, failures, options=()):
    """By program, peaks of the devices that the rank used, which must be torch's own."""
    options = ["--rank", str(rank), "--world-size", str(world), *options]
    folder, found = run_many(strata, python, options, [command_of(name) for name in names], failures,
                             [*IMPORTS, *(["--to-the-end"] if rank == 0 else [])])
    folder.cleanup()
    peaks = {}
    for program, each in zip(names, found):
        name = f"{python} {program} {' '.join(options)}"
        assert each and each[0], name
        process, truth = each
        failures.expect(name, "rank", (process["rank"], process["world_size"]), (rank, world))
        check_peaks(name, process, truth, failures)
        peaks[program] = {d["device"]: peaks_of(d) for d in process["devices"] if d["reserved_bytes_peak"] > 0}
    return peaks


def test_spreads(strata, python, failures):
    peaks = {rank: run_rank(strata, python, names, rank, WORLD, failures, ["--devices", "2"] if rank else []) for rank, names in BY_RANK.items()}
    used = {rank: {program: list(devices) for program, devices in each.items()} for rank, each in peaks.items()}
    failures.expect(python, "devices used", used, {rank: dict.fromkeys(names, [int(rank > 0)]) for rank, names in BY_RANK.items()})
    peaks = {rank: {program: max(devices.values()) for program, devices in each.items()} for rank, each in peaks.items()}
    failures.expect(python, "fsdp2: the last rank holds less", peaks[7]["fsdp2"] < peaks[0]["fsdp2"])
    if LONG:
        # What PyTorch's watchdog thread frees, it frees when it comes by, as on a real device: on a loaded machine requested moves.
        failures.expect(python, "ddp reserves the same on all ranks", len({each["ddp"][RESERVED] for each in peaks.values()}), 1)
        failures.expect(python, "zero1 is the same on all ranks", len({each["zero1"] for each in peaks.values()}) == 1, False)


@pytest.mark.long
def test_fewer_ranks(strata, python, failures):
    of_eight = run_rank(strata, python, ["fsdp2"], 0, WORLD, failures)
    fewer = run_rank(strata, python, ["fsdp2", "tensor"], 3, 4, failures)
    failures.expect(python, "fsdp2 of 4 needs more than of 8", max(fewer["fsdp2"].values()) > max(of_eight["fsdp2"].values()))


@pytest.mark.long
def test_torchrun(strata, python, failures):
    """Real ranks of a launcher inside the command win over ours."""
    run, report = dryrun(strata, ["--rank", "3", "--world-size", "8", "--devices", "2"],
                         [python, "-m", "torch.distributed.run", "--nproc-per-node", "2", RANKS, "ddp", *SIZES])
    assert report and run.returncode == 0, run.stderr[-2000:]
    failures.expect("torchrun", "ranks", [(r["rank"], r["world_size"]) for r in report["ranks"]], [(0, 2), (1, 2)])
    used = [[d["requested_bytes_peak"] > 0 for d in r["devices"]] for r in report["ranks"]]
    failures.expect("torchrun", "devices used", used, [[True, False], [False, True]])
    first, second = report["ranks"][0]["devices"][0], report["ranks"][1]["devices"][1]
    failures.expect("torchrun", "reserved peaks", first["reserved_bytes_peak"], second["reserved_bytes_peak"])


@pytest.mark.torch("newest")
@pytest.mark.parametrize("options", [["--rank", "8", "--world-size", "8"], ["--rank", "1"], ["--rank", "-1", "--world-size", "2"]], ids=" ".join)
def test_usage(strata, python, options):
    assert dryrun(strata, options, [python, "-c", ""])[0].returncode == 2
