# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that start somebody else's Python, or a program of LibTorch, which Strata does not know before: env, scripts of the
shell, tools written in a Python without PyTorch. No Python in PATH has PyTorch here.
"""
import os
import shlex
import shutil
import subprocess

import pytest

from cpp import compiled
from running import dryrun, strata_json

pytestmark = pytest.mark.torch("newest")

MIB = 1 << 20
USE = "import torch; x = torch.empty(1 << 20, device='cuda')"
#: What tells an environment of Python, and what the program was called with, is what it would be without Strata.
WHO = "import os, sys; os.write(1, repr((sys.executable, sys.prefix, sys.argv, sys.orig_argv)).encode() + b'\\n')"


def peaks(report):
    """MiB, of each process that used a device."""
    return sorted(r["devices"][0]["requested_bytes_peak"] // MIB for r in report["ranks"]) if report else None


def script(folder, name, text):
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def environment():
    bare = {**os.environ, "PATH": "/usr/bin:/bin"}
    bare.pop("PYTHONPATH", None)
    return bare


@pytest.fixture
def tool(tmp_path):
    """Of another Python, which has no PyTorch."""
    return script(tmp_path, "tool", "#!/usr/bin/python3\nimport subprocess, sys\nsys.exit(subprocess.call(sys.argv[1:]))\n")


@pytest.mark.long
def test_commands(strata, python, tmp_path, tool, environment, failures):
    inside, home, code = shlex.quote(python), os.path.dirname(os.path.dirname(python)), shlex.quote(USE)
    train = script(tmp_path, "train", f"#!{python}\n{USE}\n")
    for name, command, wanted in (  # MiB of each process
            ("env", ["env", "A=1", python, "-c", USE], [4]),
            ("modules from elsewhere", ["env", f"PYTHONPATH={tmp_path}", python, "-c", USE], [4]),
            ("a tool of another Python", [tool, python, "-c", USE], [4]),
            ("a script in a script", ["sh", "-c", shlex.quote(train)], [4]),
            ("one after the other", ["sh", "-c", f"{inside} -c {code}; true; {inside} -c {code}"], [4, 4]),
            ("in the background", ["sh", "-c", f"{inside} -c {code} & {inside} -c {code} & wait"], [4, 4]),
            ("by name", ["sh", "-c", f"PATH={shlex.quote(home)}/bin:$PATH; python -c {code}"], [4]),
            ("from its folder", ["sh", "-c", f"cd {shlex.quote(home)} && bin/python -c {code}"], [4]),
            ("its children", ["env", python, "-c", f"import subprocess, sys\n{USE}\nsubprocess.run([sys.executable, '-c', {USE!r}])"],
             [4, 4]),
            ("becomes another", ["env", python, "-c", f"import os\n{USE}\nos.execv({tool!r}, ['tool', {python!r}, '-c', {USE!r}])"],
             [4, 4])):
        run, report = dryrun(strata, [], command, env=environment)
        failures.expect(name, f"peaks and exit: {run.stderr[-2000:]}", (peaks(report), run.returncode), (wanted, 0))
        failures.expect(name, "version", bool(report and report["torch"]))
        failures.expect(name, "lines", report and [group["bytes"] for group in report["groups"]], [4 * MIB])


def test_another_name(strata, python, environment):
    """Called so, it finds no environment of its own, with and without Strata."""
    run, _ = dryrun(strata, [], ["bash", "-c", f"exec -a trainer {shlex.quote(python)} -c {shlex.quote(USE)}"], env=environment)
    assert "No module named 'torch'" in run.stderr


def test_identity(strata, python, environment, failures):
    """By env, by a name in PATH, relative: what the program sees of itself does not change."""
    home = os.path.dirname(os.path.dirname(python))
    for name, command in (("env", ["env", python, "-c", WHO, "a b", ""]),
                          ("by name", ["sh", "-c", f"PATH={shlex.quote(home)}/bin; exec python3 -Ic \"$0\" a", WHO]),
                          ("relative", ["sh", "-c", f"cd {shlex.quote(home)}; exec ./bin/python -c \"$0\" a", WHO])):
        plain = subprocess.run(command, env=environment, capture_output=True, text=True)
        run, _ = dryrun(strata, [], command, env=environment)
        failures.expect(name, "the program sees", plain.stdout in run.stderr and plain.stdout.startswith("("))


def test_several(request, strata, tool, environment, failures):
    """Of different versions in one command, one after the other: each has the device of its own LibTorch."""
    found = request.config.found
    tensor = "print(); print('version', torch.__version__, float(torch.ones(3, device='cuda').shape[0]))"  # 12 bytes
    line = "; ".join(f"{shlex.quote(each)} -c {shlex.quote(USE + '; ' + tensor)}" for each in found)
    run, report = dryrun(strata, [], ["env", "A=1", tool, "sh", "-c", line], env=environment)
    failures.expect("several", "peaks", (peaks(report), run.returncode), ([4] * len(found), 0))
    said = {text.split()[1] for text in run.stderr.splitlines() if text.startswith("version ")}
    failures.expect("several", "versions", len(said), len(found))
    failures.expect("several", "version, lines", report and (bool(report["torch"]), [group["bytes"] for group in report["groups"]]), (True, [4 * MIB + 12]))
    failures.expect("several", "not served", [text for text in run.stderr.splitlines() if "not served" in text], [])


@pytest.mark.long
def test_several_of_one(request, strata, environment):
    """The Python of the command itself is known, and starts others."""
    found = request.config.found
    run, report = dryrun(strata, [], [found[0], "-c", f"import subprocess\n{USE}\nfor p in {found!r}:\n"
                                      f" subprocess.run([p, '-c', {USE!r}], check=True)"], env=environment)
    assert (peaks(report), run.returncode) == ([4] * (len(found) + 1), 0)


def test_recorded(strata, python, tmp_path, environment, failures):
    session = str(tmp_path / "out.strata")
    run, _ = strata_json(strata, ["record", "--simulated", "T4-16GB", "-o", session, "--", "env", python, "-c", USE], env=environment)
    _, summary = strata_json(strata, ["summary", "--json", session])
    device = summary and summary["devices"][0]
    failures.expect("record", "session", device and (run.returncode, device["requested_bytes_peak"], device["integrity"]["exact"]),
                    (0, 4 * MIB, True))
    failures.expect("record", "from the beginning", device and device["requested_bytes_start"], 0)
    run, found = strata_json(strata, ["doctor", "--json", "--", "env", python], env=environment)
    failures.expect("doctor", "dry run", (run.returncode, found["abilities"][0]["answer"]), (0, "yes"))


def test_cpp(strata, python, tmp_path, environment, failures):
    """A program of C++, started by a script: it does not begin without NVIDIA's libraries, or stand-ins of the PyTorch in PATH."""
    program = compiled(python, failures)
    if not program:
        return
    plain, later = tmp_path / "plain.json", tmp_path / "later.json"
    _, wanted = dryrun(strata, [], [program, "conv", "4", str(plain)], env=environment)
    failures.expect("C++", "used", wanted and len(wanted["ranks"]), 1)
    command = ["sh", "-c", f"{shlex.quote(program)} conv 4 {later}"]
    with_torch = {**environment, "PATH": os.path.dirname(python) + ":" + environment["PATH"]}
    _, found = dryrun(strata, [], ["sh", "-c", command[2] + "; true"], env=with_torch)
    failures.expect("C++", "peaks", found and peaks(found), wanted and peaks(wanted))
    done = subprocess.run([strata, "dryrun", "--", *command], env=environment, capture_output=True, text=True)
    if done.returncode == 127:  # else this machine has the libraries
        failures.expect("C++", "hint", "start it itself, as in strata dryrun -- ./program" in done.stdout)


