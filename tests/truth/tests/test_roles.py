# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps, phases, categories and modules that Strata tells of training programs on the simulated device, against what a second run of
each program with hooks knows: recorded by Strata, by PyTorch with stacks of Python and C++, with Python's alone, with none.

The short form is a sample, the long one runs everything. Families that nobody tunes against are left out; --held-back runs them alone,
--seeds N so many programs, --only TEXT those whose name has it. --keep FOLDER keeps recordings and the truth of each program, and asks once
more of those that are there. "doing nothing" stands for no boundaries and everything "unknown"; "one for all" calls every block what most
bytes are.
"""
import json
import os
import pickle
import shutil
import tempfile

import pytest

import roles_list
from roles_runs import STACKS, Run, Runs, events_of
from roles_score import Table, asked, document, of_truth, score
from roles_truth import KeptTruth, Trace
from running import LONG

pytestmark = pytest.mark.torch("newest")

SAMPLE, TOGETHER = 5, 8  # so many that their means reach the bars
RECORDED, NO_RANGES = "recorded by Strata", "PyTorch's, no ranges"
KINDS = (RECORDED, "PyTorch's, Python and C++", NO_RANGES, "PyTorch's, Python", "PyTorch's, no frames", "the truth itself")

#: By kind of recording: F1, shares at the peak and at the ends of backward, at an out-of-memory, unknown at the peak, module.
BARS = {
    RECORDED: {"f1": 1.0, "peak": 0.99, "backward": 0.99, "worst": 0.90, "oom": 0.95, "unknown": 0.01, "module": 0.99, "roles": 0},
    "PyTorch's, Python and C++": {"f1": 0.99, "peak": 0.98, "backward": 0.92, "unknown": 0.03},
    "PyTorch's, Python": {"f1": 0.99, "peak": 0.98, "backward": 0.92, "unknown": 0.03},
    NO_RANGES: {"f1": 0.96},
    "PyTorch's, no frames": {"unknown": 0.15},
    "the truth itself": {"f1": 1.0, "peak": 1.0, "backward": 1.0, "oom": 1.0, "unknown": 0.0, "module": 1.0, "roles": 0}}


def write_without_ranges(snapshot, path):
    with open(snapshot, "rb") as file:
        kept = pickle.load(file)
    kept.pop("external_annotations", None)
    for trace in kept["device_traces"]:
        for event in trace:
            event.pop("user_metadata", None)
    with open(path, "wb") as file:
        pickle.dump(kept, file)


def check_ledger(strata, run, answer, failures):
    """The rows of the ledger at the peak are the blocks put together."""
    if run.trace.out_of_memory is not None:
        return
    event = answer.allocs[run.trace.peak()]
    told = document(strata, ["ledger", run.session, str(event), "--device", "0", "--json"])
    sums = {}
    for number in answer.live(event):
        block = answer.blocks[number]
        sums[block.category] = sums.get(block.category, 0) + block.bytes
    failures.expect(run.program.name, "ledger", told and {row["category"]: row["bytes"] for row in told["rows"] if row["bytes"]}, sums)
    failures.expect(run.program.name, "requested by the ledger", told and told["requested_bytes"], sum(sums.values()))


def hold(strata, run, tables, failures):
    with tempfile.NamedTemporaryFile(suffix=".pickle") as plain:
        write_without_ranges(run.snapshots["python"], plain.name)
        hold_recordings(strata, run, {RECORDED: run.session, KINDS[1]: run.snapshots["all"], NO_RANGES: plain.name,
                                      KINDS[3]: run.snapshots["python"], KINDS[4]: run.snapshots["none"]}, tables, failures)


def hold_recordings(strata, run, recordings, tables, failures):
    for kind, recording in recordings.items():
        answer = asked(strata, recording)
        result = score(run.truth, run.trace, answer)
        failures.expect(run.program.name, f"{kind}: allocations are those of the truth", result["same"], True)
        if result["same"]:
            tables[kind].add(run.program.name, result)
            if kind == RECORDED:
                check_ledger(strata, run, answer, failures)
    tables[KINDS[-1]].add(run.program.name, score(run.truth, run.trace, of_truth(run.truth, run.trace)))


def begin_of(program, folder):
    return os.path.join(folder, program.name.replace(" ", "-"))


def keep(run, folder):
    begin = begin_of(run.program, folder)
    shutil.copy(run.session, begin + ".strata")
    for stacks in STACKS:
        shutil.copy(run.snapshots[stacks], f"{begin}.{stacks}.pickle")
    with open(begin + ".truth.json", "w", encoding="utf-8") as file:
        json.dump(run.truth.as_json(run.program.name), file)


def kept(program, folder):
    """What keep() left there; None: nothing."""
    begin = begin_of(program, folder)
    if not os.path.exists(begin + ".truth.json"):
        return None
    with open(begin + ".truth.json", encoding="utf-8") as file:
        told = json.load(file)
    snapshots = {stacks: f"{begin}.{stacks}.pickle" for stacks in STACKS}
    trace = Trace(events_of(snapshots["all"]))
    return Run(program, begin + ".strata", snapshots, KeptTruth(told, trace), trace)


def percent(value):
    return "   -  " if value is None else f"{100 * value:6.2f}"


def print_shares(table, key, what):
    shares = table.shares(key)
    if shares is None:
        return
    right, (worst, name), unknown, constant, category, nothing = shares
    print(f"    {what:18} {percent(right)} %  worst {percent(worst)} ({name})  unknown {percent(unknown)} %;  doing nothing {percent(nothing)}, "
          f"one for all {percent(constant)} ({category})")
    sure, wrong = table.sure(key)
    print(f"    {'':18} right and sure {percent(sure)} %, wrong and sure {sum(wrong.values()):,} bytes {dict(wrong.most_common(4)) or ''}")
    if right < 1:
        print(f"    {'':18} instead: {', '.join(f'{wanted} told {told} {percent(part).strip()} %' for wanted, told, part in table.wrong(key))}")


def print_table(kind, table):
    print(f"  {kind}, {len(table.results)} programs")
    f1, exact, programs = table.f1()
    if programs:
        kinds = sum(same for _, same in table.each("kinds"))
        print(f"    {'step boundaries':18} F1 {'-' if f1 is None else f'{f1:.4f}'}, exact {exact} of {programs}; kinds of steps exact in {kinds}; doing nothing 0")
    for key, what in (("peak", "at the peak"), ("backward", "ends of backward"), ("oom", "out of memory")):
        print_shares(table, key, what)
    if not table.results:
        return
    blocks, differ, size, wrong = table.sums("roles")
    print(f"    {'listed roles':18} {differ} of {blocks} blocks differ, {wrong:,} of {size:,} bytes")
    right, named = table.sums("phases")
    bytes_right, born = table.sums("module")
    print(f"    {'phases':18} {percent(right / max(1, named))} % of {named} allocations; module {percent(bytes_right / max(1, born))} % of bytes born in forward")


def figures(table):
    found = {"f1": table.f1()[0]}
    for key in ("peak", "backward", "oom"):
        shares = table.shares(key)
        if shares is not None:
            found[key] = shares[0]
            if key == "peak":
                found["unknown"] = shares[2]
            if key != "oom":
                found["worst"] = min(found.get("worst", 1), shares[1][0])
    if table.results:
        right, born = table.sums("module")
        found["module"] = right / born if born else None
        found["roles"] = table.sums("roles")[1]
    return found


def check_bars(kind, table, failures):
    got = figures(table)
    for key in ("peak", "backward", "oom"):
        failures.expect(kind, f"{key}: bytes that are wrong, and recorded or shown by stacks", dict(table.sure(key)[1]), {})
    for key, bar in BARS[kind].items():
        value = got.get(key)
        if value is not None:
            enough = value <= bar if key in ("unknown", "roles") else value >= bar - 1e-12
            failures.expect(kind, f"{key} ({value:.4f}, bar {bar})", enough, True)


def check_bars_without_frames(table, failures):
    """85 % at accumulation 1, F1 of 0.95 in plain loops: names of plain programs are those of a family and an optimizer alone."""
    plain, single = Table(), Table()
    for name, result in table.results:
        if len(name.split()) == 2:
            plain.add(name, result)
        if "accumulate" not in name:
            single.add(name, result)
    for what, key, got, bar in (("plain loops", "f1", figures(plain).get("f1"), 0.95), ("accumulation 1", "peak", figures(single).get("peak"), 0.85),
                                ("accumulation 1", "backward", figures(single).get("backward"), 0.85)):
        if got is not None:
            failures.expect(KINDS[4], f"{what}: {key} ({got:.4f}, bar {bar})", got >= bar, True)


def chosen(config):
    held_back, seeds, only = (config.getoption(name) for name in ("held_back", "seeds", "only"))
    if LONG or only:
        return [each for each in roles_list.programs() if (each.family in roles_list.HELD_BACK) == held_back and (only or "") in each.name]
    return roles_list.sampled(seeds or SAMPLE, held_back)


def runs_of(programs, strata, python, folder, keep_there):
    """[(Run, None) or (None, why not)] of programs; those that are kept come from there."""
    known = [kept(program, keep_there) if keep_there else None for program in programs]
    missing = [program for program, run in zip(programs, known) if run is None]
    made = iter(Runs(os.path.realpath(strata), python, folder).run(missing) if missing else ())
    found = [(run, None) if run else next(made) for run in known]
    for (run, _), old in zip(found, known):
        if keep_there and run and not old:
            os.makedirs(keep_there, exist_ok=True)
            keep(run, keep_there)
    return found


def test_roles(request, strata, python, failures):
    tables = {kind: Table() for kind in KINDS}
    programs = chosen(request.config)
    for first in range(0, len(programs), TOGETHER):
        some = programs[first:first + TOGETHER]
        with tempfile.TemporaryDirectory() as folder:
            for program, (run, why) in zip(some, runs_of(some, strata, python, folder, request.config.getoption("keep"))):
                failures.expect(program.name, "why it is not scored", why, None)
                if run:
                    hold(strata, run, tables, failures)
        print(f"  {min(len(programs), first + TOGETHER)} of {len(programs)} programs", flush=True)
    for kind, table in tables.items():
        print_table(kind, table)
        check_bars(kind, table, failures)
    check_bars_without_frames(tables[KINDS[4]], failures)
