# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of capture/README.md: the C++ one compiles against an install tree and runs, the Python one records.

usage: test_record_api.py STRATA STRATA_SIMGPU BUILD_FOLDER [--python PYTHON]...

The Python part is skipped, saying so, without a Python with PyTorch.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

import record_tools
from running import Failures, pythons, strata_json

CAPTURE = os.path.join(record_tools.PROJECT, "capture")
PROJECT_FILE = """
cmake_minimum_required(VERSION 3.25)
project(example LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
"""


def examples(language):
    with open(os.path.join(CAPTURE, "README.md"), encoding="utf-8") as file:
        return re.findall(rf"```{language}\n(.*?)```", file.read(), re.DOTALL)


def quiet(failures, name, command, **more):
    run = subprocess.run(command, capture_output=True, text=True, **more)
    failures.expect(name, "exit", run.returncode, 0)
    if run.returncode != 0:
        print((run.stdout + run.stderr)[-3000:])
    return run


def cpp(build, failures):
    with tempfile.TemporaryDirectory() as folder:
        prefix, source = os.path.join(folder, "prefix"), os.path.join(folder, "source")
        os.mkdir(source)
        quiet(failures, "C++: install", ["cmake", "--install", build, "--component", "capture", "--prefix", prefix])
        with open(os.path.join(source, "CMakeLists.txt"), "w") as file:
            file.write(PROJECT_FILE + "add_executable(app app.cpp)\n" + examples("cmake")[0])
        with open(os.path.join(source, "app.cpp"), "w") as file:
            file.write(examples("cpp")[0])
        quiet(failures, "C++: configure", ["cmake", "-S", source, "-B", source + "/build", f"-DCMAKE_PREFIX_PATH={prefix}"])
        quiet(failures, "C++: build", ["cmake", "--build", source + "/build"])
        run = quiet(failures, "C++: run", [source + "/build/app"], cwd=folder)
        failures.expect("C++: run", "says nothing without LibTorch", run.stderr, "")


def install(interpreter, site, failures):
    """By pip from a copy of the tree, which pip builds in; it loads setuptools from PyPI."""
    tree = site + "-tree"
    shutil.copytree(os.path.join(CAPTURE, "python"), tree)
    run = subprocess.run([interpreter, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--retries", "1",
                          "--no-deps", "--target", site, tree], capture_output=True, text=True)
    if "No matching distribution" in run.stderr:
        print("PyPI does not answer: what pip makes of the package is not tested")
        shutil.copytree(tree, site)
        return
    failures.expect("Python: pip", "exit", run.returncode, 0)
    if run.returncode != 0:
        print(run.stderr[-2000:])


def python(strata, simgpu, build, interpreter, failures):
    with tempfile.TemporaryDirectory() as folder:
        site = os.path.join(folder, "site")
        install(interpreter, site, failures)
        program = ("import torch\nbefore = torch.empty(1000, device='cuda')\n"
                   + examples("python")[0].replace("strata_capture.mark(", "kept = torch.empty(10 + number, device='cuda')"
                                                   "\n            strata_capture.mark("))
        environment = {**os.environ, "PYTHONPATH": site,
                       "STRATA_CAPTURE_LIBRARY": os.path.join(build, "lib", "strata", "libstrata_capture.so")}
        run = quiet(failures, "Python: run", [simgpu, "--", interpreter, "-c", program], cwd=folder, env=environment)
        failures.expect("Python: run", "complaints", run.stderr, "")
        session = os.path.join(folder, "run.strata")
        _, summary = strata_json(strata, ["summary", "--json", session])
        if summary is None:
            failures.expect("Python", "session", None, "one")
            return
        device = summary["devices"][0]
        failures.expect("Python", "exact", device["integrity"]["exact"], True)
        failures.expect("Python", "allocations", device["actions"]["alloc"], 3)
        failures.expect("Python", "what was there before", device["requested_bytes_start"], 4000)
        for existing, found in (("refuse", ["run.strata"]), ("number", ["run.2.strata", "run.strata"]),
                                ("replace", ["run.2.strata", "run.strata"])):
            before = os.stat(session).st_ino
            again = program.replace('record("run.strata"', f'record("run.strata", existing="{existing}"')
            run = subprocess.run([simgpu, "--", interpreter, "-c", again], capture_output=True, text=True, cwd=folder, env=environment)
            failures.expect("Python: " + existing, "is told", "run.strata: is there already" in run.stderr, existing == "refuse")
            failures.expect("Python: " + existing, "files", sorted(n for n in os.listdir(folder) if n.endswith(".strata")), found)
            failures.expect("Python: " + existing, "new file", os.stat(session).st_ino != before, existing == "replace")
        snapshot = record_tools.as_snapshot(strata, session, folder)
        steps = [a["name"] for a in snapshot["external_annotations"] if a.get("stage") == "START"]
        failures.expect("Python", "steps", steps, ["step 0", "step 1", "step 2"])
        allocs = [e for e in snapshot["device_traces"][0] if e["action"] == "alloc"]
        failures.expect("Python", "stacks", [e["frames"][0]["filename"] for e in allocs], ["<string>"] * 3)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("strata")
    parser.add_argument("simgpu")
    parser.add_argument("build")
    parser.add_argument("--python", action="append", default=[])
    arguments = parser.parse_args()
    for name in ("strata", "simgpu", "build"):
        setattr(arguments, name, os.path.abspath(getattr(arguments, name)))
    failures = Failures()
    cpp(arguments.build, failures)
    found = pythons(arguments.python)
    if found:
        python(arguments.strata, arguments.simgpu, arguments.build, found[-1], failures)
    else:
        print("no torch: the package of Python is not tested; tests/truth/environment.sh makes an environment")
    print(f"{failures.count} failures")
    return 1 if failures.count else 0


if __name__ == "__main__":
    sys.exit(main())
