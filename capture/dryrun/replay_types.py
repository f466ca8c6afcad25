# SPDX-License-Identifier: Apache-2.0
"""Of calls that are made again: tensors of other types than they were recorded with.

Two tensors of the program may have been one. x.float() of what is float32 already is x itself, and all that was recorded of both has one
number: where x is another type now, the cast counts until the forward that made it returns, and x itself before and after.

With dtype=... parameters, buffers, gradients and states of optimizers are of that type, and floating inputs of the outermost modules that
have any. A call that names a type may have named a fixed one (x.float()) or that of another tensor (x.to(y.dtype)), and the recording has a
number for both. Which of the two it was shows in a trial: what was fixed goes into an operator that refuses it beside the new type, or
would make the new type wide again; then it followed, and the trial begins anew. A cast that did nothing, of what is still as it was
recorded, leads back to the new type.
"""
import torch

from replay_rows import CALL, NotKnown

NAMES = {"bf16": torch.bfloat16, "fp16": torch.float16}
CODES = {torch.float16: 5, torch.float32: 6, torch.float64: 7, torch.bfloat16: 15}
UNSCALES = "aten::_amp_foreach_non_finite_check_and_unscale"
RECURRENT = ("aten::lstm", "aten::gru", "aten::rnn_tanh", "aten::rnn_relu")
MOST_TRIALS = 400
BACKWARD = 4  # a kind of rows


class Again(Exception):
    """A trial has found out of a call that it followed another tensor."""


class Casts:
    """Tensors that were one with another when they were recorded. A cast has gone with its last use;
    `late`: whoever may still have one has it."""

    def __init__(self, uses, late):
        self.uses, self.late = uses, late  # by number: the places of rows that take it
        self.held, self.ends, self.within, self.met = {}, {}, [], False

    def enter(self, first, end):
        self.within.append((end, [], first))

    def add(self, replay, number, tensor, place):
        end, made, first = self.within[-1] if self.within else (len(replay.rows), None, 0)
        is_ours = number not in replay.born  # a parameter: the program keeps it, and computes a loss with the cast
        if made is None and is_ours:
            end = next((index for index in range(place, end) if replay.rows[index].kind == BACKWARD), end)
            self.ends.setdefault(end, []).append(number)
        self.met = True
        self.held[number] = tensor
        if made is not None:
            made.append(number)
        uses = self.uses.get(number, ())
        last = max((use for use in uses if place < use <= end), default=place)
        is_returned = made is not None and replay.born.get(number, -1) > first
        if not self.late and last < end and not (is_returned and self.is_used_behind(number, end)):
            self.ends.setdefault(last, []).append(number)
        if not self.late and is_returned:
            replay.live.pop(number, None)  # nobody has the other one

    def behind(self, place):
        for number in self.ends.pop(place, ()):
            self.held.pop(number, None)

    def leave(self, replay):
        """What was made by the module, and is used behind it, is what it returns: the cast."""
        if not self.within:
            return
        end, made, first = self.within.pop()
        for number in made:
            tensor = self.held.pop(number, None)
            if tensor is not None and replay.born.get(number, -1) > first and self.is_used_behind(number, end):
                replay.live[number] = tensor

    def is_used_behind(self, number, place):
        return any(use > place for use in self.uses.get(number, ()))

    def forget(self, number):
        return self.held.pop(number, None)

    def clear(self):
        self.held.clear()
        self.ends.clear()
        self.within.clear()


