# SPDX-License-Identifier: GPL-3.0-or-later
"""C++ programs of the tests, built with the LibTorch of a wheel and kept in the build's folder. Compiling one takes half a minute: that is
left to ccache, which serves every checkout. What compiles is g++, with the headers of the CUDA runtime that tests/truth/environment.sh
loads."""
import fcntl
import glob
import hashlib
import os
import shutil
import subprocess

import running
from running import CACHE, PROGRAMS, PROJECT

TRAIN = os.path.join(PROGRAMS, "train.cpp")
LIBTORCH = ("torch", "torch_cpu", "torch_cuda", "c10", "c10_cuda")


def facts_of(python):
    """Folder of PyTorch, major version of its CUDA, ABI of its strings, version; without importing it."""
    [folder] = glob.glob(os.path.join(os.path.dirname(os.path.dirname(python)), "lib", "python3*", "site-packages", "torch"))
    told = {}
    with open(os.path.join(folder, "version.py"), encoding="utf-8") as file:
        exec(file.read(), told)
    with open(os.path.join(folder, "share", "cmake", "Torch", "TorchConfig.cmake"), encoding="utf-8") as file:
        abi = int("_GLIBCXX_USE_CXX11_ABI=0" not in file.read())
    return folder, told["cuda"].split(".")[0], abi, told["__version__"]


def compiled(python, failures, source=TRAIN, options=("-O1",), behind=(), libraries=LIBTORCH):
    """Path of the program; None when it cannot be built here. `options` may name further sources, folders of headers and libraries;
    `behind`: options that stand behind LibTorch's libraries."""
    torch, major, abi, version = facts_of(python)
    headers = glob.glob(os.path.join(CACHE, f"headers-{major}", "nvidia", "*", "include", "cuda_runtime_api.h"))
    if not headers or not shutil.which("g++"):
        failures.skip(f"not built for PyTorch {version}: {'no headers of CUDA ' + major if not headers else 'no g++'}")
        return None
    include, lib = os.path.join(torch, "include"), os.path.join(torch, "lib")
    linking = [option for option in options if option.startswith(("-L", "-Wl,", "-l", "-rdynamic"))]
    sources = [source, *(option for option in options if option.endswith(".cpp"))]
    plain = [option for option in options if option not in linking and option not in sources]
    lines = [] if any(option.startswith("-g") for option in options) else ["-g1"]  # types and variables would slow down g++ and libdw
    compiling = ["-std=c++20", *lines, f"-D_GLIBCXX_USE_CXX11_ABI={abi}", "-isystem", include, "-isystem",
                 os.path.join(include, "torch", "csrc", "api", "include"), "-isystem", os.path.dirname(headers[0]), *plain]
    link = [*plain, *linking, "-L" + lib, "-Wl,-rpath," + lib, "-Wl,--allow-shlib-undefined", "-Wl,--no-as-needed",
            *("-l" + library for library in libraries), *behind]
    folder = os.path.join(running.BUILD, "truth-programs")
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, f"{version}-{hashlib.sha256(repr((sources, compiling, link)).encode()).hexdigest()[:12]}")
    with open(program + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests that run beside this one want the same program: one makes it, the others wait
        return program if is_new(program, sources) else make(program, sources, compiling, link, failures)


def is_new(program, sources):
    """Whether it is newer than its sources and the headers of the project."""
    headers = glob.glob(os.path.join(PROJECT, "capture", "include", "**", "*.h"), recursive=True)
    return os.path.exists(program) and all(os.path.getmtime(path) < os.path.getmtime(program) for path in [*sources, *headers])


def make(program, sources, compiling, link, failures):
    """Path of the program, which is made; None where that fails."""
    compiler = [*(["ccache"] if shutil.which("ccache") else []), "g++"]
    environment = {"CCACHE_BASEDIR": os.path.abspath(PROJECT), "CCACHE_NOHASHDIR": "1", **os.environ}
    objects = [f"{program}-{number}.o" for number in range(len(sources))]
    commands = [[*compiler, *compiling, "-c", source, "-o", path] for source, path in zip(sources, objects)]
    for command in [*commands, ["g++", *objects, *link, "-o", program + ".partial"]]:
        made = subprocess.run(command, capture_output=True, text=True, env=environment)
        if made.returncode != 0:
            failures.expect(" ".join(sources), "compiles", made.stderr[:3000], "")
            return None
    for path in objects:
        os.remove(path)
    os.rename(program + ".partial", program)
    return program
