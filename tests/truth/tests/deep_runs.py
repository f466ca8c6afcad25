# SPDX-License-Identifier: GPL-3.0-or-later
"""Deep steps (strata record --deep-step) as a session has them, beside the events of the allocator. The tests of deep steps share this."""
import bisect
import collections
import json
import os
import struct

import record_tools
from running import strata_json

DEEP, STEPS = 3, 7
KINDS = ("operator", "returns", "gone", "saved", "unpacked", "released", "enters", "leaves")


def deep_steps(session):
    """Chunks 25 of a session, as model/wire/FORMAT.md says."""
    strings = []
    for chunk in record_tools.payloads(session, 2):
        chunk.varint()
        strings += [chunk.text() for _ in range(chunk.varint())]

    def text():
        number = chunk.id()
        return None if number is None else strings[number]

    def running(count, value=0):
        values = []
        for _ in range(count):
            value = (value + chunk.signed()) % (1 << 64)
            values.append(value)
        return values
    steps = []
    for chunk in record_tools.payloads(session, 25):
        step = {"device": chunk.signed(), "unusable": text(), "begin": chunk.varint(), "end": chunk.varint()}
        addresses = running(chunk.varint())
        step["tensors"] = list(zip(addresses, [text() for _ in addresses]))
        count = chunk.varint()
        kinds, threads = [KINDS[chunk.byte()] for _ in range(count)], [chunk.varint() for _ in range(count)]
        events = running(count, step["begin"])
        names, details = [text() for _ in range(count)], [text() for _ in range(count)]
        saved, counts = [chunk.id() for _ in range(count)], [chunk.varint() for _ in range(count)]
        refs = running(chunk.varint())
        step["rows"], at = [], 0
        for row in zip(kinds, threads, events, names, details, saved, counts):
            step["rows"].append(dict(zip(("kind", "thread", "event", "name", "detail", "saved"), row), tensors=refs[at:at + row[-1]]))
            at += row[-1]
        steps.append(step)
    return steps


class Events:
    """What the allocator did, of device 0."""

    def __init__(self, strata, session, folder):
        self.events = [e for e in record_tools.as_snapshot(strata, session, folder)["device_traces"][0] if e["action"] != "snapshot"]
        self.steps = step_ends(session)
        live, self.allocations, self.freed, self.begin = {}, [], {}, {}
        now = self.requested_peak = 0
        reserved = self.reserved_peak = 0
        for index, event in enumerate(self.events):
            if event["action"] == "alloc":
                live[event["addr"]] = len(self.allocations)
                self.begin[len(self.allocations)] = index
                self.allocations.append((event["size"], event["stream"]))
                now += event["size"]
            elif event["action"] == "free_requested":
                self.freed[live.pop(event["addr"])] = (len(self.allocations), index)
                now -= event["size"]
            elif event["action"].startswith("segment_"):
                reserved += event["size"] * (1 if event["action"] in ("segment_alloc", "segment_map") else -1)
            self.requested_peak, self.reserved_peak = max(self.requested_peak, now), max(self.reserved_peak, reserved)

    def frees(self):
        """Of each block, the number of allocations before it is freed; None: never."""
        return [self.freed.get(number, (None,))[0] for number in range(len(self.allocations))]

    def step(self, number):
        """Events of a step: from the end of the optimizer's step before it."""
        return self.steps[number - 2], self.steps[number - 1]

    def allocations_of(self, number):
        """Of a step its allocations, and of each how many come before it is freed; None: it outlives the step."""
        begin, end = self.step(number)
        numbers = [each for each, index in self.begin.items() if begin <= index < end]
        frees = [self.freed.get(each, (0, end))[0] - numbers[0] if self.freed.get(each, (0, end))[1] < end else None for each in numbers]
        return [self.allocations[each] for each in numbers], frees


def step_ends(session):
    """So many events come before the end of each step of the optimizer that steps first."""
    rows = [row for row in record_tools.roles(session) if row["role"] in ("stepped", "stepped_unlisted") and row["device"] == 0 and row["address"] == 0]
    return [row["event"] for row in rows if row["optimizer"] == rows[0]["optimizer"]]


def differences(one, other):
    """Places at which two lists differ."""
    return sum(a != b for a, b in zip(one, other)) + abs(len(one) - len(other))


def stored_bytes(session):
    with open(session, "rb") as file:
        data = file.read()
    at = 0
    while at + 32 <= len(data):
        _, kind, stored, _ = struct.unpack_from("<BHII", data, at + 5)
        at += 32 + stored
        if kind == 25:
            yield stored


class Run:
    def __init__(self, strata, session, told, folder):
        self.events, self.deep, self.stored = Events(strata, session, folder), deep_steps(session), sum(stored_bytes(session))
        self.bytes = os.path.getsize(session)
        self.summary = strata_json(strata, ["summary", "--replay", "--json", session])[1]
        self.said = strata_json(strata, ["steps", "--json", session])[1]["devices"][0].get("deep_steps", [])
        with open(told, encoding="utf-8") as file:
            self.told = json.load(file)


def peaks(summary):
    device, = summary["devices"]
    return {key: value for key, value in device.items() if key.endswith("_bytes_peak") or key in ("peak_bytes", "segments")}


def lets_go(step, events):
    """Of each block that a step both allocates and frees: whether the step tells who has it, and whether the last of them lets go between the same
    two allocations between which it is freed. What no operator returns and nobody saves, an operator has for itself."""
    begin, end = events.step(DEEP)
    blocks = [each for each, index in events.begin.items() if begin <= index < end and events.freed.get(each, (0, end))[1] < end]
    by_address = collections.defaultdict(list)
    for each in blocks:
        by_address[events.events[events.begin[each]]["addr"]].append(each)

    def block_of(tensor, event):
        """The last one there that had begun before."""
        begun = [each for each in by_address[step["tensors"][tensor][0]] if events.begin[each] < event]
        return begun[-1] if begun and events.freed[begun[-1]][1] >= event else None
    of_tensor, of_saved, last = {}, {}, {}
    for row in step["rows"]:
        if row["kind"] in ("operator", "returns", "unpacked", "enters", "leaves"):
            of_tensor.update({each: block_of(each, row["event"]) for each in row["tensors"]})
        elif row["kind"] == "saved":
            of_saved[row["saved"]] = block_of(row["tensors"][0], row["event"])
        elif row["kind"] == "gone":
            last[of_tensor.get(row["tensors"][0])] = row["event"]
        elif row["kind"] == "released":
            last[of_saved.get(row["saved"])] = row["event"]
    had = set(of_tensor.values()) | set(of_saved.values())
    allocations = sorted(events.begin.values())
    wrong = [each for each in blocks if each in had and
             (each not in last or bisect.bisect_left(allocations, last[each]) != events.freed[each][0])]
    return blocks, [each for each in blocks if each in had], wrong
