# SPDX-License-Identifier: GPL-3.0-or-later
"""`strata ledger` and `strata summary` name memory that no operator of the deep step uses, and no other."""
import os

import pytest

import record_tools
from running import PROGRAMS, strata_json

pytestmark = pytest.mark.torch("older")

PROGRAM = os.path.join(PROGRAMS, "unused_memory.py")
MIB = 1 << 20
NET = 16 * MIB  # parameters, beside biases
BIASES = 4 * 6 << 10


@pytest.fixture(scope="module")
def recorded(strata, python, tmp_path_factory):
    """By the name of a case."""
    folder, known = str(tmp_path_factory.mktemp("unused")), {}

    def make(name):
        if name not in known:
            known[name] = os.path.join(folder, name + ".strata")
            run = record_tools.record(strata, ["-o", known[name], "--simulated", "A100-40GB", "--deep-step", "4"], [python, PROGRAM, name])
            assert run.returncode == 0, run.stderr[-2000:]
        return known[name]
    return make


def unused(strata, session):
    run, told = strata_json(strata, ["ledger", session, "--json"])
    assert told and told["unused"] is not None, run.stderr
    assert all(line["certainty"] == "likely" and "leak" not in line["text"] for line in told["unused"])
    return told["unused"]


def kinds(lines):
    return [line["kind"] for line in lines]


def line_of(text):
    with open(PROGRAM, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


@pytest.mark.parametrize("name, kind, text", [("checkpoint", "loaded", 'loaded = torch.load(saved({"model": net()'), ("resumed", "loaded", "loaded = torch.load(saved({\"model\": before"),
                                              ("old_model", "like_parameters", "old = net().cuda()")])
def test_weights_that_nothing_uses_are_named(strata, recorded, name, kind, text):
    line, = unused(strata, recorded(name))
    assert line["kind"] == kind and line["line"].endswith(f":{line_of(text)}"), line
    assert NET <= line["bytes"] <= NET + BIASES
    _, summary = strata_json(strata, ["summary", recorded(name), "--json"])
    assert [{**line, "device": 0}] == summary["unused"]


def test_a_view_keeps_its_base(strata, recorded):
    line, = unused(strata, recorded("view"))
    assert (line["kind"], line["bytes"], line["blocks"]) == ("view", 64 * MIB, 1), line
    assert line["used_bytes"] <= 4096 and ".clone()" in line["text"]


def test_views_that_each_step_keeps_are_no_graphs(strata, recorded):
    lines = unused(strata, recorded("step_views"))
    assert set(kinds(lines)) <= {"other"}, lines


def test_an_output_keeps_its_graph(strata, recorded):
    line, *others = unused(strata, recorded("graph"))  # its input, too
    assert set(kinds(others)) <= {"other"}, others
    assert line["kind"] == "graph" and line["line"].endswith(f":{line_of('reference = model(batch(4096))')}"), line
    assert line["bytes"] >= 8 * 4 * 4096 * 512


def test_outputs_are_no_graphs_and_no_views(strata, recorded):
    assert set(kinds(unused(strata, recorded("outputs")))) <= {"other"}


@pytest.mark.parametrize("name", ["average", "teacher", "cache", "buffers", "batches", "experts", "trained_before"])
def test_what_a_step_uses_is_not_named(strata, recorded, name):
    assert unused(strata, recorded(name)) == []


def test_a_model_that_another_step_evaluates_is_no_more_than_unused_in_this_one(strata, recorded):
    lines = unused(strata, recorded("evaluation"))
    assert set(kinds(lines)) <= {"like_parameters"}, lines
