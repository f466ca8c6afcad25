# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs programs of roles_list.py in all the ways that test_roles.py compares: recorded by Strata, with PyTorch's own recorder, watched
for the truth, and on a device that is too small for them."""
import bisect
import collections
import json
import os
import pickle

import forks
from roles_score import document
from roles_truth import Trace, joined
from running import PROGRAMS, with_environment

PROGRAM, SNAPSHOT, WATCH = (os.path.join(PROGRAMS, name) for name in ("roles_program.py", "roles_snapshot.py", "roles_watch.py"))
CARD, CAPACITY = "A100-80GB", 80 << 30
STACKS = ("all", "python", "none")
HOW = (*forks.TRAINING, "--import", "roles_program")

#: `snapshots` by stacks; `trace` of the run that nothing watched, on a device that is large enough.
Run = collections.namedtuple("Run", "program session snapshots truth trace")


def events_of(path):
    with open(path, "rb") as file:
        return pickle.load(file)["device_traces"][0]


class Runs:
    def __init__(self, strata, python, folder):
        self.strata, self.python, self.folder, self.number = strata, python, folder, 0

    def path(self, what):
        self.number += 1
        return os.path.join(self.folder, f"{self.number}.{what}")

    def simulated(self, words, capacity=CAPACITY):
        """Programs one after the other in forks of one Python: how they ended and what was printed."""
        run, ended = forks.forked([os.path.join(os.path.dirname(self.strata), "strata-simgpu"), f"capacity={capacity}", "--"], self.python, words,
                                  self.folder, HOW, env=with_environment(TORCH_SYMBOLIZE_MODE="dladdr"))
        return ended, run.stderr

    def record(self, programs, capacity=None):
        """A session for each, None for one that left none."""
        run, ended = forks.recorded(self.strata, ["--simulated", CARD, *(["--capacity", str(capacity)] if capacity else [])], self.python,
                                    [[PROGRAM, *program.words] for program in programs], self.folder, HOW)
        return [session for _, session in ended], run.stderr

    def watch(self, programs, capacity=CAPACITY, stacks=STACKS, hooks=True):
        """Of each program its snapshots by stacks, and what hooks saw; None for what was not made."""
        paths = [{each: self.path(f"{each}.pickle") for each in stacks} for _ in programs]
        words = [[SNAPSHOT, path, each, PROGRAM, *program.words] for made, program in zip(paths, programs) for each, path in made.items()]
        if hooks:
            for made, program in zip(paths, programs):
                made["watched"] = self.path("watched.json")
                words.append([WATCH, made["watched"], *program.words])
        _, told = self.simulated(words, capacity)
        return [{each: path if os.path.exists(path) else None for each, path in made.items()} for made in paths], told

    def truth(self, program, watched, snapshot):
        """The truth and the trace of the run that nothing watched, or why there is none."""
        trace = Trace(events_of(snapshot))
        for again in (False, True):
            if again:
                path = self.path("watched.json")
                statuses, _ = self.simulated([[WATCH, path, "--no-nodes", *program.words]])
                watched = path if statuses[0]["status"] == 0 else None
            if watched is None:
                why = "did not run with hooks"
                continue
            with open(watched, encoding="utf-8") as file:
                truth, why = joined(json.load(file), trace)
            if truth is not None:
                return truth, trace, None
        return None, trace, why

    def run(self, programs):
        """[(Run, None) or (None, why not)] of programs, in their order."""
        sessions, told = self.record(programs)
        made, told_too = self.watch(programs)
        found = []
        for program, session, paths in zip(programs, sessions, made):
            watched = paths.pop("watched")
            if session is None or None in paths.values():
                found.append((None, f"did not run: {(told + told_too)[-1500:]}"))
                continue
            truth, trace, why = self.truth(program, watched, paths["all"])
            if truth is None:
                found.append((None, why))
            elif program.died:
                found.append(self.run_out(program, session, truth, trace))
            else:
                found.append((Run(program, session, paths, truth, trace), None))
        return found

    def run_out(self, program, session, truth, trace):
        """The program on a device so small that it ends in the phase that is asked for, which a replay finds and a run proves."""
        for capacity in capacities(trace, truth, program.died):
            told = document(self.strata, ["replay", session, "--device", "0", "--set", "", "--capacity", str(capacity), "--json"])
            event = told["devices"][0]["replayed"]["first_oom_event"] if told else None
            number = bisect.bisect_left(trace.events, event) if event is not None else len(trace.events)
            if number >= len(truth.phase) or truth.phase[number] != program.died:
                continue
            (paths,), _ = self.watch([program], capacity, hooks=False)
            if None in paths.values():
                continue
            small = Trace(events_of(paths["none"]))
            at = small.out_of_memory
            if at is None or at == 0 or truth.phase[at] != program.died or small.sizes != truth.sizes[:at]:
                continue
            (session,), _ = self.record([program], capacity)
            if session is not None:
                return Run(program, session, paths, truth, small), None
        return None, f"no capacity ends it in {program.died}"


def capacities(trace, truth, phase):
    """What a device may hold at most so that a request of that phase is refused, the most likely first."""
    reserved, most, found = 0, 0, []
    for number, change in trace.segments:
        reserved += change
        if reserved > most:
            most = reserved
            if number < len(truth.phase) and truth.phase[number] == phase:
                found.append(most - 1)
    return found[::-1]
