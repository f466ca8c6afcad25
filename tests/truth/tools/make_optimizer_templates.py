# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the optimizers of torch.optim on the simulated device, finds what their steps ask of the allocator as rules over their parameters
(optimizer_rules.py), and writes those that lead, event by event, to what other runs did: with other numbers, sizes, shapes and types of
parameters, with groups, and with parameters that have no gradient, now or ever. An optimizer of which one way to choose its options has no such
rule is left out whole, and said: what it asks for goes by more than the sizes of parameters.

usage: make_optimizer_templates.py STRATA [--python PYTHON] [--bitsandbytes FOLDER] [-o resources/optimizers.json] [--only NAME] [--check FILE]

--check holds what would be written against a file and ends with 1 where they differ. With --bitsandbytes it is the optimizers of bitsandbytes,
which lies in that folder (pip install --no-deps --target FOLDER bitsandbytes packaging), that torch.optim has not, and -o is
resources/optimizers_bitsandbytes.json.
"""
import argparse
import collections
import itertools
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "programs"), os.path.join(HERE, "..", "tests")]

import optimizer_rules
import record_tools
from optimizer_rules import Carrier, Finder, NoRule, Parameter
from running import pythons

MARKER = 999983  # as in optimizer_runs.py
TORCH = "torch.optim"
CARD = "A100-80GB"
BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}
#: Numbers of which it matters whether they are zero, and what stands for one that is not.
SWITCHES = {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01, "lr_decay": 0.1, "initial_accumulator_value": 0.1}
IMPLEMENTATIONS = ("foreach", "fused")
LEFT_OUT = ("differentiable", "capturable", "is_paged")
#: Numbers of elements from which on states are kept in another way; with others than the default the same rules have to hold.
LEASTS = ("min_8bit_size",)
OTHER_LEASTS = (300, 20000)
PRIMES = [n for n in range(101, 16000) if all(n % d for d in range(2, 127) if d < n)]

Scenario = collections.namedtuple("Scenario", "groups steps without")


def plain(types, first=0, steps=2, without=()):
    """Parameters of one dimension in one group, each with another number of elements."""
    return Scenario([[([PRIMES[first + 7 * i]], t) for i, t in enumerate(types)]], steps, dict(without))


F, B, H, D = "float32", "bfloat16", "float16", "float64"
#: Rules are found in the first. The others are what they have to lead to.
SCENARIOS = [
    plain([F, B, H] * 4, steps=8),
    plain([F] * 1, steps=2),
    plain([F] * 2, 3, steps=8),
    plain([F] * 120, 5),
    plain([B] * 5, 1),
    plain([H, H, H], 2),
    plain([B, F, F, B, F], 4),
    plain([H, F, B, F, H, B], 2),
    plain([B, H, F, B], 2),
    plain([H, B], 2),
    plain([D, D, D], 2),
    Scenario([[([], F), ([3], F), ([64, 32], F), ([8, 4, 3, 3], F), ([1024, 512], F), ([1, 1], F)]], 3, {}),
    Scenario([[([64, 32], F), ([48, 16], F)], [([64], F), ([16], F), ([33], F)]], 3, {}),
    plain([F] * 6, 2, 3, {1: 9, 4: 9, 5: 9}),
    plain([F] * 6, 2, 4, {0: 1, 3: 1, 5: 2}),
    plain([F, B, F, B, F], 2, 4, {0: 1, 3: 1}),
]


def sized(sizes, types=(F, B, H), steps=2, without=()):
    """Parameters of so many elements in one group."""
    return Scenario([[([n], types[i % len(types)]) for i, n in enumerate(sizes)]], steps, dict(without))


#: As SCENARIOS, of optimizers with a least number of elements.
PARTED_SCENARIOS = [
    sized([101, 5003, 4096, 257, 65537, 4095, 8192, 7, 100003, 12289, 300, 4097], steps=8),
    sized([4096, 1], (F,), 3),
    sized([70000], (B,)),
    sized([19], (H,)),
    sized([1, 2, 3, 255, 256, 257, 511, 4094, 4095], steps=3),
    sized([4096, 4097, 4351, 4352, 4353, 9000, 99999, 100000, 100001, 400000], steps=3),
    sized([PRIMES[13 * i] for i in range(120)], (B, F, F, H)),
    Scenario([[([], F), ([3], F), ([64, 64], F), ([8, 4, 3, 3], F), ([1024, 512], B), ([64, 32, 3, 3], H), ([1, 1], F)]], 3, {}),
    Scenario([[([64, 32], F), ([16], F)], [([64, 128], F), ([48, 96], B), ([33], F)], [([128, 128], F), ([4095], H)]], 3, {}),
    Scenario([[([9000], F)], [([9001], B)], [([5], F)], [([9002], F)]], 2, {}),
    sized([5000, 100, 6000, 200, 7000, 300], (F,), 3, {1: 9, 4: 9, 5: 9}),
    sized([5000, 100, 6000, 200, 7000, 300], (F,), 4, {0: 1, 3: 1, 5: 2}),
    sized([100, 5000, 200, 6000], (F, B), 4, {1: 1, 3: 2}),
    sized([100, 5000, 200, 6000], (F,), 4, {0: 2, 1: 2, 3: 1}),
]


def scenarios_of(takes):
    return PARTED_SCENARIOS if least_of(takes) else SCENARIOS


def least_of(takes):
    """Of an optimizer, the name of what says from how many elements on it keeps states in another way; None: it has none."""
    return next((name for name in LEASTS if name in takes), None)


def parameters_of(scenario):
    return [[Parameter(numel(shape), numel(shape) * BYTES[t], t) for shape, t in group] for group in scenario.groups]


def numel(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def signatures(strata, python, module):
    """The versions of PyTorch and of the package, and of each optimizer the names and defaults of what it takes."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "takes.json")
        run = record_tools.record(strata, ["-o", os.path.join(folder, "takes.strata"), "--simulated", CARD],
                                  [python, os.path.join(HERE, "optimizer_runs.py"), module, path])
        if not os.path.exists(path):
            raise RuntimeError(run.stderr[-2000:])
        with open(path, encoding="utf-8") as file:
            return json.load(file)


