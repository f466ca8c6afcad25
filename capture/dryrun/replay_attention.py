# SPDX-License-Identifier: Apache-2.0
"""Of calls that are made again: attention by a kernel of scaled_dot_product_attention, which the program calls, or which does what it writes
by hand.

By hand it is, for each softmax, scores = matmul(q, k^T), numbers that scale them, at most one mask, softmax, dropout, and matmul with v. All
these calls become scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal, scale), as a person would write it there instead: where
the first of them was by which its tensors are there. A mask of numbers is handed on; of one that fills scores what it leaves stands in
attn_mask. With `causal` the mask goes, and with it what made it and nothing else. What anything else takes of these tensors is refused, and so
is what stands between scores and softmax and is none of this. A softmax that is not between two products of tensors is none of attention.
"""
import collections
import re

from dryrun_attention import Kernel
from replay_rows import CALL, CASTS, MOST_BETWEEN, PRODUCTS, Calls, NotKnown, Rows, base_of, number_of

SDPA = "aten::scaled_dot_product_attention"
#: One kernel by its name, which the program called for itself.
OWN = ("_scaled_dot_product_flash_attention", "_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention",
       "_scaled_dot_product_attention_math", "_scaled_dot_product_fused_attention_overrideable", "_flash_attention_forward",
       "_efficient_attention_forward")
SOFTMAX = ("softmax", "_softmax", "special_softmax")
DROPOUT = ("dropout", "dropout_")
SCALES = ("mul", "mul_", "div", "div_", "multiply", "divide")
ADDS = ("add", "add_")
FILLS = ("masked_fill", "masked_fill_")
LEAST_FILLED = -1e4  # what is filled in counts as nothing behind softmax

Pattern = collections.namedtuple("Pattern", "places query key is_turned value mask is_filled dropout scale result")


def is_plain(einsum, is_scores):
    """Whether it is the product of queries with keys ("bhid,bhjd->bhij"), or of weights with values ("bhij,bhjd->bhid")."""
    found = re.fullmatch(r"(\w+)(\w)(\w),(\w+)(\w)(\w)->(\w+)(\w)(\w)", einsum.detail[0]["s"].replace(" ", ""))
    if not found or len({found[1], found[4], found[7]}) > 1:
        return False
    a, b, made = (found[2], found[3]), (found[5], found[6]), (found[8], found[9])
    return (a[1] == b[1] and made == (a[0], b[0])) if is_scores else (a[1] == b[0] and made == (a[0], b[1]))


