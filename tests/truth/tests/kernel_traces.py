# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of kernels and operators share: programs/kernels_program.py, and traces of what ran on the GPU."""
import collections
import json
import os
import subprocess

from forks import TRAINING, forked
from running import PROGRAMS, PROJECT, with_environment

PROGRAM = os.path.join(PROGRAMS, "kernels_program.py")
DEVICE_KINDS = ("kernel", "gpu_memcpy", "gpu_memset")

#: What is left of a run: moments with counts of the device, None where it did not end well, and paths of our session and torch's trace.
Run = collections.namedtuple("Run", "why moments session trace")


def runs_of(asked, simgpu, capture, python, folder):
    """{(model, order, kernels): Run} of kernels_program.py, in one start of torch."""
    paths = [os.path.join(folder, str(number)) for number in range(len(asked))]
    done, ended = forked([simgpu, "--"], python, [[PROGRAM, *words, path + ".strata", path + ".json"] for words, path in zip(asked, paths)],
                         folder, (*TRAINING, "--import", "profiler_program"), timeout=300 + 30 * len(asked), env=with_environment(
                             PYTHONPATH=os.path.join(PROJECT, "capture", "python"),
                             STRATA_CAPTURE_LIBRARY=os.path.join(capture, "libstrata_capture.so")))
    told = iter([line for line in done.stdout.splitlines() if line.startswith("[")])
    found = {}
    for words, path, each in zip(asked, paths, ended):
        ran = each["status"] == 0
        found[words] = Run("" if ran else f"{each}: {done.stderr[-1000:]}", json.loads(next(told)) if ran else None, path + ".strata", path + ".json")
    return found


def device_rows(path):
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    base = int(content.get("baseTimeNanoseconds", 0)) / 1000
    rows = [(e["ts"] + base, e) for e in content["traceEvents"] if e.get("ph") == "X" and e.get("cat") in DEVICE_KINDS]
    return sorted(rows, key=lambda row: row[0])


def counted(rows):
    """Kernels, copies and sets of device_rows()."""
    by_kind = collections.Counter(row["cat"] for _, row in rows)
    return [by_kind[kind] for kind in DEVICE_KINDS]


def told(row):
    """What two recordings of the same piece must agree in. (Kineto demangles by its own rules: spaces are no difference.)"""
    arguments = row["args"]
    return row["cat"], arguments["stream"], arguments["correlation"], arguments.get("bytes")


def as_trace(strata, session):
    """The path of a session that was written as a trace."""
    path = session + ".ours.json"
    subprocess.run([strata, "timeline", session, "-o", path], check=True, capture_output=True)
    return path
