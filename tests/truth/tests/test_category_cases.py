# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory that is easily taken for something else: `strata ledger` of category_cases.py, recorded by Strata and by PyTorch."""
import os
import re

import pytest

import record_tools
from roles_score import rows
from running import PROGRAMS, strata_json

pytestmark = pytest.mark.torch("older")

PROGRAM = os.path.join(PROGRAMS, "category_cases.py")
MIB = 1 << 20


@pytest.fixture(scope="module")
def recorded(strata, python, tmp_path_factory):
    """By the name of a case: its recordings by Strata and by PyTorch."""
    folder, known = str(tmp_path_factory.mktemp("cases")), {}

    def make(name):
        if name not in known:
            session, snapshot = (os.path.join(folder, name + ending) for ending in (".strata", ".pickle"))
            run = record_tools.record(strata, ["-o", session, "--simulated", "A100-40GB"], [python, PROGRAM, name, snapshot])
            assert run.returncode == 0, run.stderr[-2000:]
            known[name] = (session, snapshot)
        return known[name]
    return make


def ledger(strata, recording, *more):
    run, told = strata_json(strata, ["ledger", recording, *more, "--json"])
    assert told, run.stderr
    return told, {row["category"]: row for row in told["rows"] if row["bytes"]}


@pytest.mark.parametrize("by", ["Strata", "PyTorch"])
class TestCases:
    def test_weights_that_an_init_makes_are_parameters(self, strata, recorded, by):
        told, rows_ = ledger(strata, recorded("weights")[by == "PyTorch"], "--why")
        assert rows_["parameter"]["bytes"] == 48 * MIB
        assert rows_["parameter"]["certainty"] != "unknown"
        assert rows_.get("input", {"bytes": 0})["bytes"] <= 32 << 10
        why = next(each for each in told["why"] if each["category"] == "parameter")
        assert why["bytes"] == 48 * MIB and why["blocks"] == 12
        if why["rule"] == "init_code":
            assert why["stacks"][0]["decided_by"]["name"] == "__init__"

    def test_what_cublas_keeps_is_a_workspace(self, strata, recorded, by):
        blocks = [row for row in rows(strata, ["blocks", recorded("workspace")[by == "PyTorch"], "--json"])[1:] if row["requested_bytes"] > MIB]
        assert [row["category"] for row in blocks] == ["workspace"] * len(blocks) and blocks

    def test_copies_of_weights_are_autocasts(self, strata, recorded, by):
        told, _ = ledger(strata, recorded("cast")[by == "PyTorch"], "--why")
        copies = [each for each in told["why"] if each["rule"].startswith("autocast")]
        copies += [each for each in told["why"] if each["category"] == "temporary" and each["rule"] == "freed_in_its_phase"]
        assert sum(each["bytes"] for each in copies) >= 54 * MIB
        said = [each for each in told["surprises"] if "autocast" in each]
        assert len(said) == 1 and said[0].startswith("54.0 MiB in 26 blocks") and "cache_enabled=False" in said[0]

    def test_copies_that_a_graph_keeps_get_no_advice(self, strata, recorded, by):
        told, _ = ledger(strata, recorded("trained_cast")[by == "PyTorch"])
        assert not [each for each in told["surprises"] if "cache_enabled" in each]


def test_what_replaced_a_parameter_is_listed_at_the_end(strata, recorded):
    _, rows_ = ledger(strata, recorded("grown")[0], "end")
    assert {name: (row["bytes"], row["certainty"]) for name, row in rows_.items()} == {
        "parameter": (8 * MIB, "recorded"), "optimizer_state": (16 * MIB, "recorded")}


def test_a_graph_that_stays_until_the_next_is_there_is_named(strata, recorded):
    told, _ = ledger(strata, recorded("kept_graph")[0])
    said = [each for each in told["surprises"] if "held from the forward before" in each]
    assert len(said) == 1 and "no_grad" in said[0], told["surprises"]


def test_buckets_that_repeat_the_gradients_are_advised_against_and_views_are_not(strata, recorded):
    peak, said = {}, {}
    for name in ("ddp", "ddp_views"):
        told, _ = ledger(strata, recorded(name)[0])
        peak[name] = told["requested_bytes"]
        said[name] = [each for each in told["surprises"] if "gradient_as_bucket_view" in each]
    assert said["ddp_views"] == []
    assert len(said["ddp"]) == 1 and re.search(r"saves at most 8\.0[12] MiB here$", said["ddp"][0]), said
    assert MIB < peak["ddp"] - peak["ddp_views"] <= 8.02 * MIB
