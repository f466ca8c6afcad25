# SPDX-License-Identifier: GPL-3.0-or-later
"""Every way in which a C++ program ends: all that it had done is in the session, which opens and says how it
ended, and the program ends as it would have without a recorder: status, core, its own handlers.

usage: test_record_endings.py STRATA STRATA_SIMGPU BUILD_FOLDER [--python PYTHON]... [--after MILLISECONDS]...

Each way, with the recorder preloaded or linked, 10 ms after the start. STRATA_LONG=1: with both, and some ways after 1000 ms too. --after: with both,
MILLISECONDS after the start. Skipped (exit 77) without PyTorch or what compiles with it.
"""
import os
import resource
import shutil
import subprocess
import sys
import tempfile

from running import LONG, PROGRAMS, PROJECT, main, strata_json
from cpp import compiled

SOURCE = os.path.join(PROGRAMS, "ends.cpp")
CAPTURE = os.path.join(PROJECT, "capture")
SIMULATED = "T4-16GB"
#: What a session without an end says of it; None: it has one, as after an out-of-memory, where the state is written.
WAYS = {"return": None, "exit": None, "quick_exit": None, "_exit": "_exit", "exception": "SIGABRT", "thread exception": "SIGABRT",
        "abort": "SIGABRT", "fault": "SIGSEGV", "SIGTERM": "SIGTERM", "SIGINT": "SIGINT", "Ctrl+C": "SIGINT",
        "alarm": "SIGALRM", "breakpoint": "SIGTRAP", "survived fault": None, "SIGPIPE": "SIGPIPE", "ignored SIGTERM": None,
        "handled SIGTERM": "_exit", "handled fault": "_exit", "out of memory": None, "SIGKILL": "killed"}
#: What is tried a second after the start too where nobody says when: the recorder has written meanwhile.
LATE = ("return", "exception", "fault", "Ctrl+C", "out of memory", "SIGKILL")
#: Seconds before the last line from which on nothing is owed: none but where nobody can flush.
OWED = {"SIGKILL": 1.0}


