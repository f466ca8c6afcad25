# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what Strata explains of one recording against what its program wrote (explained_program.py). Used by test_explanations.py.

usage: explained_score.py STRATA RECORDING...   scores recordings that test_explanations.py --keep FOLDER left, and says what is wrong
"""
import collections
import json
import os
import re
import shlex
import sys

from roles_score import document, rows
from roles_truth import CATEGORIES, NEVER, Trace, Truth
from running import PROGRAMS  # noqa: F401  makes programs known

import explained_list
from allocation_numbers import roles_of

FIRM = ("recorded", "shown_by_stack")
#: Roles of explained_ledgers.py beside Strata's, and what may be said of them; nothing but "unknown" of an `other`.
OWN = {"loaded": {"parameter", "buffer"}, "hidden": {"activation"}, "master": {"parameter", "optimizer_state"}, "data": {"input"}, "other": set()}
SCORED = {"loaded", "hidden", "master", *CATEGORIES} - {"unknown"}
#: Of a block that is half as large as a parameter, while a forward runs: a copy in another dtype.
COPY = re.compile("copy|copies|cast")
#: What cuBLASLt gets for itself in older versions: a tensor like any other, born in functions without a name.
LIBRARY_TENSOR = 1 << 20


def begin_of(recording):
    """Of BEGIN.strata, BEGIN.pickle or BEGIN.python.pickle."""
    return re.sub(r"(\.python)?\.(strata|pickle)$", "", recording)


def told_by(recording):
    with open(begin_of(recording) + ".truth.json", encoding="utf-8") as file:
        return json.load(file)


def trace_of(recording):
    import pickle
    with open(begin_of(recording) + ".pickle", "rb") as file:
        return Trace([event for trace in pickle.load(file)["device_traces"] for event in trace])


class LedgerTruth(Truth):
    """What each block is for, and what may be said of it instead."""

    def __init__(self, told, trace, events):
        super().__init__({"sizes": trace.sizes, "marks": told["marks"], "roles": roles_of(told["tensors"], events), "saved": (), "steps": [],
                          "backwards": told["backwards"], "optimizers": told["optimizers"]}, trace)
        self.halves = {self.sizes[number] // 2 for number in self.role.get("parameter", ())}

    def category_of(self, number):
        for role in ("parameter", "buffer", "optimizer_state", "gradient", *OWN):
            if number in self.role.get(role, ()):
                return role
        return super().category_of(number)

    def accepts(self, number, told):
        wanted = self.category[number]
        if wanted in OWN:
            return told in OWN[wanted]
        if wanted in ("activation", "temporary") and COPY.search(told) and self.sizes[number] in self.halves:
            return True
        if wanted == "temporary" and told == "workspace" and self.sizes[number] == LIBRARY_TENSOR:
            return True
        if wanted == "unknown":  # of which the contract has no name; it ends somewhere between phases
            return told == "temporary" or (told == "activation" and self.phase[number] == "forward")
        return super().accepts(number, told)


def ledger_truth(recording):
    import pickle
    with open(begin_of(recording) + ".pickle", "rb") as file:
        events = [event for trace in pickle.load(file)["device_traces"] for event in trace]
    trace = Trace(events)
    return LedgerTruth(told_by(recording), trace, [event for event in events if event["action"] == "alloc"]), trace


KEYS = ("live", "scored", "firm_right", "firm_wrong", "likely_right", "likely_wrong", "unknown")


class Ledger:
    """Bytes at an instant: `scored` have a category of Strata. What has none counts where it is told to have one."""

    def __init__(self):
        self.sums = dict.fromkeys(KEYS, 0)
        self.wrong = collections.Counter()  # (truth, told, certainty, name) -> bytes

    def add(self, truth, number, told, certainty):
        size, wanted = truth.sizes[number], truth.category[number]
        self.sums["live"] += size
        if wanted is None:
            return
        scored = wanted in SCORED
        self.sums["scored"] += size * scored
        if told == "unknown" or certainty == "unknown":
            self.sums["unknown"] += size * scored
            return
        firm = "firm" if certainty in FIRM else "likely"
        if truth.accepts(number, told):
            self.sums[f"{firm}_right"] += size * scored
        else:
            self.sums[f"{firm}_wrong"] += size
            self.wrong[wanted, told, certainty] += size


def certainty_of(row):
    """The key `certainty`; a program that has none says where the category came from."""
    return row.get("certainty") or {"recorded": "recorded", "inferred": "likely"}.get(row.get("category_source"), "unknown")


def score_ledger(strata, recording, known=None):
    """{"peak", "end"} -> Ledger, or a text: why it cannot be scored."""
    truth, trace = known or ledger_truth(recording)
    blocks = [row for row in rows(strata, ["blocks", recording, "--device", "0", "--json"])[1:] if row["alloc_event"] is not None]
    blocks.sort(key=lambda row: row["alloc_event"])
    if [row["requested_bytes"] for row in blocks] != trace.sizes:
        return f"{len(blocks)} allocations, {len(trace.sizes)} by PyTorch"
    return ledgers(truth, trace, lambda number: (blocks[number].get("category") or "unknown", certainty_of(blocks[number])))


def ledgers(truth, trace, answer):
    """{"peak", "end"} -> Ledger of an answer: (category, certainty) by number."""
    found = {"peak": Ledger(), "end": Ledger()}
    ends = [number for number, free in enumerate(trace.frees) if free == NEVER]
    for instant, numbers in (("peak", trace.live_at(trace.peak())), ("end", ends)):
        for number in numbers:
            found[instant].add(truth, number, *answer(number))
    return found


def score_truth(truth, trace):
    """Of a Strata that knows everything: scoring it must give full marks."""
    def answer(number):
        wanted = truth.category[number]
        return next(iter(OWN[wanted]), "unknown") if wanted in OWN else wanted or "unknown", "recorded"
    return ledgers(truth, trace, answer)


#: What is firm and right, firm and wrong, or abstained; `said` in the words of Strata.
Verdict = collections.namedtuple("Verdict", "how said wanted")
RIGHT, WRONG, ABSTAINED = "right", "wrong", "abstained"


def score_oom(strata, recording):
    """The Verdict; first_advice(); and whether the category that fills the device is right, None where the program names none or Strata
    does not."""
    family = told_by(recording)["family"]
    cause = explained_list.OOMS[family]
    told = document(strata, ["oom", recording, "--json"])
    device = told["devices"][0] if told and told.get("devices") else None
    if device is None:
        return Verdict(ABSTAINED, None, cause.verdicts), None, None
    said = device["verdict"]
    filled = largest(strata, recording, device) if cause.fills else None
    filled = filled and filled == cause.fills
    if recording.endswith(".pickle") and family in explained_list.NOT_IN_SNAPSHOTS:
        return Verdict(RIGHT if said == "unknown" else WRONG, said, {"unknown"}), first_advice(device), filled
    abstains = said == "unknown" or device.get("certainty") in ("likely", "unknown")
    verdict = Verdict(ABSTAINED if abstains else RIGHT if said in cause.verdicts else WRONG, said, cause.verdicts)
    return verdict, first_advice(device), filled


def first_advice(device):
    """The first of `next`: ("setting", words), ("command", one of Strata), ("text", sentence), or None."""
    if not device["next"]:
        return None
    first = device["next"][0]
    command = first["command"] or ""
    if setting := re.fullmatch(r"PYTORCH_(?:CUDA_)?ALLOC_CONF=(.*)|unset PYTORCH_CUDA_ALLOC_CONF", command):
        return "setting", "".join(shlex.split(setting.group(1) or ""))
    return ("command", command) if command.startswith("strata ") else ("text", first["text"])


def largest(strata, recording, device):
    """The category with the most bytes at the out-of-memory, None where it is not known."""
    told = document(strata, ["ledger", recording, str(device["event"]), "--device", str(device["device"]), "--json"])
    found = told["rows"][0]["category"] if told and told["rows"] else None
    return None if found == "unknown" else found


def meant(family, advice):
    """Words of explained_program.py that follow an advice; None where no setting or edit of the program is meant."""
    cause = explained_list.OOMS[family]
    if advice is None:
        return None
    if advice[0] == "setting":
        return ["--settings", advice[1]]
    if advice[0] == "command":
        return None
    said = [(match.start(), edit) for edit, pattern in cause.edits.items() if (match := re.search(pattern, advice[1], re.IGNORECASE))]
    return ["--edit", min(said)[1]] if said else None


def leaked(told, trace):
    """Allocations that stay to the end of the loop. Its first half and its last turns do not count."""
    begins = [turn[0] for turn in told["turns"]]
    first, last = begins[len(begins) // 2], begins[-3]
    return {number for number in range(first, last) if trace.frees[number] >= begins[-1]}


def score_loop(strata, recording):
    told, trace = told_by(recording), trace_of(recording)
    grows, answer = explained_list.LOOPS[told["family"]], document(strata, ["leaks", recording, "--device", "0", "--json"])
    wanted = "found" if grows else "none"
    said = answer["verdict"] if answer else None
    if said in (None, "undecided") or answer.get("certainty") in ("likely", "unknown"):
        return Verdict(ABSTAINED, said, wanted)
    right = said == wanted
    stays = leaked(told, trace)
    if right and grows and stays:  # else one block that is made anew, larger
        sites = [site for site in answer["sites"] if site["kind"] == "leak"]
        right = any(stays.intersection(site["examples"]) for site in sites)
        said += "" if right else " elsewhere"
    return Verdict(RIGHT if right else WRONG, said, wanted)


def main():
    strata = sys.argv[1]
    for recording in sys.argv[2:]:
        kind = told_by(recording)["kind"]
        if kind in ("ledgers", "doubts"):
            found = score_ledger(strata, recording)
            if isinstance(found, str):
                print(f"{recording}: {found}")
                continue
            for instant, ledger in found.items():
                print(f"{os.path.basename(recording)} at the {instant}: {ledger.sums}")
                for (wanted, told, certainty), size in ledger.wrong.most_common():
                    print(f"    {size:,} bytes of {wanted} told {told} ({certainty})")
        elif kind == "ooms":
            verdict, advice, filled = score_oom(strata, recording)
            print(f"{os.path.basename(recording)}: {verdict.how}: {verdict.said}, wanted {sorted(verdict.wanted)}; what fills it: {filled}; "
                  f"first advice {advice}")
        else:
            verdict = score_loop(strata, recording)
            print(f"{os.path.basename(recording)}: {verdict.how}: {verdict.said}, wanted {verdict.wanted}")


if __name__ == "__main__":
    main()
