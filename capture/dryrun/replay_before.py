# SPDX-License-Identifier: Apache-2.0
"""Of calls that are made again: what the program allocated and freed before it trained, so that segments lie as that left them.

Of that the recording has blocks alone, of the types that were recorded. Where types change, two things in it are known for what they are. A
model may have been called before (lazy layers, a look at shapes): then the calls of one of its modules in the step, made without gradients
and as they were recorded, allocate and free the same bytes in the same order, and they are made again in the new type there. And the weights
of a recurrent layer, where they lie in one block, had each a block of its own before. What else came and went keeps its bytes, since nothing
tells those that it would have in the new type: how many these are at most is told.
"""
import collections
import math

import torch

Call = collections.namedtuple("Call", "first end row inputs left")  # places of events; pairs of a tensor and the number of its block
MOST_WINDOWS = 8  # whose calls are looked for
MOST_EVENTS = 100_000
BACKWARD, KNOWN = 4, 8  # kinds of rows


class Before:
    """`events`: the number of a block, with its bytes and which of the blocks that live on it is (-1: none) where it is born."""

    def __init__(self, document):
        self.events = document["before"]
        self.calls = {each[0]: Call(*each) for each in document.get("earlier", ())}

    def play(self, replay, by_block):
        """The blocks that were made and live on. What lives on and holds no tensor of the calls may be a library's own, which comes by itself."""
        self.replay, self.by_block, self.held, self.tensors, self.made, self.lazy = replay, by_block, {}, {}, set(), {}
        self.flat, whole = apart_before(self.events, replay) if replay.types else ({}, ())
        if replay.types and replay.types.are_apart:
            self.made.update(whole)
        place = 0
        while place < len(self.events):
            if place in self.calls:
                self.call(self.calls[place])
                place = self.calls[place].end
                continue
            number, *born = self.events[place]
            place += 1
            if not born:
                self.end(number)
            elif born[1] >= 0:
                self.make(born[1])
            elif number in self.flat:
                self.make_flat(number)
            else:
                self.held[number] = torch.empty(born[0], dtype=torch.uint8, device="cuda")
        for number in list(self.tensors):
            self.end(number)
        self.held.clear()  # gone before the step that was recorded: a first step that begins late leaves some of its own here
        return self.made

    def holds_some(self, index):
        """Tensors that the calls take, and that are there before the first step."""
        inside = self.by_block.get(index, ())
        return bool(inside) and not all(each in self.replay.states for each in inside)

    def make(self, index):
        if index not in self.made and self.holds_some(index):
            self.replay.make_block(index, self.by_block[index])
            self.made.add(index)

    def end(self, number):
        self.held.pop(number, None)
        for tensor in self.tensors.pop(number, ()):
            self.replay.live.pop(tensor, None)

    def call(self, call):
        """Calls of the step, made here."""
        replay, first = self.replay, next(place for place, row in enumerate(self.replay.rows) if row.index == call.row)
        kept = set(replay.live)
        for tensor, number in call.inputs:
            replay.live[tensor] = replay.tensor_in(self.held.pop(number), tensor, 0)
        born = {born[1] for _, *born in self.events[call.first:call.end] if born and born[1] >= 0 and self.holds_some(born[1])}
        self.lazy = {tensor: index for index in born for tensor in self.by_block[index]}
        replay.without_gradients(first, replay.windows[first][0] + 1)
        self.lazy = {}
        for index in sorted(born):
            self.make(index)
        ends = collections.defaultdict(list)
        for tensor, number in (*call.inputs, *call.left):
            ends[number].append(tensor)
        self.tensors.update(ends)
        left = {tensor for tensors in ends.values() for tensor in tensors} | {tensor for index in born for tensor in self.by_block[index]}
        for tensor in set(replay.live) - kept - left:
            del replay.live[tensor]

    def make_lazy(self, tensor):
        """A parameter whose block was born amid calls, before the first of them that takes it."""
        if tensor in self.lazy:
            self.make(self.lazy[tensor])

    def make_flat(self, number):
        made = self.replay.alone(self.flat[number])
        if self.replay.types.are_apart:
            self.replay.live[self.flat[number]] = made
        else:
            self.held[number] = made


def apart_before(events, replay):
    """Blocks of the weights of recurrent layers before these lay in one block: by number, the tensor. And those blocks."""
    dies = {number: place for place, (number, *born) in enumerate(events) if not born}
    known, whole = {}, []
    for place, (_, *born) in enumerate(events):
        inside = sorted(replay.by_block.get(born[1], ())) if born and born[1] >= 0 else ()
        if len(inside) < 2 or not replay.recurrent.issuperset(inside):
            continue
        earlier = [(number, born[0]) for number, *born in events[:place] if born and born[1] < 0 and dies.get(number, 0) > place]
        found = {}
        for tensor in inside:
            is_like = math.prod(replay.tensors[tensor].sizes) * getattr(torch, replay.tensors[tensor].type).itemsize
            number = next((number for number, size in earlier if size == is_like and number not in found), None)
            if number is not None:
                found[number] = tensor
        if len(found) == len(inside):
            known.update(found)
            whole.append(born[1])
    return known, whole


