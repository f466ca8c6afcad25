# SPDX-License-Identifier: GPL-3.0-or-later
"""What an optimizer asks of the allocator as a rule over its parameters: found in one run of several parameters of several types, carried
out for others. model/whatif/run/optimizer_template.h says what rules mean; this is the second one who carries them out.

An event of a step is ("+", block) or ("-", block), where a block has a size. A rule is a list of loops:

    {"over": "all|group|before|last", "order": "up|down|end", "do": [["+", slot, size], ["-", slot, lag], ...]}
    {"over": "types", "do": [loop, ...]}

"types" goes over the types of parameters, "group" being the parameters of the type that it is at, "before" those of the type before it, and
"last", behind that, those of the last one. "end" is the last parameter alone. A lag of 1 is the block of the parameter before in that loop.

An optimizer may keep states in another way from a least number of elements on, as those of bitsandbytes do. Its rules have loops with

    ["+", slot, size, "large|small|once"]

for parameters that have as many, for those that have fewer, and for the first that has as many in all groups together, whose block is the
optimizer's.
"""
import collections
import itertools

Parameter = collections.namedtuple("Parameter", "elements bytes type")

SIZES = {"bytes": lambda p: p.bytes, "float32": lambda p: 4 * p.elements}  # of a block for a parameter; else a number
#: Of optimizers with a least number of elements, too: a byte for each element, a float32 for each 256 of them.
PARTED = {"int8": lambda p: p.elements, "scales": lambda p: 4 * ((p.elements + 255) // 256)}
MOST_CONSTANT = 16


class NoRule(Exception):
    pass


def size_of(size, parameter):
    return (SIZES.get(size) or PARTED[size])(parameter) if isinstance(size, str) else size


def forms(size, parameter, sizes=SIZES):
    """The names that a size may have for that parameter."""
    found = {name for name, of in sizes.items() if of(parameter) == size}
    return found | {size} if size <= MOST_CONSTANT else found


def is_large(parameter, least):
    return parameter.elements >= least


class Group:
    """A set of parameters that loops go over."""

    def __init__(self, name, indices):
        self.name, self.indices = name, indices


class Finder:
    """The rule of one step. `owner` is what is known of blocks of earlier steps: block -> (slot, parameter). `least`: the number of elements
    from which on states are kept in another way, if there is one."""

    def __init__(self, parameters, events, owner, first_slot, least=None):
        self.parameters, self.events, self.owner, self.next_slot, self.least = parameters, events, dict(owner), first_slot, least
        self.loops = []
        types = list(dict.fromkeys(p.type for p in parameters))
        everything = list(range(len(parameters)))
        self.groups = [Group("all", everything)]
        if len(types) > 1:
            self.groups += [Group(t, [i for i in everything if parameters[i].type == t]) for t in types]

    def find(self):
        place = 0
        while place < len(self.events):
            place = self.loop_at(place) or self.parted_at(place) or self.end_at(place) or self.fail(place)
        return merged(self.loops)

    def fail(self, place):
        raise NoRule(f"event {place} of {len(self.events)}: {self.events[place:place + 6]}")

    def loop_at(self, place):
        for length in range(1, 40):
            for group in self.groups:
                if len(group.indices) < 2:
                    continue
                for order in ("up", "down"):
                    for lagged in range(0, min(length, 4)):
                        end = self.try_loop(place, group, order, length, lagged)
                        if end:
                            return end
        return None

    def try_loop(self, place, group, order, length, lagged):
        """Whether iterations of so many events begin here, of which the first one lacks `lagged`; where they end."""
        indices = group.indices if order == "up" else group.indices[::-1]
        end = place + length * len(indices) - lagged
        if end > len(self.events):
            return None
        begins = [place, *range(place + length - lagged, end, length), end]
        made, body = {}, None  # block -> (number of the event in the body, index)
        second = self.events[begins[1]:begins[2]]
        mine = {block for what, block in self.events[begins[0]:begins[1]] if what == "+"}
        lag = [k for k, (what, block) in enumerate(second) if what == "-" and block in mine]
        if len(lag) < lagged:
            return None
        lag = set(lag[:lagged]) if lagged else set()
        whole = [k for k in range(length) if k not in lag]
        for turn, index in enumerate(indices):
            events = self.events[begins[turn]:begins[turn + 1]]
            numbers = whole if turn == 0 else range(length)
            row = {}
            for number, (what, block) in zip(numbers, events):
                if what == "+":
                    names = forms(block.size, self.parameters[index])
                    if not names:
                        return None
                    made[block] = (number, index)
                    row[number] = ("+", frozenset(names))
                elif block in made:
                    of, whose = made[block]
                    behind = 1 if turn > 0 and whose == indices[turn - 1] else 0
                    if whose != index and not behind:
                        return None
                    row[number] = ("-", of, behind)
                else:
                    slot, whose = self.owner.get(block, (None, None))
                    if slot is None or whose != index:
                        return None
                    row[number] = ("-", ("old", slot), 0)
            body = row if body is None else self.same(body, row)
            if body is None:
                return None
        self.take(group, order, body, made)
        return end

    def parted_at(self, place):
        """A loop over all parameters in which large ones do one thing and small ones another, and the first large one, before that, more."""
        if self.least is None:
            return None
        for once, large, small in itertools.product(range(4), range(12), range(12)):
            if large + small:
                end = self.try_parted(place, once, {True: large, False: small})
                if end:
                    return end
        return None

    def try_parted(self, place, once, lengths):
        """Whether such a loop begins here, of so many events of each; where it ends."""
        made, first, bodies = {}, [], {True: None, False: None}
        for index, parameter in enumerate(self.parameters):
            large = is_large(parameter, self.least)
            if large and bodies[True] is None:
                first = self.events[place:place + once]
                if len(first) < once or any(what != "+" for what, _ in first):
                    return None
                made.update({block: (number, index) for number, (_, block) in enumerate(first)})
                place += once
            row, events = {}, self.events[place:place + lengths[large]]
            if len(events) < lengths[large]:
                return None
            place += lengths[large]
            for number, (what, block) in enumerate(events):
                number = once + number + (0 if large else lengths[True])
                if what == "+":
                    names = forms(block.size, parameter, {**SIZES, **PARTED})
                    if not names:
                        return None
                    made[block] = (number, index)
                    row[number] = ("+", frozenset(names))
                else:
                    slot, owned = self.owner.get(block, (None, None))
                    of, whose = made.get(block, (("old", slot), owned))
                    if whose != index:
                        return None
                    row[number] = ("-", of, 0)
            bodies[large] = row if bodies[large] is None else self.same(bodies[large], row)
            if bodies[large] is None:
                return None
        if None in bodies.values():
            return None
        whole = {number: ("+", frozenset({block.size})) for number, (_, block) in enumerate(first)}
        when = {**dict.fromkeys(whole, "once"), **dict.fromkeys(bodies[True], "large"), **dict.fromkeys(bodies[False], "small")}
        self.take(self.groups[0], "up", {**whole, **bodies[True], **bodies[False]}, made, when)
        return place

    @staticmethod
    def same(body, row):
        out = dict(body)
        for number, one in row.items():
            other = out.get(number)
            if other is None:
                out[number] = one
            elif one[0] == other[0] == "+":
                names = one[1] & other[1]
                if not names:
                    return None
                out[number] = ("+", names)
            elif one != other:
                return None
        return out

    def take(self, group, order, body, made, when=None):
        slots, do = {}, []
        for number in sorted(body):
            if body[number][0] == "+":
                slots[number] = self.next_slot
                self.next_slot += 1
        for number in sorted(body):
            one = body[number]
            if one[0] == "+":
                do.append(["+", slots[number], one[1], *([when[number]] if when else [])])
            elif isinstance(one[1], tuple):
                do.append(["-", one[1][1], 0])
            else:
                do.append(["-", slots[one[1]], one[2]])
        for block, (number, index) in made.items():
            self.owner[block] = (slots[number], index)
        self.loops.append({"over": group.name, "order": order, "do": do})

    def end_at(self, place):
        """What the last iteration leaves is given back behind the loop."""
        what, block = self.events[place]
        if what == "-" and block in self.owner:
            slot, index = self.owner[block]
            for group in self.groups[1:] + self.groups[:1]:
                if index == group.indices[-1]:
                    name = "all" if all(loop["over"] == "all" for loop in self.loops) else group.name
                    self.loops.append({"over": name, "order": "end", "do": [["-", slot, 0]]})
                    return place + 1
        return None


def renamed(loop, names):
    """The loop with its slots by their places within a group."""
    return {**loop, "do": [[what, names.get(slot, slot), frozenset(more) if isinstance(more, (set, frozenset)) else more, *when]
                           for what, slot, more, *when in loop["do"]]}


def unified(one, other):
    """Of loops that are alike but for the names of sizes; None: they are not."""
    if one["over"] != other["over"] or one["order"] != other["order"] or len(one["do"]) != len(other["do"]):
        return None
    do = []
    for (what, slot, more, *when), (what2, slot2, more2, *when2) in zip(one["do"], other["do"]):
        if what != what2 or slot != slot2 or when != when2:
            return None
        if what == "+":
            more = more & more2
            if not more:
                return None
        elif more != more2:
            return None
        do.append([what, slot, more, *when])
    return {**one, "do": do}


def merged(loops):
    """Loops over groups as one over types; (rule, the groups in their order, slots of one group -> slots of the rule)."""
    own = [k for k, loop in enumerate(loops) if loop["over"] != "all"]
    if not own:
        return [with_names(loop) for loop in loops], None, {}
    first, last = own[0], own[-1] + 1
    middle = loops[first:last]
    if any(loop["over"] == "all" for loop in middle):
        raise NoRule("loops over all amid those over types")
    order = list(dict.fromkeys(loop["over"] for loop in middle))
    # Slots of each group, in the order in which it makes them, are those of the first.
    slots = {group: [slot for loop in middle if loop["over"] == group for what, slot, *_ in loop["do"] if what == "+"] for group in order}
    if len({len(each) for each in slots.values()}) > 1:
        raise NoRule("types that ask for different numbers of blocks")
    names = {slot: base for group in order for slot, base in zip(slots[group], slots[order[0]])}
    turns, turn = [[] for _ in order], 0
    for loop in middle:
        at = order.index(loop["over"])
        if at > turn:
            turn = at
        behind = turn - at
        if behind > 1:
            raise NoRule("what is given back two types later")
        turns[turn].append(renamed({**loop, "over": ("group", "before")[behind]}, names))
    body = turns[1]
    tail = turns[-1][len(body):] if len(order) > 2 else []
    turns[-1] = turns[-1][:len(body)]
    for turn in range(len(order)):
        wanted = body if turn else [loop for loop in body if loop["over"] == "group"]
        if len(turns[turn]) != len(wanted):
            raise NoRule(f"turn {turn} has {len(turns[turn])} loops instead of {len(wanted)}")
        for k, loop in enumerate(turns[turn]):
            where = k if turn else [i for i, each in enumerate(body) if each["over"] == "group"][k]
            one = unified(body[where], loop)
            if one is None:
                raise NoRule(f"turn {turn}: {loop} instead of {body[where]}")
            body[where] = one
    if len(order) < 3:
        raise NoRule("too few types to tell")
    rule = [with_names(loop) for loop in loops[:first]]
    rule.append({"over": "types", "do": [with_names(loop) for loop in body]})
    for loop in tail:
        if loop["over"] != "group":
            raise NoRule("what the type before leaves comes behind all")
        rule.append(with_names({**loop, "over": "last"}))
    rule += [with_names(loop) for loop in loops[last:]]
    return rule, order, names


def with_names(loop):
    """A size that may be called in several ways is called by the type's own."""
    def name(names):
        return next((each for each in (*SIZES, *PARTED) if each in names), None) or next(iter(names))
    return {**loop, "do": [[what, slot, name(more) if what == "+" else more, *when] for what, slot, more, *when in loop["do"]]}


def slots_of(rule):
    """Those that it makes, and those of them that it gives back."""
    made, gone = [], set()
    for loop in rule:
        if loop["over"] == "types":
            inner_made, inner_gone = slots_of(loop["do"])
            made += inner_made
            gone |= inner_gone
            continue
        for what, slot, *_ in loop["do"]:
            if what == "+":
                made.append(slot)
            else:
                gone.add(slot)
    return made, gone


def keeps_alone(loop, kept):
    """A loop that makes state and nothing else."""
    return all(what == "+" and slot in kept for what, slot, *_ in loop["do"])


def without(rule, kept):
    """The rule without loops that make state and nothing else."""
    out = []
    for loop in rule:
        if loop["over"] == "types":
            inner = without(loop["do"], kept)
            if inner:
                out.append({**loop, "do": inner})
        elif not keeps_alone(loop, kept):
            out.append(loop)
    return out


def shape_of(rule):
    """The rule with slots by the order in which they are first named."""
    names = {}

    def of(loops):
        return [{**loop, "do": of(loop["do"]) if loop["over"] == "types" else
                 [[what, names.setdefault(slot, len(names)), *more] for what, slot, *more in loop["do"]]} for loop in loops]
    return of(rule)


class Carrier:
    """Carries rules out: events as ("+", size, block) and ("-", block), blocks as numbers. `once`: what was asked for once for the optimizer,
    of which this is one group."""

    def __init__(self, parameters, types_order, least=None, once=None):
        self.parameters, self.types_order, self.least, self.once = parameters, types_order, least, set() if once is None else once
        self.blocks, self.live, self.events = 0, {}, []

    def carry(self, rule, indices, new=None):
        """`new`: those for which state is made; none: all."""
        self.kept = set(slots_of(rule)[0]) - slots_of(rule)[1]
        self.new = None if new is None else set(new)
        types = list(dict.fromkeys(self.parameters[i].type for i in indices))
        if self.types_order == "back":
            types.reverse()
        groups = [[i for i in indices if self.parameters[i].type == t] for t in types]
        for loop in rule:
            if loop["over"] == "types":
                for turn, group in enumerate(groups):
                    for inner in loop["do"]:
                        self.loop(inner, group if inner["over"] == "group" else groups[turn - 1] if turn else [])
            else:
                self.loop(loop, indices if loop["over"] == "all" else groups[-1] if groups else [])

    def loop(self, loop, indices):
        if self.new is not None and keeps_alone(loop, self.kept):
            indices = [i for i in indices if i in self.new]
        indices = {"up": indices, "down": indices[::-1], "end": indices[-1:]}[loop["order"]]
        for turn, index in enumerate(indices):
            for what, slot, more, *when in loop["do"]:
                if what == "+":
                    if not self.applies(slot, self.parameters[index], *when):
                        continue
                    self.live[slot, index] = self.blocks
                    self.events.append(("+", size_of(more, self.parameters[index]), self.blocks))
                    self.blocks += 1
                elif turn >= more and (self.least is None or (slot, indices[turn - more]) in self.live):
                    self.events.append(("-", self.live.pop((slot, indices[turn - more]))))

    def applies(self, slot, parameter, when=None):
        if when is None:
            return True
        if when == "once" and slot in self.once:
            return False
        large = is_large(parameter, self.least)
        if when == "once" and large:
            self.once.add(slot)
        return large == (when != "small")
