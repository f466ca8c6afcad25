# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what becomes of attention by hand in calls that are made again (capture/dryrun/replay_attention.py): which calls go, what stands there
instead, which tensors stay longer, and what is refused by name. No PyTorch is needed.
"""
import pytest

from made_calls import Calls, calls
from replay_attention import SDPA, Attention
from replay_rows import CALL, GONE, KNOWN, NotKnown

Q, K, V, SCORES = [2, 4, 8, 16], [2, 4, 8, 16], [2, 4, 8, 16], [2, 4, 8, 8]
QUERY, KEY, VALUE, BUFFER = range(4)  # numbers of what is there before


class Step(Calls):
    def __init__(self):
        super().__init__((Q, K, V, [8, 8]), constants=(BUFFER,))

    def attention(self, between=lambda step, scores: scores, behind=lambda step, weights: weights):
        turned = self.call("transpose.int", ["@", -2, -1], [KEY], [2, 4, 16, 8])
        scores = self.call("matmul", ["@", "@"], [QUERY, turned], SCORES)
        self.gone(turned)
        scores = between(self, self.call("mul.Tensor", ["@", {"n": 0.25}], [scores], SCORES))
        weights = behind(self, self.call("softmax.int", ["@", -1, None], [scores], SCORES))
        return self.call("matmul", ["@", "@"], [weights, VALUE], Q)

    def changed(self, value="efficient"):
        return Attention(value, self.rows, self.tensors).change()


def with_mask(step, scores):
    hidden = step.call("eq.Scalar", ["@", 0], [BUFFER], [8, 8], learns=False)
    step.rows[-1] = step.rows[-1]._replace(taken=[2 * BUFFER])
    made = step.tensor(SCORES)
    step.add(CALL, "masked_fill.Scalar", ["@", "@", {"f": "-inf"}], [2 * scores + 1, 2 * hidden], [2 * made + 1])
    step.gone(hidden)
    return made


def call_of(rows):
    return next(row for row in rows if row.name == SDPA)


def refused(step, words, value="efficient"):
    with pytest.raises(NotKnown) as told:
        step.changed(value)
    assert words in str(told.value)


def test_products_and_softmax_become_the_call():
    step = Step()
    made = step.attention(behind=lambda step, weights: step.call("dropout", ["@", 0.5, True], [weights], SCORES))
    rows = step.changed()
    assert calls(rows) == ["aten::transpose.int", "aten::transpose.int", SDPA]
    call = call_of(rows)
    assert call.detail == ["@", "@", "@", None, 0.5, False, 0.25, False]
    assert (call.taken[0], call.taken[2], call.returned) == (2 * QUERY + 1, 2 * VALUE + 1, [2 * made + 1])
    assert step.tensors[call.taken[1] // 2].sizes == K  # turned back
    assert {row.index for row in rows} == set(range(len(step.rows)))  # blocks go by them


def test_what_it_takes_stays_until_then():
    step = Step()
    turned = len(step.tensors)
    step.attention(with_mask)
    rows = step.changed()
    place = rows.index(call_of(rows))
    assert place < next(index for index, row in enumerate(rows) if row.kind == GONE and row.taken == [2 * turned])


def test_a_mask_is_handed_on_or_goes():
    step = Step()
    step.attention(with_mask)
    rows = step.changed()
    assert "aten::logical_not" in calls(rows)
    assert call_of(rows).detail[3:6] == ["@", 0.0, False]
    rows = step.changed("flash,causal")
    assert calls(rows) == ["aten::transpose.int", "aten::transpose.int", SDPA]  # what made it, too
    assert call_of(rows).detail[3:6] == [None, 0.0, True]
    assert any(2 * BUFFER in row.taken for row in rows if row.kind == KNOWN)  # and what it was made of stays there


def test_what_made_the_mask_stays_where_others_take_it():
    step = Step()
    step.attention(with_mask)
    hidden = next(row.returned[0] for row in step.rows if row.name == "aten::eq.Scalar")
    step.add(CALL, "sum", ["@", None], [hidden], [2 * step.tensor([])])
    assert "aten::eq.Scalar" in calls(step.changed("flash,causal"))


def test_the_program_calls_it():
    step = Step()
    step.call("scaled_dot_product_attention", ["@", "@", "@", None, 0.0, True], [QUERY, KEY, VALUE], Q)
    assert step.changed("math") == step.rows


def test_refused_by_name():
    def strange(step, scores):
        return step.call("tanh", ["@"], [scores], SCORES)

    def taken_too(step, weights):
        step.call("sum", ["@", None], [weights], [])
        return weights
    refused(Step(), "neither scaled_dot_product_attention nor attention by hand")
    for words, ways in (("aten::tanh between its two products", {"between": strange}),
                        ("more than one mask", {"between": lambda step, scores: with_mask(step, with_mask(step, scores))}),
                        ("aten::sum takes what it has in between", {"behind": taken_too})):
        step = Step()
        step.attention(**ways)
        refused(step, words)


def test_einsum():
    for first, second, words in (("b h i d, b h j d -> b h i j", "b h i j, b h j d -> b h i d", None),
                                 ("bihd,bjhd->bhij", "bhij,bjhd->bihd", "by aten::einsum")):
        step = Step()
        scores = step.call("einsum", [{"s": first}, ["@", "@"], None], [QUERY, KEY], SCORES)
        weights = step.call("softmax.int", ["@", -1, None], [scores], SCORES)
        step.call("einsum", [{"s": second}, ["@", "@"], None], [weights, VALUE], Q)
        if words:
            refused(step, words)
        else:
            rows = step.changed()
            assert calls(rows) == [SDPA]
            assert call_of(rows).taken == [2 * each + 1 for each in (QUERY, KEY, VALUE)]


def test_three_dimensions():
    step = Step()
    step.tensors[:3] = [each._replace(sizes=[8, 8, 16], strides=[128, 16, 1]) for each in step.tensors[:3]]
    turned = step.call("transpose.int", ["@", 1, 2], [KEY], [8, 16, 8])
    scores = step.call("bmm", ["@", "@"], [QUERY, turned], [8, 8, 8])
    weights = step.call("softmax.int", ["@", 2, None], [scores], [8, 8, 8])
    made = step.call("bmm", ["@", "@"], [weights, VALUE], [8, 8, 16])
    rows = step.changed()
    assert calls(rows) == ["aten::transpose.int", "aten::transpose.int", *["aten::unsqueeze"] * 3, SDPA, "aten::squeeze.dim"]
    assert step.tensors[call_of(rows).taken[1] // 2].sizes == [8, 1, 8, 16]
    assert next(row for row in rows if row.name == "aten::squeeze.dim").returned == [2 * made + 1]


def test_a_learnt_mask_is_no_causal_one():
    def learnt(step, scores):
        return step.call("add.Tensor", ["@", "@", 1], [scores, VALUE], SCORES)
    step = Step()
    step.attention(learnt)
    refused(step, "whose mask is learnt", "efficient,causal")
    assert call_of(step.changed()).detail[3] == "@"


def test_a_softmax_of_something_else_is_left():
    step = Step()
    step.attention()
    weights = step.call("softmax.int", ["@", -1, None], [BUFFER], [8, 8])
    step.call("topk", ["@", 2, -1, True, True], [weights], [8, 2])
    assert "aten::softmax.int" in calls(step.changed())


def test_a_kernel_by_its_name():
    step = Step()
    step.call("_scaled_dot_product_flash_attention", ["@", "@", "@", 0.0, True, False], [QUERY, KEY, VALUE], Q)
    refused(step, "name a kernel of their own")
