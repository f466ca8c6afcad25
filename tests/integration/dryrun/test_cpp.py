# SPDX-License-Identifier: GPL-3.0-or-later
"""A C++ program linked with the LibTorch of a wheel, under `strata dryrun`: its peaks are the allocator's own.

usage: test_cpp.py STRATA [--python PYTHON]...

The program is compiled once for each LibTorch (half a minute) and kept in $XDG_CACHE_HOME/strata. Skipped (exit 77) without
PyTorch, without a compiler, or without the headers of the CUDA runtime, which tests/truth/environment.sh loads.
"""
import fcntl
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

from running import CACHE, TRUTH, dryrun, main

SOURCE = os.path.join(TRUTH, "train.cpp")
OPTIMIZATION = "-O1"  # some is inlined


def facts_of(python):
    """Folder of PyTorch, major version of its CUDA, ABI of its strings, version; without importing it."""
    [folder] = glob.glob(os.path.join(os.path.dirname(os.path.dirname(python)), "lib", "python3*", "site-packages", "torch"))
    told = {}
    with open(os.path.join(folder, "version.py"), encoding="utf-8") as file:
        exec(file.read(), told)
    with open(os.path.join(folder, "share", "cmake", "Torch", "TorchConfig.cmake"), encoding="utf-8") as file:
        abi = int("_GLIBCXX_USE_CXX11_ABI=0" not in file.read())
    return folder, told["cuda"].split(".")[0], abi, told["__version__"]


LIBTORCH = ("torch", "torch_cpu", "torch_cuda", "c10", "c10_cuda")


def build(python, failures, source=SOURCE, options=(OPTIMIZATION,), behind=(), libraries=LIBTORCH):
    """Path of the program; None when it cannot be built here. `behind`: options that stand behind LibTorch's libraries."""
    _, major, _, version = facts_of(python)
    headers = glob.glob(os.path.join(CACHE, f"headers-{major}", "nvidia", "*", "include", "cuda_runtime_api.h"))
    if not headers or not shutil.which("g++"):
        failures.skip(f"not built for PyTorch {version}: {'no headers of CUDA ' + major if not headers else 'no g++'}")
        return None
    program = os.path.join(CACHE, f"truth-{version}-{key_of(source, options, behind, libraries)}")
    with open(program + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests that run beside this one want the same program: one compiles it, the others wait
        return program if os.path.exists(program) else compiled(python, failures, source, program, options, behind, libraries, headers[0])


def key_of(source, options, behind, libraries):
    """Of what a program is made of: its source, its options, and the headers of the project that it may include."""
    headers = [path for option in options if option.startswith("-I") for path in sorted(glob.glob(os.path.join(option[2:], "**", "*.h"), recursive=True))]
    key = hashlib.sha256()
    for path in [source, *(option for option in options if option.endswith(".cpp")), *headers]:
        with open(path, "rb") as file:
            key.update(file.read())
    key.update("".join([*options, *behind, *(() if libraries == LIBTORCH else libraries)]).encode())
    return key.hexdigest()[:12]


def compiled(python, failures, source, program, options, behind, libraries, header):
    """Path of the program, which is made; None where that fails."""
    torch, _, abi, _ = facts_of(python)
    include, lib = os.path.join(torch, "include"), os.path.join(torch, "lib")
    command = ["g++", "-std=c++20", "-g", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", "-isystem", include, "-isystem",
               os.path.join(include, "torch", "csrc", "api", "include"), "-isystem", os.path.dirname(header),
               source, "-o", program + ".partial", *options, "-L" + lib, "-Wl,-rpath," + lib, "-Wl,--allow-shlib-undefined",
               "-Wl,--no-as-needed", *("-l" + library for library in libraries), *behind]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode != 0:
        failures.expect(f"{python} {source}", "compiles", made.stderr[:3000], "")
        return None
    os.rename(program + ".partial", program)
    return program


def check(strata, python, program, model, failures):
    name = f"{python} C++ {model}"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "truth.json")
        run, report = dryrun(strata, [], [program, model, "4", path])
        if report is None or report["exit_status"] != 0 or not os.path.exists(path):
            failures.expect(name, "output", (run.returncode, run.stderr[-2000:]), "a report")
            return
        with open(path) as file:
            truth = json.load(file)
    got = report["ranks"][0]["devices"][0]
    failures.expect(name, "peaks", {key: got[f"{key}_bytes_peak"] for key in truth}, truth)
    failures.expect(name, "exit", run.returncode, 0)
    # The program may have been built from another copy of the source.
    lines = [group["bytes"] for group in report["groups"] if os.path.basename(SOURCE) + ":" in group["key"]]
    failures.expect(name, f"its lines in {report['groups']}", sum(lines) > truth["requested"] // 3, True)
    failures.expect(name, "trained", truth["requested"] > 1 << 20, True)
    failures.expect(name, "not served", [l for l in run.stderr.splitlines() if "not served" in l], [])


def test(arguments, python, failures):
    program = build(python, failures)
    for model in ("gpt", "conv") if program else ():
        check(arguments.strata, python, program, model, failures)
    return None if program else "the program cannot be built"


if __name__ == "__main__":
    sys.exit(main(test))
