# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what becomes of a cross entropy in calls that are made again in chunks (capture/dryrun/replay_logits.py): which calls go, what stands there
instead, which tensors stay longer, and what is refused by name. No PyTorch is needed.
"""
import pytest

from made_calls import Calls, calls
from replay_logits import CHUNKED, Logits
from replay_rows import AUTOCAST, AUTOCAST_ENDS, CALL, GONE, KNOWN, NotKnown

X, WEIGHT, BIAS, TARGET, WEIGHTS = range(5)  # numbers of what is there before
ITEMS, LENGTH, WIDTH, CLASSES = 2, 8, 16, 100
LOGITS = [ITEMS, LENGTH, CLASSES]


class Step(Calls):
    def __init__(self):
        super().__init__(([ITEMS, LENGTH, WIDTH], [CLASSES, WIDTH], [CLASSES], [ITEMS * LENGTH], [CLASSES]), constants=(TARGET, WEIGHTS))

    def linear(self, bias=True):
        return self.call("linear", ["@", "@", "@" if bias else None], [X, WEIGHT] + [BIAS] * bias, LOGITS)

    def flat(self, logits, rows=ITEMS * LENGTH):
        return self.call("view", ["@", [rows, CLASSES]], [logits], [rows, CLASSES])

    def loss(self, logits, weights=False, reduction=1, ignore=-100, smoothing=0.0, target=TARGET):
        return self.call("cross_entropy_loss", ["@", "@", "@" if weights else None, reduction, ignore, {"f": smoothing}],
                         [logits, target] + [WEIGHTS] * weights, [])

    def changed(self, chunks=4):
        return Logits(f"chunks:{chunks}", self.rows, self.tensors).change()


def refused(step, words):
    with pytest.raises(NotKnown) as told:
        step.changed()
    assert words in str(told.value)
    assert told.value.strata_hint


def chunked(rows):
    return next(row for row in rows if row.name == CHUNKED)


def test_takes_the_place_of_all_between():
    step = Step()
    logits = step.linear()
    made = step.loss(step.flat(logits), ignore=0, reduction=2)
    step.gone(logits)
    rows = step.changed()
    assert calls(rows) == [CHUNKED]
    row = chunked(rows)
    assert row.detail == ["@", "@", "@", "@", None, 2, 0, 4]
    assert row.taken == [2 * X + 1, 2 * WEIGHT + 1, 2 * TARGET, 2 * BIAS + 1]
    assert row.returned == [2 * made + 1]
    assert [each.kind for each in rows] == [KNOWN, KNOWN, KNOWN, CALL, KNOWN]
    assert not any(2 * logits in each.taken for each in rows)  # it never was


def test_without_a_bias_and_with_weights_of_classes():
    step = Step()
    step.loss(step.flat(step.linear(bias=False)), weights=True)
    row = chunked(step.changed())
    assert row.detail == ["@", "@", "@", None, "@", 1, -100, 4]
    assert row.taken == [2 * X + 1, 2 * WEIGHT + 1, 2 * TARGET, 2 * WEIGHTS]


def test_hidden_states_stay_until_then():
    step = Step()
    logits = step.linear()
    step.gone(X)
    step.loss(step.flat(logits))
    rows = step.changed()
    at = [place for place, row in enumerate(rows) if row.kind == GONE and row.taken == [2 * X]]
    assert at[0] > rows.index(chunked(rows))


def test_what_is_sliced_off_logits_is_sliced_off_hidden_states():
    step = Step()
    wide = step.call("to.dtype", ["@", 6, False, False, None], [step.linear()], LOGITS)
    sliced = step.call("slice.Tensor", ["@", 1, 0, -1, 1], [wide], [ITEMS, LENGTH - 1, CLASSES])
    whole = step.call("contiguous", ["@", 0], [sliced], [ITEMS, LENGTH - 1, CLASSES])
    step.loss(step.flat(whole, ITEMS * (LENGTH - 1)))
    rows = step.changed()
    assert calls(rows) == ["aten::slice.Tensor", CHUNKED]
    cut = next(row for row in rows if row.name == "aten::slice.Tensor")
    assert (cut.detail, cut.taken) == (["@", 1, 0, -1, 1], [2 * X + 1])
    assert step.tensors[cut.returned[0] // 2].sizes == [ITEMS, LENGTH - 1, WIDTH]
    assert chunked(rows).taken[0] == cut.returned[0]
    assert any(row.kind == GONE and row.taken == cut.returned for row in rows)


def test_items_are_laid_out_for_a_slice_as_logits_were():
    step = Step()
    flat = step.flat(step.linear())
    step.loss(step.call("slice.Tensor", ["@", 0, 1, 9223372036854775807, 1], [flat], [ITEMS * LENGTH - 1, CLASSES]))
    rows = step.changed()
    assert calls(rows) == ["aten::reshape", "aten::slice.Tensor", CHUNKED]
    assert next(row for row in rows if row.name == "aten::reshape").detail == ["@", [ITEMS * LENGTH, WIDTH]]


def test_classes_in_the_second_dimension():
    step = Step()
    step.loss(step.call("transpose.int", ["@", 1, 2], [step.linear()], [ITEMS, CLASSES, LENGTH]))
    assert calls(step.changed()) == [CHUNKED]
    step = Step()
    step.loss(step.call("transpose.int", ["@", 0, 1], [step.linear()], [LENGTH, ITEMS, CLASSES]))
    refused(step, "has aten::transpose.int between them")


def test_a_product_with_a_turned_weight():
    step = Step()
    turned = step.call("numpy_T", ["@"], [WEIGHT], [WIDTH, CLASSES])
    step.loss(step.flat(step.call("matmul", ["@", "@"], [X, turned], LOGITS)))
    step.gone(turned)
    rows = step.changed()
    assert calls(rows) == [CHUNKED]
    assert chunked(rows).taken[:2] == [2 * X + 1, 2 * WEIGHT + 1]
    assert not any(2 * turned in each.taken for each in rows)  # else it would have been there before


def sum_of_product(name="add_.Tensor", alpha=1, bias=BIAS):
    """As LibTorch has nn::Linear in C++, of what is not a matrix."""
    step = Step()
    turned = step.call("t", ["@"], [WEIGHT], [WIDTH, CLASSES])
    logits = step.call("matmul", ["@", "@"], [X, turned], LOGITS)
    step.gone(turned)
    if name.startswith("add_"):
        step.add(CALL, name, ["@", "@", alpha], [2 * logits + 1, 2 * bias + 1], [2 * logits + 1])
    else:
        logits = step.call(name, ["@", "@", alpha], [logits, bias], LOGITS)
    step.loss(step.flat(logits))
    step.gone(logits)
    return step, logits


def test_a_bias_that_is_added_to_a_product():
    for name in ("add_.Tensor", "add.Tensor"):
        step, logits = sum_of_product(name)
        rows = step.changed()
        assert calls(rows) == [CHUNKED]
        assert chunked(rows).detail == ["@", "@", "@", "@", None, 1, -100, 4]
        assert chunked(rows).taken == [2 * X + 1, 2 * WEIGHT + 1, 2 * TARGET, 2 * BIAS + 1]
        assert not any(2 * logits in each.taken for each in rows)


def test_what_else_is_added_to_a_product_is_no_bias():
    step, _ = sum_of_product("add.Tensor", alpha=2)
    refused(step, "has aten::add.Tensor between them")
    step, _ = sum_of_product("add.Tensor", bias=TARGET)
    refused(step, "has aten::add.Tensor between them")


def fused(beta=1, bias=BIAS):
    """As LibTorch has nn::Linear in C++, of a matrix."""
    step = Step()
    flat = step.call("reshape", ["@", [ITEMS * LENGTH, WIDTH]], [X], [ITEMS * LENGTH, WIDTH])
    turned = step.call("t", ["@"], [WEIGHT], [WIDTH, CLASSES])
    step.loss(step.call("addmm", ["@", "@", "@", beta, 1], [bias, flat, turned], [ITEMS * LENGTH, CLASSES]))
    step.gone(turned)
    return step, flat


def test_a_product_with_its_bias():
    step, flat = fused()
    rows = step.changed()
    assert calls(rows) == ["aten::reshape", CHUNKED]
    assert chunked(rows).taken == [2 * flat + 1, 2 * WEIGHT + 1, 2 * TARGET, 2 * BIAS + 1]


def test_another_product_with_a_sum_is_no_layer():
    for step, _ in (fused(beta=2), fused(bias=TARGET)):
        refused(step, "no torch.nn.functional.cross_entropy")


def test_is_computed_under_the_autocast_of_the_layer():
    step = Step()
    step.add(AUTOCAST, detail="")
    logits = step.linear()
    step.add(AUTOCAST_ENDS)
    step.loss(step.flat(logits))
    rows = step.changed()
    at = rows.index(chunked(rows))
    assert [row.kind for row in rows[at - 1:at + 2]] == [AUTOCAST, CALL, AUTOCAST_ENDS]
    step = Step()
    step.add(AUTOCAST, detail="")
    step.loss(step.flat(step.linear()))
    step.add(AUTOCAST_ENDS)
    assert sum(row.kind == AUTOCAST for row in step.changed()) == 1


def test_what_the_program_has_until_the_next_step_is_missing():
    for is_held in (False, True):
        step = Step()
        logits = step.linear()
        flat = step.flat(logits)
        step.tensors[flat] = step.tensors[flat]._replace(address=step.tensors[logits].address)
        step.loss(flat)
        for number in () if is_held else (logits, flat):
            step.gone(number)
        made = Logits("chunks:4", step.rows, step.tensors)
        made.change()
        assert made.missing == ([step.tensors[logits].bytes] if is_held else [])


def test_refuses_by_name():
    step = Step()
    step.loss(step.flat(step.linear()), smoothing=0.1)
    refused(step, "smooths labels")
    step = Step()
    step.loss(step.flat(step.call("tanh", ["@"], [step.linear()], LOGITS)))
    refused(step, "has aten::tanh between them")
    step = Step()
    logits = step.linear()
    step.call("argmax", ["@", -1, False], [logits], [ITEMS, LENGTH])
    step.loss(step.flat(logits))
    refused(step, "aten::argmax does, too")
    step = Step()
    step.loss(step.flat(step.linear()), target=step.tensor([ITEMS * LENGTH, CLASSES]))
    refused(step, "targets that are probabilities")
    step = Step()
    step.linear()
    refused(step, "no torch.nn.functional.cross_entropy")


def test_a_loss_of_something_else_is_left():
    step = Step()
    step.loss(step.call("conv2d", ["@", "@", None], [X, WEIGHT], [ITEMS, CLASSES, LENGTH]))
    step.loss(step.flat(step.linear()))
    assert calls(step.changed()) == ["aten::conv2d", "aten::cross_entropy_loss", CHUNKED]
