# SPDX-License-Identifier: Apache-2.0
"""Of calls that are made again: cross entropy of what a linear layer makes, in chunks, so that its logits are never there as a whole.

What the program does from hidden states on,

    logits = linear(hidden, weight, bias)      or hidden @ weight.T (+ bias), addmm(bias, hidden, weight.T): so LibTorch has its layers in C++
    ...                                        views, slices of leading dimensions, casts, classes moved to the second dimension
    loss = cross_entropy(logits, target, class_weight, ignore_index=..., reduction=...)

becomes, where the loss was computed, as a person would write it there,

    options = LinearCrossEntropyOptions(batch_chunk_size=ceil(rows / chunks), chunking_method=None)
    loss = linear_cross_entropy(hidden.reshape(-1, hidden.size(-1)), weight, target.reshape(-1), linear_bias=bias, weight=class_weight, ...)

of torch.nn.functional, under autocast with hidden states, weight and bias in its type, as the linear layer has them. What else takes logits
is refused, and so is what stands between and is none of this. Losses of what no linear layer makes are left alone.
"""
import collections

from replay_rows import AUTOCAST, AUTOCAST_ENDS, CALL, CASTS, MOST_BETWEEN, Calls, NotKnown, Rows, base_of, number_of

LOSS, LAYERS, PRODUCTS, SUMS = "cross_entropy_loss", ("linear",), ("matmul", "mm"), ("add", "add_")
CHUNKED = "strata::linear_cross_entropy"
SCHEMA = CHUNKED + ("(Tensor input, Tensor weight, Tensor target, Tensor? bias, Tensor? class_weight, int reduction, int ignore_index, "
                    "int chunks) -> Tensor")
VIEWS = ("view", "reshape", "_unsafe_view", "flatten", "unflatten", "unsqueeze", "squeeze")
MOVES = ("transpose", "permute", "movedim", "swapaxes")
TURNS = ("t", "transpose", "numpy_T", "permute", "mT", "adjoint")
REDUCTIONS = ("none", "mean", "sum")

#: Places of the rows that make logits, the last one first, and of what turns the weight for nothing else; and refs. No bias: None.
Layer = collections.namedtuple("Layer", "places turns hidden weight bias")