def choices(name, default):
    if name in LEFT_OUT:
        return [default]
    if name in IMPLEMENTATIONS:
        return [None, True, False]
    if isinstance(default, bool):
        return [default, not default]
    if name in SWITCHES:
        return [0.0, SWITCHES[name]]
    return [default]


def variants(takes):
    """Every way to choose: what differs from the defaults."""
    names = [name for name, default in takes.items() if len(choices(name, default)) > 1]
    for chosen in itertools.product(*(choices(name, takes[name]) for name in names)):
        options = dict(zip(names, chosen))
        if options.get("foreach") and options.get("fused"):
            continue
        yield {name: value for name, value in options.items()
               if (bool(value) != bool(takes[name]) if name in SWITCHES else value is not takes[name])}


def numbers(takes):
    """What no rule may depend on: numbers that are no switches."""
    return [name for name, value in takes.items() if isinstance(value, float) and not isinstance(value, bool) and name not in SWITCHES]


def key_of(options):
    """As the file has it: the names of what differs from the defaults, in their order."""
    return " ".join(f"{name}={'nonzero' if value else 'zero'}" if name in SWITCHES else f"{name}={value}"
                    for name, value in sorted(options.items()))


Block = collections.namedtuple("Block", "number size")


def sections(strata, python, module, runs, folder, paged=None):
    """For each run the events of its optimizer's making and of each step, or why there are none. `paged` gets whether states are in managed
    memory."""
    asked, done = (os.path.join(folder, name) for name in ("runs.json", "done.json"))
    with open(asked, "w", encoding="utf-8") as file:
        json.dump(runs, file)
    session = os.path.join(folder, "runs.strata")
    run = record_tools.record(strata, ["-o", session, "--simulated", CARD, "--stacks", "none", "--deep-step", "0"],
                              [python, os.path.join(HERE, "optimizer_runs.py"), module, asked, done])
    if not os.path.exists(done):
        raise RuntimeError(run.stderr[-2000:])
    with open(done, encoding="utf-8") as file:
        ended = json.load(file)
    if paged is not None:
        paged += [end["paged"] for end in ended if "paged" in end]
    events, = [trace for trace in record_tools.as_snapshot(strata, session, folder)["device_traces"] if trace]
    parts, at, live, number, marker = [[]], 0, {}, 0, False
    for event in events:
        if event["action"] == "alloc":
            if event["size"] == MARKER:
                parts.append([])
                marker = event["addr"]
                continue
            live[event["addr"]] = Block(number, event["size"])
            number += 1
            parts[-1].append(("+", live[event["addr"]]))
        elif event["action"] == "free_completed" and event["addr"] == marker:
            marker = None
        elif event["action"] == "free_completed":
            parts[-1].append(("-", live.pop(event["addr"])))
    return [end["raised"] if "raised" in end else parts[end["first"] + 1:end["last"] + 1] for end in ended]


