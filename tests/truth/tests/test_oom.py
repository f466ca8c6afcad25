# SPDX-License-Identifier: GPL-3.0-or-later
"""Out-of-memories of known causes on the simulated device: does `strata oom` name the cause, do its parts add up to the device and to
what torch counted, and is each of its advices true when the program runs again with it?

The short form is a sample: one of each cause, and one more. The long one, as --seeds N or --first-seed N, runs those made by hand and 20 (N)
that are drawn.
"""
import collections
import json
import os
import shlex
import subprocess

import pytest

from forks import recorded
from oom_plans import drawn, hand_made
from running import LONG, PROGRAMS, strata_json, version

pytestmark = pytest.mark.torch("every")

PROGRAM = os.path.join(PROGRAMS, "oom_program.py")


def device_of(plan):
    return plan["capacity"], plan["others"]


def chosen(config, python):
    first, seeds = config.getoption("first_seed"), config.getoption("seeds")
    plans = [plan for plan in hand_made() if plan["cause"] != "private_pools" or version(python) >= [2, 6]]
    plans += [drawn(seed) for seed in range(first or 0, (first or 0) + (seeds or 20))]
    if LONG or first is not None or seeds:
        return plans
    sample = list({plan["cause"]: plan for plan in reversed(plans)}.values())
    return sample + [plan for plan in plans if device_of(plan) == device_of(plans[0])][-1:]


def run(plans, strata, python, folder):
    """[(plan, path of its session, result)], None for one that did not run. Those on devices that are alike share one start of torch."""
    groups, found = collections.defaultdict(list), []
    for plan in plans:
        groups[device_of(plan)].append(plan)
    for (capacity, others), group in groups.items():
        words = []
        for plan in group:
            begin = os.path.join(folder, str(len(os.listdir(folder))))
            with open(begin + ".plan", "w", encoding="utf-8") as file:
                json.dump(plan, file)
            words.append([PROGRAM, begin + ".plan", begin + ".json"])
        done, ended = recorded(strata, ["--stacks", "python", "--simulated", "T4-16GB", "--capacity", str(capacity),
                                        *(["--other-processes", str(others)] if others else [])], python, words, folder)
        for plan, (_, _, path), (status, session) in zip(group, words, ended):
            result = f"ended with {status}: {done.stderr[-1500:]}"
            if status == 0 and os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    result = json.load(file)
            found.append((plan, session if isinstance(result, dict) else None, result))
    return found


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


def test_causes(request, strata, python, tmp_path, failures):
    plans = chosen(request.config, python)
    again = []
    for plan, session, result in run(plans, strata, python, str(tmp_path)):
        oom = check(plan, session, result, strata, failures)
        for advice in oom["advice"] if oom else ():
            failures.expect(plan["name"], "an advice", advice["served"], True)
            again.append({**plan, "settings": advice["set"]})
    failures.expect("advices", "some", len(again) > 0)
    print(f"{len(plans)} plans, {len(again)} advices; {dict(collections.Counter(plan['cause'] for plan in plans))}", flush=True)
    for plan, session, result in run(again, strata, python, str(tmp_path)):
        failures.expect(plan["name"], f"served with {plan['settings']}", session and result["served"], True)


def test_three_commands(strata, python, tmp_path):
    """Twelve blocks that do not fit: `oom`, the dry run and the plan that it names find which to checkpoint, and the program then fits."""
    program, capacity = os.path.join(PROGRAMS, "blocks_program.py"), "640MiB"
    failed = str(tmp_path / "failed.strata")
    words = ["record", "--simulated", "T4-16GB", "--capacity", capacity, "-o", failed, "--", python, program]
    assert subprocess.run([strata, *words], capture_output=True).returncode != 0
    run, told = strata_json(strata, ["oom", failed, "--json"])  # the first
    assert told, run.stderr
    device = told["devices"][0]
    assert device["verdict"] == "too_big" and "checkpoint" in device["next"][0]["text"], device["next"]
    commands = [shlex.split(step["command"]) for step in device["next"] if step["command"]]
    assert len(device["next"]) <= 3 and [command[1] for command in commands] == ["dryrun", "whatif"]
    dry = subprocess.run([strata, *commands[0][1:]], cwd=tmp_path, capture_output=True, encoding="utf-8")  # the second
    assert dry.returncode == 0, dry.stderr
    asked = subprocess.run([strata, *commands[1][1:], "--json"], cwd=tmp_path, capture_output=True, encoding="utf-8")  # the third
    assert asked.returncode == 0, asked.stderr
    plan = json.loads(asked.stdout)["plan"]
    assert plan["met"] and 0 < len(plan["changes"]) <= 12, plan
    changes = [word for change in plan["changes"] for word in ("--change", change)]
    fits = subprocess.run([strata, "dryrun", "--device", "T4-16GB", "--capacity", capacity, *changes, "--", python, program],
                          cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert fits.returncode == 0, fits.stdout + fits.stderr
    # What the one plan finds the other finds.
    larger = commands[1][2]
    cheapest = subprocess.run([strata, "whatif", larger, "--plan", "cheapest", "--capacity", capacity, "--json"], cwd=tmp_path,
                              capture_output=True, encoding="utf-8")
    assert cheapest.returncode == 0 and json.loads(cheapest.stdout)["plan"]["met"], cheapest.stdout[:2000] + cheapest.stderr
