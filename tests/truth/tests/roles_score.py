# SPDX-License-Identifier: GPL-3.0-or-later
"""What Strata says of a recording, and how much of it is right: see test_roles.py."""
import bisect
import collections
import json
import subprocess

from roles_truth import CATEGORIES, NEVER, ROLES

Block = collections.namedtuple("Block", "bytes alloc freed category recorded module certainty", defaults=["recorded"])


class Answer:
    """Blocks by the number of their allocation, the last events of steps of training, the kinds of steps, phases by number."""

    def __init__(self, blocks, ends, kinds, phases):
        self.blocks, self.ends, self.kinds, self.phases = blocks, ends, kinds, phases
        self.allocs = [block.alloc for block in blocks]

    def boundaries(self):
        """As numbers of allocations before the end of each step."""
        return [bisect.bisect_right(self.allocs, event) for event in self.ends]

    def live(self, event):
        """Numbers of the blocks that are alive after an event."""
        return [n for n, block in enumerate(self.blocks[:bisect.bisect_right(self.allocs, event)]) if block.freed is None or block.freed > event]


def rows(strata, arguments):
    run = subprocess.run([strata, *arguments], capture_output=True)
    try:
        return [json.loads(line) for line in run.stdout.splitlines()]
    except ValueError:
        return []


def document(strata, arguments):
    found = rows(strata, arguments)
    return found[0] if found else None


def asked(strata, recording):
    """The answer for device 0; what a command does not know yet counts as not answered."""
    blocks = [row for row in rows(strata, ["blocks", recording, "--device", "0", "--json"])[1:] if row["alloc_event"] is not None]
    blocks.sort(key=lambda row: row["alloc_event"])
    told = [Block(row["requested_bytes"], row["alloc_event"], row["free_completed_event"], row.get("category") or "unknown",
                  row.get("category_source") == "recorded", row.get("module"), row.get("certainty")) for row in blocks]
    steps = document(strata, ["steps", recording, "--device", "0", "--json"])
    steps = steps["devices"][0]["steps"] if steps and steps.get("devices") else []
    phases = {}
    for step in steps:
        for phase in step["phases"]:
            for event in range(phase["first_event"], phase["last_event"] + 1):
                phases[event] = phase["kind"]
    if not phases:  # what was recorded with each event, before anybody makes steps of it
        for row in rows(strata, ["events", recording, "--device", "0", "--json"])[1:]:
            phases[row["event"]] = row["phase"]
    return Answer(told, [step["last_event"] for step in steps if step["kind"] == "train"],
                  [step["kind"] for step in steps if step["kind"] in ("train", "eval", "save")], [phases.get(block.alloc) for block in told])


def of_truth(truth, trace):
    """What a Strata that knows everything would say: scoring it must give full marks."""
    blocks = [Block(size, trace.events[n], None if trace.free_events[n] == NEVER else trace.free_events[n], truth.category[n] or "unknown",
                    True, path_of(truth.module_at(n))) for n, size in enumerate(trace.sizes)]
    ends = [trace.events[end - 1] for end, _ in truth.boundaries() if end <= len(trace.sizes)]
    return Answer(blocks, ends, [step["kind"] for step in truth.steps], truth.phase[:len(blocks)])


def path_of(module):
    return None if module is None else module[1]


def same_module(told, module):
    """Paths as programs write them; the class of the root may stand before them, and alone for the root itself."""
    if module is None:
        return not told
    root, path = module[0].removeprefix("FSDP"), module[1]  # fully_shard() makes a class of its own of it
    return (told or "") in (path, f"{root}.{path}", f"{root}:{path}") or (path == "" and told == root)


def counted(wanted, told):
    """Of boundaries: found, too many, missed."""
    left = sorted(told)
    found = 0
    for first, last in wanted:
        at = next((each for each in left if first <= each <= last), None)
        if at is not None:
            left.remove(at)
            found += 1
    return found, len(left), len(wanted) - found


