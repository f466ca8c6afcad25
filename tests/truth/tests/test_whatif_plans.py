# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what `strata whatif` plans, whether it says that programs fit, and the times of steps against real runs.

Plans (--plan): which modules to checkpoint so that a training reserves no more than a budget. The code of the plan is pasted into the program, and its
recording is held against the budget. Where the plan may choose among a few modules, all choices among them are predicted, and the plan may cost no more
than the cheapest that meets the budget. The advice of `strata summary` saves as much as its command says, and a plan computes again as much as the
kernels of the real run take more. Budgets are drawn between the least that the plan says can be reached and what was recorded.

Fits (--capacity): programs as they are, with checkpoints and with other settings of the allocator run with just so much memory. Capacities are
drawn between 0.9 and 1.1 of what a run with room enough reserves; what is asked is whether they fit that divided by 1.02.

Times: those of a step against dry runs of the changed program, whose kernels take what the card takes at least. The truth is how long the device
works in a step as `strata timeline` has it, the median of the steps behind the warm-up. What has no evidence has no time.
"""
import collections
import concurrent.futures
import hashlib
import itertools
import math
import os
import random
import shlex
import statistics

import pytest

import forks
from against_truth import start_many
from running import Failures, dryrun, jobs, with_environment
from whatif_cases import (CARD, CLASSES, FLAT, HELD_BACK, NEEDED, NESTED, PROGRAM, SOME, TOGETHER, Recording, changes, checkpointed, command,
                          items_checkpointed, percentile)

pytestmark = pytest.mark.torch("newest")

FEWEST_SAVED = 0.01  #: of the recorded peak: where checkpoints save less, there is nothing to plan
MOST_ABOVE_CHEAPEST = 1.05
FEW = 8  # modules among which a plan looks at all choices, be that which it takes
NOTHING = "no module of the deep step saves anything"  #: of a chain whose links keep what they take and no more
MANY_EVENTS = 20000  #: events, from which on a summary looks for advice only where memory is short
SHARES = (0.15, 0.5, 0.85)  #: of the way from the least to what was recorded
CAPACITIES = (0.9, 1.6, 3)  #: times what was recorded: a batch that is smaller, and larger ones
Asked = collections.namedtuple("Asked", "case budget plan name")


class Plans:
    """Plans of the cases that are chosen, and what was measured."""

    def __init__(self, whatif, codes):
        self.whatif, self.codes, self.measured = whatif, codes, []
        os.environ["WHATIF_CODE"] = str(codes)
        self.cases = whatif.cases()
        self.made = whatif.record(Recording(checkpointed(case)) for case in self.cases)

    def tell(self, asked, families="all", **found):
        """A row of docs/accuracy.json."""
        print(f"  {asked}, {families}: " + ", ".join(f"{key} {value}" for key, value in found.items()), flush=True)
        self.measured.append({"asked": asked, "families": families, **found})

    def plan_of(self, recording, budget, *words):
        run, answer = self.whatif.ask(recording, "--plan", str(budget), *words)
        if answer is None or answer["plan"] is None:
            print(f"  {recording.words}: {run.stderr.strip()[-300:]}", flush=True)
            return None, None if NOTHING not in run.stderr else NOTHING
        return answer["plan"], answer["devices"][0]

    def reserved(self, recording):
        peaks = self.whatif.peaks(recording)
        return peaks and peaks[2]

    def code_of(self, code):
        """The name of a file with that code."""
        name = hashlib.sha256(code.encode()).hexdigest()[:12]
        with open(self.codes / name, "w", encoding="utf-8") as file:
            file.write(code)
        return name


@pytest.fixture(scope="module")
def plans(whatif, tmp_path_factory):
    return Plans(whatif, tmp_path_factory.mktemp("codes"))


def with_code(case, name, *options):
    items, *words = checkpointed(case)
    return Recording((items, "--code", name, *words), (*FLAT, *options))


def outermost(modules):
    """Of a plan's modules those that lie in no other."""
    paths = {module["module"] for module in modules}
    return [module for module in modules
            if not any(module["module"][:end] in paths for end, letter in enumerate(module["module"]) if letter == ".")]


