# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks `strata whatif --plan` which modules to checkpoint so that a training reserves no more than a budget, pastes the code that it gives
into the program, and holds the recording of that against the budget. Where the plan may choose among a few modules, all choices among them
are predicted, and the plan may cost no more than the cheapest that meets the budget. What `strata summary` advises saves what its command says,
and what a plan computes again is what the kernels of the real run take more.

usage: test_plan.py STRATA [--python PYTHON]... [--seeds N] [--first-seed N] [--only TEXT] [--held-back] [--modules N] [--largest] [--times]
                    [--keep FOLDER] [--recorder STRATA] [--write PAGE]

Budgets are drawn between the least that the plan says can be reached and what was recorded. It prints how many real runs meet theirs, and
beside it how many the program meets as it is (none: budgets lie below), and with everything checkpointed, and what each computes again.
Without a Python with PyTorch the test is skipped (exit 77) and says so.
"""
import collections
import concurrent.futures
import datetime
import hashlib
import itertools
import math
import os
import random
import shlex
import subprocess
import sys
import tempfile

from running import LONG, jobs, main, strata_json, version
from test_whatif import CARD, DEEP, HELD_BACK, PROGRAM, SHORT, add_case_options, cases, checkpointed, is_short, items_checkpointed, percentile, record

FEWEST_SAVED = 0.01  #: of the recorded peak: where checkpoints save less, there is nothing to plan
MOST_ABOVE_CHEAPEST = 1.05
FEW = 8  # modules among which a plan looks at all choices, be that which it takes
NOTHING = "no module of the deep step saves anything"  #: of a chain whose links keep what they take and no more
MANY_EVENTS = 20000  #: events, from which on a summary looks for advice only where memory is short
SHARES = (0.15, 0.5, 0.85)  #: of the way from the least to what was recorded

CAPACITIES = (0.9, 1.6, 3)  #: times what was recorded: a batch that is smaller, and larger ones
Asked = collections.namedtuple("Asked", "case budget plan name")


TOLD = []  #: figures, as sentences


def tell(text):
    print(f"  {text}", flush=True)
    TOLD.append(text)


def plan_of(strata, path, budget, *words):
    run, answer = strata_json(strata, ["whatif", path, "--json", "--plan", str(budget), *words])
    if answer is None or answer["plan"] is None:
        print(f"  {os.path.basename(path)}: {run.stderr.strip()[-300:]}", flush=True)
        return None, None if NOTHING not in run.stderr else NOTHING
    return answer["plan"], answer["devices"][0]


def code_of(folder, code):
    """The name of a file with that code."""
    name = hashlib.sha256(code.encode()).hexdigest()[:12]
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(code)
    return name


def with_code(case, name):
    items, *words = checkpointed(case)
    return (items, "--code", name, *words) if name else (items, *words)


def outermost(modules):
    """Of a plan's modules those that lie in no other."""
    paths = {module["module"] for module in modules}
    inside = lambda path: any(path[:end] in paths for end in range(1, len(path)) if path[end] == ".")
    return [module for module in modules if not inside(module["module"])]


def cost_of(modules):
    return sum(module["recompute_share"] for module in modules)


def everything_of(plan):
    """The code that checkpoints all of the outermost modules, and what that computes again."""
    modules = outermost(plan["modules"])
    head = plan["code"][:plan["code"].index("\n\n\n", plan["code"].index("def ")) + 3]
    return head + "".join(f"{module['code']}\n" for module in modules), cost_of(modules)


def check_cheapest(strata, case, path, plan, device, most, failures):
    """The plan among a few modules costs what the cheapest of all choices costs."""
    modules = sorted(outermost(plan["modules"]), key=lambda module: -module["saved_bytes"])[:most]
    if len(modules) < 2:
        return None
    among = [word for module in modules for word in ("--among", f"path:{module['module']}")]
    choices = [choice for count in range(len(modules) + 1) for choice in itertools.combinations(modules, count)]

    def needed(choice):
        words = [word for module in choice for word in ("--change", f"checkpoint=path:{module['module']}")]
        _, answer = strata_json(strata, ["whatif", path, "--json", *words])
        return answer["devices"][0]["interval"]["reserved_bytes_peak"][1]
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        peaks = list(pool.map(needed, choices))
    least, recorded = min(peaks), device["recorded"]["reserved_bytes_peak"]
    above = []
    for share in SHARES:
        budget = int(least + share * (recorded - least))
        answer, _ = plan_of(strata, path, budget, *among)
        met = [choice for choice, peak in zip(choices, peaks) if peak <= budget]
        if answer is None or not met:
            failures.expect(case.name, "a plan among a few", [answer is not None, bool(met)], [True, True])
            continue
        failures.expect(case.name, f"the plan among {len(modules)} modules for {budget} bytes is met", answer["met"])
        if len(modules) <= FEW:
            failures.expect(case.name, "it was looked for among all choices", answer["method"], "exact")
        cheapest, costs = min(cost_of(choice) for choice in met), cost_of(answer["rows"])
        above.append(costs / cheapest if cheapest else 1 + costs)
        failures.expect(case.name, f"it costs no more than {MOST_ABOVE_CHEAPEST} times the cheapest", above[-1] <= MOST_ABOVE_CHEAPEST)
    return above


