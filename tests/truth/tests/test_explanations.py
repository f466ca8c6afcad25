# SPDX-License-Identifier: GPL-3.0-or-later
"""What Strata explains, held against programs that know their memory: categories at the peak and at the end, causes of out-of-memories
and the first advice about them, verdicts of loops. Each program is recorded by Strata and by PyTorch with stacks.

The short form is a sample: one program of some families. The long form, or --seeds N of each family, runs all that rules may be tuned
against; --held-back runs the others alone. --only TEXT takes those whose name has it. --keep FOLDER keeps recordings with their truth, and
takes those that are there already; explained_score.py scores one of them. --write FILE writes the figures as JSON.

A statement is firm where its certainty is `recorded` or `shown_by_stack`. MISSES names families that are not right yet with some PyTorch:
they are printed, and those that have become right.
"""
import collections
import json
import os
import pickle

import pytest

import explained_held_list
import explained_list
from explained_score import (ABSTAINED, RIGHT, WRONG, ledger_truth, meant, score_ledger, score_loop, score_oom, score_truth)
from forks import TRAINING, forked, recorded
from running import LONG, PROGRAMS, version, with_environment

pytestmark = pytest.mark.torch("every")

PROGRAM = os.path.join(PROGRAMS, "explained_program.py")
HOW = (*TRAINING, "--import", "roles_watch", "--import", "torch.profiler")
SESSION, SNAPSHOT = "session", "snapshot"
OTHERS = {"second_process": 1200 << 20, **explained_held_list.OTHERS}
CAPACITY = 2 << 30
SAMPLE = {"ledgers": 5, "ooms": 5, "loops": 5, "doubts": 4}  # families of the short form

#: Of a program: bytes right of those that have a category, at the peak and at the end, firm or not; no byte is firm and wrong.
SHARE = {SESSION: 0.90, SNAPSHOT: 0.75}
#: Bars to reach, which are printed: bytes right and firm; verdicts firm and right, abstained; first advice that serves the request.
FIRM_SHARE = {SESSION: 0.90, SNAPSHOT: 0.75}
VERDICTS_RIGHT, VERDICTS_ABSTAINED, ADVICE = 0.85, 0.10, 0.90

#: Families that are not right yet, by kind and kind of recording.
MISSES = {key: set(families.split()) for key, families in {
    ("ledgers", SESSION): "adam_by_hand functional_call graph_kept loaded_weights weights_without_grad",
    ("ledgers", SNAPSHOT): "adam_by_hand data_assigned functional_call loaded_weights master_weights weights_in_init weights_without_grad",
    ("ooms", SESSION): "scores_of_attention", ("ooms", SNAPSHOT): "scores_of_attention",
    ("advice", SNAPSHOT): "scores_of_attention"}.items()}


