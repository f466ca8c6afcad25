#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs clang-tidy with the checks of .clang-tidy over the product's units of a build folder; prints what it finds.

usage: tidy.py BUILD [PART_OF_A_NAME]
Units of a unity build count as their files. Exit: 0 where nothing was found, 1 otherwise.
"""
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

TIDY = "clang-tidy-16"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
PRODUCT = re.compile(r"/(app|capture|model|views)/")
WITHOUT_VALUE = ("-Winvalid-pch", "-Wno-subobject-linkage", "-Werror")
WITH_VALUE = ("-MT", "-MF")


def for_clang(entry):
    """The entry without the precompiled header of another compiler, and without options that clang lacks."""
    words, kept = iter(shlex.split(entry["command"])), []
    for word in words:
        if word == "ccache" or word in WITHOUT_VALUE or word == "-MD":
            continue
        if word in WITH_VALUE:
            next(words)
        elif word == "-include":
            header = next(words)
            if "cmake_pch" not in header:
                kept += [word, header]
        else:
            kept.append(word)
    return {"directory": entry["directory"], "file": entry["file"], "arguments": kept}


def main():
    build, wanted = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = [for_clang(entry) for entry in json.load(file)]
    def belongs(path):
        below = os.path.relpath(path, build) if path.startswith(os.path.abspath(build)) else os.path.relpath(path, ROOT)
        return PRODUCT.match("/" + below) and "autogen" not in below and "cmake_pch" not in below and wanted in below
    units = sorted({entry["file"] for entry in entries if belongs(entry["file"])})
    found = {}  # a header may be in many units
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
            json.dump(entries, file)

        def check(unit):
            return unit, subprocess.run([TIDY, "--quiet", "-p", folder, f"--config-file={ROOT}/.clang-tidy", unit], capture_output=True, text=True)

        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            for unit, run in pool.map(check, units):
                for line in run.stdout.splitlines():
                    if re.match(r"\S+:\d+:\d+: (warning|error): ", line) and line not in found:
                        found[line] = unit
                        print(line, flush=True)
                if run.returncode != 0 and "warning:" not in run.stdout:
                    failed.append(unit)
                    print(f"{TIDY} failed on {unit}: {run.stderr.strip()[:300]}", flush=True)
    print(f"{len(units)} units, {len(found)} findings, {len(failed)} failed")
    return 1 if found or failed or not units else 0


if __name__ == "__main__":
    sys.exit(main())