def cost_of(modules):
    return sum(module["recompute_share"] for module in modules)


def everything_of(plan):
    """The code that checkpoints all of the outermost modules, and what that computes again."""
    modules = outermost(plan["modules"])
    head = plan["code"][:plan["code"].index("\n\n\n", plan["code"].index("def ")) + 3]
    return head + "".join(f"{module['code']}\n" for module in modules), cost_of(modules)


def check_cheapest(plans, case, plan, device, failures):
    """The plan among a few modules costs what the cheapest of all choices costs: how many times that."""
    recording, above = Recording(checkpointed(case)), []
    modules = sorted(outermost(plan["modules"]), key=lambda module: -module["saved_bytes"])[:3 if plans.whatif.short else FEW]
    if len(modules) < 2:
        return []
    among = [word for module in modules for word in ("--among", f"path:{module['module']}")]
    choices = [choice for count in range(len(modules) + 1) for choice in itertools.combinations(modules, count)]

    def needed(choice):
        _, answer = plans.whatif.ask(recording, *changes(*(f"checkpoint=path:{module['module']}" for module in choice)))
        return answer["devices"][0]["interval"]["reserved_bytes_peak"][1]
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        peaks = list(pool.map(needed, choices))
    least, recorded = min(peaks), device["recorded"]["reserved_bytes_peak"]
    for share in SHARES:
        budget = int(least + share * (recorded - least))
        answer, _ = plans.plan_of(recording, budget, *among)
        met = [choice for choice, peak in zip(choices, peaks) if peak <= budget]
        if answer is None or not met:
            failures.expect(case.name, "a plan among a few", [answer is not None, bool(met)], [True, True])
            continue
        failures.expect(case.name, f"the plan among {len(modules)} modules for {budget} bytes is met", answer["met"])
        failures.expect(case.name, "it was looked for among all choices", answer["method"], "exact")
        cheapest, costs = min(cost_of(choice) for choice in met), cost_of(answer["rows"])
        above.append(costs / cheapest if cheapest else 1 + costs)
        failures.expect(case.name, f"it costs no more than {MOST_ABOVE_CHEAPEST} times the cheapest", above[-1] <= MOST_ABOVE_CHEAPEST)
    return above


@pytest.fixture(scope="module")
def asked(plans):
    """Plans for budgets of each case, those for everything checkpointed, and how far plans among a few lie above the cheapest; and checks of them."""
    failures, rows, above, everything = Failures(), [], [], {}
    for case in plans.cases:
        recording = Recording(checkpointed(case))
        least, device = plans.plan_of(recording, 1)
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
        everything[case.name] = (plans.code_of(code), cost)
        rng = random.Random(case.name)
        for budget in (reached, *(int(reached + share * (recorded - reached)) for share in (rng.random(), rng.random()))):
            plan, _ = plans.plan_of(recording, budget)
            failures.expect(case.name, f"a plan for {budget} bytes is met", plan is not None and plan["met"])
            if plan is not None and plan["met"]:
                rows.append(Asked(case, budget, plan, plans.code_of(plan["code"])))
        above += check_cheapest(plans, case, least, device, failures)
    return rows, above, everything, failures