def check_advice(strata, case, path, failures):
    """How much less each advice of the summary reserves, as its command says too: in percent, by evidence."""
    run, summary = strata_json(strata, ["summary", path, "--json"])
    if summary is not None and summary["advice"] is None and summary["devices"][0]["events"] > MANY_EVENTS:
        return []
    if summary is None or summary["advice"] is None:
        failures.expect(case.name, "advice of the summary", run.stderr, "a list")
        return []
    saved = []
    for advice in summary["advice"]:
        program, command, *words = shlex.split(advice["command"])
        _, answer = strata_json(strata, [command, *words, "--json"])
        device = answer["devices"][0] if answer and answer["devices"] else {}
        failures.expect(case.name, f"{advice['command']}: peaks", [device.get("recorded"), device.get("predicted")],
                        [advice["recorded"], advice["predicted"]])
        less = advice["saved_bytes"] / advice["recorded"]["reserved_bytes_peak"] * 100
        failures.expect(case.name, f"{advice['command']}: saves 2 % or more", less >= 2)
        saved.append((advice["evidence"], less))
    return saved


def ask(arguments, chosen, recordings, folder, failures):
    """Plans for budgets of each case, those for everything checkpointed, and how far plans among a few lie above the cheapest."""
    asked, above, everything, advice = [], [], {}, []
    for case in chosen:
        path = recordings.get(checkpointed(case))
        if path is None:
            failures.expect(case.name, "a recording", "none", "there")
            continue
        advice += check_advice(arguments.strata, case, path, failures)
        least, device = plan_of(arguments.strata, path, 1)
        if device == NOTHING:
            continue
        if least is None:
            failures.expect(case.name, "a plan", "none", "there")
            continue
        failures.expect(case.name, "a budget of nothing is not met", least["met"], False)
        recorded, reached = device["recorded"]["reserved_bytes_peak"], least["needed_bytes"]
        if reached > recorded * (1 - FEWEST_SAVED):
            print(f"  {case.name}: checkpoints save nothing to speak of: {reached} of {recorded} bytes", flush=True)
            continue
        code, cost = everything_of(least)
        everything[case.name] = (code_of(folder, code), cost)
        rng = random.Random(case.name)
        budgets = [reached] + [int(reached + share * (recorded - reached)) for share in (rng.random(), rng.random())]
        for budget in budgets:
            plan, _ = plan_of(arguments.strata, path, budget)
            failures.expect(case.name, f"a plan for {budget} bytes is met", plan is not None and plan["met"])
            if plan is not None and plan["met"]:
                asked.append(Asked(case, budget, plan, code_of(folder, plan["code"])))
        more = check_cheapest(arguments.strata, case, path, least, device, arguments.modules, failures)
        above += more or []
    for evidence in sorted({each for each, _ in advice}):
        saved = [less for each, less in advice if each == evidence]
        tell(f"advice of the summary by {evidence}, of {len(chosen)} programs: {len(saved)}, which save {percentile(saved, 0.5):.1f} % of the reserved "
              f"peak in the median")
    failures.expect("advice", "some is by the deep step", any(evidence == "deep" for evidence, _ in advice))
    return asked, above, everything


