# SPDX-License-Identifier: GPL-3.0-or-later
"""The hook for the torch at hand: made from that torch's own headers where none came with Strata, once, whoever asks.

Runs with the PyTorches at hand, and with one of a version that no list of the project names ($STRATA_TORCH_UNLISTED); in the
short form each of them makes its hook once. The hooks that were built with Strata are hidden. Compiling a hook takes half a minute:
that is left to ccache, where it is there.
"""
import glob
import os
import shutil
import stat
import subprocess
import sys

import pytest

import record_tools
from cpp import facts_of
from record_tools import first_device
from running import LONG, of_this_form, pythons, strata_json

pytestmark = [pytest.mark.torch("newest"), pytest.mark.skipif(not shutil.which("c++"), reason="no c++")]

FOUND = pythons([])
UNLISTED = [os.environ["STRATA_TORCH_UNLISTED"]] if os.environ.get("STRATA_TORCH_UNLISTED") else []
#: A compiler whose results ccache keeps, wherever the folder of the test is. It lists the calls that succeed.
CACHING = """#!/bin/bash
cd '@folder'
CCACHE_DIR='@cache' CCACHE_BASEDIR='@folder' @ccache @compiler "$@" && echo "$@" >>calls
"""
COMPILES = "compiling its hook, once"
SIMULATED = ["--simulated", "T4-16GB"]
ALLOCATE = "import torch\nkept = [torch.empty(1000 + i, device='cuda') for i in range(10)]\n"
#: Until the recording is there, with nothing that its maker could be taken for a child by.
WAIT = """
import os, time
file, end = os.environ["STRATA_RECORD_FILE"], time.time() + 300
while not os.path.exists(file) and time.time() < end:
    torch.empty(500, device="cuda")
    try:
        print("child", os.waitpid(-1, os.WNOHANG))
    except ChildProcessError:
        pass
    time.sleep(0.05)
more = torch.empty(3000, device="cuda")
"""


class Product:
    """A Strata as it is installed, but for hooks; and a user with an empty cache."""

    def __init__(self, strata, simgpu, folder):
        libraries = os.path.join(os.path.dirname(os.path.dirname(strata)), "lib", "strata")
        shutil.copytree(libraries, os.path.join(folder, "lib", "strata"), ignore=shutil.ignore_patterns("libstrata_torch*"))
        os.makedirs(os.path.join(folder, "bin"))
        self.strata = shutil.copy(strata, os.path.join(folder, "bin", "strata"))
        self.simgpu = shutil.copy(simgpu, os.path.join(folder, "bin", "strata-simgpu"))
        self.folder = folder
        self.users = 0
        self.compiler = self.caching_compiler()

    def caching_compiler(self):
        """Variables that name one; none without ccache."""
        ccache, compiler = shutil.which("ccache"), shutil.which("c++")
        if not ccache:
            return {}
        cache = subprocess.run([ccache, "--get-config", "cache_dir"], capture_output=True, text=True, check=True).stdout.strip()
        path, text = os.path.join(self.folder, "caching"), CACHING
        for name, value in (("ccache", ccache), ("cache", cache), ("compiler", compiler), ("folder", self.folder)):
            text = text.replace("@" + name, value)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return {"CXX": path}

    def calls(self):
        """How often that compiler compiled and linked since this was last asked."""
        path = os.path.join(self.folder, "calls")
        with open(path, encoding="utf-8") as file:
            words = [line.split() for line in file]
        os.remove(path)
        return sum("-c" in each for each in words), sum("-shared" in each for each in words)

    def user(self, **variables):
        """The environment of one who never used Strata."""
        self.users += 1
        cache = os.path.join(self.folder, f"cache{self.users}")
        return {**os.environ, "XDG_CACHE_HOME": cache, "TMPDIR": self.folder, **self.compiler, **variables}

    def record(self, python, program, environment, name="out"):
        session = os.path.join(self.folder, name + ".strata")
        run = record_tools.record(self.strata, ["-o", session, *SIMULATED], [python, "-c", program], env=environment)
        return session, run


def hooks_of(environment):
    return sorted(glob.glob(os.path.join(environment["XDG_CACHE_HOME"], "strata", "hooks", "*.so")))