class TestPlans:
    def test_advice_of_the_summary(self, plans, failures):
        """How much less each advice reserves, as its command says too."""
        advice = []
        for case in plans.cases:
            run, summary = plans.whatif.json("summary", plans.whatif.path(Recording(checkpointed(case))))
            if summary is not None and summary["advice"] is None and summary["devices"][0]["events"] > MANY_EVENTS:
                continue
            if summary is None or summary["advice"] is None:
                failures.expect(case.name, "advice of the summary", run.stderr, "a list")
                continue
            for each in summary["advice"]:
                _, *words = shlex.split(each["command"])
                _, answer = plans.whatif.json(*words)
                device = answer["devices"][0] if answer and answer["devices"] else {}
                failures.expect(case.name, f"{each['command']}: peaks", [device.get("recorded"), device.get("predicted")], [each["recorded"], each["predicted"]])
                less = each["saved_bytes"] / each["recorded"]["reserved_bytes_peak"] * 100
                failures.expect(case.name, f"{each['command']}: saves 2 % or more", less >= 2)
                advice.append((each["evidence"], less))
        for evidence in sorted({each for each, _ in advice}):
            saved = [less for each, less in advice if each == evidence]
            plans.tell(f"advice, {'deep step' if evidence == 'deep' else evidence}", programs=len(plans.cases), advice=len(saved),
                       saved=round(percentile(saved, 0.5), 1))
        failures.expect("advice", "some is by the deep step", any(evidence == "deep" for evidence, _ in advice))

    def test_largest_batch(self, plans, failures):
        """For capacities the largest batch fits in a real run; one that is a quarter larger is tried, too."""
        rows = []

        def fits(program, items, capacity):
            """None: it failed otherwise."""
            _, answer = dryrun(plans.whatif.strata, ["--device", CARD, "--capacity", str(capacity)], [plans.whatif.python, PROGRAM, str(items), *program])
            return None if answer is None else answer["needed_at_least_bytes"] is None
        for case in plans.cases:
            recording = Recording(checkpointed(case))
            for times in CAPACITIES[1:2] if plans.whatif.short else CAPACITIES:
                capacity = int(times * plans.reserved(recording))
                plan, _ = plans.plan_of(recording, "largest-batch", "--capacity", str(capacity), "--batch-of", str(items_checkpointed(case)))
                if plan is None:
                    failures.expect(case.name, "the largest batch", "none", "there")
                    continue
                for row in [row for row in plan["rows"] if row["fits"]][:1 if plans.whatif.short else None]:
                    modules = [change[len("checkpoint="):] for change in row["changes"] if change.startswith("checkpoint=")]
                    program = (*(("--checkpoint", modules[0]) if modules else ()), *checkpointed(case)[1:])
                    larger = [] if plans.whatif.short else [math.ceil(row["batch_after"] * 1.25) + 1]  # which is told alone
                    rows.append([fits(program, items, capacity) for items in (row["batch_after"], *larger)])
                    if rows[-1][0] is not True:
                        print(f"  {case.name}: {row['changes']} is said to fit {capacity} bytes: {rows[-1][0]}", flush=True)
        fitting = sum(row[0] is True for row in rows)
        plans.tell("largest batch", batches=len(rows), fit=fitting, larger_do_not_fit=sum(row[-1] is False for row in rows))
        failures.expect("largest batches", "they fit in 95 %", fitting >= 0.95 * len(rows) or fitting >= len(rows) - 1 and len(rows) < 20)

    def test_cheapest_needs_each_of_its_changes(self, plans, failures):
        """A plan that fits does not fit without the changes of any one kind, or without its settings."""
        stacked = 0
        for case in plans.cases:
            recording = Recording(checkpointed(case))
            for times in (0.9, 0.7, 0.5, 0.3):
                capacity = int(times * plans.reserved(recording))
                plan, _ = plans.plan_of(recording, "cheapest", "--capacity", str(capacity))
                if plan is None or not plan["met"] or "chosen" not in plan:
                    continue
                row = plan["rows"][plan["chosen"]]
                parts = collections.defaultdict(list)
                for change in row["changes"]:
                    parts[change.split("=")[0]] += changes(change)
                if row["settings"] is not None:
                    parts["settings"] = ["--set", row["settings"]]
                if len(parts) < 2 or "batch" in parts:
                    continue
                stacked += 1
                for left in parts:
                    words = [word for part in parts if part != left for word in parts[part]]
                    fits = True
                    for room in (capacity, int(capacity / MARGIN)):
                        _, answer = plans.whatif.ask(recording, "--capacity", str(room), *words)
                        fits = fits and answer is not None and bool(answer["devices"]) and not answer["devices"][0]["out_of_memory"]
                    failures.expect(case.name, f"{words} fits {capacity} bytes as well, without {left}", fits, False)
        print(f"  cheapest plans with more than one kind of change: {stacked}", flush=True)
        failures.expect("cheapest", "some plans have more than one kind of change", stacked > 0)

    def test_recompute_by_kernels(self, plans, asked, failures):
        """What plans compute again, as kernels that were recorded tell, of what the kernels of real runs take more; and a plan that is confirmed."""
        whatif, ratios = plans.whatif, []
        cases = list({each.case.name: each.case for each in asked[0] if each.plan["recompute_share"] > 0.05}.values())
        cases = cases[:1] if whatif.short else cases
        whatif.record(Recording(checkpointed(case), ("--kernels",)) for case in cases)

        def kernels(recording):
            _, answer = whatif.json("timeline", whatif.path(recording))
            return sum(row["total_ns"] for row in answer["kernels"])
        truths = []
        for case in cases:
            recording = Recording(checkpointed(case), ("--kernels",))
            least, device = plans.plan_of(recording, 1)
            budget = (least["needed_bytes"] + device["recorded"]["reserved_bytes_peak"]) // 2
            plan, _ = plans.plan_of(recording, budget)
            failures.expect(case.name, "costs are times of kernels", plan["measure"], "kernels")
            truths.append((recording, with_code(case, plans.code_of(plan["code"]), "--kernels"), plan, budget))
        whatif.record(truth for _, truth, _, _ in truths)
        for recording, truth, plan, _ in truths:
            steps = int(truth.words[truth.words.index("--steps") + 1])
            ratios.append(plan["recompute_ns"] / max((kernels(truth) - kernels(recording)) / steps, 1))
        for recording, _, _, budget in truths[:1]:
            run, answer = whatif.ask(recording, "--plan", str(budget), "--confirm", "--", whatif.python, PROGRAM, *recording.words)
            confirmed = answer["devices"][0]["confirmed"] if answer else None
            failures.expect("confirmed", f"a plan for {budget} bytes: {run.stderr[-300:] if confirmed is None else ''}",
                            confirmed is not None and confirmed["reserved_bytes_peak"] <= budget)
        near = sum(0.9 <= ratio <= 1.1 for ratio in ratios)
        plans.tell("recompute by kernels", programs=len(ratios), close=near, ratio_median=round(percentile(ratios, 0.5), 3),
                   ratio_least=round(min(ratios), 3), ratio_most=round(max(ratios), 3))
        failures.expect("recompute by kernels", "within a tenth in 90 %", near >= 0.9 * len(ratios))

    def test_real_runs_meet_their_budget(self, plans, asked, failures):
        rows, above, everything, failed = asked
        failures.expect("plans", "what they say of themselves", failed.said, [])
        codes = {(each.case.name, each.name): with_code(each.case, each.name) for each in rows}
        codes |= {(each.case.name, None): with_code(each.case, everything[each.case.name][0]) for each in rows}
        plans.whatif.record(codes.values())
        peaks = {key: plans.reserved(recording) for key, recording in codes.items()}
        for which in ("tuned", "held back"):
            some = [each for each in rows if (each.case.family in HELD_BACK) == (which == "held back")]
            if not some:
                continue
            met = [each for each in some if (peaks[each.case.name, each.name] or math.inf) <= each.budget]
            for each in some:
                if each not in met:
                    print(f"  {each.case.name}: {each.budget} bytes are not met: {peaks[each.case.name, each.name]}; {len(each.plan['rows'])} modules", flush=True)
            all_met = sum((peaks[each.case.name, None] or math.inf) <= each.budget for each in some)
            share = percentile([each.plan["recompute_share"] for each in some], 0.5)
            all_share = percentile([everything[each.case.name][1] for each in some], 0.5)
            plans.tell("plan for a budget", which, plans=len(some), met=len(met), recompute=round(share * 100, 1), no_change_met=0, everything_met=all_met,
                       everything_recompute=round(all_share * 100, 1), all_choices=sum(each.plan["method"] == "exact" for each in some))
            failures.expect(which, "real runs meet their budget in 95 %", len(met) >= 0.95 * len(some) or len(met) >= len(some) - 1 and len(some) < 20)
        if above:
            plans.tell("plan among a few modules", plans=len(above), cheapest=sum(each < 1 + 1e-9 for each in above), ratio_most=round(max(above), 3))
        failures.expect("plans", "some were asked for", bool(rows))
        failures.expect("plans", "some are neither nothing nor everything", any(0 < len(each.plan["rows"]) < len(each.plan["modules"]) for each in rows))
        if plans.whatif.page:
            plans.whatif.write("plans", plans.measured)


