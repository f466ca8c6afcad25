# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds the lines with which plans and alternatives of `strata whatif` end (`call_hints`) against programs: language models by how they compute their loss,
attention by hand and by a kernel. Where calls with the change save memory there is a line, where they refuse the change there is none; and a plan that makes
the calls again (`--confirm --python`) finds such a change before checkpoints. `strata oom` finds it in three commands.
"""
import concurrent.futures
import json
import os
import shlex
import subprocess

import pytest

from running import LONG, PROGRAMS, jobs, strata_json

pytestmark = pytest.mark.torch("newest")

CARD = "A100-40GB"
LOGITS, ATTENTION = ("logits_programs.py", "--loss", "plain"), ("attention_programs.py", "--attention")
CHUNKS, EFFICIENT, FLASH = "logits=chunks:8", "attention=efficient", "attention=flash"
#: Programs by what lines name.
NAMED = [((*LOGITS, "tied"), [CHUNKS]), ((*LOGITS, "smooth"), []), ((*ATTENTION, "hand", "bert"), [EFFICIENT]), ((*ATTENTION, "efficient", "bert"), [])]
MORE = [((*LOGITS, "shift", "--autocast"), [CHUNKS]), ((*LOGITS, "biased", "--bf16"), [CHUNKS]), ((*LOGITS, "inside"), [CHUNKS]),
        ((*LOGITS, "product", "--seed", "3"), [CHUNKS]), ((*LOGITS, "capped"), []), ((*LOGITS, "counted"), []),
        ((*ATTENTION, "math", "bert"), [EFFICIENT]), ((*ATTENTION, "hand", "upcast"), [EFFICIENT])]


def record(strata, python, words, path, *options):
    """Whether it ended well."""
    program, *rest = words
    command = [strata, "record", "--simulated", CARD, *options, "-o", path, "--", python, os.path.join(PROGRAMS, program), *rest]
    return subprocess.run(command, capture_output=True).returncode == 0


def ask(strata, path, *words):
    run, told = strata_json(strata, ["whatif", path, "--json", *words])
    return run, told


def test_lines_name_what_calls_save(strata, python, failures, tmp_path):
    def check(number, case):
        words, wanted = case
        name, path = " ".join(words), str(tmp_path / f"{number}.strata")
        failures.expect(name, "a recording", record(strata, python, words, path))
        run, told = ask(strata, path, "--alternatives")
        if not told:
            return failures.expect(name, "an answer", run.stderr, "there")
        device = told["devices"][0]
        failures.expect(name, "lines", [hint["change"] for hint in device["call_hints"]], wanted)
        for hint in device["call_hints"]:
            failures.expect(name, "nothing is verified", hint["verified"], False)
            command = [python if word == "PY" else word for word in shlex.split(hint["command"])[1:]]
            end = command.index("--") if "--" in command else len(command)
            run, told = strata_json(strata, [*command[:end], "--json", *command[end:]])
            confirmed = told and told["devices"] and told["devices"][0]["confirmed"]
            failures.expect(name, f"confirmed: {run.stderr[-500:] if not confirmed else ''}", bool(confirmed))
            if confirmed:
                saved = device["recorded"]["requested_bytes_peak"] - confirmed["requested_bytes_peak"]
                print(f"  {name}: {hint['change']} holds {hint['held_bytes'] >> 20} MiB, {saved >> 20} MiB are saved", flush=True)
                failures.expect(name, "it saves", saved > 0)
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        cases = NAMED + (MORE if LONG else [])
        list(pool.map(check, range(len(cases)), cases))


def test_a_plan_makes_calls_again(strata, python, tmp_path):
    path = str(tmp_path / "tied.strata")
    assert record(strata, python, (*LOGITS, "tied"), path)
    for words in (("--plan", "60MiB"), ("--plan", "cheapest", "--capacity", "60MiB")):
        run, told = ask(strata, path, *words, "--confirm", "--python", python)
        assert told and told["plan"], run.stderr
        plan, device = told["plan"], told["devices"][0]
        row = plan["rows"][plan["chosen"]]
        assert plan["met"] and CHUNKS in row["changes"] and row["by_calls"]["confirmed"], plan
        assert row["predicted"] is None and row["by_calls"]["peaks"] == device["confirmed"] and device["confirmed_by"] == "calls"
        assert [out["changes"] for out in plan["left_out"]] == [[FLASH]] and "flash" in plan["left_out"][0]["reason"], plan["left_out"]
        assert not device["call_hints"], "calls were asked"
    run, told = ask(strata, path, "--alternatives", "--confirm", "--python", python)
    rows = {row["change"]: row for row in told["devices"][0]["alternatives"]}
    assert rows[CHUNKS]["evidence"] == "calls" and rows[CHUNKS]["saved_bytes"] > 0 and rows[FLASH]["refused"], rows


def test_three_commands_name_logits(strata, python, tmp_path):
    """A language model runs out of memory. The plan that `oom` names ends with the line about its logits."""
    program = os.path.join(PROGRAMS, LOGITS[0])
    failed = str(tmp_path / "failed.strata")
    assert not record(strata, python, (*LOGITS, "tied"), failed, "--capacity", "52MiB")
    run, told = strata_json(strata, ["oom", failed, "--json"])  # the first
    assert told, run.stderr
    commands = [shlex.split(step["command"]) for step in told["devices"][0]["next"] if step["command"]]
    assert [command[1] for command in commands] == ["dryrun", "whatif"] and program in commands[0], commands
    dry = subprocess.run([strata, *commands[0][1:]], cwd=tmp_path, capture_output=True, encoding="utf-8")  # the second
    assert dry.returncode == 0, dry.stderr
    asked = subprocess.run([strata, *commands[1][1:], "--json"], cwd=tmp_path, capture_output=True, encoding="utf-8")  # the third
    hints = json.loads(asked.stdout)["devices"][0]["call_hints"]
    assert [hint["change"] for hint in hints] == [CHUNKS], asked.stdout[:2000] + asked.stderr
    # What the one plan finds the other finds, by calls too.
    larger, budget = commands[1][2], commands[1][4]
    met = []
    for words in (("--plan", budget), ("--plan", "cheapest", "--capacity", budget)):
        run, told = strata_json(strata, ["whatif", larger, *words, "--confirm", "--python", python, "--json"], cwd=tmp_path)
        assert told and told["plan"], run.stderr
        met.append(told["plan"]["met"])
    assert met[0] == met[1], met
    command = [python if word == "PY" else word for word in shlex.split(hints[0]["command"])[1:]]
    confirmed = subprocess.run([strata, *command, "--json"], cwd=tmp_path, capture_output=True, encoding="utf-8")
    device = json.loads(confirmed.stdout)["devices"][0]
    assert device["confirmed"]["requested_bytes_peak"] < device["recorded"]["requested_bytes_peak"]
