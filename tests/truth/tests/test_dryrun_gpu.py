# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs programs again that were recorded on a real GPU (tests/data/gpu) and holds the simulated device against it: event by event,
and by requested bytes where cuDNN chooses what it asks for.

usage: test_gpu.py STRATA_SIMGPU [--python PYTHON]...

Skipped (exit 77) without the version of PyTorch that the recordings were made with, 2.11.
"""
import os
import subprocess
import sys
import tempfile

from running import PROJECT, PROGRAMS, main, version, with_environment

sys.path.insert(0, os.path.join(PROJECT, "tests", "gpu"))
import compare_public  # noqa: E402, found by running
import recordings  # noqa: E402
from gpu_programs import PROGRAMS as ON_GPU, settings_of, words_of  # noqa: E402

RECORDINGS = os.path.join(PROJECT, "tests", "data", "gpu")
VERSION = [2, 11]
H100 = {"capacity": 85017493504, "cc": "9.0", "sms": 132, "l2": 52428800, "devices": 1}
#: The rule of capture/simgpu/machine/workspaces.h is not cuDNN's choice: parts of 1 that the peak may be off by.
BY_RULE = {"cudnn-fp32": 0.001, "conv-autocast": 0.001, "rnn": 0.01}


def check(launcher, python, name, conf, program, failures):
    real = recordings.load(os.path.join(RECORDINGS, f"{name}.pickle.gz"))
    settings = compare_public.settings_of(settings_of(H100), [real], True)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "simulated.pickle")
        run = subprocess.run([launcher, settings, "--", python, os.path.join(PROGRAMS, "recorded.py"), path, *words_of(program)],
                             env=with_environment(PYTORCH_CUDA_ALLOC_CONF=conf), capture_output=True, text=True)
        if run.returncode != 0 or not os.path.exists(path):
            failures.expect(name, "output", run.stderr[-2000:], "a recording")
            return
        simulated = recordings.load(path)
    if name not in BY_RULE:
        failures.expect(name, "equal to the GPU", compare_public.compare(name, real, simulated))
        return
    wanted, got = (recordings.peaks(snapshot)["requested peak"] for snapshot in (real, simulated))
    print(f"{name}: requested peak {wanted:,} {got - wanted:+,}", flush=True)
    failures.expect(name, "requested peak is near", abs(got / wanted - 1) <= BY_RULE[name])


def test(arguments, python, failures):
    if version(python)[:2] != VERSION:
        return "the recordings were made with PyTorch 2.11"
    kept = [row for row in ON_GPU if os.path.exists(os.path.join(RECORDINGS, f"{row[0]}.pickle.gz"))]
    failures.expect("tests/data/gpu", "recordings of known programs", len(kept), 9)
    for row in kept:
        check(arguments.launcher, python, *row, failures)
    return None


if __name__ == "__main__":
    sys.exit(main(test, ("launcher",)))
