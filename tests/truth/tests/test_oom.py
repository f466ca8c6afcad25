# SPDX-License-Identifier: GPL-3.0-or-later
"""Out-of-memories of known causes on the simulated device: does `strata oom` name the cause, do its parts add up to the device and to
what torch counted, and is each of its advices true when the program runs again with it?

usage: test_oom.py STRATA [--python PYTHON]... [--all] [--seeds N] [--seed S]

Without a Python with PyTorch the test is skipped (exit 77) and says so. The short form is a sample; --all, or STRATA_LONG=1, runs
everything: those made by hand and --seeds that are drawn (20), from --seed on.
"""
import json
import os
import sys
import tempfile

import record_tools
from oom_plans import CAUSES, drawn, hand_made
from running import LONG, PROGRAMS, main, strata_json, version, with_environment

MANY = os.path.join(PROGRAMS, "many.py")
PROGRAM = os.path.join(PROGRAMS, "oom_program.py")
SAMPLE = 7  # one of each cause, and one more


class Runs:
    def __init__(self, strata, python, folder):
        self.strata, self.python, self.folder, self.number = strata, python, folder, 0

    def run(self, plans, settings=""):
        """Plans on devices that are alike: [(session, result)], None for one that did not run."""
        words, begins = [], []
        for plan in plans:
            self.number += 1
            begins.append(os.path.join(self.folder, str(self.number)))
            with open(begins[-1] + ".plan", "w", encoding="utf-8") as file:
                json.dump(plan, file)
            words.append([PROGRAM, begins[-1] + ".plan", begins[-1] + ".json"])
        named, ended = (os.path.join(self.folder, f"{self.number}.{what}") for what in ("programs", "ended"))
        with open(named, "w", encoding="utf-8") as file:
            json.dump(words, file)
        others = ["--other-processes", str(plans[0]["others"])] if plans[0]["others"] else []
        run = record_tools.record(
            self.strata, ["-o", os.path.join(self.folder, "{process}.strata"), "--stacks", "python", "--simulated", "T4-16GB", "--capacity",
                          str(plans[0]["capacity"]), *others],
            [self.python, MANY, named, ended], env=with_environment(PYTORCH_CUDA_ALLOC_CONF=settings))
        if not os.path.exists(ended):
            return [(None, run.stderr[-1500:])] * len(plans)
        with open(ended, encoding="utf-8") as file:
            statuses = json.loads(file.readline())
        results = []
        for begin, status in zip(begins, statuses):
            session = os.path.join(self.folder, f"{status['process']}.strata")
            if status["status"] != 0 or not os.path.exists(begin + ".json"):
                results.append((None, run.stderr[-1500:]))
                continue
            os.rename(session, begin + ".strata")
            with open(begin + ".json", encoding="utf-8") as file:
                results.append((begin + ".strata", json.load(file)))
        return results


def check(plan, session, result, strata, failures):
    """The document of a plan's session, once it is held to what is known of it."""
    name = plan["name"]
    if session is None:
        failures.expect(name, "run", result, "a recording")
        return None
    failures.expect(name, "its request is refused", result["served"], False)
    run, told = strata_json(strata, ["oom", session, "--json"])
    if told is None or len(told["devices"]) != 1:
        failures.expect(name, "strata oom", run.stderr, "a document")
        return None
    oom = told["devices"][0]
    parts = oom["parts"]
    failures.expect(name, "verdict", oom["verdict"], plan["cause"])
    failures.expect(name, "capacity", oom["capacity_bytes"], plan["capacity"])
    failures.expect(name, "sum of the parts", sum(parts.values()), plan["capacity"])
    failures.expect(name, "other processes", parts["other_processes"], plan["others"])
    failures.expect(name, "exact", oom["exact"], True)
    failures.expect(name, "request", oom["rounded_bytes"], plan["request"])
    # What torch counted, and the driver.
    failures.expect(name, "allocated", parts["requested"] + parts["rounding"], result["allocated"])
    failures.expect(name, "pending free", parts["pending_free"], result["active"] - result["allocated"])
    failures.expect(name, "free in segments", parts["free_small"] + parts["free_large"] + parts["free_private"],
                    result["reserved"] - result["active"])
    failures.expect(name, "free on the device", parts["device_free"], result["free"])
    return oom


def test(arguments, python, failures):
    plans = [plan for plan in hand_made() if plan["cause"] != "private_pools" or version(python) >= [2, 6]]
    plans += [drawn(seed) for seed in range(arguments.seed, arguments.seed + arguments.seeds)]
    if not arguments.all:
        first = {}
        for plan in reversed(plans):
            first[plan["cause"]] = plan
        plans = list(first.values()) + plans[-1:]
    right = advices = true = 0
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(arguments.strata, python, folder)
        groups = {}
        for plan in plans:
            groups.setdefault((plan["capacity"], plan["others"]), []).append(plan)
        again = {}
        for group in groups.values():
            for plan, (session, result) in zip(group, runs.run(group)):
                oom = check(plan, session, result, arguments.strata, failures)
                right += oom is not None and oom["verdict"] == plan["cause"]
                for advice in oom["advice"] if oom else ():
                    failures.expect(plan["name"], "an advice", advice["served"], True)
                    again.setdefault((advice["set"], plan["capacity"], plan["others"]), []).append(plan)
        for (settings, *_), group in again.items():
            for plan, (session, result) in zip(group, runs.run(group, settings)):
                advices += 1
                failures.expect(plan["name"], f"served with {settings}", session and result["served"], True)
                true += bool(session and result["served"])
    always = {cause: sum(plan["cause"] == cause for plan in plans) for cause in CAUSES}
    print(f"  right cause first in {right} of {len(plans)}; {true} of {advices} advices true; to say always the same would be right in "
          f"{', '.join(f'{count} ({cause})' for cause, count in always.items())}", flush=True)


def add_options(parser):
    parser.add_argument("--all", action="store_true", default=LONG)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)


if __name__ == "__main__":
    sys.exit(main(test, add_options=add_options))
