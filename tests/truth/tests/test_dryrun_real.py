# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains models of transformers, torchvision and diffusers, and a compiled one: Strata's figures are torch's own.

usage: test_real.py STRATA [--python PYTHON]... [--only MODEL]

Needs packages that tests/truth/extras.sh loads (0.5 GB), so it runs in the long form alone (STRATA_LONG=1); else skipped (exit 77).
"""
import os
import subprocess
import sys

from against_truth import check
from running import LONG, SKIPPED, PROGRAMS, main

CASES = [("gpt2", ""), ("gpt2", "--device H100-80GB --set expandable_segments:True"), ("llama", ""), ("resnet50", ""),
         ("resnet50", "--device T4-16GB"), ("unet", ""), ("compiled", "")]


def test(arguments, python, failures):
    made = subprocess.run([os.path.join(PROGRAMS, "extras.sh"), python], capture_output=True, text=True)
    if made.returncode != 0:
        return made.stderr.strip()
    for model, options in CASES:
        if arguments.only in (None, model):
            check(arguments.strata, made.stdout.strip(), options.split(), [[os.path.join(PROGRAMS, "real.py"), model]], failures)
            print(f"{model} {options}: {failures.checks} checks, {failures.count} failures so far", flush=True)
    return None


if not LONG:
    print("skipped: needs other packages and some minutes: it runs in the long form (STRATA_LONG=1)")
    sys.exit(SKIPPED)
sys.exit(main(test, every_python=False, add_options=lambda parser: parser.add_argument("--only")))
