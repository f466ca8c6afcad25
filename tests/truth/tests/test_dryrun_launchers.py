# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that start somebody else's Python, or a program of LibTorch, which Strata does not know before: env, scripts of the
shell, tools written in a Python without PyTorch. No Python in PATH has PyTorch here.

usage: test_launchers.py STRATA STRATA_SIMGPU [--python PYTHON]...
"""
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

from running import LONG, dryrun, main, strata_json
from cpp import compiled

MIB = 1 << 20
USE = "import torch; x = torch.empty(1 << 20, device='cuda')"
#: What tells an environment of Python, and what the program was called with, is what it would be without Strata.
WHO = "import os, sys; os.write(1, repr((sys.executable, sys.prefix, sys.argv, sys.orig_argv)).encode() + b'\\n')"


SHORT = ("env", "a tool of another Python", "one after the other", "another name", "becomes another")  # commands of the short form


def peaks(report):
    """MiB, of each process that used a device."""
    return sorted(r["devices"][0]["requested_bytes_peak"] // MIB for r in report["ranks"]) if report else None


def script(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)
    return path


def commands(python, folder):
    """name, command, MiB of each process."""
    inside, home = shlex.quote(python), os.path.dirname(os.path.dirname(python))
    code = shlex.quote(USE)
    tool = script(folder, "tool", "#!/usr/bin/python3\nimport subprocess, sys\nsys.exit(subprocess.call(sys.argv[1:]))\n")
    train = script(folder, "train", f"#!{python}\n{USE}\n")
    return [
        ("env", ["env", "A=1", python, "-c", USE], [4]),
        ("modules from elsewhere", ["env", "PYTHONPATH=" + folder, python, "-c", USE], [4]),
        ("a tool of another Python", [tool, python, "-c", USE], [4]),
        ("a script in a script", ["sh", "-c", shlex.quote(train)], [4]),
        ("one after the other", ["sh", "-c", f"{inside} -c {code}; true; {inside} -c {code}"], [4, 4]),
        ("in the background", ["sh", "-c", f"{inside} -c {code} & {inside} -c {code} & wait"], [4, 4]),
        ("by name", ["sh", "-c", f"PATH={shlex.quote(home)}/bin:$PATH; python -c {code}"], [4]),
        ("from its folder", ["sh", "-c", f"cd {shlex.quote(home)} && bin/python -c {code}"], [4]),
        ("another name", ["bash", "-c", f"exec -a trainer {inside} -c {code}"], None),
        ("its children", ["env", python, "-c", f"import subprocess, sys\n{USE}\nsubprocess.run([sys.executable, '-c', {USE!r}])"],
         [4, 4]),
        ("becomes another", ["env", python, "-c", f"import os\n{USE}\nos.execv({tool!r}, ['tool', {python!r}, '-c', {USE!r}])"],
         [4, 4]),
    ]


def check_commands(strata, python, folder, environment, failures):
    for name, command, wanted in commands(python, folder):
        if not LONG and name not in SHORT:
            continue
        run, report = dryrun(strata, [], command, env=environment)
        if wanted is None:  # called so, it finds no environment of its own, with and without Strata
            failures.expect(name, "says so", "No module named 'torch'" in run.stderr)
            continue
        failures.expect(name, "peaks", (peaks(report), run.returncode), (wanted, 0))
        if peaks(report) != wanted:
            print(run.stderr[-2000:])
            continue
        failures.expect(name, "version", bool(report["torch"]))
        failures.expect(name, "lines", [group["bytes"] for group in report["groups"]], [4 * MIB])


def check_identity(strata, python, folder, environment, failures):
    """By env, by a name in PATH, relative: what the program sees of itself does not change."""
    home = os.path.dirname(os.path.dirname(python))
    for name, command in (("env", ["env", python, "-c", WHO, "a b", ""]),
                          ("by name", ["sh", "-c", f"PATH={shlex.quote(home)}/bin; exec python3 -Ic \"$0\" a", WHO]),
                          ("relative", ["sh", "-c", f"cd {shlex.quote(home)}; exec ./bin/python -c \"$0\" a", WHO])):
        plain = subprocess.run(command, env=environment, capture_output=True, text=True)
        run, _ = dryrun(strata, [], command, env=environment)
        failures.expect(name, "the program sees", plain.stdout in run.stderr and plain.stdout.startswith("("))


def check_several(strata, pythons, environment, failures):
    """Of different versions in one command: each has the device of its own LibTorch."""
    tensor = "print(); print('version', torch.__version__, float(torch.ones(3, device='cuda').shape[0]))"
    line = "; ".join(f"{shlex.quote(python)} -c {shlex.quote(USE + '; ' + tensor)}" for python in pythons)
    run, report = dryrun(strata, [], ["sh", "-c", line], env=environment)
    failures.expect("several", "peaks", (peaks(report), run.returncode), ([4] * len(pythons), 0))
    said = {text.split()[1] for text in run.stderr.splitlines() if text.startswith("version ")}
    failures.expect("several", "versions", len(said), len(pythons))
    failures.expect("several", "not served", [text for text in run.stderr.splitlines() if "not served" in text], [])
    if not LONG:
        return
    # The Python of the command itself is known, and starts others.
    run, report = dryrun(strata, [], [pythons[0], "-c", f"import subprocess\n{USE}\nfor p in {pythons!r}:\n"
                                      f" subprocess.run([p, '-c', {USE!r}], check=True)"], env=environment)
    failures.expect("several of one", "peaks", (peaks(report), run.returncode), ([4] * (len(pythons) + 1), 0))


def check_recorded(strata, python, folder, environment, failures):
    session = os.path.join(folder, "out.strata")
    run, _ = strata_json(strata, ["record", "--simulated", "T4-16GB", "-o", session, "--", "env", python, "-c", USE],
                         env=environment)
    _, summary = strata_json(strata, ["summary", "--json", session])
    device = summary and summary["devices"][0]
    failures.expect("record", "session", device and (run.returncode, device["requested_bytes_peak"], device["integrity"]["exact"]),
                    (0, 4 * MIB, True))
    failures.expect("record", "from the beginning", device and device["requested_bytes_start"], 0)
    run, found = strata_json(strata, ["doctor", "--json", "--", "env", python], env=environment)
    failures.expect("doctor", "dry run", (run.returncode, found["abilities"][0]["answer"]), (0, "yes"))


def check_program(strata, python, folder, environment, failures):
    """A program of C++, started by a script: it does not begin without NVIDIA's libraries, or stand-ins of the PyTorch in PATH."""
    program = compiled(python, failures)
    if not program:
        return
    plain, later = (os.path.join(folder, name) for name in ("plain.json", "later.json"))
    _, wanted = dryrun(strata, [], [program, "conv", "4", plain], env=environment)
    failures.expect("C++", "used", wanted and len(wanted["ranks"]), 1)
    command = ["sh", "-c", f"{shlex.quote(program)} conv 4 {later}"]
    with_torch = {**environment, "PATH": os.path.dirname(python) + ":" + environment["PATH"]}
    _, found = dryrun(strata, [], ["sh", "-c", command[2] + "; true"], env=with_torch)
    failures.expect("C++", "peaks", found and peaks(found), wanted and peaks(wanted))
    done = subprocess.run([strata, "dryrun", "--", *command], env=environment, capture_output=True, text=True)
    if done.returncode == 127:  # else this machine has the libraries
        failures.expect("C++", "hint", "start it itself, as in strata dryrun -- ./program" in done.stdout)


