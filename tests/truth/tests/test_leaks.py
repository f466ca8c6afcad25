# SPDX-License-Identifier: GPL-3.0-or-later
"""Leaks that were put into training programs on the simulated device, and programs that only look as if they leaked: does `strata leaks`
find the one and leave the other alone?

The short form is a sample; the long one makes 10 draws of each kind of leak and 12 of each without one. --seeds N makes N of each, from
--first-seed on, --only TEXT those of the kinds that have TEXT. --keep FOLDER keeps the recordings, and asks once more of those that are there.
Each is recorded by Strata, and by PyTorch with stacks and with none. What leaked is told by the numbers of its allocations. "nothing"
stands for a program that never tells of a leak, "the biggest" for one that calls the site with the most bytes at the end one.
"""
import collections
import json
import os
import pickle
import shutil
import subprocess
import tempfile

import pytest

from forks import TRAINING, recorded
from running import LONG, PROGRAMS, strata_json, with_environment

pytestmark = pytest.mark.torch("newest")

PROGRAM = os.path.join(PROGRAMS, "leak_programs.py")
STEPS, SETTLED, TOGETHER = 30, 6, 24
DRAWS_OF_LEAKS, DRAWS_OF_CLEAN = 10, 12
SAMPLE = 4  # kinds of leaks, and of programs without one
CARD = "A100-80GB"
RECORDED, FRAMES, NONE = "recorded by Strata", "PyTorch's, with frames", "PyTorch's, without"
GROWING = ("concatenation", "keys_and_values")

#: Leaks found, first in the list, within what of the growth; false alarms.
BARS = {RECORDED: (0.98, 0.95, 0.01, 0.01), FRAMES: (0.98, 0.95, 0.01, 0.01), NONE: (0.90, 0.85, 0.05, 0.01)}

Case = collections.namedtuple("Case", "kind seed clean")


def kinds():
    """(LEAKS, CLEAN, CALLED) of leak_programs.py, which needs torch to be imported."""
    found = {}
    with open(PROGRAM, encoding="utf-8") as file:
        source = file.read()
    for name in ("Leaks", "Clean"):
        body = source.split(f"class {name}(Program):")[1].split("\n\n\n")[0]
        found[name] = [line.split("def ")[1].split("(")[0] for line in body.splitlines() if line.startswith("    def ")]
        found[name] = [kind for kind in found[name] if kind not in ("prepare", "share", "step", "keep_some")]
    called = source.split("CALLED = ")[1].split("}")[0] + "}"
    return found["Leaks"], found["Clean"], eval(called)  # a literal of ours


