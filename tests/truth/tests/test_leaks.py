# SPDX-License-Identifier: GPL-3.0-or-later
"""Leaks that were put into training programs on the simulated device, and programs that only look as if they leaked: does `strata leaks`
find the one and leave the other alone?

usage: test_leaks.py STRATA [--python PYTHON]... [--sample N | --all] [--seed S] [--only TEXT] [--show] [--keep FOLDER] [--again FOLDER] [--recorder STRATA]

Without a Python with PyTorch the test is skipped (exit 77) and says so. The short form is a sample of N programs (12); --all, or
STRATA_LONG=1, makes 10 of each kind of leak and 12 of each without one, as --only does of the kinds that have TEXT. Each is recorded by Strata, and by PyTorch
with stacks and with none. What leaked is told by the numbers of its allocations. Exit 1 below the bars. "nothing" stands for a
program that never tells of a leak, "the biggest" for one that calls the site with the most bytes at the end one.
"""
import collections
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile

from running import LONG, PROGRAMS, main, strata_json, with_environment

MANY, PROGRAM = (os.path.join(PROGRAMS, name) for name in ("many.py", "leak_programs.py"))
STEPS, SETTLED, TOGETHER = 30, 6, 24
DRAWS_OF_LEAKS, DRAWS_OF_CLEAN, SAMPLE = 10, 12, 12
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

    def __init__(self, snapshot, case, steps):
        self.sizes, self.stays, last = [], [], {}
        with open(snapshot, "rb") as file:
            trace = pickle.load(file)["device_traces"][0]
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


def biggest(snapshot, frames):
    """Numbers of the allocations that live at the end, of the site with the most bytes of them."""
    with open(snapshot, "rb") as file:
        trace = pickle.load(file)["device_traces"][0]
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


def without_frames(snapshot):
    """As PyTorch records with context=None."""
    with open(snapshot, "rb") as file:
        kept = pickle.load(file)
    for rows in (*kept["device_traces"], *(segment["blocks"] for segment in kept["segments"]), kept["segments"]):
        for row in rows:
            row["frames"] = []
    path = snapshot.replace(".pickle", ".none.pickle")
    with open(path, "wb") as file:
        pickle.dump(kept, file)
    return path


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


class Runs:
    def __init__(self, strata, python, folder):
        self.strata, self.python, self.folder, self.number = strata, python, folder, 0

    def path(self, what):
        self.number += 1
        return os.path.join(self.folder, f"{self.number}.{what}")

    def run(self, cases, starter, more):
        """Where each left what it knows, None for one that did not end well."""
        listed, ended = self.path("programs"), self.path("ended")
        truths = [self.path("json") for _ in cases]
        words = [[PROGRAM, case.kind, *(["--clean"] if case.clean else []), "--seed", str(case.seed), "--steps", str(STEPS), "--truth", truth,
                  *more(index)] for index, (case, truth) in enumerate(zip(cases, truths))]
        with open(listed, "w", encoding="utf-8") as file:
            json.dump(words, file)
        run = subprocess.run([*starter, self.python, MANY, listed, ended], capture_output=True, env=with_environment(TORCH_SYMBOLIZE_MODE="dladdr"))
        statuses = [None] * len(cases)
        if os.path.exists(ended):
            with open(ended, encoding="utf-8") as file:
                statuses = json.loads(file.readline())
        known = []
        for truth in truths:
            known.append(None)
            if os.path.exists(truth):
                with open(truth, encoding="utf-8") as file:
                    known[-1] = json.load(file)["steps"]
        return known, statuses, run.stderr.decode(errors="replace")

    def all(self, cases):
        """[(steps, recordings by kind)] of cases, (why not, None) for one that did not run. PyTorch records beside Strata, in the same run."""
        out = os.path.join(self.folder, "{process}.strata")
        snapshots = [self.path("pickle") for _ in cases]
        known, statuses, told = self.run(cases, [self.strata, "record", "--overwrite", "-o", out, "--simulated", CARD, "--"],
                                         lambda index: ["--snapshot", snapshots[index]])
        found = []
        for steps, status, snapshot in zip(known, statuses, snapshots):
            made = status and os.path.join(self.folder, f"{status['process']}.strata")
            if not steps or not made or not os.path.exists(made) or not os.path.exists(snapshot):
                found.append((told[-1500:], None))
                continue
            session = self.path("strata")  # processes come again
            os.rename(made, session)
            found.append((steps, {RECORDED: session, FRAMES: snapshot, NONE: without_frames(snapshot)}))
        return found


