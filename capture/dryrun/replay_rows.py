# SPDX-License-Identifier: Apache-2.0
"""Of calls that are made again: finding some among them, and putting others there instead."""
import collections

CALL, GONE, AUTOCAST, AUTOCAST_ENDS, KNOWN = 0, 1, 6, 7, 8  # kinds of rows
PRODUCTS = ("matmul", "bmm", "baddbmm", "einsum")
CASTS = ("to", "_to_copy", "type_as", "float", "contiguous", "clone", "alias")
MOST_BETWEEN = 16  # calls from one that is sought to the other


class NotKnown(RuntimeError):
    """What these calls would be instead is not known. `strata_hint`: what to do."""

    def __init__(self, what, hint):
        super().__init__(what)
        self.strata_hint = hint


def base_of(row):
    return row.name[len("aten::"):].partition(".")[0]


def number_of(held):
    """A number among arguments; None: it is another thing."""
    if isinstance(held, dict) and "n" in held:
        held = held["n"]
    if isinstance(held, dict) and "f" in held:
        return float(held["f"])
    return held if isinstance(held, (int, float)) and not isinstance(held, bool) else None


class Rows:
    """The rows of a step. `tensors` gets those that are new."""

    def __init__(self, rows, tensors):
        self.rows, self.tensors = rows, tensors
        self.missing = []  # bytes of what a step would leave, and does not make any more
        self.made, self.uses = collections.defaultdict(list), collections.defaultdict(list)  # by number of a tensor, the places of rows
        for place, row in enumerate(rows):
            for ref in row.taken if row.kind not in (GONE, KNOWN) else ():
                self.uses[ref // 2].append(place)
            for ref in row.returned:
                self.made[ref // 2].append(place)

    def maker(self, number, place):
        """The last row before that place which leaves the tensor as it is."""
        return next((made for made in reversed(self.made[number]) if made < place), None)

    def unused(self, gone, refs):
        """Places of calls that made these tensors alone, for calls that are gone; and what they took of such."""
        found, waiting = set(), [ref // 2 for ref in refs]
        while waiting:
            number = waiting.pop()
            places = self.made[number]
            rows = [self.rows[place] for place in places]
            if len(places) != 1 or places[0] in gone | found or rows[0].kind != CALL:
                continue
            returned = {ref // 2 for ref in rows[0].returned}
            if any(use not in gone | found for each in returned for use in self.uses[each]) or returned & {ref // 2 for ref in rows[0].taken}:
                continue
            if any(ref % 2 for ref in rows[0].returned):  # autograd goes through it: it is there for more
                continue
            found.add(places[0])
            waiting += [ref // 2 for ref in rows[0].taken]
        return found

    def with_others(self, gone, put, late):
        """Without those places, with other rows by the place behind which they stand, and tensors, by number, let go of no sooner than
        behind a place."""
        rows, waiting = [], collections.defaultdict(list)
        made = {ref // 2 for some in put.values() for row in some for ref in row.returned}
        never = {number for number, places in self.made.items() if places and number not in made and gone.issuperset(places)}
        left = [self.tensors[number] for number in never - {row.taken[0] // 2 for row in self.rows if row.kind == GONE}]
        self.missing = list({each.address: each.bytes for each in sorted(left, key=lambda each: each.bytes)}.values())  # views lie in one block
        for place, row in enumerate(self.rows):
            is_never = row.kind == GONE and row.taken[0] // 2 in never
            until = late.get(row.taken[0] // 2, -1) if row.kind == GONE and not is_never else -1
            if until > place:
                waiting[until].append(row)
                continue
            if place in gone or is_never:  # its index stays, where blocks may go, and what the program had before
                before = [ref for ref in row.taken if not self.made[ref // 2]]
                rows.append(row._replace(kind=KNOWN, name="", detail=None, taken=before, returned=[]))
            else:
                rows.append(row)
            rows += put.get(place, ())
            rows += waiting.pop(place, ())
        return rows


class Calls:
    """Rows that stand instead of others, with the index of one that names no type; and tensors that only they have."""

    def __init__(self, tensors, like):
        self.tensors, self.like, self.rows, self.news = tensors, like, [], []

    def row(self, name, detail, taken, returned):
        self.rows.append(self.like._replace(name=name, detail=detail, taken=taken, returned=returned))

    def add(self, name, detail, ref, shape=list):
        made = self.new(ref, shape)
        self.row(name, detail, [ref], [made])
        return made

    def new(self, ref, shape):
        """As rows have its number. Autograd knows by itself whether it goes through it."""
        known = self.tensors[ref // 2]
        self.tensors.append(known._replace(address=0, offset=0, sizes=shape(known.sizes), strides=shape(known.strides), bytes=0, gradient_of=None))
        self.news.append(2 * (len(self.tensors) - 1))
        return self.news[-1]

    def ended(self):
        """With these tensors gone."""
        return self.rows + [self.like._replace(kind=GONE, name="", detail=None, taken=[ref], returned=[]) for ref in self.news]
