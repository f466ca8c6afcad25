# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs programs again that were recorded on a real GPU (tests/data/gpu) and holds the simulated device against it: event by event,
and by requested bytes where cuDNN chooses what it asks for.

Skipped without the version of PyTorch that the recordings were made with, 2.11.
"""
import os
import subprocess
import sys

import pytest

from running import PROGRAMS, PROJECT, version, with_environment

sys.path.insert(0, os.path.join(PROJECT, "tests", "gpu"))
import compare_public  # noqa: E402, found by running
import recordings  # noqa: E402
from gpu_programs import PROGRAMS as ON_GPU, settings_of, words_of  # noqa: E402

pytestmark = pytest.mark.torch("every")

RECORDINGS = os.path.join(PROJECT, "tests", "data", "gpu")
VERSION = [2, 11]
H100 = {"capacity": 85017493504, "cc": "9.0", "sms": 132, "l2": 52428800, "devices": 1}
#: The rule of capture/simgpu/machine/workspaces.h is not cuDNN's choice: parts of 1 that the peak may be off by.
BY_RULE = {"cudnn-fp32": 0.001, "conv-autocast": 0.001, "rnn": 0.01}
KEPT = [row for row in ON_GPU if os.path.exists(os.path.join(RECORDINGS, f"{row[0]}.pickle.gz"))]


def test_recordings_of_known_programs():
    assert len(KEPT) == 9


@pytest.mark.parametrize("name, conf, program", KEPT, ids=[row[0] for row in KEPT])
def test_as_the_gpu(simgpu, python, tmp_path, name, conf, program):
    if version(python)[:2] != VERSION:
        pytest.skip("the recordings were made with PyTorch 2.11")
    real = recordings.load(os.path.join(RECORDINGS, f"{name}.pickle.gz"))
    settings, path = compare_public.settings_of(settings_of(H100), [real], True), str(tmp_path / "simulated.pickle")
    run = subprocess.run([simgpu, settings, "--", python, os.path.join(PROGRAMS, "recorded.py"), path, *words_of(program)],
                         env=with_environment(PYTORCH_CUDA_ALLOC_CONF=conf), capture_output=True, text=True)
    assert run.returncode == 0 and os.path.exists(path), run.stderr[-2000:]
    simulated = recordings.load(path)
    if name not in BY_RULE:
        assert compare_public.compare(name, real, simulated) is True
        return
    wanted, got = (recordings.peaks(snapshot)["requested peak"] for snapshot in (real, simulated))
    print(f"{name}: requested peak {wanted:,} {got - wanted:+,}")
    assert abs(got / wanted - 1) <= BY_RULE[name]