def chosen(config, kind):
    held_back, seeds, only = (config.getoption(name) for name in ("held_back", "seeds", "only"))
    found = explained_list.programs(kind, held_back, seeds)
    if only or LONG or seeds or held_back:
        return [program for program in found if (only or "") in program.name]
    first = [program for program in found if program.seed == 0]
    return [first[(2 * index + 1) * len(first) // (2 * SAMPLE[kind])] for index in range(SAMPLE[kind])]


def without_native_frames(snapshot, path):
    """As stacks="python" records."""
    with open(snapshot, "rb") as file:
        kept = pickle.load(file)
    known = {}

    def python_alone(frames):
        if id(frames) not in known:
            known[id(frames)] = [frame for frame in frames if frame["filename"].endswith(".py") or frame["filename"].startswith("<")]
        return known[id(frames)]
    for listed in (*kept["device_traces"], *(segment["blocks"] for segment in kept["segments"]), kept["segments"]):
        for row in listed:
            if "frames" in row:
                row["frames"] = python_alone(row["frames"])
    with open(path, "wb") as file:
        pickle.dump(kept, file)


def recordings_of(program, folder):
    """The session, and the snapshot: of every second program with Python frames alone."""
    begin = os.path.join(folder, program.name)
    native = (explained_list.FAMILIES[program.kind].index(program.family) + program.seed) % 2 == 0
    return {SESSION: begin + ".strata", SNAPSHOT: begin + (".pickle" if native else ".python.pickle")}


def device_of(program):
    if program.kind != "ooms":
        return ()
    others = OTHERS.get(program.family)
    return ("--capacity", str(CAPACITY), *(("--other-processes", str(others)) if others else ()))


def make(programs, strata, python, folder, work):
    """Records what is not in the folder yet: {name: why not}."""
    groups, failed = collections.defaultdict(list), {}
    for program in programs:
        if not os.path.exists(os.path.join(folder, program.name + ".truth.json")):
            groups[device_of(program)].append(program)
    for device, group in groups.items():
        words = [[PROGRAM, p.kind, p.family, str(p.seed), os.path.join(folder, p.name)] for p in group]
        card = "T4-16GB" if device else "A100-80GB"
        run, ended = recorded(strata, ["--simulated", card, *device], python, words, work, HOW, env=with_environment(TORCH_SYMBOLIZE_MODE="dladdr"))
        for program, (status, session) in zip(group, ended):
            begin = os.path.join(folder, program.name)
            if status != 0 or session is None or not os.path.exists(begin + ".truth.json"):
                failed[program.name] = f"ended with {status}: {run.stderr[-1500:]}"
                if os.path.exists(begin + ".truth.json"):
                    os.remove(begin + ".truth.json")
                continue
            os.replace(session, begin + ".strata")
            without_native_frames(begin + ".pickle", begin + ".python.pickle")
    return failed


def run_again(asked, strata, python, folder):
    """Of [(program, words)]: whether each ends without a refused request."""
    groups, served = collections.defaultdict(list), {}
    for program, words in asked:
        groups[device_of(program)].append((program, words))
    simgpu = os.path.join(os.path.dirname(os.path.realpath(strata)), "strata-simgpu")
    for device, group in groups.items():
        begins = [os.path.join(folder, f"again-{len(served) + index}") for index in range(len(group))]
        commands = [[PROGRAM, p.kind, p.family, str(p.seed), begin, "--no-snapshot", *words] for (p, words), begin in zip(group, begins)]
        options = ";".join(f"{name[2:].replace('other-processes', 'others')}={value}" for name, value in zip(device[::2], device[1::2]))
        run, ended = forked([simgpu, options, "--"], python, commands, folder, HOW)
        for (program, words), begin, end in zip(group, begins, ended):
            told = None
            if end["status"] == 0 and os.path.exists(begin + ".truth.json"):
                with open(begin + ".truth.json", encoding="utf-8") as file:
                    told = json.load(file)["served"]
            else:
                print(f"  {program.name} {words}: ended with {end['status']}: {run.stderr[-800:]}")
            served[program.name, tuple(words)] = told
    return served


class Judge:
    """Whether each program is right, against what is known to be missed."""

    def __init__(self, failures):
        self.failures, self.right = failures, collections.defaultdict(list)

    def say(self, what, recording, program, right, why):
        known = program.family in MISSES.get((what, recording), ())
        self.right[what, recording, program.family].append(right)
        if not right:
            print(f"  {'known miss' if known else 'NOT RIGHT'}: {program.name}, {recording}, {what}: {why}", flush=True)
        if not known and program.family not in explained_list.HELD_BACK[program.kind]:
            self.failures.expect(program.name, f"{recording}: {what}", right or why, True)

    def close(self, whole):
        for (what, recording, family), each in sorted(self.right.items()):
            if whole and all(each) and family in MISSES.get((what, recording), ()):
                print(f"  {what}, {recording}: {family} is right with this PyTorch: once it is with all, take it out of MISSES", flush=True)


def programs_of(request, kind, strata, python, tmp_path, failures):
    """(programs that were recorded, folder, whether no family was left out)."""
    programs, keep = chosen(request.config, kind), request.config.getoption("keep")
    if not programs:
        pytest.skip("no such programs")
    name = ".".join(map(str, version(python)[:2]))
    folder = os.path.join(keep, name) if keep else str(tmp_path / "recordings")
    os.makedirs(folder, exist_ok=True)
    failed = make(programs, strata, python, folder, str(tmp_path))
    for program in programs:
        failures.expect(program.name, "why it is not scored", failed.get(program.name), None)
    option = request.config.getoption
    whole = (LONG or option("seeds")) and not option("only") and not option("held_back")
    return [program for program in programs if program.name not in failed], folder, whole


def write(config, python, kind, figures):
    path = config.getoption("write")
    if not path:
        return
    known = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            known = json.load(file)
    of = "held back" if config.getoption("held_back") else "tuned"
    known.setdefault(of, {}).setdefault(".".join(map(str, version(python)[:3])), {})[kind] = figures
    with open(path, "w", encoding="utf-8") as file:
        json.dump(known, file, indent=1)


def share(ledger, *keys):
    return sum(ledger.sums[key] for key in keys) / ledger.sums["scored"] if ledger.sums["scored"] else None


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def percent(value):
    return "    - " if value is None else f"{100 * value:5.1f}%"


SHARES, WRONG_SHARES = ("firm_right", "likely_right", "unknown"), ("firm_wrong", "likely_wrong")


def of_ledgers(ledgers):
    """Means over programs, wrong ones of all live bytes; and sums of bytes."""
    live = sum(ledger.sums["live"] for ledger in ledgers)
    figures = {key: mean([share(ledger, key) for ledger in ledgers]) for key in SHARES}
    figures.update({key: mean([ledger.sums[key] / max(1, ledger.sums["live"]) for ledger in ledgers]) for key in WRONG_SHARES})
    figures["firm_wrong_bytes"] = sum(ledger.sums["firm_wrong"] for ledger in ledgers)
    figures["stated_wrong"] = sum(ledger.sums["firm_wrong"] + ledger.sums["likely_wrong"] for ledger in ledgers) / max(1, live)
    return figures


def test_ledgers(request, strata, python, tmp_path, failures):
    programs, folder, whole = programs_of(request, "ledgers", strata, python, tmp_path, failures)
    found, judge = collections.defaultdict(list), Judge(failures)
    for program in programs:
        recordings = recordings_of(program, folder)
        truth = ledger_truth(recordings[SESSION])
        for instant, ledger in score_truth(*truth).items():
            failures.expect(program.name, f"the truth itself at the {instant}", ledger.sums["firm_right"], ledger.sums["scored"])
            failures.expect(program.name, f"the truth itself at the {instant}: wrong", ledger.sums["firm_wrong"], 0)
        for recording, path in recordings.items():
            scores = score_ledger(strata, path, truth)
            failures.expect(program.name, f"{recording}: allocations are those of PyTorch", scores if isinstance(scores, str) else None, None)
            if isinstance(scores, str):
                continue
            why = []
            for instant, ledger in scores.items():
                found[recording, instant].append(ledger)
                right, wrong = share(ledger, "firm_right", "likely_right"), ledger.sums["firm_wrong"]
                if wrong or (right is not None and right < SHARE[recording]):
                    worst = [f"{size:,} B of {wanted} told {told} ({certainty})" for (wanted, told, certainty), size in ledger.wrong.most_common(3)]
                    why.append(f"{instant}: {percent(right)} right, {wrong:,} B firm and wrong, {percent(share(ledger, 'unknown'))} unknown; {worst}")
            judge.say("ledgers", recording, program, not why, "; ".join(why))
    figures = {f"{recording} {instant}": of_ledgers(ledgers) for (recording, instant), ledgers in found.items()}
    print(f"  {len(programs)} ledgers. All unknown: 0 right, 0 wrong.")
    for name, row in figures.items():
        shares = ", ".join(f"{key.replace('_', ' and ')} {percent(row[key])}" for key in (*SHARES, *WRONG_SHARES))
        print(f"    {name:13} {shares}; bytes firm and wrong {row['firm_wrong_bytes']:,}; wrong if all stated were firm "
              f"{percent(row['stated_wrong'])}; bars {percent(FIRM_SHARE[name.split()[0]])} and 0 bytes", flush=True)
    judge.close(whole)
    write(request.config, python, "ledgers", figures)


def test_doubts(request, strata, python, tmp_path, failures):
    """Nothing is firm and wrong where memory of one category looks like that of another, whatever the stacks hold."""
    programs, folder, _ = programs_of(request, "doubts", strata, python, tmp_path, failures)
    firm = collections.defaultdict(list)
    for program in programs:
        begin = os.path.join(folder, program.name)
        truth = ledger_truth(begin + ".strata")
        for kind in ("strata", "pickle", "python.pickle"):
            for instant, ledger in score_ledger(strata, f"{begin}.{kind}", truth).items():
                failures.expect(program.name, f"{kind}, {instant}: bytes firm and wrong", ledger.sums["firm_wrong"], 0)
                firm[kind].append(share(ledger, "firm_right"))
    print(f"  {len(programs)} doubts. All unknown: 0 right, 0 wrong. Firm and right:",
          ", ".join(f"{kind} {percent(mean(each))}" for kind, each in firm.items()), flush=True)


def of_verdicts(verdicts):
    count = collections.Counter(verdict.how for verdict in verdicts)
    return {how: count[how] / max(1, len(verdicts)) for how in (RIGHT, ABSTAINED, WRONG)}


def print_verdicts(what, found, constants):
    for recording, verdicts in found.items():
        row = of_verdicts(verdicts)
        print(f"  {len(verdicts)} {what}, {recording}: firm and right {percent(row[RIGHT])}, abstained {percent(row[ABSTAINED])}, firm and wrong "
              f"{percent(row[WRONG])}; said {dict(collections.Counter(str(verdict.said) for verdict in verdicts))}", flush=True)
    print(f"    bars {percent(VERDICTS_RIGHT)}, {percent(VERDICTS_ABSTAINED)}, 0; all unknown: 0 right, 0 wrong; {constants}")


def test_ooms(request, strata, python, tmp_path, failures):
    programs, folder, whole = programs_of(request, "ooms", strata, python, tmp_path, failures)
    found, judge, advices, fills = collections.defaultdict(list), Judge(failures), [], collections.Counter()
    for program in programs:
        for recording, path in recordings_of(program, folder).items():
            verdict, advice, filled = score_oom(strata, path)
            if explained_list.OOMS[program.family].fills:
                fills[recording, filled] += 1
            found[recording].append(verdict)
            judge.say("ooms", recording, program, verdict.how == RIGHT, f"{verdict.how}: {verdict.said} instead of {sorted(verdict.wanted)}")
            advices.append((program, recording, advice, meant(program.family, advice)))
    served = run_again(list({(program, tuple(words)): None for program, _, _, words in advices if words}), strata, python, str(tmp_path))
    figures = {f"causes {recording}": of_verdicts(verdicts) for recording, verdicts in found.items()}
    always = sum("too_big" in verdict.wanted for verdict in found[SESSION]) / max(1, len(programs))
    print_verdicts("out-of-memories", found, f"always too_big: {percent(always)} right")
    for recording in (SESSION, SNAPSHOT):
        counts = collections.Counter()
        for program, of, advice, words in advices:
            if of != recording:
                continue
            cause = explained_list.OOMS[program.family]
            helps = served.get((program.name, tuple(words))) if words else None
            can = bool(cause.setting or cause.edits)
            how = "served" if helps else "refused again" if helps is False else "none" if advice is None else (
                "another command" if advice[0] == "command" else "not applied")
            counts[how if can else "no edit serves: " + how] += 1
            # An advice where nothing helps is wrong only if it was run and the request was refused again.
            judge.say("advice", recording, program, bool(helps) if can else helps is not False, f"{how}: {advice}")
        print(f"    what fills the device, {recording}: right {fills[recording, True]}, wrong {fills[recording, False]}, "
              f"unknown {fills[recording, None]}")
        able = sum(count for how, count in counts.items() if not how.startswith("no edit"))
        figures[f"fills {recording}"] = {str(right): fills[recording, right] for right in (True, False, None)}
        figures[f"advice {recording}"] = {how: count for how, count in counts.items()}
        print(f"    first advice, {recording}: serves the request in {percent(counts['served'] / max(1, able))} of {able} that an edit or a setting "
              f"can serve (bar {percent(ADVICE)}); {dict(counts)}", flush=True)
    judge.close(whole)
    write(request.config, python, "ooms", figures)


def test_edits(request, strata, python, tmp_path, failures):
    """The truth of out-of-memories: each program is refused, and each edit of it is not. What is too big is refused without fragments, too."""
    asked = {}
    for program in chosen(request.config, "ooms"):
        cause = explained_list.OOMS[program.family]
        asked[program, ()] = False
        asked[program, ("--settings", "expandable_segments:True")] = cause.setting
        asked.update({(program, ("--edit", edit)): True for edit in cause.edits})
    served = run_again(list(asked), strata, python, str(tmp_path))
    for (program, words), wanted in asked.items():
        failures.expect(program.name, f"served with {' '.join(words) or 'nothing'}", served[program.name, words], wanted)


def test_loops(request, strata, python, tmp_path, failures):
    programs, folder, whole = programs_of(request, "loops", strata, python, tmp_path, failures)
    found, judge = collections.defaultdict(list), Judge(failures)
    for program in programs:
        for recording, path in recordings_of(program, folder).items():
            verdict = score_loop(strata, path)
            found[recording].append(verdict)
            judge.say("loops", recording, program, verdict.how == RIGHT, f"{verdict.how}: {verdict.said} instead of {verdict.wanted}")
    none = sum(verdict.wanted == "none" for verdict in found[SESSION]) / max(1, len(programs))
    print_verdicts("loops", found, f"always none: {percent(none)} right; always found: {percent(1 - none)} right")
    figures = {recording: of_verdicts(verdicts) for recording, verdicts in found.items()}
    judge.close(whole)
    write(request.config, python, "loops", figures)