def test_cpu_alone(strata, python, tmp_path, environment):
    """What is missing is said, and the program runs."""
    library = tmp_path / "torch" / "lib"
    library.mkdir(parents=True)
    for file in ("../__init__.py", "libtorch_cpu.so"):
        (library / file).touch()
    run, _ = dryrun(strata, [], ["env", f"PYTHONPATH={tmp_path}", python, "-c", "print('runs')"], env=environment)
    assert run.returncode == 0 and "is for the CPU alone" in run.stderr and "runs\n" in run.stderr


@pytest.mark.parametrize("status, words", [(0, "which docker, ssh, sudo and env -i do not pass on"), (3, "its own output says why")])
def test_hint(strata, environment, status, words):
    done = subprocess.run([strata, "dryrun", "--", "sh", "-c", f"exit {status}"], env=environment, capture_output=True, text=True)
    assert words in done.stdout


def test_strata_without_its_parts(strata, simgpu, python, tmp_path, environment, failures):
    """A Strata of which the starter is missing, then one that has no hook and cannot make one: its dry runs keep torch's own recorder on."""
    libraries = os.path.join(os.path.dirname(os.path.dirname(strata)), "lib", "strata")
    shutil.copytree(libraries, tmp_path / "lib" / "strata", ignore=shutil.ignore_patterns("libstrata_torch*", "hook-src"))
    (tmp_path / "bin").mkdir()
    program, session = shutil.copy(strata, tmp_path / "bin" / "strata"), str(tmp_path / "kept.strata")
    run, _ = dryrun(program, [], ["env", python, "-c", "print('runs')"], env=environment)
    failures.expect("no starter", "said", ("without a simulated device" in run.stderr, "runs\n" in run.stderr, run.returncode),
                    (True, True, 0))
    shutil.copy(simgpu, tmp_path / "bin" / "strata-simgpu")
    run, report = dryrun(program, ["-o", session], ["env", python, "-c", USE], env=environment)
    failures.expect("no hook", "said", "torch's own recorder is used instead" in run.stderr)
    failures.expect("no hook", "peaks", (peaks(report), [g["bytes"] for g in report["groups"]]), ([4], [4 * MIB]))
    _, summary = strata_json(strata, ["summary", "--json", session])
    kept, told = summary["devices"][0], report["ranks"][0]["devices"][0]
    for figure in ("requested_bytes_peak", "reserved_bytes_peak"):
        failures.expect("no hook", f"{figure} of the session", kept[figure], told[figure])
    failures.expect("no hook", "command of the session", kept["settings"]["simulated_device"]["command"], ["env", python, "-c", USE])