def expect_recorded(product, name, session, run, failures, before=0):
    found = first_device(product.strata, session)
    failures.expect(name, "exit", run.returncode, 0)
    failures.expect(name, "exact", found and found["integrity"]["exact"], True)
    failures.expect(name, "alive at the start", found and found["requested_bytes_start"] > 0, before > 0)
    if not found:
        print(run.stderr[-2000:])


@pytest.fixture(scope="module")
def product(strata, simgpu, tmp_path_factory):
    return Product(strata, simgpu, str(tmp_path_factory.mktemp("product")))


@pytest.mark.parametrize("torch", [*FOUND, *UNLISTED] if LONG else UNLISTED or FOUND[:1],
                         ids=lambda python: os.path.basename(os.path.dirname(os.path.dirname(python))))
def test_made_once(product, torch, failures):
    if not UNLISTED:
        failures.skip("no version beside those of the tests is tried: STRATA_TORCH_UNLISTED names its Python")
    environment = product.user()
    session, run = product.record(torch, ALLOCATE, environment)
    failures.expect("first", "said", run.stderr.count(COMPILES), 1)
    if product.compiler:
        failures.expect("first", "compiled and linked by $CXX", product.calls(), (1, 1))
    expect_recorded(product, "first", session, run, failures)
    stacks = subprocess.run([product.strata, "at", session, "peak", "--by", "site", "--json"], capture_output=True, text=True)
    failures.expect("first", "stacks", (stacks.returncode, "<string>" in stacks.stdout), (0, True))
    failures.expect("first", "frames of the hook", "strata::" in stacks.stdout or "strata_torch" in stacks.stdout, False)
    hooks = hooks_of(environment)
    failures.expect("first", "kept", len(hooks), 1)
    folder = os.path.join(environment["XDG_CACHE_HOME"], "strata", "hooks")
    failures.expect("first", "for this user alone", stat.S_IMODE(os.stat(folder).st_mode), 0o700)
    failures.expect("first", "nothing beside it", [os.path.join(folder, f) for f in os.listdir(folder)], hooks)
    session, run = product.record(torch, ALLOCATE, environment)
    failures.expect("again", "said", run.stderr.count(COMPILES), 0)
    expect_recorded(product, "again", session, run, failures)
    # Of a folder that others may write to nothing is loaded.
    os.chmod(folder, 0o777)
    runs_without(product, torch, "hook of others", {**environment, "PATH": "/nonexistent"}, NO_COMPILER, failures)


def test_racing(product, python, failures):
    """Ranks begin at once: one compiles, the other waits."""
    environment = product.user()
    runs = [subprocess.Popen([product.strata, "record", "--overwrite", "-o", os.path.join(product.folder, f"race{i}.strata"), *SIMULATED, "--",
                              python, "-c", ALLOCATE], env=environment, stderr=subprocess.PIPE, text=True) for i in range(2)]
    said = [run.communicate()[1] for run in runs]
    failures.expect("race", "compiled", sum(text.count(COMPILES) for text in said), 1)
    failures.expect("race", "kept", len(hooks_of(environment)), 1)
    for i, run in enumerate(runs):
        expect_recorded(product, f"race {i}", os.path.join(product.folder, f"race{i}.strata"), run, failures)
    look_at_doctor(product, python, product.user() if LONG else environment, failures)


def test_unknown_before(product, failures):
    """A script of the shell, and no Python in PATH: the recorder has the hook made beside the program."""
    python = of_this_form(FOUND, older=True)[-1]
    name, environment = "by a script", product.user()
    script, session = (os.path.join(product.folder, f) for f in ("script.sh", "late.strata"))
    with open(script, "w") as file:
        file.write(f"#!/bin/sh\nexec '{python}' -c \"$1\"\n")
    os.chmod(script, 0o755)
    compilers = os.path.join(product.folder, "compilers")
    os.makedirs(compilers)
    for tool in ("c++", "g++", "cc", "gcc", "as", "ld", "env"):
        if shutil.which(tool):
            os.symlink(os.path.realpath(shutil.which(tool)), os.path.join(compilers, tool))

    def run(program):
        command = [product.simgpu, "--", "/usr/bin/env", f"PATH={compilers}", product.strata, "record", "--overwrite", "-o", session, "--",
                   script, program]
        done = subprocess.run(command, capture_output=True, text=True,
                              env={**environment, "PATH": os.path.dirname(python) + ":" + os.environ["PATH"]})
        failures.expect(name, "children that the program sees", done.stdout, "")
        return done
    done = run(ALLOCATE + WAIT)
    failures.expect(name, "said", done.stderr.count("its hook is compiled, once"), 1)
    expect_recorded(product, name, session, done, failures, before=1)
    if LONG:  # the next time it is there, and nothing is missing
        expect_recorded(product, name + " again", session, run(ALLOCATE), failures)


