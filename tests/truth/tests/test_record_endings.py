# SPDX-License-Identifier: GPL-3.0-or-later
"""Every way in which a C++ program ends: all that it had done is in the session, which opens and says how it
ended, and the program ends as it would have without a recorder: status, core, its own handlers.

The recorder is preloaded or linked; ways end 10 ms after the start. The long form has each way with both, and some after 1000 ms too.
"""
import os
import resource
import shutil
import subprocess

import pytest

from cpp import compiled
from record_tools import first_device, linked
from running import PROGRAMS, Failures, strata_json, with_environment

pytestmark = pytest.mark.torch("newest")

SOURCE = os.path.join(PROGRAMS, "ends.cpp")
SIMULATED = "T4-16GB"
#: What a session without an end says of it; None: it has one, as after an out-of-memory, where the state is written.
WAYS = {"return": None, "exit": None, "quick_exit": None, "_exit": "_exit", "exception": "SIGABRT", "thread exception": "SIGABRT",
        "abort": "SIGABRT", "fault": "SIGSEGV", "SIGTERM": "SIGTERM", "SIGINT": "SIGINT", "Ctrl+C": "SIGINT",
        "alarm": "SIGALRM", "breakpoint": "SIGTRAP", "survived fault": None, "SIGPIPE": "SIGPIPE", "ignored SIGTERM": None,
        "handled SIGTERM": "_exit", "handled fault": "_exit", "out of memory": None, "SIGKILL": "killed"}
#: Ways of the short form, one of each kind, and how the recorder comes into the program there.
SHORT = {"return": "linked", "quick_exit": "preloaded", "_exit": "linked", "exception": "preloaded", "fault": "linked", "SIGTERM": "preloaded",
         "Ctrl+C": "linked", "survived fault": "preloaded", "handled SIGTERM": "linked", "handled fault": "preloaded",
         "out of memory": "linked", "SIGKILL": "preloaded"}
#: What is tried a second after the start too: the recorder has written meanwhile.
LATE = ("return", "exception", "fault", "Ctrl+C", "out of memory", "SIGKILL")
#: Seconds before the last line from which on nothing is owed: none but where nobody can flush.
OWED = {"SIGKILL": 1.0}
CASES = [pytest.param(way, recorder, after, marks=() if after == 10 and SHORT.get(way) == recorder else pytest.mark.long)
         for after, ways in ((10, WAYS), (1000, LATE)) for way in ways for recorder in ("linked", "preloaded")]


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


@pytest.fixture
def programs(python, build):
    """The program without a recorder, and linked with one."""
    plain, failures = ("-O1", "-pthread"), Failures()
    made = [compiled(python, failures, SOURCE, options) for options in (plain, (*plain, "-DSTRATA_LINKED", *linked(build)))]
    assert not failures.count, failures.said
    return made if all(made) else pytest.skip(failures.left_out[0])


@pytest.mark.parametrize("way, recorder, after", CASES)
def test_ends(strata, simgpu, programs, way, recorder, after, tmp_path, failures):
    plain, with_recorder = programs
    wanted, _, _ = start([simgpu, "--", plain, way, str(after)], tmp_path)
    session = str(tmp_path / "out.strata")
    if recorder == "linked":
        status, turns, errors = start([simgpu, "--", with_recorder, way, str(after), session], tmp_path)
        failures.expect(way, "wait status", status, wanted)
    else:
        status, turns, errors = start([strata, "record", "-o", session, "--simulated", SIMULATED, "--", plain, way, str(after)], tmp_path)
        failures.expect(way, "exit", as_shell(status), as_shell(wanted))
    check(strata, way, way, session, turns, failures)


class Two:
    """A program that records itself, under a command of `strata` that records too."""

    def __init__(self, strata, program, folder):
        self.strata, self.own, self.outer = strata, str(folder / "own.strata"), str(folder / "outer.strata")
        self.command = ["-o", self.outer, "--", program, "return", "50", self.own]
        self.says = "the program records itself, into " + self.own

    def run(self, *options, **more):
        return subprocess.run([self.strata, *options, *self.command], capture_output=True, text=True, timeout=120, **more)


@pytest.mark.parametrize("options", [("record", "--simulated", SIMULATED), ("dryrun", "--device", SIMULATED)], ids=lambda options: options[0])
def test_two_recorders_of_two_installations(strata, build, programs, options, tmp_path):
    """One of them records, and both say which, where the program has the recorder from another folder, as one that was installed by
    itself."""
    shutil.copytree(os.path.join(build, "lib", "strata"), tmp_path / "lib")
    two = Two(strata, programs[1], tmp_path)
    run = two.run(*options, env=with_environment(LD_LIBRARY_PATH=str(tmp_path / "lib")))
    assert two.says in run.stderr
    own = first_device(strata, two.own)
    assert own["integrity"]["exact"]
    assert os.path.exists(two.outer) == (options[0] == "dryrun")
    if options[0] == "dryrun":
        assert strata_json(strata, ["summary", "--json", two.outer])[1]["devices"] == strata_json(strata, ["summary", "--json", two.own])[1]["devices"]


def test_two_recorders(strata, programs, tmp_path, failures):
    """Which of them records, where the program's own file is not there yet, and where it is."""
    two = Two(strata, programs[1], tmp_path)
    record = ("record", "--simulated", SIMULATED)
    for name, recorded, silent, words in (("the program's", two.own, two.outer, two.says),
                                          ("the file is there", two.outer, None, two.own + ": is there already: nothing is recorded")):
        run = two.run(*record)
        failures.expect(name, "exit", run.returncode, 3)
        failures.expect(name, "says", (words in run.stderr, f"strata: {recorded}: " in run.stderr), (True, True))
        failures.expect(name, "the other", silent and os.path.exists(silent), silent and False)
        found = first_device(strata, recorded)
        failures.expect(name, "exact", found and found["integrity"]["exact"], True)
    run = two.run(*record)
    failures.expect("there already", "refused", (run.returncode, "--overwrite" in run.stderr), (2, True))
    failures.expect("replaced", "exit", two.run(*record, "--overwrite").returncode, 3)