# Whether it fits.
MARGIN = 1.02
SPARE = 1.05  # from which on nobody accepts "does not fit" where it does
MOST_WRONG = 0.02
OUT_OF_MEMORY = 3  # status of whatif_program.py
KINDS = ("unchanged", "checkpointing", "checkpointing and settings")
Fit = collections.namedtuple("Fit", "case kind chosen settings words")
Draw = collections.namedtuple("Draw", "question capacity spare")  # spare: of what a run with room enough reserves


def fit_questions(case, classes):
    yield Fit(case, KINDS[0], None, "", ())
    for chosen in classes:
        change = changes(f"checkpoint={chosen}")
        yield Fit(case, KINDS[1], chosen, "", change)
        yield Fit(case, KINDS[2], chosen, case.settings, [*change, "--set", case.settings])


def with_capacity(draw):
    items, *words = checkpointed(draw.question.case, draw.question.chosen)
    return (items, "--capacity", str(draw.capacity), *words)


def room_enough(question):
    return Recording(checkpointed(question.case, question.chosen), FLAT, question.settings)


def ends_of(simgpu, python, folder, draws):
    """Of programs with so much memory: whether each ended without running out of it; None: it ended otherwise."""
    run, ended = forks.forked([simgpu, "--"], python, [command(with_capacity(draw), draw.question.settings) for draw in draws], folder, NEEDED,
                              env=with_environment(PYTORCH_CUDA_ALLOC_CONF=""))
    statuses = [each["status"] for each in ended]
    if any(status not in (0, OUT_OF_MEMORY) for status in statuses):
        print(statuses, run.stderr[-4000:], flush=True)
    return [{0: True, OUT_OF_MEMORY: False}.get(status) for status in statuses]