class Share:
    """Bytes right of bytes that the truth names; what was told instead."""

    def __init__(self):
        self.right = self.named = self.unknown = self.live = 0
        self.wrong, self.named_by = collections.Counter(), collections.Counter()
        self.sure, self.surely_wrong = 0, collections.Counter()  # of what is recorded or shown by stacks

    def add(self, truth, answer, event):
        for number in answer.live(event):
            block, wanted = answer.blocks[number], truth.category[number]
            self.live += block.bytes
            if block.category == "unknown" and wanted not in (None, "unknown"):
                self.unknown += block.bytes
            if wanted is None:
                continue
            self.named += block.bytes
            self.named_by[wanted] += block.bytes
            sure = block.certainty in ("recorded", "shown_by_stack")
            if truth.accepts(number, block.category):
                self.right += block.bytes
                self.sure += block.bytes if sure else 0
            else:
                self.wrong[wanted, block.category] += block.bytes
                if sure:
                    self.surely_wrong[wanted, block.category, block.certainty] += block.bytes

    def share(self):
        return self.right / self.named if self.named else None

    def constant(self, category):
        """The share if everything were told to be of one category."""
        return self.named_by[category] / self.named if self.named else None


def score(truth, trace, answer):
    """Everything that is held against one program and one recording of it."""
    result = {"same": [block.bytes for block in answer.blocks] == trace.sizes}
    if not result["same"]:
        return result
    count = len(trace.sizes)
    if trace.out_of_memory is None:
        result["boundaries"] = counted(truth.boundaries(), answer.boundaries())
        result["kinds"] = answer.kinds == [step["kind"] for step in truth.steps if step["kind"] == "train" or step["end"] > step["begin"]]
        result["peak"] = Share()
        result["peak"].add(truth, answer, answer.allocs[trace.peak()])
        result["backward"] = Share()
        for number in truth.ends_of_backward():
            result["backward"].add(truth, answer, answer.allocs[number])
    else:
        result["oom"] = Share()
        result["oom"].add(truth, answer, answer.allocs[count - 1])
    # What ends in an out-of-memory lists nothing of its last step: of that, what was recorded counts.
    differ = [n for n in range(count) if (truth.category[n] in ROLES or answer.blocks[n].category in ROLES)
              and not truth.accepts(n, answer.blocks[n].category) and truth.category[n] is not None
              and (trace.out_of_memory is None or answer.blocks[n].recorded)]
    listed = [n for n in range(count) if truth.category[n] in ROLES]
    result["roles"] = (len(listed), len(differ), sum(trace.sizes[n] for n in listed), sum(trace.sizes[n] for n in differ))
    result["phases"] = (sum(answer.phases[n] == truth.phase[n] for n in range(count) if truth.phase[n]), sum(map(bool, truth.phase[:count])))
    born = [n for n in range(count) if truth.phase[n] == "forward"]
    right = [n for n in born if same_module(answer.blocks[n].module, truth.module_at(n))]
    result["module"] = (sum(trace.sizes[n] for n in right), sum(trace.sizes[n] for n in born))
    return result


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


class Table:
    """Figures of many programs for one kind of recording."""

    def __init__(self):
        self.results = []  # (name of the program, result)

    def add(self, name, result):
        self.results.append((name, result))

    def each(self, key):
        return [(name, result[key]) for name, result in self.results if key in result]

    def f1(self):
        """(F1, programs exact, programs) over all boundaries."""
        rows_ = [row for _, row in self.each("boundaries")]
        found, more, missed = (sum(row[i] for row in rows_) for i in range(3)) if rows_ else (0, 0, 0)
        whole = 2 * found + more + missed
        return (2 * found / whole if whole else None), sum(row[1] == row[2] == 0 for row in rows_), len(rows_)

    def shares(self, key):
        """(mean, (worst, its name), unknown, what an answer of one category scores, that category) at an instant."""
        told = [(share.share(), name) for name, share in self.each(key) if share.named]
        if not told:
            return None
        every = [share for _, share in self.each(key)]
        best = max(CATEGORIES, key=lambda category: mean([share.constant(category) for share in every]) or 0)
        return (mean([value for value, _ in told]), min(told), mean([share.unknown / share.live for share in every if share.live]),
                mean([share.constant(best) for share in every]), best, mean([share.constant("unknown") for share in every]))

    def wrong(self, key, most=4):
        total = collections.Counter()
        for _, share in self.each(key):
            for pair, size in share.wrong.items():
                total[pair] += size / share.named
        return [(wanted, told, round(value / max(1, len(self.each(key))), 4)) for (wanted, told), value in total.most_common(most)]

    def sure(self, key):
        """(mean share of what is right and sure, what is wrong and sure by (wanted, told, certainty))."""
        told = [share for _, share in self.each(key)]
        return mean([share.sure / share.named for share in told if share.named]), sum((share.surely_wrong for share in told), collections.Counter())

    def sums(self, key):
        return [sum(column) for column in zip(*(row for _, row in self.each(key)))]
