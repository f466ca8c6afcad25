# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains models of transformers, torchvision and diffusers, and a compiled one: Strata's figures are torch's own.

Needs packages that tests/truth/extras.sh loads (0.5 GB), so it runs in the long form alone.
"""
import os
import subprocess

import pytest

from against_truth import check
from running import PROGRAMS, PROJECT

pytestmark = [pytest.mark.torch("newest"), pytest.mark.long]


@pytest.fixture(scope="module")
def with_extras(newest):
    made = subprocess.run([os.path.join(PROJECT, "tests", "truth", "extras.sh"), newest], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(made.stderr.strip())
    return made.stdout.strip()


@pytest.mark.parametrize("model, options", [
    ("gpt2", ""), ("gpt2", "--device H100-80GB --set expandable_segments:True"), ("llama", ""), ("resnet50", ""),
    ("resnet50", "--device T4-16GB"), ("unet", ""), ("compiled", "")])
def test_figures(strata, with_extras, failures, model, options):
    check(strata, with_extras, options.split(), [[os.path.join(PROGRAMS, "real.py"), model]], failures)