def report_fits(rows, kind, which, failures):
    """A line for each side: of those that were told so, how many are wrong; and the row of docs/accuracy.json."""
    def wrong(index, fits):
        asked = [row for row in rows if (row[index] if fits else row[0].spare >= SPARE and row[3])]
        return sum(row[index] is fits and row[3] is not fits for row in asked), len(asked)
    found = {"asked": kind, "families": which, "runs": len(rows), "fit": sum(row[3] for row in rows)}
    for fits in (True, False):
        (off, of), (null_off, null_of) = wrong(1, fits), wrong(2, fits)
        name = "fits" if fits else "does not fit"
        wrong_key, of_key = ("fits_wrong", "fits_said") if fits else ("misfits_wrong", "misfits")
        found |= {wrong_key: off, of_key: of, f"same_{wrong_key}": null_off, f"same_{of_key}": null_of}
        print(f"  {kind}, {which}: \"{name}\": {off} of {of} wrong{'' if fits else ' where 5 % is spare'}; no change: {null_off} of {null_of}", flush=True)
        # Where a bar of 2 % has no room for one, one is let pass.
        failures.expect(f"{kind}, {which}", f"\"{name}\" is wrong in at most 2 %", off <= max(1, MOST_WRONG * of))
    silent = sum(row[1] is None for row in rows)
    print(f"  {kind}, {which}: {len(rows)} runs, {found['fit']} of them fit; {silent} not answered", flush=True)
    failures.expect(f"{kind}, {which}", "at most 5 % are not answered", silent <= max(2, 0.05 * len(rows)))
    return {**found, "not_answered": silent}


