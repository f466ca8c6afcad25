#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A what-if change is one file: halve_kind.patch adds a kind with help, card, alternatives, dry run and manual.

usage: check_new_kind.py SOURCE            the patch applies, and touches at most 3 files
       check_new_kind.py SOURCE PROGRAM... and a copy of the project, so patched, builds these targets and knows the kind
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

MOST_FILES = 3
PATCH = os.path.join(os.path.dirname(os.path.realpath(__file__)), "halve_kind.patch")


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, **more)


def applies(source):
    with open(PATCH, encoding="utf-8") as file:
        files = re.findall(r"^\+\+\+ b/(\S+)", file.read(), re.M)
    tried = run("git", "apply", "--check", PATCH, cwd=source)
    if tried.returncode != 0:
        sys.exit(f"{PATCH} does not apply: mend it\n{tried.stderr}")
    if len(files) > MOST_FILES:
        sys.exit(f"a kind of change touches {len(files)} files, {MOST_FILES} at most: {' '.join(files)}")
    print(f"{len(files)} files: {' '.join(files)}")


def works(source, targets):
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "strata")
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns("build", ".git"))
        environment = {**os.environ, "CCACHE_BASEDIR": copy, "STRATA_WRITE_DOCS": "1"}
        for words in (["git", "apply", PATCH], ["cmake", "--preset", "release"], ["cmake", "--build", "--preset", "release", "--target", *targets],
                      ["build/release/bin/test_cli", "--gtest_filter=Reference.*"]):
            done = run(*words, cwd=copy, env=environment)
            if done.returncode != 0:
                sys.exit(f"{' '.join(words)} failed\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        strata, recording = os.path.join(copy, "build/release/bin/strata"), os.path.join(copy, "resources/samples/gpt2_124m_bf16_train.strata")
        with open(os.path.join(copy, "docs/changes.md"), encoding="utf-8") as file:
            manual = file.read()
        known = {"help": run(strata, "whatif", "--help").stdout, "manual": manual,
                 "answer": run(strata, "whatif", recording, "--change", "halve=1MiB").stdout,
                 "alternatives": run(strata, "whatif", recording, "--alternatives").stdout,
                 "error of dryrun": run(strata, "dryrun", "--change", "nothing", "--", "true").stderr}
        missing = [where for where, text in known.items() if "halve=" not in text and "half as large" not in text]
        if missing:
            sys.exit(f"the new kind is missing in: {', '.join(missing)}")
        print(f"the new kind is in: {', '.join(known)}")


if __name__ == "__main__":
    applies(sys.argv[1])
    if len(sys.argv) > 2:
        works(sys.argv[1], sys.argv[2:])