def test(arguments, python, failures):
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or temporary
        codes = os.path.join(folder, "codes")
        os.makedirs(codes, exist_ok=True)
        os.environ["WHATIF_CODE"] = codes
        seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
        chosen = [case for case in cases(seeds) if arguments.only in case.name and (arguments.held_back or case.family not in HELD_BACK)]
        if is_short(arguments):
            chosen = [case for case in chosen if case.family == SHORT]
        strata = arguments.recorder or arguments.strata
        recordings = record(strata, python, os.path.join(folder, "deep"), [checkpointed(case) for case in chosen], DEEP)
        rows = []
        for case in chosen[:len(chosen) if LONG or arguments.largest else 1]:
            if checkpointed(case) in recordings:
                rows += check_largest(arguments, python, case, recordings[checkpointed(case)], failures)
        fitting = sum(row[0] is True for row in rows)
        tell(f"largest batches: {fitting} of {len(rows)} fit in a real run; with a quarter more items {sum(row[1] is False for row in rows)} do not")
        failures.expect("largest batches", "they fit in 95 %", fitting >= 0.95 * len(rows) or fitting >= len(rows) - 1 and len(rows) < 20)
        asked, above, everything = ask(arguments, chosen, recordings, codes, failures)
        timed = list({each.case.name: each.case for each in asked if each.plan["recompute_share"] > 0.05}.values())
        check_time(arguments, python, folder, codes, timed if LONG or arguments.times else timed[:1], failures)
        programs = dict.fromkeys([with_code(each.case, each.name) for each in asked]
                                 + [with_code(case, everything[case.name][0]) for case in chosen if case.name in everything])
        truth = record(strata, python, os.path.join(folder, "truth"), list(programs), ("--deep-step", "0"))

        def reserved(words):
            _, answer = strata_json(arguments.strata, ["whatif", truth[words], "--json"]) if words in truth else (None, None)
            return answer["devices"][0]["recorded"]["reserved_bytes_peak"] if answer else None
        with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
            peaks = dict(zip(programs, pool.map(reserved, programs)))
    report(asked, above, everything, peaks, failures)
    if arguments.write:
        write(arguments, python)