@pytest.mark.long
@pytest.mark.torch("every")
def test_other_strings(product, python, failures):
    """The same version with the other ABI of std::string, as 2.6.0 was published with both: a hook for each, by what libc10
    exports. The other one is made of torch's own headers, for what of it is looked at."""
    torch, _, abi, version = facts_of(python)
    name, environment = "other ABI", product.user()
    other = os.path.join(product.folder, f"other-{version}", "torch")
    os.makedirs(os.path.join(other, "lib"))
    for part in ("include", "version.py", os.path.join("lib", "libc10_cuda.so")):
        os.symlink(os.path.join(torch, part), os.path.join(other, part))
    source = os.path.join(product.folder, "c10.cpp")
    with open(source, "w") as file:
        file.write("#include <c10/util/Exception.h>\nc10::Error::Error(SourceLocation, std::string) {}\n")
    subprocess.run(["c++", "-std=c++20", "-O1", "-shared", "-fPIC", f"-D_GLIBCXX_USE_CXX11_ABI={1 - abi}", "-isystem",
                    os.path.join(torch, "include"), source, "-o", os.path.join(other, "lib", "libc10.so")], check=True)
    maker, made = os.path.join(os.path.dirname(product.strata), "..", "lib", "strata", "strata-hook"), []
    for folder in (torch, other, torch, other):
        run = subprocess.run([maker, os.path.join(folder, "lib")], env=environment, capture_output=True, text=True)
        failures.expect(name, "made", (run.returncode, run.stdout[:5]), (0, "hook "))
        made.append(run.stdout[5:].strip())
    failures.expect(name, "each found again", made[2:], made[:2])
    failures.expect(name, "kept", hooks_of(environment), sorted(made[:2]))
    for path, ours in zip(made, (abi, 1 - abi)):
        symbols = subprocess.run(["nm", path], capture_output=True, text=True).stdout
        failures.expect(name, f"strings of ABI {ours}: new, old, in the name",
                        ("__cxx11" in symbols, "_ZNSs" in symbols, f"-abi{ours}-" in path), (ours == 1, ours == 0, True))


NO_COMPILER = ("no C++ compiler is in PATH", "apt-get install g++")
RUNS = ALLOCATE + "import sys\nprint('runs')\nsys.exit(5)"


def runs_without(product, python, name, environment, texts, failures):
    """What keeps a hook from being made is said, and keeps no program from running."""
    environment = {variable: value for variable, value in environment.items() if variable != "CXX"}
    session, run = product.record(python, RUNS, environment, "without")
    failures.expect(name, "program", (run.returncode, run.stdout), (5, b"runs\n"))
    for text in [*texts, "nothing is recorded"]:
        failures.expect(name, f"says '{text}'", run.stderr.count(text), 1)
    failures.expect(name, "session", os.path.exists(session), False)


def dry_run_without(product, python, name, environment, failures):
    environment = {variable: value for variable, value in environment.items() if variable != "CXX"}
    dry = subprocess.run([product.strata, "dryrun", "--", python, "-c", ALLOCATE], env=environment, capture_output=True, text=True)
    failures.expect(name, "dry run", (dry.returncode, "torch's own recorder is used" in dry.stderr, "<string>:2" in dry.stdout), (0, True, True))