def test_fits(whatif, simgpu, failures, tmp_path):
    chosen = whatif.cases()
    asked = [question for case in chosen for question in fit_questions(case, CLASSES[case.family][:1 if whatif.short else None])]
    made = whatif.record([Recording(checkpointed(case)) for case in chosen] + [room_enough(question) for question in asked])
    drawn = []
    for question in asked:
        if room_enough(question) not in made or Recording(checkpointed(question.case)) not in made:
            print(f"  {question.case.name}, {question.chosen}: no recording", flush=True)
            continue
        reserved, rng = whatif.peaks(room_enough(question))[2], random.Random(f"{question.case.name} {question.chosen} {question.settings}")
        drawn += [Draw(question, int(reserved * spare), spare) for spare in (rng.uniform(0.9, 1.1) for _ in range(2 if whatif.short else 4))]

    def said(draw, words):
        """Whether it fits; None where nothing is said."""
        _, answer = whatif.ask(Recording(checkpointed(draw.question.case)), "--capacity", str(int(draw.capacity / MARGIN)), *words)
        device = answer["devices"][0] if answer and answer["devices"] else None
        return None if device is None or device["predicted"] is None or device["out_of_memory"] is None else not device["out_of_memory"]
    groups = [drawn[first:first + TOGETHER] for first in range(0, len(drawn), TOGETHER)]
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        ends = [end for some in pool.map(lambda group: ends_of(simgpu, whatif.python, tmp_path, group), groups) for end in some]
        rows = [(draw, *answer, end) for draw, answer, end
                in zip(drawn, pool.map(lambda draw: (said(draw, draw.question.words), said(draw, ())), drawn), ends)]
    failures.expect("runs", "ended otherwise", [with_capacity(row[0]) for row in rows if row[3] is None], [])
    rows = [row for row in rows if row[3] is not None]
    for draw, answer, _, truth in rows:
        if answer is not truth and (answer is not False or draw.spare >= SPARE):
            print(f"  {draw.question.case.name}, {draw.question.chosen} {draw.question.settings}: {draw.spare:.3f} of what is reserved: "
                  f"said {answer}, it is {truth}", flush=True)
    measured = []
    for kind, which in itertools.product(KINDS, ("tuned", "held back")):
        some = [row for row in rows if row[0].question.kind == kind and (row[0].question.case.family in HELD_BACK) == (which == "held back")]
        measured += [report_fits(some, kind, which, failures)] if some else []
    failures.expect("runs", "some fit and some do not", len({row[3] for row in rows}), 2)
    if whatif.page:
        whatif.write("fits", measured)


# Times of steps.
#: In percent of the truth: median and 95th percentile, by change.
TIME_BARS = {"checkpoint": (1, 5), "checkpoint=none": (1, 5), "batch": (1, 5), "accumulate": (2, 8)}


def time_questions(case):
    """Each change with the programs that are recorded, and the one that is the truth."""
    base, blocks, chosen, items = checkpointed(case), checkpointed(case, blocks=True), CLASSES[case.family][0], items_checkpointed(case)
    yield "checkpoint", changes(f"checkpoint={chosen}"), [base], checkpointed(case, chosen)
    if case.family in NESTED:
        yield "checkpoint=none", changes("checkpoint=none"), [blocks], base
    if "accumulate" not in case.words and case.family != "gan":  # which trains two models in turns
        yield "accumulate", changes("accumulate=4"), [base], (*base, "--option", "accumulate")
    yield "batch", [*changes("batch=x2"), "--batch-of", f"{items},{items * 3}"], [base, checkpointed(case, times=3)], checkpointed(case, times=2)