class Types:
    """What is of another type where the program as a whole is. `base`: that which it was recorded with."""

    def __init__(self, document, operators):
        self.wanted = NAMES[document["changes"]["dtype"]]
        self.tensors, rows = document["tensors"], document["rows"]
        count = {}
        for row in rows:
            for ref in row[4] if row[0] == 8 and row[2] == "parameter" else ():
                kind = getattr(torch, self.tensors[ref // 2][0])
                if kind.is_floating_point:
                    count[kind] = count.get(kind, 0) + self.tensors[ref // 2][5]
        if not count:
            raise RuntimeError("its calls do not tell which tensors are parameters")
        self.base = max(count, key=count.get)
        if any(row[0] == CALL and row[2].startswith(UNSCALES) for row in rows):
            raise NotKnown("a GradScaler among them unscales no gradients of 16 bits",
                           "run the program itself, with --confirm -- COMMAND, which is without it then")
        self.follow, self.is_trial = set(document.get("follow", ())), bool(document.get("trial"))
        self.named = {}  # of rows that name the type: which argument
        for index, (kind, _, name, detail, _, _) in enumerate(rows):
            if kind != 0:
                continue
            for place, known in enumerate(operators[name]._schema.arguments[:len(detail)]):
                if known.name == "dtype" and detail[place] == CODES.get(self.base) and not isinstance(detail[place], bool):
                    self.named[index] = place
        #: Of them those that are made of nothing, as masks and positions: no operator tells which of the two the program meant.
        self.open = {index for index in self.named if not rows[index][4] and rows[index][5] and self.tensors[rows[index][5][0] // 2][3]}
        self.changed = self.find_known(rows)
        # Recurrent layers keep their weights in one block, of types that cuDNN is asked to do (torch.backends.cudnn.is_acceptable).
        together = torch.backends.cudnn.CUDNN_TENSOR_DTYPES
        self.are_apart = self.wanted not in together
        if self.base not in together and self.wanted in together and any(row[0] == 0 and row[2].partition(".")[0] in RECURRENT for row in rows):
            raise RuntimeError("recurrent layers lay their weights in one block in this type, and what that is like was not recorded")

    def is_base(self, number):
        return self.tensors[number][0] == str(self.base)[len("torch."):]

    def find_known(self, rows):
        """What optimizers have: parameters, gradients, and of states those that are as large as their parameter."""
        found = set()
        for kind, _, name, _, taken, _ in rows:
            if kind != 8:
                continue
            if name == "parameter":
                found |= {ref // 2 for ref in taken}
            for parameter, other in zip(taken[::2], taken[1::2]) if name in ("gradient", "state") else ():
                if name == "gradient" or self.tensors[other // 2][3] == self.tensors[parameter // 2][3]:
                    found.add(other // 2)
        return {number for number in found if self.is_base(number)}

    def add_block(self, role, inside):
        """One block holds parts of a model, or none."""
        if role == str(self.base)[len("torch."):] or any(number in self.changed for number in inside):
            self.changed |= {number for number in inside if self.is_base(number)}
            return True
        return False

    def bytes_of(self, size):
        return size * self.wanted.itemsize // self.base.itemsize

    def cast_inputs(self, replay, numbers):
        """Those of the outermost module are of that type from there on, in the program's own hands too. Of those that autograd made, which
        the program has as they are, the numbers."""
        cast = []
        for number in numbers:
            if number in self.changed:
                continue
            tensor = replay.casts.held.get(number, replay.live.get(number))
            if tensor is None or not tensor.is_floating_point():
                continue
            if tensor.dtype == self.wanted:
                cast += [number] if number in replay.casts.held else []
            elif tensor.is_leaf:
                tensor.data = tensor.data.to(self.wanted)
            else:
                replay.casts.held[number] = tensor.to(self.wanted)
                cast.append(number)
        return cast

    def values(self, row, operator, arguments, named):
        """The type that a call names: one that follows names the new one."""
        place = self.named.get(row.index)
        if place is None:
            return
        back = arguments and isinstance(arguments[0], torch.Tensor) and arguments[0].dtype == self.base and (
            {ref // 2 for ref in row.taken} & {ref // 2 for ref in row.returned})
        if row.index not in self.follow and not back:
            return
        if operator._schema.arguments[place].kwarg_only:
            named["dtype"] = CODES[self.wanted]
        else:
            arguments[place] = CODES[self.wanted]

    def failed(self, taken):
        """Of a trial: what an operator refused was of the recorded type where it followed another."""
        self.turn(self.sources(taken))

    def sources(self, taken):
        return set().union(*(getattr(each, "sources", ()) for each in taken if each.dtype == self.base))

    def turn(self, sources):
        if sources - self.follow:
            self.follow |= sources
            raise Again

    def look(self, row, taken, given, is_inside):
        """Of a trial: where what a call made of the recorded type goes, and whether it meets the new one."""
        if not self.is_trial:
            return
        sources = self.sources(taken)
        if is_inside and sources and not torch.is_autocast_enabled() and row.index not in self.named and any(
                each.dtype == self.wanted and each.dim() for each in taken):
            self.turn(sources)
        for each in given:
            if each.dtype == self.base:
                each.sources = frozenset({row.index} if row.index in self.named else sources)