def check_refused(strata, simgpu, python, folder, environment, failures):
    """What is missing is said, and the program runs."""
    other = os.path.join(folder, "torch", "lib")
    os.makedirs(other)
    for file in ("../__init__.py", "libtorch_cpu.so"):
        open(os.path.join(other, file), "w", encoding="utf-8").close()
    run, report = dryrun(strata, [], ["env", "PYTHONPATH=" + folder, python, "-c", "print('runs')"], env=environment)
    failures.expect("CPU alone", "said", ("is for the CPU alone" in run.stderr, "runs\n" in run.stderr, run.returncode),
                    (True, True, 0))
    for status, words in ((0, "which docker, ssh, sudo and env -i do not pass on"), (3, "its own output says why")):
        done = subprocess.run([strata, "dryrun", "--", "sh", "-c", f"exit {status}"], env=environment, capture_output=True, text=True)
        failures.expect(f"status {status}", "hint", words in done.stdout)
    # A Strata of which the starter is missing, then one that has no hook and cannot make one.
    bare = os.path.join(folder, "bare")
    libraries = os.path.join(os.path.dirname(os.path.dirname(strata)), "lib", "strata")
    shutil.copytree(libraries, os.path.join(bare, "lib", "strata"), ignore=shutil.ignore_patterns("libstrata_torch*", "hook-src"))
    os.makedirs(os.path.join(bare, "bin"))
    program = shutil.copy(strata, os.path.join(bare, "bin", "strata"))
    run, report = dryrun(program, [], ["env", python, "-c", "print('runs')"], env=environment)
    failures.expect("no starter", "said", ("without a simulated device" in run.stderr, "runs\n" in run.stderr, run.returncode),
                    (True, True, 0))
    shutil.copy(simgpu, os.path.join(bare, "bin", "strata-simgpu"))
    run, report = dryrun(program, [], ["env", python, "-c", USE], env=environment)
    failures.expect("no hook", "said", "torch's own recorder is used instead" in run.stderr)
    failures.expect("no hook", "peaks", (peaks(report), [g["bytes"] for g in report["groups"]]), ([4], [4 * MIB]))


def test(arguments, python, failures):
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}
    environment.pop("PYTHONPATH", None)
    strata = os.path.abspath(arguments.strata)
    for check in (check_commands, check_identity, check_recorded, check_program):
        with tempfile.TemporaryDirectory() as folder:
            check(strata, python, folder, environment, failures)
    with tempfile.TemporaryDirectory() as folder:
        check_refused(strata, os.path.abspath(arguments.simgpu), python, folder, environment, failures)
    check_several(strata, arguments.found, environment, failures)


if __name__ == "__main__":
    sys.exit(main(test, ("strata", "simgpu"), every_python=False))