def write(arguments, python):
    """The published page."""
    strata = subprocess.run([arguments.strata, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    lines = ["# What plans of `strata whatif --plan` come to", "",
             f"Made by `tests/truth/tests/test_plan.py STRATA --seeds {arguments.seeds} --first-seed {arguments.first_seed}"
             f"{' --held-back' if arguments.held_back else ''} --modules {arguments.modules}{' --largest' if arguments.largest else ''}"
             f"{' --times' if arguments.times else ''} --write docs/whatif-plan-accuracy.md`:",
             f"{strata}, PyTorch {'.'.join(map(str, version(python)[:3]))}, simulated {CARD}, {datetime.date.today()}.", "",
             "The truth is the program with the code of the plan pasted into it, run with real PyTorch and its real allocator on the simulated device.",
             "Programs and families are those of [whatif-accuracy.md](whatif-accuracy.md); budgets are drawn between the least that can be reached, which is one of",
             "them, and what was recorded, so that no program meets one as it is.", "", *(f"- {text}" for text in TOLD), ""]
    with open(arguments.write, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def fits(strata, python, words, capacity):
    """Whether the program ends well on a card with so much memory; None: it failed otherwise."""
    run, answer = strata_json(strata, ["dryrun", "--device", CARD, "--capacity", str(capacity), "--json", "--", python, PROGRAM, *words])
    return None if answer is None else answer["needed_at_least_bytes"] is None


def check_largest(arguments, python, case, path, failures):
    """For capacities the largest batch, whether that fits, and whether one that is a quarter larger does not: real runs."""
    _, answer = strata_json(arguments.strata, ["whatif", path, "--json"])
    recorded = answer["devices"][0]["recorded"]["reserved_bytes_peak"]
    strata, rows = arguments.recorder or arguments.strata, []
    for times in CAPACITIES if arguments.largest or LONG else CAPACITIES[1:2]:
        capacity = int(times * recorded)
        plan, _ = plan_of(arguments.strata, path, "largest-batch", "--capacity", str(capacity), "--batch-of", str(items_checkpointed(case)))
        if plan is None:
            failures.expect(case.name, "the largest batch", "none", "there")
            continue
        for row in plan["rows"]:
            if not row["fits"] or is_short(arguments) and rows:
                continue
            modules = [change[len("checkpoint="):] for change in row["changes"] if change.startswith("checkpoint=")]
            program = lambda items: (str(items), *(("--checkpoint", modules[0]) if modules else ()), *checkpointed(case)[1:])
            larger = math.ceil(row["batch_after"] * 1.25) + 1
            rows.append((fits(strata, python, program(row["batch_after"]), capacity), fits(strata, python, program(larger), capacity)))
            if rows[-1][0] is not True:
                print(f"  {case.name}: {row['changes']} is said to fit {capacity} bytes: {rows[-1][0]}", flush=True)
    return rows


def check_time(arguments, python, folder, codes, cases_asked, failures):
    """What plans compute again, as kernels that were recorded tell, of what the kernels of real runs take more; and a plan that is confirmed."""
    strata, ratios = arguments.recorder or arguments.strata, []
    recorded = record(strata, python, os.path.join(folder, "kernels"), [checkpointed(case) for case in cases_asked], (*DEEP, "--kernels"))

    def kernels(path):
        _, answer = strata_json(arguments.strata, ["timeline", path, "--json"])
        return sum(row["total_ns"] for row in answer["kernels"])
    for number, case in enumerate(cases_asked):
        path = recorded[checkpointed(case)]
        least, device = plan_of(arguments.strata, path, 1)
        budget = (least["needed_bytes"] + device["recorded"]["reserved_bytes_peak"]) // 2
        plan, _ = plan_of(arguments.strata, path, budget)
        words = with_code(case, code_of(codes, plan["code"]))
        truth = record(strata, python, os.path.join(folder, "kernels", "truth"), [words], ("--deep-step", "0", "--kernels"))[words]
        steps = int(words[words.index("--steps") + 1])
        more = (kernels(truth) - kernels(path)) / steps
        failures.expect(case.name, "costs are times of kernels", plan["measure"], "kernels")
        ratios.append(plan["recompute_ns"] / max(more, 1))
        if number > 0:
            continue
        run, answer = strata_json(arguments.strata, ["whatif", path, "--plan", str(budget), "--json", "--confirm", "--", python, PROGRAM, *checkpointed(case)])
        confirmed = answer["devices"][0]["confirmed"] if answer else None
        failures.expect(case.name, f"a confirmed plan for {budget} bytes: {run.stderr[-300:] if confirmed is None else ''}",
                        confirmed is not None and confirmed["reserved_bytes_peak"] <= budget)
    near = sum(0.9 <= ratio <= 1.1 for ratio in ratios)
    tell(f"recompute by kernels: in {near} of {len(ratios)} programs within a tenth of what the kernels of the real run take more, "
         f"{percentile(ratios, 0.5):.3f} times that in the median, {min(ratios, default=1):.3f} to {max(ratios, default=1):.3f}")
    failures.expect("recompute by kernels", "within a tenth in 90 %", near >= 0.9 * len(ratios))


def report(asked, above, everything, peaks, failures):
    for which in ("tuned", "held back"):
        rows = [each for each in asked if (each.case.family in HELD_BACK) == (which == "held back")]
        if not rows:
            continue
        met = 0
        for each in rows:
            peak = peaks[with_code(each.case, each.name)]
            met += peak is not None and peak <= each.budget
            if peak is None or peak > each.budget:
                print(f"  {each.case.name}: {each.budget} bytes are not met: {peak}; {len(each.plan['rows'])} modules", flush=True)
        all_met = sum((peaks[with_code(each.case, everything[each.case.name][0])] or each.budget + 1) <= each.budget for each in rows)
        share = percentile([each.plan["recompute_share"] for each in rows], 0.5)
        all_share = percentile([everything[each.case.name][1] for each in rows], 0.5)
        tell(f"plans on {CARD}, {which} families: {met} of {len(rows)} real runs meet their budget, computing {share * 100:.1f} % of the forward "
              f"again in the median; no change: 0 meet it; everything checkpointed: {all_met} meet it, computing {all_share * 100:.1f} % again; "
              f"{sum(each.plan['method'] == 'exact' for each in rows)} by all choices")
        failures.expect(which, "real runs meet their budget in 95 %", met >= 0.95 * len(rows) or met >= len(rows) - 1 and len(rows) < 20)
    if above:
        tell(f"among a few modules: {sum(each < 1 + 1e-9 for each in above)} of {len(above)} plans cost what the cheapest of all choices costs; worst "
              f"{max(above):.3f} times that")
    failures.expect("plans", "some were asked for", bool(asked))
    failures.expect("plans", "some are neither nothing nor everything",
                    any(0 < len(each.plan["rows"]) < len(each.plan["modules"]) for each in asked))


def add_options(parser):
    add_case_options(parser)
    parser.add_argument("--write", metavar="PAGE", help="writes the figures as a page of the manual")
    parser.add_argument("--recorder", metavar="STRATA", help="records, where another is asked")
    parser.add_argument("--modules", type=int, default=8 if LONG else 3, help="of all choices among so many the cheapest is looked for")
    parser.add_argument("--times", action="store_true", help="costs by kernels of all cases, not of the first alone")
    parser.add_argument("--largest", action="store_true", help="largest batches of all cases, not of the first alone")
    parser.add_argument("--keep", metavar="FOLDER", help="leaves the recordings there, and takes those that are there already")


if __name__ == "__main__":
    sys.exit(main(test, every_python=False, add_options=add_options))
