# SPDX-License-Identifier: Apache-2.0
"""Of calls that are made again: where the program begins, and what it has not got then.

A deep step lies between two steps of the optimizer that steps first. Where there are several, as in a GAN, that is the second half of a step
of the training and the first half of the next; the program begins with the latter.
"""
CALL, BACKWARD = 0, 4  # kinds of rows


class First:
    """`place`: of the row that is made first. While it is entered, what the calls before that would have left is lacking: gradients, and what
    comes of them."""

    def __init__(self, replay, index):
        """`index`: the row behind which a step of the training begins. It is amid the calls where what follows does without what was before."""
        self.rows, self.tensors, self.born, self.uses = replay.rows, replay.tensors, replay.born, replay.casts.uses
        self.outside, self.died = replay.outside, replay.died
        self.lacking, self.skipped, self.is_entered, self.place = set(), set(), False, 0
        place = next((place for place, row in enumerate(self.rows) if row.index is not None and row.index >= index), 0)
        if any(row.kind == BACKWARD for row in self.rows[:place]) and self.can_be(place):
            self.place = place

    def __enter__(self):
        self.is_entered = True

    def __exit__(self, *_):
        self.is_entered = False

    def is_lacking(self, number):
        return self.is_entered and number in self.lacking

    def is_skipped(self, row):
        return self.is_entered and row.index in self.skipped

    def can_be(self, place):
        """Whether all calls from there on lack gradients at most."""
        gradients = {ref // 2 for row in self.rows[:place] for ref in row.taken if self.tensors[ref // 2].gradient_of is not None}
        self.lacking = gradients | {number for number, born in self.born.items() if born < place}
        missed = set(gradients)
        if all(self.does_without(row, missed) for row in self.rows[place:] if row.kind in (CALL, BACKWARD)):
            return True
        self.lacking, self.skipped = set(), set()
        return False

    def does_without(self, row, missed):
        """Whether a call does without what was missed: none of it is made, or lists have as many less, and what it returns too. Nothing else
        that is lacking may be taken."""
        here = {ref // 2 for ref in row.taken} & self.lacking
        if not here <= missed or (here and row.kind == BACKWARD):
            return False
        if here and all(ref // 2 in here for ref in row.taken):
            self.skipped.add(row.index)
            self.miss(row.returned, missed)
            return True
        taken = iter(row.taken)
        for held in row.detail if here else ():
            refs = [next(taken) for _ in range(str(held).count("'@'") if isinstance(held, list) else held == "@")]
            gone = [place for place, ref in enumerate(refs) if ref // 2 in here]
            if gone and (not isinstance(held, list) or len(gone) == len(refs)):
                return False
            if gone and len(row.returned) == len(refs):
                self.miss([row.returned[place] for place in gone], missed)
        return True

    def miss(self, refs, missed):
        missed.update(ref // 2 for ref in refs)
        self.lacking.update(ref // 2 for ref in refs)

    def is_left_by_steps(self, number):
        """The program begins without it, though the deep step did not: a gradient that no call takes before backward makes it, or what comes to
        nothing before the place of the first row."""
        uses = self.uses.get(number, ())
        if self.tensors[number].gradient_of in self.outside:
            backward = next((place for place in range(self.place, len(self.rows)) if self.rows[place].kind == BACKWARD), 0)
            return not any(self.place <= place < backward for place in uses)
        return self.place > 0 and number in self.died and not any(place >= self.place for place in uses)