def hold(strata, case, steps, recordings, figures, failures, called, arguments):
    name = f"{'clean ' if case.clean else ''}{case.kind} {case.seed}"
    if recordings is None:
        failures.expect(name, "ran", steps, "recordings")
        return
    truth = Truth(recordings[NONE], case, steps)
    if not case.clean:
        failures.expect(name, "leaks", bool(truth.leaked) and truth.bytes_per_step > 0, True)
    for kind, recording in recordings.items():
        run, told = strata_json(strata, ["leaks", recording, "--device", "0", "--json"])
        failures.expect(name, f"{kind}: strata leaks", told is not None or run.stderr, True)
        right = False
        if case.clean:
            right = figures[kind].add_clean(told, called.get(case.kind))
        elif truth.leaked:
            largest = biggest(recordings[FRAMES if kind == RECORDED else kind], kind != NONE)
            right = figures[kind].add_leak(truth, told, largest)
        if arguments.show or not right:
            sites = [f"{site['kind']} {os.path.basename(site['line'])} {site['bytes_per_step_allocated']} B from {site['first_step']}"
                     for site in (told or {}).get("sites", [])]
            print(f"  {name}, {kind}: {'clean' if case.clean else f'{truth.bytes_per_step:.0f} B a step'}; told {(told or {}).get('verdict')}: {sites[:4]} "
                  f"({len(sites)} sites), {(told or {}).get('steps')} steps by {(told or {}).get('evidence')}", flush=True)
    if arguments.keep:
        begin = os.path.join(arguments.keep, name.replace(" ", "-"))
        with open(begin + ".json", "w", encoding="utf-8") as file:
            json.dump(steps, file)
        for kind, ending in ((RECORDED, ".strata"), (FRAMES, ".frames.pickle"), (NONE, ".none.pickle")):
            shutil.copy(recordings[kind], begin + ending)


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


def chosen(arguments):
    leaks, clean, _ = kinds()
    cases = [Case(kind, seed, False) for seed in range(arguments.seed, arguments.seed + DRAWS_OF_LEAKS) for kind in leaks]
    cases += [Case(kind, seed, True) for seed in range(arguments.seed, arguments.seed + DRAWS_OF_CLEAN) for kind in clean]
    if arguments.only:
        return [case for case in cases if arguments.only in case.kind][:arguments.sample]
    if arguments.all and arguments.sample is None:
        return cases
    most = arguments.sample or SAMPLE
    return cases[:min(len(leaks), most // 2)] + [case for case in cases if case.clean][:most - min(len(leaks), most // 2)]


def kept(folder):
    """What --keep left there: (case, steps, recordings)."""
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            kind, _, seed = name[:-len(".json")].rpartition("-")
            begin = os.path.join(folder, name[:-len(".json")])
            with open(begin + ".json", encoding="utf-8") as file:
                yield (Case(kind.removeprefix("clean-"), int(seed), kind.startswith("clean-")), json.load(file),
                       {RECORDED: begin + ".strata", FRAMES: begin + ".frames.pickle", NONE: begin + ".none.pickle"})


def test(arguments, python, failures):
    strata = os.path.realpath(arguments.strata)
    figures = {kind: Figures() for kind in BARS}
    if arguments.keep:
        os.makedirs(arguments.keep, exist_ok=True)
    called, cases, limited = kinds()[2], chosen(arguments), False
    if arguments.again:
        cases = []
        for case, steps, recordings in kept(arguments.again):
            if arguments.only in case.kind:
                hold(strata, case, steps, recordings, figures, failures, called, arguments)
    for first in range(0, len(cases), TOGETHER):
        with tempfile.TemporaryDirectory() as folder:
            some = cases[first:first + TOGETHER]
            recorder = os.path.realpath(arguments.recorder or strata)
            for case, (steps, recordings) in zip(some, Runs(recorder, python, folder).all(some)):
                hold(strata, case, steps, recordings, figures, failures, called, arguments)
                if not limited and not case.clean and recordings:
                    limited = True
                    limits(strata, recordings[RECORDED], failures)
        print(f"  {min(len(cases), first + TOGETHER)} of {len(cases)} programs", flush=True)
    for kind, each in figures.items():
        report(kind, each, failures)


def options(parser):
    parser.add_argument("--all", action="store_true", default=LONG)
    parser.add_argument("--sample", type=int, help=f"programs ({SAMPLE})")
    parser.add_argument("--seed", type=int, default=0, help="of the first draw")
    parser.add_argument("--only", default="", metavar="TEXT", help="kinds whose name has it")
    parser.add_argument("--show", action="store_true", help="what is right, too")
    parser.add_argument("--again", metavar="FOLDER", help="asks once more of what --keep left there")
    parser.add_argument("--recorder", metavar="STRATA", help="another one, which records")
    parser.add_argument("--keep", metavar="FOLDER", help="leaves the recordings there")


if __name__ == "__main__":
    sys.exit(main(test, add_options=options, every_python=False))