def test_broken_compiler(product, python, failures):
    fake = os.path.join(product.folder, "fake")
    os.makedirs(fake)
    for compiler in ("c++", "g++", "clang++"):
        path = os.path.join(fake, compiler)
        with open(path, "w") as file:
            file.write("#!/bin/sh\necho 'In file included from here' >&2\necho 'x.h:1:2: error: odd compiler' >&2\nexit 1\n")
        os.chmod(path, 0o755)
    environment = product.user(PATH=fake)
    runs_without(product, python, "broken compiler", environment, ["x.h:1:2: error: odd compiler", "C++20"], failures)
    if LONG:
        dry_run_without(product, python, "broken compiler", environment, failures)


def test_no_compiler(product, python, failures):
    """test_made_once has a recording, too."""
    environment = product.user(PATH="/nonexistent")
    dry_run_without(product, python, "no compiler", environment, failures)
    if LONG:
        runs_without(product, python, "no compiler", environment, NO_COMPILER, failures)


@pytest.mark.long
def test_cache_that_cannot_be_written(product, python, failures):
    """A cache that cannot be written: the hook is kept below the folder for temporary files."""
    session = os.path.join(product.folder, "elsewhere.strata")
    environment = product.user()
    run = subprocess.run([product.simgpu, "--", "/usr/bin/env", "XDG_CACHE_HOME=/proc/none", product.strata, "record", "--overwrite", "-o",
                          session, "--", python, "-c", ALLOCATE], capture_output=True, text=True,
                         env={**environment, "PATH": os.path.dirname(python) + ":" + os.environ["PATH"]})
    expect_recorded(product, "read-only cache", session, run, failures)
    kept = glob.glob(os.path.join(product.folder, "strata-hooks-*", "*.so"))
    failures.expect("read-only cache", "kept", len(kept), 1)
    for hook in kept:
        os.remove(hook)


def look_at_doctor(product, python, environment, failures):
    """What it says is so: a dry run and a recording on a simulated device work, as the tests above show."""
    run, found = strata_json(product.strata, ["doctor", "--json", "--", python, "train.py"], env=environment)
    failures.expect("doctor", "exit", (run.returncode, found and found["schema"], found and found["ok"]), (0, 1, True))
    answers = {each["id"]: each["answer"] for each in found["abilities"]}
    failures.expect("doctor", "answers", sorted(answers), ["attach", "driver_readings", "dry_run", "inject", "kernels",
                                                           "record_native_stacks", "record_python_stacks"])
    failures.expect("doctor", "dry run", answers["dry_run"], "yes")
    recorded = "yes" if found["gpus"] else "simulated"
    failures.expect("doctor", "record", [answers[each] for each in ("record_native_stacks", "record_python_stacks", "kernels")], [recorded] * 3)
    failures.expect("doctor", "hook", [found["hook"]], hooks_of(environment))
    for each in found["abilities"]:
        failures.expect("doctor", each["id"] + ": a remark for each no", bool(each["remark"]), each["answer"] != "yes")
    bare = os.path.join(product.folder, "bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    other = os.path.join(bare, "bin", "python")
    run, found = strata_json(product.strata, ["doctor", "--json", "--", other], env=environment)
    failures.expect("doctor without torch", "exit", (run.returncode, found["ok"], found["torch"]), (1, False, None))
    remark = found["abilities"][0]["remark"]
    failures.expect("doctor without torch", "the line", f"{other} -m ensurepip && {other} -m pip install torch" in remark)
    # A build for the CPU alone, told by its files.
    site = os.path.join(product.folder, "site")
    os.makedirs(os.path.join(site, "torch", "lib"))
    for name, text in (("__init__.py", ""), ("version.py", "__version__ = '2.6.0+cpu'\n"), ("lib/libtorch_cpu.so", "")):
        with open(os.path.join(site, "torch", name), "w") as file:
            file.write(text)
    done = subprocess.run([product.strata, "record", "--overwrite", "-o", os.path.join(product.folder, "cpu.strata"), "--", other, "-c", ""],
                          env={**environment, "PYTHONPATH": site}, capture_output=True, text=True)
    failures.expect("CPU alone", "exit", done.returncode, 2)
    failures.expect("CPU alone", "the line", "--force-reinstall torch==2.6.0 --index-url https://pypi.org/simple" in done.stderr)