class Truth:
    """What a trace without frames tells of a program whose steps are known: number and size of what leaked."""

    def __init__(self, trace, case, steps):
        self.sizes, self.stays, last = [], [], {}
        for event in trace:
            if event["action"] == "alloc":
                last[event["addr"]] = len(self.sizes)
                self.sizes.append(-(-event["size"] // 512) * 512)
                self.stays.append(True)
            elif event["action"] == "free_completed" and event["addr"] in last:
                self.stays[last.pop(event["addr"])] = False
        if case.kind in GROWING:
            last = self.alive(steps[-1][1], steps[-1][2])
            self.leaked = {number - steps[-1][1] + step[1] for number in last for step in steps[SETTLED:]}
            self.bytes_per_step = self.step_of_growth(steps, last)
        else:
            self.leaked = self.alive(steps[SETTLED][0], steps[STEPS - 2][3])
            whole = self.alive(steps[SETTLED][0], steps[SETTLED + 17][3])  # of every, every second, every third step
            self.bytes_per_step = sum(self.sizes[number] for number in whole) / 18

    def alive(self, begin, end):
        return {number for number in range(begin, end) if self.stays[number]}

    def step_of_growth(self, steps, last):
        """Of what each step allocates where it grows, the part that it keeps: as many blocks as there are in the last step."""
        places = [number - steps[-1][1] for number in last]
        early = steps[SETTLED]
        return sum(self.sizes[steps[-1][1] + place] - self.sizes[early[1] + place] for place in places) / (STEPS - 1 - SETTLED)


def biggest(trace, frames):
    """Numbers of the allocations that live at the end, of the site with the most bytes of them."""
    live, number = {}, 0
    for event in trace:
        if event["action"] == "alloc":
            site = tuple((f["filename"], f["line"], f["name"]) for f in event.get("frames", ())) if frames else event["size"]
            live[event["addr"]] = number, event["size"], site
            number += 1
        elif event["action"] == "free_completed":
            live.pop(event["addr"], None)
    sums, numbers = collections.Counter(), collections.defaultdict(set)
    for number, size, site in live.values():
        sums[site] += size
        numbers[site].add(number)
    return numbers[sums.most_common(1)[0][0]] if sums else set()


def trace_of(snapshot):
    with open(snapshot, "rb") as file:
        return pickle.load(file)["device_traces"][0]


def without_frames(snapshot, path):
    """As PyTorch records with context=None."""
    with open(snapshot, "rb") as file:
        kept = pickle.load(file)
    for rows in (*kept["device_traces"], *(segment["blocks"] for segment in kept["segments"]), kept["segments"]):
        for row in rows:
            row["frames"] = []
    with open(path, "wb") as file:
        pickle.dump(kept, file)


class Figures:
    def __init__(self):
        self.found, self.first, self.errors, self.biggest, self.alarms, self.undecided, self.named = [], [], [], [], [], [], []

    def add_leak(self, truth, told, largest):
        listed = (told or {}).get("sites", [])
        leaks = [site for site in listed if site["kind"] == "leak"]
        right = [bool(truth.leaked.intersection(site["examples"])) for site in leaks]
        self.found.append(any(right))
        self.first.append(bool(leaks) and listed[0]["kind"] == "leak" and right[0])
        self.biggest.append(bool(truth.leaked & largest))
        if any(right):
            self.errors.append(abs(sum(site["bytes_per_step_allocated"] for site in leaks) / truth.bytes_per_step - 1))
        return self.first[-1] and self.errors[-1] <= 0.01

    def add_clean(self, told, called):
        listed = (told or {}).get("sites", [])
        self.alarms.append(any(site["kind"] == "leak" for site in listed))
        self.undecided.append((told or {}).get("verdict") == "undecided")
        if called is not None:
            self.named.append(any(site["kind"] == called for site in listed))
        return told is not None and not self.alarms[-1]


def named(case):
    return f"{'clean-' if case.clean else ''}{case.kind}-{case.seed}"


def recordings_of(case, folder):
    begin = os.path.join(folder, named(case))
    return {RECORDED: begin + ".strata", FRAMES: begin + ".frames.pickle", NONE: begin + ".none.pickle"}


def make(cases, strata, python, folder, work):
    """Runs those of which nothing is in the folder. PyTorch records beside Strata, in the same run."""
    cases = [case for case in cases if not os.path.exists(recordings_of(case, folder)[NONE])]
    if not cases:
        return
    words = [[PROGRAM, case.kind, *(["--clean"] if case.clean else []), "--seed", str(case.seed), "--steps", str(STEPS),
              "--truth", os.path.join(folder, named(case) + ".json"), "--snapshot", recordings_of(case, folder)[FRAMES]] for case in cases]
    run, ended = recorded(strata, ["--simulated", CARD], python, words, work, TRAINING, env=with_environment(TORCH_SYMBOLIZE_MODE="dladdr"))
    for case, (status, session) in zip(cases, ended):
        assert status == 0 and session, f"{named(case)}: {run.stderr[-1500:]}"
        paths = recordings_of(case, folder)
        shutil.move(session, paths[RECORDED])
        without_frames(paths[FRAMES], paths[NONE])


def hold(strata, case, folder, figures, called, failures):
    recordings, name = recordings_of(case, folder), named(case)
    with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
        steps = json.load(file)["steps"]
    traces = {kind: trace_of(recordings[kind]) for kind in (FRAMES, NONE)}
    truth = Truth(traces[NONE], case, steps)
    if not case.clean:
        failures.expect(name, "leaks", bool(truth.leaked) and truth.bytes_per_step > 0)
    for kind, recording in recordings.items():
        run, told = strata_json(strata, ["leaks", recording, "--device", "0", "--json"])
        failures.expect(name, f"{kind}: strata leaks", told is not None or run.stderr, True)
        right = False
        if case.clean:
            right = figures[kind].add_clean(told, called.get(case.kind))
        elif truth.leaked:
            right = figures[kind].add_leak(truth, told, biggest(traces[FRAMES if kind == RECORDED else kind], kind != NONE))
        sites = [f"{site['kind']} {os.path.basename(site['line'])} {site['bytes_per_step_allocated']} B from {site['first_step']}"
                 for site in (told or {}).get("sites", [])]
        print(f"  {'' if right else 'NOT RIGHT: '}{name}, {kind}: {'clean' if case.clean else f'{truth.bytes_per_step:.0f} B a step'}; told "
              f"{(told or {}).get('verdict')}: {sites[:4]} ({len(sites)} sites), {(told or {}).get('steps')} steps by {(told or {}).get('evidence')}", flush=True)


def limits(strata, session, failures):
    """--max-growth just below and just above what grows."""
    _, told = strata_json(strata, ["leaks", session, "--json"])
    grown = told["bytes_per_step_allocated"]
    ends = [subprocess.run([strata, "leaks", session, "--max-growth", str(limit)], capture_output=True).returncode for limit in (grown - 1, grown)]
    failures.expect("--max-growth", "exit statuses below and at what grows", ends,
                    [1, 0] if grown else [0, 0] if told["verdict"] != "undecided" or told["sites"] else [1, 1])


def mean(values):
    return sum(values) / len(values) if values else 0


def report(kind, figures, failures):
    found, first, within, alarms = BARS[kind]
    if figures.found:
        near = mean([error <= within for error in figures.errors])
        print(f"  {kind}: {len(figures.found)} leaks: found {mean(figures.found):.3f}, first in the list {mean(figures.first):.3f}, growth within "
              f"{within:.0%} of {near:.3f}, off by {mean(figures.errors):.2%} on average, {max(figures.errors, default=0):.1%} at most; "
              f"nothing: found 0; the biggest: found {mean(figures.biggest):.3f}")
        failures.expect(kind, f"leaks found ({mean(figures.found):.3f}, bar {found})", mean(figures.found) >= found, True)
        failures.expect(kind, f"first in the list ({mean(figures.first):.3f}, bar {first})", mean(figures.first) >= first, True)
        failures.expect(kind, f"growth within {within:.0%} of those found ({near:.3f}, bar 0.98)", near >= 0.98, True)
    if figures.alarms:
        print(f"  {kind}: {len(figures.alarms)} without a leak: false alarms {sum(figures.alarms)} ({mean(figures.alarms):.3f}), undecided {sum(figures.undecided)}; "
              f"called what they are {mean(figures.named):.3f} of {len(figures.named)}; nothing: 0 false alarms; the biggest: 1.000")
        failures.expect(kind, f"false alarms ({mean(figures.alarms):.3f}, bar {alarms})", mean(figures.alarms) <= alarms, True)


def chosen(config):
    first, seeds, only = (config.getoption(name) for name in ("first_seed", "seeds", "only"))
    leaks, clean, _ = kinds()
    if not (LONG or seeds or only):
        return [Case(some[(2 * index + 1) * len(some) // (2 * SAMPLE)], first or 0, some is clean) for some in (leaks, clean) for index in range(SAMPLE)]
    return [Case(kind, (first or 0) + draw, some is clean) for some, draws in ((leaks, DRAWS_OF_LEAKS), (clean, DRAWS_OF_CLEAN))
            for draw in range(seeds or draws) for kind in some if (only or "") in kind]


def test_leaks(request, strata, python, failures):
    figures = {kind: Figures() for kind in BARS}
    cases, called, keep = chosen(request.config), kinds()[2], request.config.getoption("keep")
    leaking = next((case for case in cases if not case.clean), None)
    for first in range(0, len(cases), TOGETHER):
        some = cases[first:first + TOGETHER]
        with tempfile.TemporaryDirectory() as work:
            folder = keep or work
            os.makedirs(folder, exist_ok=True)
            make(some, strata, python, folder, work)
            for case in some:
                hold(strata, case, folder, figures, called, failures)
            if leaking in some:
                limits(strata, recordings_of(leaking, folder)[RECORDED], failures)
        print(f"  {min(len(cases), first + TOGETHER)} of {len(cases)} programs", flush=True)
    for kind, each in figures.items():
        report(kind, each, failures)