def found_in(parameters, parts, least):
    """A template from the parts of the first scenario."""
    flat = [p for group in parameters for p in group]
    owner, slots, orders = {}, 0, set()
    rules = []
    for events in parts:
        finder = Finder(flat, events, owner, slots, least)
        rule, order, names = finder.find() if events else ([], None, {})
        owner = {block: (names.get(slot, slot), index) for block, (slot, index) in finder.owner.items()}
        slots = finder.next_slot
        if order:
            types = list(dict.fromkeys(p.type for p in flat))
            orders.add("forth" if order == types else "back" if order == types[::-1] else "mixed")
        rules.append(rule)
    if len(orders) > 1 or "mixed" in orders:
        raise NoRule(f"types in no order: {orders}")
    made, first, *rest = rules
    later = []
    for step, rule in enumerate(rest, start=2):
        if not later or optimizer_rules.shape_of(later[-1][1]) != optimizer_rules.shape_of(rule):
            later.append([step, rule])
    kept = {slot for slot in optimizer_rules.slots_of(first)[0] if slot not in optimizer_rules.slots_of(first)[1]}
    mixes = optimizer_rules.shape_of(optimizer_rules.without(first, kept)) == optimizer_rules.shape_of(rest[0])
    return {"types": orders.pop() if orders else "forth", "made": made, "first": first, "later": later, "mixes": mixes}


def later_rule(template, step):
    return next((rule for since, rule in reversed(template["later"]) if since <= step), template["first"])


def carried(template, parameters, scenario, least):
    """What the template leads to: a list of events for each part. None where it does not say."""
    parts = [[] for _ in range(scenario.steps + 1)]
    start = 0
    carriers = []
    counts = [0] * sum(map(len, parameters))
    once = set()
    for group in parameters:
        carrier = Carrier(group, template["types"], least, once)
        carrier.carry(template["made"], list(range(len(group))))
        carriers.append((start, carrier))
        start += len(group)
    for part in range(scenario.steps + 1):
        for start, carrier in carriers:
            if part > 0:
                carrier.events = []
                having = [i for i in range(len(carrier.parameters)) if part - 1 >= scenario.without.get(start + i, 0)]
                new = [i for i in having if counts[start + i] == 0]
                steps = {counts[start + i] + 1 for i in having if counts[start + i] > 0}
                for i in having:
                    counts[start + i] += 1
                if len(new) == len(having):
                    carrier.carry(template["first"], having)
                elif not new:
                    rules = [later_rule(template, step) for step in steps]
                    if any(rule is not rules[0] for rule in rules):
                        return None
                    carrier.carry(rules[0], having)
                elif template["mixes"]:
                    carrier.carry(template["first"], having, new)
                else:
                    return None
            parts[part] += [(*event[:-1], (start, event[-1])) for event in carrier.events]
    return parts


def numbered(parts, sized):
    """Blocks by the order in which they come."""
    numbers, out = {}, []
    for events in parts:
        row = []
        for event in events:
            block = event[1] if sized else event[-1]
            size = block.size if sized else event[1]
            number = numbers.setdefault(block, len(numbers))
            row.append(("+", size, number) if event[0] == "+" else ("-", number))
        out.append(row)
    return out


def is_mixed(scenario):
    """Whether a step makes state for some of its parameters alone."""
    return any(1 <= late < scenario.steps for late in scenario.without.values())