def chunked(torch):
    """What CHUNKED is called by."""
    functional = torch.nn.functional
    if not hasattr(torch.nn, "LinearCrossEntropyOptions"):
        raise NotKnown(f"PyTorch {torch.__version__} has no linear_cross_entropy in chunks", "record the program with PyTorch 2.13 or newer")

    def call(hidden, weight, target, bias, class_weight, reduction, ignore_index, chunks):
        if torch.is_autocast_enabled("cuda"):
            kind = torch.get_autocast_dtype("cuda")
            hidden, weight, bias = (each if each is None else each.to(kind) for each in (hidden, weight, bias))
        hidden, target = hidden.reshape(-1, hidden.size(-1)), target.reshape(-1)
        options = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=-(-len(hidden) // chunks), chunking_method=None)
        return functional.linear_cross_entropy(hidden, weight, target, linear_bias=bias, weight=class_weight, reduction=REDUCTIONS[reduction],
                                               ignore_index=ignore_index, options=options)
    call._schema = torch._C.parse_schema(SCHEMA)
    return call


class Logits(Rows):
    """The rows of a step with losses in chunks: `value` is "chunks:N"."""

    def __init__(self, value, rows, tensors):
        super().__init__(rows, tensors)
        self.chunks = int(value.partition(":")[2])

    def change(self):
        """The rows with such losses."""
        gone, put, late = set(), {}, {}
        for place, row in enumerate(self.rows):
            if row.kind == CALL and base_of(row) == LOSS:
                self.replace(place, gone, put, late)
        if not put:
            raise NotKnown("they have no torch.nn.functional.cross_entropy of what a linear layer makes",
                           "write nll_loss of log_softmax as cross_entropy, or leave that change out: there is nothing to compute in chunks")
        return self.with_others(gone, put, late)

    def refuse(self, place, what, hint="write torch.nn.functional.linear_cross_entropy there, and record the program again"):
        raise NotKnown(f"their cross entropy of what a linear layer makes {what}", hint)

    def sizes(self, ref):
        return self.tensors[ref // 2].sizes

    def replace(self, place, gone, put, late):
        loss, logits = self.rows[place], self.rows[place].taken[0]
        found = self.behind(place, logits)
        if found is None:
            return
        layer, between, strange = found
        first, weight, bias = layer.places[-1], layer.weight, layer.bias
        if strange:
            self.refuse(place, f"has {strange} between them")
        places = {*layer.places, place, *between}
        inner = {ref // 2 for each in places - {place} for ref in self.rows[each].returned}
        other = next((use for number in inner for use in self.uses[number] if use not in places), None)
        if other is not None:
            self.refuse(place, f"is not all that takes the logits: {self.rows[other].name or 'another part of the program'} does, too",
                        "that needs them as a whole; take it out, and record the program again, to see what the loss alone would save")
        _, _, class_weight, reduction, ignore, smoothing = loss.detail
        if number_of(smoothing):
            self.refuse(place, "smooths labels, which PyTorch does not do in chunks", "leave label_smoothing out, or this change")
        if self.sizes(loss.taken[1]) == self.sizes(logits):
            self.refuse(place, "has targets that are probabilities")
        if len(self.sizes(logits)) < 2:
            self.refuse(place, "is of one item")
        calls = Calls(self.tensors, self.rows[first])
        hidden = self.moved(layer.hidden, between, calls, place)
        taken = [hidden, weight, loss.taken[1], *([bias] if bias is not None else []), *(loss.taken[2:3] if class_weight is not None else [])]
        cast = self.autocast(first)
        is_cast = cast is not None and self.autocast(place) is None  # the loss is computed where the layer was
        if is_cast:
            calls.rows.append(cast)
        calls.row(CHUNKED, ["@", "@", "@", None if bias is None else "@", class_weight, reduction, ignore, self.chunks], taken, loss.returned)
        if is_cast:
            calls.rows.append(cast._replace(kind=AUTOCAST_ENDS, name="", detail=""))
        put[place] = calls.ended()
        gone |= places | layer.turns
        for ref in (*(ref for each in layer.places for ref in self.rows[each].taken), weight):
            late[ref // 2] = max(late.get(ref // 2, -1), place)

    def autocast(self, place):
        """The row by which there is autocast at a place."""
        within = []
        for row in self.rows[:place]:
            if row.kind == AUTOCAST:
                within.append(row)
            elif row.kind == AUTOCAST_ENDS and within:
                within.pop()
        return within[-1] if within and within[-1].detail != "off" else None

    def behind(self, place, ref):
        """The linear layer that makes logits, the places of what is between, and what of that cannot be done to hidden states instead.
        None: no such layer makes them."""
        between, strange = [], None
        for _ in range(MOST_BETWEEN):
            place = self.maker(ref // 2, place)
            row = self.rows[place] if place is not None else None
            if row is None or row.kind != CALL or not row.taken:
                return None
            layer, base = self.layer(place), base_of(row)
            if layer is not None:
                return layer, between, strange
            if not self.goes(row, base):
                if len(row.taken) > 1 and base not in ("div", "mul", "add", "sub"):
                    return None
                strange = strange or row.name
            between.insert(0, place)
            ref = row.taken[0]
        return None

    def goes(self, row, base):
        """Whether a call does to logits what can be done to hidden states."""
        before, after = self.sizes(row.taken[0]), self.sizes(row.returned[0])
        if base in CASTS:
            return True
        if base in VIEWS:
            return before[-1:] == after[-1:]
        if base == "slice":
            return row.detail[1] not in (-1, len(before) - 1)
        return base in MOVES and len(before) > 2 and after == [before[0], before[-1], *before[1:-1]]

    def layer(self, place):
        """The linear layer whose last row is there; None: that is of none."""
        row = self.rows[place]
        base, taken = base_of(row), row.taken
        if base in LAYERS:
            return Layer([place], set(), *taken[:2], taken[2] if len(taken) > 2 else None)
        if base in PRODUCTS:
            return self.product(place, taken)
        if base == "addmm" and [number_of(factor) for factor in row.detail[3:5]] == [1, 1] and self.is_bias(taken[0], row):
            return self.product(place, taken[1:], taken[0])
        if base in SUMS and len(taken) == 2 and number_of(row.detail[2]) == 1 and self.is_bias(taken[1], row):
            made = self.maker(taken[0] // 2, place)
            if made is not None and self.rows[made].kind == CALL and base_of(self.rows[made]) in PRODUCTS:
                product = self.product(made, self.rows[made].taken, taken[1])
                return product and product._replace(places=[place, *product.places])
        return None

    def is_bias(self, ref, row):
        """Whether it is a number for each class of what a row returns."""
        return self.sizes(ref) == self.sizes(row.returned[0])[-1:]

    def product(self, place, factors, bias=None):
        """The layer of the product of hidden states and a weight that is turned for it; None: it is of another kind."""
        turn = self.maker(factors[1] // 2, place) if len(factors) > 1 else None
        if turn is None or self.rows[turn].kind != CALL or base_of(self.rows[turn]) not in TURNS:
            return None
        weight = self.rows[turn].taken[0]
        if self.sizes(weight) != self.sizes(factors[1])[::-1]:
            return None
        return Layer([place], {turn} if self.uses[factors[1] // 2] == [place] else set(), factors[0], weight, bias)

    def moved(self, hidden, between, calls, place):
        """Hidden states of the items of the loss: what is sliced off logits is sliced off them."""
        width = self.sizes(hidden)[-1]
        for each in between:
            row = self.rows[each]
            base, before = base_of(row), self.sizes(row.taken[0])
            if base in MOVES and any(base_of(self.rows[one]) not in CASTS for one in between if one > each):
                self.refuse(place, f"has {row.name} between them, and more behind it")
            if base != "slice":
                continue
            wanted = [*before[:-1], width]
            if self.tensors[hidden // 2].sizes != wanted:
                hidden = calls.add("aten::reshape", ["@", wanted], hidden, lambda _, made=wanted: list(made))
            made = [*self.sizes(row.returned[0])[:-1], width]
            hidden = calls.add(row.name, row.detail, hidden, lambda _, made=made: list(made))
        return hidden