def start(command, cwd):
    """Wait status, the lines that it printed, and stderr. Cores are written, cut to a megabyte."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with open(os.path.join(cwd, "stderr"), "w+b") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, cwd=cwd, preexec_fn=limit)
        output = process.stdout.read()
        _, status = os.waitpid(process.pid, 0)
        process.returncode = status
        errors.seek(0)
        text = errors.read().decode(errors="replace")
    lines = [line.split() for line in output.decode().splitlines(keepends=True) if line.endswith("\n") and line.count(" ") == 1]
    return status, [(int(turn), float(when)) for turn, when in lines], text


def as_shell(status):
    """What `strata record` ends with for a command that ended so."""
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def check(strata, name, way, session, turns, failures):
    _, summary = strata_json(strata, ["summary", "--json", session])
    device = summary["devices"][0] if summary and summary["devices"] else None
    end = turns[-1][1] if turns else 0
    owed = max((turn for turn, when in turns if when <= end - OWED.get(way, 0)), default=0)
    kept = device["actions"].get("alloc", 0) - 1 if device else 0
    failures.expect(name, f"kept {kept} of {owed}", kept >= owed)
    if device is None:
        failures.expect(name, "opens", way == "SIGKILL")
        return
    said = WAYS[way]
    cut = summary.get("truncated")
    failures.expect(name, "unknown ends", cut and cut["unknown_ends"], said and [0])
    copy = session + ".copy.strata"
    subprocess.run([strata, "convert", session, "-o", copy], capture_output=True)
    _, converted = strata_json(strata, ["summary", "--json", copy])
    failures.expect(name, "the copy says so too", converted and converted.get("truncated"), cut)
    failures.expect(name, "says how it ended", cut and (cut["interrupted"], said in cut["reason"]), said and (True, True))


def two_recorders(strata, linked, library, failures):
    """A program that records itself, under `strata record`: one of them records, and both say which. So too where the program has
    the recorder from another folder, as one that was installed by itself."""
    with tempfile.TemporaryDirectory() as folder:
        own, outer = os.path.join(folder, "own.strata"), os.path.join(folder, "outer.strata")
        copy = os.path.join(folder, "lib")
        shutil.copytree(library, copy)
        elsewhere = {**os.environ, "LD_LIBRARY_PATH": copy}
        for name, command in (("record", ["record", "--simulated", SIMULATED]), ("dryrun", ["dryrun", "--device", SIMULATED])):
            for recordings in (own, outer):
                if os.path.exists(recordings):
                    os.unlink(recordings)
            run = subprocess.run([strata, *command, "-o", outer, "--", linked, "return", "50", own], capture_output=True,
                                 text=True, timeout=120, env=elsewhere)
            failures.expect(f"installed elsewhere, {name}", "says", "the program records itself, into " + own in run.stderr, True)
            _, summary = strata_json(strata, ["summary", "--json", own])
            failures.expect(f"installed elsewhere, {name}", "exact", summary and summary["devices"][0]["integrity"]["exact"], True)
            _, copied = strata_json(strata, ["summary", "--json", outer]) if os.path.exists(outer) else (0, None)
            failures.expect(f"installed elsewhere, {name}", "what was asked for", copied and copied["devices"] == summary["devices"],
                            None if name == "record" else True)
    with tempfile.TemporaryDirectory() as folder:
        own, outer = os.path.join(folder, "own.strata"), os.path.join(folder, "outer.strata")
        command = [strata, "record", "-o", outer, "--simulated", SIMULATED, "--", linked, "return", "50", own]
        for name, recorded, silent, words in (("the program's", own, outer, "the program records itself, into " + own),
                                              ("the file is there", outer, None, own + ": is there already: nothing is recorded")):
            run = subprocess.run(command, capture_output=True, text=True, timeout=120)
            failures.expect(name, "exit", run.returncode, 3)
            failures.expect(name, "says", (words in run.stderr, f"strata: {recorded}: " in run.stderr), (True, True))
            failures.expect(name, "the other", silent and os.path.exists(silent), silent and False)
            _, summary = strata_json(strata, ["summary", "--json", recorded])
            failures.expect(name, "exact", summary and summary["devices"][0]["integrity"]["exact"], True)
        run = subprocess.run(command, capture_output=True, text=True, timeout=120)
        failures.expect("there already", "refused", (run.returncode, "--overwrite" in run.stderr), (2, True))
        run = subprocess.run([*command[:2], "--overwrite", *command[2:]], capture_output=True, text=True, timeout=120)
        failures.expect("replaced", "exit", run.returncode, 3)


def test(arguments, python, failures):
    for name in ("strata", "simgpu", "build"):
        setattr(arguments, name, os.path.abspath(getattr(arguments, name)))
    library = os.path.join(arguments.build, "lib", "strata")
    plain = compiled(python, failures, SOURCE, ("-O1", "-pthread"))
    linked = compiled(python, failures, SOURCE, ("-O1", "-pthread", "-DSTRATA_LINKED", "-I" + os.path.join(CAPTURE, "include"),
                                              "-L" + library, "-Wl,-rpath," + library, "-lstrata_capture"))
    if not plain or not linked:
        return "the programs cannot be built"
    two_recorders(arguments.strata, linked, library, failures)
    tried = [(after, WAYS) for after in arguments.after] or [(10, WAYS), *([(1000, LATE)] if LONG else [])]
    for after, ways in tried:
        for number, way in enumerate(ways):
            # In the short form each way has one case, linked and preloaded in turns.
            both = LONG or bool(arguments.after)
            name = f"{way} after {after} ms"
            with tempfile.TemporaryDirectory() as folder:
                wanted, _, _ = start([arguments.simgpu, "--", plain, way, str(after)], folder)
                if both or number % 2 == 0:
                    session = os.path.join(folder, "linked.strata")
                    status, turns, errors = start([arguments.simgpu, "--", linked, way, str(after), session], folder)
                    failures.expect(name, "linked: wait status", status, wanted)
                    check(arguments.strata, name + ", linked", way, session, turns, failures)
                if both or number % 2 == 1:
                    session = os.path.join(folder, "preloaded.strata")
                    status, turns, errors = start([arguments.strata, "record", "-o", session, "--simulated", SIMULATED, "--", plain,
                                                   way, str(after)], folder)
                    failures.expect(name, "preloaded: exit", as_shell(status), as_shell(wanted))
                    check(arguments.strata, name + ", preloaded", way, session, turns, failures)
    return None


def add_options(parser):
    parser.add_argument("--after", type=int, action="append", default=[])


if __name__ == "__main__":
    sys.exit(main(test, ("strata", "simgpu", "build"), every_python=False, add_options=add_options))