def test_times_of_steps(whatif, failures, tmp_path):
    asked = [(case, *question) for case in whatif.cases() for question in time_questions(case)]
    programs, made = list(dict.fromkeys(words for _, _, _, recorded, truth in asked for words in (*recorded, truth))), {}
    for some in (programs[first:first + TOGETHER] for first in range(0, len(programs), TOGETHER)):
        run, _, ended = start_many(whatif.strata, whatif.python, ["--device", CARD, "--kernels", "--deep-step", "3"], [[PROGRAM, *words] for words in some],
                                   str(tmp_path), NEEDED, "strata")
        made |= {words: str(tmp_path / f"{each['process']}.strata") for words, each in zip(some, ended or ())}
        failures.expect("dry runs", f"all ended: {run.stderr[-1000:]}", [each["status"] for each in ended or ()], [0] * len(some))
    if failures.count:
        return

    def busy(words):
        """Of a step, as the timeline has it."""
        steps = whatif.json("timeline", made[words])[1]["ranks"][0]["steps"]
        return statistics.median_low([step["gpu_busy_ns"] for step in steps if not step["warms_up"]] or [step["gpu_busy_ns"] for step in steps])

    def told(path, *words):
        _, answer = whatif.ask(path, *words)
        return answer["devices"][0]["step_time_ns"] if answer and answer["devices"] else None

    def error_of(question):
        """That of the predicted time in percent of the truth, and that of no change."""
        case, change, words, recorded, truth = question
        time, wanted = told(made[recorded[0]], *words, *(word for each in recorded[1:] for word in ("--with", made[each]))), busy(truth)
        if time is None or time["predicted"] is None:
            failures.expect(case.name, f"a time with {change}", time, "a figure")
            return None
        failures.expect(case.name, "what a dry run tells is a bound", time["lower_bound"])
        if change == "accumulate":
            # Steps of one program differ by 0.03 % between two dry runs.
            failures.expect(case.name, "a bound without what adding up takes", time["predicted"] <= 1.001 * wanted)
        error = (time["predicted"] - wanted) / wanted * 100, abs(time["recorded"] - wanted) / wanted * 100
        if abs(error[0]) > 1:
            print(f"  {case.name}: {change}: {error[0]:+.2f} % (no change: {error[1]:.1f} %)", flush=True)
        return change, *error

    def check_unknown(case):
        """Nothing changed takes as long; what nothing tells has no time."""
        path = made[checkpointed(case)]
        time, truth = told(path), busy(checkpointed(case))
        failures.expect(case.name, "no change takes as long", time and time["predicted"], time and time["recorded"])
        failures.expect(case.name, "the recorded time is that of the timeline, within 1 %", time and abs(time["recorded"] - truth) <= 0.01 * truth)
        for words in ([*changes("batch=x2"), "--batch-of", str(items_checkpointed(case))], changes("optimizer=SGD")):
            time = told(path, *words)
            failures.expect(case.name, f"{words[1]} has no time, but a reason", time is None or (time["predicted"] is None and bool(time["note"])))
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        list(pool.map(check_unknown, whatif.cases()))
        rows = [row for row in pool.map(error_of, asked) if row is not None]
    for change, bar in TIME_BARS.items():
        errors, null = [abs(row[1]) for row in rows if row[0] == change], [row[2] for row in rows if row[0] == change]
        if errors:
            median, tail = percentile(errors, 0.5), percentile(errors, 0.95)
            print(f"  time of a step, {change}: {len(errors)} cases, median {median:.2f} %, 95th {tail:.2f} %, worst {max(errors):.2f} %; no change: median "
                  f"{percentile(null, 0.5):.1f} %, 95th {percentile(null, 0.95):.1f} %", flush=True)
            failures.expect(change, f"median and tail in {bar}", (median <= bar[0] or len(errors) < SOME) and (tail <= bar[1] or len(errors) < SOME))
    failures.expect("time of a step", "some was asked", bool(rows))