def template_of(scenarios, results, leasts):
    """From the parts of each scenario, or what was raised; the template, and why there is none. `leasts`: of each, the least number of elements,
    or None."""
    if isinstance(results[0], str):
        return None, "raises: " + results[0]
    try:
        template = found_in(parameters_of(scenarios[0]), results[0], leasts[0])
    except NoRule as error:
        return None, f"no rule: {error}"
    for number, (scenario, result, least) in enumerate(zip(scenarios, results, leasts)):
        if isinstance(result, str) and is_mixed(scenario):
            template["mixes"] = False  # nor does the optimizer take it
            continue
        if isinstance(result, str):
            return None, f"raises with scenario {number}: {result}"
        mine = carried(template, parameters_of(scenario), scenario, least)
        if mine is None or numbered(mine, False) != numbered(result, True):
            if is_mixed(scenario) and template["mixes"]:
                template["mixes"] = False
                mine = carried(template, parameters_of(scenario), scenario, least)
            if mine is None and is_mixed(scenario):
                continue
            where = next((k for k, (a, b) in enumerate(zip(numbered(mine, False), numbered(result, True))) if a != b), -1)
            return None, f"another way with scenario {number}, part {where}"
    return template, None


def in_other_types(scenario, refused):
    """The scenario with float32 where the optimizer refuses a type."""
    return scenario._replace(groups=[[(shape, F if t in refused else t) for shape, t in group] for group in scenario.groups])


def asked_of(optimizer, options, scenario):
    given = {name: (SWITCHES[name] if value else 0.0) if name in SWITCHES else value for name, value in options.items()}
    return {"optimizer": optimizer, "options": given, "groups": scenario.groups, "steps": scenario.steps, "without": scenario.without}


def runs_of(optimizer, takes, options, refused):
    """Scenarios that a choice of options has to lead to, their runs, and of each the least number of elements from which on states are kept in
    another way."""
    least = least_of(takes)
    if least is None:
        return SCENARIOS, [asked_of(optimizer, options, s) for s in SCENARIOS], [None] * len(SCENARIOS)
    scenarios = [in_other_types(s, refused) for s in PARTED_SCENARIOS]
    leasts = (takes[least], *OTHER_LEASTS)
    return (scenarios * len(leasts), [asked_of(optimizer, {**options, least: number}, s) for number in leasts for s in scenarios],
            [number for number in leasts for _ in scenarios])


def refused_types(strata, python, module, optimizer, takes, chosen):
    """For each choice of options which types raise, {type: "all", or "small" where large parameters may have it}; None: all of them do. And
    whether states are in managed memory."""
    if module == TORCH:
        return [{} for _ in chosen], False
    trials = [(options, t, part) for options in chosen for t in BYTES for part in ("small", "large")]
    runs = [asked_of(optimizer, options, sized([10, 20] if part == "small" else [5000, 6000], (t,))) for options, t, part in trials]
    paged = []
    with tempfile.TemporaryDirectory() as folder:
        came = sections(strata, python, module, runs, folder, paged)
    rows = []
    for number in range(0, len(came), 2 * len(BYTES)):
        raised = [isinstance(each, str) for each in came[number:number + 2 * len(BYTES)]]
        row = {t: "all" if large else "small" for t, small, large in zip(BYTES, raised[::2], raised[1::2]) if small or large}
        rows.append(row if row.get(F) is None else None)
    return rows, any(paged)