def find_earlier(document, make):
    """Which of the events before the training are calls of the step, as the fields of Call, and how many bytes are of the rest.
    `make` gives the calls as they were recorded, to be made in a process that has made none yet."""
    replay = make({**document, "changes": {}, "checkpoints": [], "before": [], "earlier": [], "trial": ""})
    replay.make_blocks()
    lasting = {born[1] for _, *born in document["before"] if born and born[1] >= 0}
    holds = {index for index in lasting if any(number not in replay.states for number in replay.by_block.get(index, ()))}
    events = [(place, *event) for place, event in enumerate(document["before"]) if len(event) == 1 or event[2] not in holds]
    found = []
    for first in outermost(replay)[:MOST_WINDOWS] if events else ():
        inputs = [number for number in replay.taken_in(first) if not any(number in replay.by_block[index] for index in holds)]
        for _ in range(2):  # libraries have work spaces from the first time on
            told = watch(replay, first, inputs)
            found += find_in(events, told, replay, first, inputs, {place for each in found for place in range(each.first, each.end)})
    return sorted(found), bytes_of_others(document["before"], found, apart_before(document["before"], replay)[0].keys())


def outermost(replay):
    """Where modules are entered whose calls do not go backward."""
    return [place for place, (end, is_outermost) in replay.windows.items()
            if is_outermost and not any(row.kind in (BACKWARD, KNOWN) for row in replay.rows[place:end])]


def watch(replay, first, inputs):
    """What calls allocate and free: bytes where a block is born, where it dies the place of its birth in this list; and by tensor that is
    left the place where its block was born."""
    for number in inputs:
        known = replay.tensors[number]
        replay.live[number] = replay.tensor_in(torch.empty(max(known.bytes, 1), dtype=torch.uint8, device="cuda"), number, 0)
    kept = set(replay.live)
    torch.cuda.memory._record_memory_history("all", context=None, max_entries=MOST_EVENTS)
    try:
        before = len(torch.cuda.memory._snapshot()["device_traces"][0])
        replay.without_gradients(first, replay.windows[first][0] + 1)
        entries = torch.cuda.memory._snapshot()["device_traces"][0][before:]
    finally:
        torch.cuda.memory._record_memory_history(None)
    told, living = [], {}
    for entry in entries:
        if entry["action"] == "alloc":
            living[entry["addr"]] = len(told)
            told.append((True, entry["size"]))
        elif entry["action"] == "free_completed" and entry["addr"] in living:
            told.append((False, living.pop(entry["addr"])))
    left = {number: living[replay.live[number].untyped_storage().data_ptr()] for number in set(replay.live) - kept
            if replay.live[number].untyped_storage().data_ptr() in living}
    for number in set(replay.live) - kept | set(inputs):
        replay.live.pop(number, None)
    return told, left


def find_in(events, told, replay, first, inputs, taken):
    """Where events before the training are those that the calls tell of."""
    (told, left), found, at = told, [], 0
    while at < len(events):
        numbers, end = match(events, at, told, taken)
        given = find_inputs(events[:at], replay, inputs) if numbers else None
        if given is None:
            at += 1
            continue
        found.append(Call(events[at][0], events[end - 1][0] + 1, replay.rows[first].index, given,
                          [[tensor, numbers[born]] for tensor, born in left.items()]))
        at = end
    return found


def match(events, at, told, taken):
    """By place in what was told the number of the block, and the place behind the last birth; what dies between the same two births does so
    in any order."""
    numbers, dead, place = {}, set(), at
    for born, (is_birth, what) in enumerate(told):
        if not is_birth:
            dead.add(numbers[what])
            continue
        while numbers and place < len(events) and len(events[place]) == 2 and events[place][1] in dead:
            dead.discard(events[place][1])
            place += 1
        if dead or place == len(events) or len(events[place]) == 2 or events[place][2] != what or events[place][0] in taken:
            return {}, at
        numbers[born] = events[place][1]
        place += 1
    end = place
    while dead and place < len(events) and len(events[place]) == 2:
        dead.discard(events[place][1])
        place += 1
    return ({}, at) if dead else (numbers, end)


def find_inputs(events, replay, inputs):
    """What the calls take from without, with the numbers of blocks that lived and are as large."""
    living = {}
    for _, number, *born in events:
        if not born:
            living.pop(number, None)
        elif born[1] < 0:
            living[number] = born[0]
    given = []
    for tensor in inputs:
        number = next((number for number, size in reversed(living.items()) if size == replay.tensors[tensor].bytes), None)
        if number is None:
            return None
        del living[number]
        given.append([tensor, number])
    return given


def bytes_of_others(events, found, known):
    """At most at once, of what came and went and is none of what is known."""
    known = known | {number for call in found for _, number in call.inputs}
    known |= {events[place][0] for call in found for place in range(call.first, call.end)}
    dead, most, living = {number for number, *born in events if not born}, 0, {}
    for number, *born in events:
        if not born:
            living.pop(number, None)
        elif number in dead and number not in known:
            living[number] = born[0]
            most = max(most, sum(living.values()))
    return most