class Attention(Rows):
    """The rows of a step with one kernel."""

    def __init__(self, value, rows, tensors):
        super().__init__(rows, tensors)
        self.kernel = Kernel(value)

    def change(self):
        """The rows with attention by that kernel."""
        own = next((row.name for row in self.rows if row.kind == CALL and base_of(row) in OWN), None)
        if own:
            raise NotKnown(f"they name a kernel of their own, {own}", "call scaled_dot_product_attention there, and record the program again")
        patterns = [found for found in map(self.pattern_at, range(len(self.rows))) if found]
        if not patterns and not any(row.kind == CALL and row.name.startswith(SDPA) for row in self.rows):
            raise NotKnown("they have neither scaled_dot_product_attention nor attention by hand, softmax between two products of tensors",
                           "there is nothing that another kernel could do: leave that change out")
        gone = set().union(*(each.places for each in patterns))
        put, late = {}, {}  # rows by the place where they stand instead; of tensors that stay longer, until behind which place
        for each in patterns:
            self.replace(each, put, late)
        gone |= self.unused(gone, [ref for each in patterns for ref in self.of_masks(each)])
        return self.with_others(gone, put, late)

    def of_masks(self, pattern):
        """What may be there for nothing else: other things that the calls taken away took."""
        inside = {pattern.query // 2, pattern.key // 2, pattern.value // 2}
        mask = pattern.mask if pattern.mask is not None and not self.kernel.is_causal else None
        return [ref for place in pattern.places for ref in self.rows[place].taken
                if ref // 2 not in inside and (mask is None or ref // 2 != mask // 2)]

    # Finding it

    def pattern_at(self, place):
        row = self.rows[place]
        if row.kind != CALL or base_of(row) not in SOFTMAX or not row.taken:
            return None
        ahead = self.ahead(place)
        behind = self.behind(place) if ahead else None
        if not ahead or not behind:
            return None
        places, last, dropout, strange = ahead
        scores, found, scale, masks, other = behind
        if strange or other:
            self.refuse(place, f"with {strange or other} between its two products")
        if len(masks) > 1:
            self.refuse(place, "with more than one mask")
        if row.detail[1] not in (-1, len(self.tensors[row.taken[0] // 2].sizes) - 1):
            self.refuse(place, "whose softmax is not over the last dimension")
        first = self.rows[scores]
        for each, is_scores in ((first, True), (self.rows[last], False)):
            if base_of(each) == "baddbmm" or base_of(each) == "einsum" and not is_plain(each, is_scores):
                self.refuse(place, f"by {each.name}")
        places = {place, scores, last, *places, *found}
        inner = {ref // 2 for each in places - {last} for ref in self.rows[each].returned}
        other = next((use for number in inner for use in self.uses[number] if use not in places), None)
        if other is not None:
            self.refuse(place, f"of which {self.rows[other].name or 'another part of the program'} takes what it has in between")
        mask, is_filled = masks[0] if masks else (None, False)
        if mask is not None and mask % 2 and self.kernel.is_causal:
            self.refuse(place, "whose mask is learnt, so that it is no causal one")
        return Pattern(places, first.taken[0], first.taken[1], base_of(first) != "einsum", self.rows[last].taken[1], mask, is_filled, dropout, scale,
                       self.rows[last].returned[0])

    def refuse(self, place, what):
        raise NotKnown(f"they have attention by hand ({self.rows[place].name}) {what}",
                       "call scaled_dot_product_attention there, and record the program again")

    def ahead(self, place):
        """From softmax to the product with v: the places between, that of the product, how much is dropped out, and what SDPA cannot do."""
        number, places, dropout, strange = self.rows[place].returned[0] // 2, [], 0.0, None
        for _ in range(MOST_BETWEEN):
            place = next((use for use in self.uses[number] if use > place and self.goes_on(use, number)), None)
            if place is None:
                return None
            row = self.rows[place]
            base = base_of(row)
            if base in PRODUCTS:
                return places, place, dropout, strange
            if base in DROPOUT:
                dropout = number_of(row.detail[1]) if row.detail[2] else dropout
            elif base not in CASTS:
                strange = strange or row.name
            places.append(place)
            number = row.returned[0] // 2
        return None

    def goes_on(self, place, number):
        """Whether a call makes of weights something like them, or their product with another tensor: not what else the program does."""
        row = self.rows[place]
        if row.kind != CALL or row.taken[0] // 2 != number:
            return False
        if base_of(row) in PRODUCTS:
            return len(row.taken) > 1
        return len(row.returned) == 1 and self.tensors[row.returned[0] // 2].sizes == self.tensors[number].sizes

    def behind(self, place):
        """From softmax back to the scores: their place, those between, the number that scales them, masks, each whether it is one of what is
        filled, and what SDPA cannot do. None: no product of tensors makes them."""
        number, places, scale, masks, strange = self.rows[place].taken[0] // 2, [], 1.0, [], None
        for _ in range(MOST_BETWEEN):
            place = self.maker(number, place)
            row = self.rows[place] if place is not None else None
            if row is None or row.kind != CALL or not row.taken:
                return None
            base = base_of(row)
            if base in PRODUCTS:
                return (place, places, scale, masks, strange) if len(row.taken) > 1 else None
            places.append(place)
            number, told = self.step_behind(row, base, place)
            if told is None:
                strange = strange or row.name
            elif isinstance(told, tuple):
                masks.append(told)
            else:
                scale *= told
        return None

    def comes_of_product(self, number, place):
        for _ in range(MOST_BETWEEN):
            place = self.maker(number, place)
            row = self.rows[place] if place is not None else None
            if row is None or row.kind != CALL or not row.taken:
                return False
            if base_of(row) in PRODUCTS:
                return True
            number = row.taken[0] // 2
        return False

    def step_behind(self, row, base, place):
        """Where the scores of a call come from, and what it does to them: a factor, or a mask and whether it is filled; None: another thing."""
        first = row.taken[0] // 2
        number = number_of(row.detail[1]) if len(row.detail) > 1 else None
        second = row.taken[1] if len(row.taken) > 1 else None
        is_number = second is not None and not self.tensors[second // 2].sizes
        if base in CASTS:
            return first, 1.0
        if base in SCALES:
            if number:
                return first, (number if base.startswith("mul") else 1 / number)
            is_host = len(row.detail) > 1 and isinstance(row.detail[1], dict) and row.detail[1].get("h", [0, 1])[1] == []
            return first, (1.0 if is_number or is_host else None)
        if base in FILLS and second is not None:
            filled = number_of(row.detail[2])
            return first, ((second, True) if filled is None or filled <= LEAST_FILLED else None)
        if base in ADDS and second is not None and row.detail[:2] == ["@", "@"]:
            if not self.comes_of_product(first, place) and self.comes_of_product(second // 2, place):
                first, second = second // 2, row.taken[0]
            return first, (second, False)
        if base == "where" and second is not None and row.detail[:2] == ["@", "@"]:
            return second // 2, (row.taken[0], None)
        return first, None

    # Putting the other one there

    def replace(self, pattern, put, late):
        """What stands there instead, by place, and which tensors have to stay longer."""
        mask = None if self.kernel.is_causal else pattern.mask
        tensors, last = [ref for ref in (pattern.query, pattern.key, pattern.value, mask) if ref is not None], max(pattern.places)
        needed = max((made for made in (self.maker(ref // 2, last) for ref in tensors) if made is not None), default=-1)
        place = min(each for each in pattern.places if each > needed)
        made = Calls(self.tensors, self.rows[min(pattern.places)])
        query, key, value, result = pattern.query, pattern.key, pattern.value, pattern.result
        if pattern.is_turned:
            key = made.add("aten::transpose.int", ["@", -2, -1], key, turned)
        if mask is not None and pattern.is_filled:
            mask = made.add("aten::logical_not", ["@"], mask)
        is_flat = len(self.tensors[query // 2].sizes) == 3
        if is_flat:
            query, key, value = (made.add("aten::unsqueeze", ["@", 1], each, unsqueezed) for each in (query, key, value))
            if mask is not None and len(self.tensors[mask // 2].sizes) == 3:
                mask = made.add("aten::unsqueeze", ["@", 1], mask, unsqueezed)
            result = made.new(result, unsqueezed)
        made.row(SDPA, ["@", "@", "@", None if mask is None else "@", pattern.dropout, pattern.mask is not None and self.kernel.is_causal,
                        pattern.scale, False], [query, key, value, *([] if mask is None else [mask])], [result])
        if is_flat:
            made.row("aten::squeeze.dim", ["@", 1], [result], [pattern.result])
        put[place] = made.ended()
        for ref in tensors:
            late[ref // 2] = max(late.get(ref // 2, -1), place)


def turned(lengths):
    return [*lengths[:-2], lengths[-1], lengths[-2]]


def unsqueezed(lengths):
    return [lengths[0], 1, *lengths[1:]]