def made(strata, python, only, module):
    torch_version, package_version, taken = signatures(strata, python, module)
    templates, optimizers, refused, untold, paged, raising = [], {}, {}, [], [], []
    for optimizer, takes in taken.items():
        if only and optimizer != only:
            continue
        needed = {"lr": takes["lr"]} if module != TORCH and "lr" in takes else {}  # some have no default
        chosen = list(variants(takes))
        others = numbers(takes)
        types, is_paged = refused_types(strata, python, module, optimizer, takes, [{**needed, **options} for options in chosen])
        chosen, types = ([each for each, row in zip(of, types) if row is not None] for of in (chosen, types))
        if is_paged or not chosen:
            (paged if is_paged else raising).append(optimizer)
            print(f"{optimizer}: {'states in managed memory' if is_paged else 'raises always'}", flush=True)
            continue
        asked = [runs_of(optimizer, takes, {**needed, **options}, row) for options, row in zip(chosen, types)]
        runs = [run for _, some, _ in asked for run in some]
        for name in others:  # numbers change nothing
            runs.append({**runs[0], "options": {**runs[0]["options"], name: takes[name] * 0.5}})
        with tempfile.TemporaryDirectory() as folder:
            came = sections(strata, python, module, runs, folder)
        known, before, at = {}, len(templates), 0
        for options, (scenarios, some, leasts) in zip(chosen, asked):
            results, at = came[at:at + len(some)], at + len(some)
            template, why = template_of(scenarios, results, leasts)
            if template is None:
                refused.setdefault(optimizer, {})[key_of(options)] = why
                continue
            if template not in templates:
                templates.append(template)
            known[key_of(options)] = templates.index(template)
        same = [name for name, result in zip(others, came[at:])
                if not isinstance(result, str) and not isinstance(came[0], str) and numbered(result, True) == numbered(came[0], True)]
        if not known or any(not why.startswith("raises") for why in refused.get(optimizer, {}).values()):
            untold.append(optimizer)
            del templates[before:]
        switches = [name for name, default in takes.items() if len(choices(name, default)) > 1]
        if optimizer not in untold:
            optimizers[optimizer] = {"takes": takes, "switches": switches, "numbers": same, "variants": known}
            if least_of(takes):
                optimizers[optimizer]["least"] = least_of(takes)
            if any(types):
                optimizers[optimizer]["refuses"] = {t: how for row in types for t, how in row.items()}
        print(f"{optimizer}: {len(known)} of {len(chosen)} ways to choose, {len(set(known.values()))} templates, {len(runs)} runs", flush=True)
        for key, why in [each for each in refused.get(optimizer, {}).items() if not each[1].startswith("raises")][:3]:
            print(f"  {key or 'defaults'}: {why[:300]}", flush=True)
    package = {} if module == TORCH else {"package": module.partition(".")[0], "version": package_version}
    beyond = {} if module == TORCH else {"paged": paged, "raising": raising}
    return {"torch": torch_version, **package, **beyond, "untold": untold, "optimizers": optimizers, "templates": templates}


def text_of(document):
    """Lines for each optimizer, and one for each template. Compilers are asked to take 65,536 characters as a literal."""
    package = [f' "{name}": {json.dumps(document[name])},' for name in ("package", "version", "paged", "raising") if name in document]
    lines = ["{", f' "torch": {json.dumps(document["torch"])},', *package, f' "untold": {json.dumps(document["untold"])},', ' "optimizers": {']
    for number, (name, about) in enumerate(document["optimizers"].items()):
        lines.append(f'  {json.dumps(name)}: {{"takes": {json.dumps(about["takes"])}, "switches": {json.dumps(about["switches"])},')
        more = "".join(f' "{name}": {json.dumps(about[name])},' for name in ("least", "refuses") if name in about)
        lines.append(f'   "numbers": {json.dumps(about["numbers"])},{more}')
        rows = ",".join(f"{json.dumps(key)}:{value}" for key, value in about["variants"].items())
        lines.append(f'   "variants": {{{rows}}}}}{"," if number + 1 < len(document["optimizers"]) else ""}')
    lines += [" },", ' "templates": [']
    for number, template in enumerate(document["templates"]):
        lines.append(f'  {json.dumps(template, separators=(",", ":"))}{"," if number + 1 < len(document["templates"]) else ""}')
    text = "\n".join([*lines, " ]", "}"]) + "\n"
    if len(text) > 65536:
        raise RuntimeError(f"{len(text)} characters are too long a literal")
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("strata")
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--bitsandbytes", metavar="FOLDER")
    parser.add_argument("-o", dest="output")
    parser.add_argument("--only", default="")
    parser.add_argument("--check", metavar="FILE")
    arguments = parser.parse_args()
    found = pythons(arguments.python)
    if not found:
        print("skipped: no PyTorch")
        return 77
    module = TORCH
    if arguments.bitsandbytes:
        module = "bitsandbytes.optim"
        os.environ["PYTHONPATH"] = os.path.abspath(arguments.bitsandbytes)
    text = text_of(made(arguments.strata, found[0], arguments.only, module))
    if arguments.check:
        with open(arguments.check, encoding="utf-8") as file:
            return 0 if file.read() == text else 1
    name = "optimizers.json" if module == TORCH else "optimizers_bitsandbytes.json"
    with open(arguments.output or os.path.join(HERE, "..", "..", "..", "resources", name), "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
