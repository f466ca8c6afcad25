# SPDX-License-Identifier: Apache-2.0
"""Makes the calls of a recorded step again, over and over, with real autograd and real autocast, without the program.

usage: replay_calls.py DOCUMENT

The document is what model/whatif/calls/calls_again.h writes: operators of PyTorch's by name, each of a list of those that only compute, and
values. It holds no code, and none is looked up by a name of its: a name becomes torch.ops.aten.NAME.OVERLOAD or nothing. Tensors of the
device that lived as the step began are made first, in the blocks that they had, by age, amid what the program allocated and freed before it trained; those of the host are empty ones.
"""
import bisect
import collections
import json
import resource
import signal
import sys

CALL, GONE, ENTERS, LEAVES, BACKWARD, BACKWARD_ENDS, AUTOCAST, AUTOCAST_ENDS, KNOWN = range(9)
STEPS = 4  # what is left of one is there in the next; from the second on they are alike
SECONDS = 300
HOST_BYTES = 24 << 30

Tensor = collections.namedtuple("Tensor", "type address offset sizes strides bytes gradient_of")
Row = collections.namedtuple("Row", "kind gradients name detail taken returned index", defaults=[None])


def limit():
    """What a file asks for may be too much: then the child ends, and nothing else."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_DATA, (HOST_BYTES, HOST_BYTES))
    signal.alarm(2 * SECONDS)


limit()
import torch  # noqa: E402  as all else, within the limits
import torch.utils.checkpoint  # noqa: E402
from replay_attention import SDPA, Attention  # noqa: E402
from replay_batch import with_batch  # noqa: E402
from replay_before import Before, find_earlier  # noqa: E402
from replay_first import First  # noqa: E402
from replay_logits import CHUNKED, Logits, chunked  # noqa: E402
from replay_types import MOST_TRIALS, RECURRENT, Again, Casts, Types  # noqa: E402


def operators_of(rows):
    """By name; those that this PyTorch does not have are said before anything runs."""
    found = {}
    for name in {row.name for row in rows if row.kind == CALL}:
        if name == CHUNKED:
            found[name] = chunked(torch)
            continue
        base, _, overload = name[len("aten::"):].partition(".")
        packet = getattr(torch.ops.aten, base, None)
        found[name] = getattr(packet, overload or "default", None)
        if found[name] is None:
            raise RuntimeError(f"this PyTorch has no {name}: give the Python of the one that was recorded with --python")
    return found


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from tensors_in(each)


class Replay:
    def __init__(self, document):
        self.changes = document["changes"]
        self.tensors = [Tensor(*each) for each in document["tensors"]]
        recorded = rows = [Row(*each, index) for index, each in enumerate(document["rows"])]
        attention = Attention(self.changes["attention"], rows, self.tensors) if "attention" in self.changes else None
        self.kernel = attention and attention.kernel
        missing = []
        if attention:
            rows, missing = attention.change(), attention.missing
        if "logits" in self.changes:
            logits = Logits(self.changes["logits"], rows, self.tensors)
            rows, missing = logits.change(), missing + logits.missing
        self.rows = with_autocast(rows, self.changes.get("amp"), self.tensors)
        self.blocks, self.before = [list(each) for each in document["blocks"]], Before(document)
        self.sizes = list(document.get("block_sizes") or (size for _, size, *_ in self.blocks))  # with the batch that is asked for
        self.operators = operators_of([*rows, *recorded])
        self.live, self.filled, self.frees, self.contexts, self.given = {}, {}, {}, [], ()
        self.checkpoints = frozenset(document.get("checkpoints", ()))
        self.types = Types(document, self.operators) if "dtype" in self.changes else None
        self.casts = Casts(self.find_uses(), document.get("late", False))
        self.is_without_gradients = False
        self.find_outside()
        self.leave_out(missing)
        self.first = First(self, document.get("first", 0))

    def leave_out(self, missing):
        """What a step does not make any more it does not find of the step before: blocks that it lets go of, and of which it uses nothing."""
        for size in missing:
            for index, (address, recorded, freed, _) in enumerate(self.blocks):
                if freed >= 0 and self.sizes[index] == size and not any(
                        number in self.used and row.index < freed and address <= self.tensors[number].address < address + recorded
                        for number, row in self.outside.items()):
                    self.sizes[index] = 0
                    break

    def find_uses(self):
        """By number of a tensor the places of rows that take it; and of each module that is entered the place where it is left, and
        whether it is the outermost one."""
        uses, entered, seen, self.windows, self.born = collections.defaultdict(list), [], set(), {}, {}
        for place, row in enumerate(self.rows):
            for ref in row.taken if row.kind in (CALL, BACKWARD) else ():
                uses[ref // 2].append(place)
            seen |= {ref // 2 for ref in row.taken}
            self.born |= {ref // 2: place for ref in row.returned if ref // 2 not in seen}
            seen |= {ref // 2 for ref in row.returned}
            if row.kind == ENTERS:
                entered.append(place)
            elif row.kind == LEAVES and entered:
                first = entered.pop()
                self.windows[first] = (place, not entered)
        return uses

    def find_outside(self):
        """Tensors that were there before the step, by the block that holds them; whose blocks have none; and, of each tensor that a step
        leaves behind, nothing yet."""
        made, self.outside, self.asks = set(), {}, set()
        for row in self.rows:
            for ref in row.taken:
                number = ref // 2
                if number not in made and number not in self.outside:
                    self.outside[number] = row
                    if ref % 2:
                        self.asks.add(number)
            made |= {ref // 2 for ref in row.returned}
        self.states = {ref // 2 for row in self.rows if row.kind == KNOWN and row.name == "state" for ref in row.taken[1::2]}
        self.used = {ref // 2 for row in self.rows if row.kind in (CALL, BACKWARD) for ref in row.taken}
        self.died = {ref // 2 for row in self.rows if row.kind == GONE for ref in row.taken}
        self.left = sorted(made - self.died - set(self.outside))
        self.recurrent = {ref // 2 for row in self.rows if row.kind == CALL and row.name.partition(".")[0] in RECURRENT for ref in row.taken}

    def make_blocks(self):
        """Those that lived as the step began. Of a block that no tensor of the calls lies in its bytes alone are known."""
        by_block = self.by_block = collections.defaultdict(list)
        spans = sorted((address, address + size, index) for index, (address, size, *_) in enumerate(self.blocks) if size)
        for number, row in self.outside.items():
            at = bisect.bisect_right(spans, (self.tensors[number].address, sys.maxsize)) - 1
            if at < 0 or self.tensors[number].address >= spans[at][1] or not self.sizes[spans[at][2]]:
                continue
            freed = self.blocks[spans[at][2]][2]
            if freed < 0 or row.index < freed:  # else another block has its place
                by_block[spans[at][2]].append(number)
        self.fillers, self.later = {}, []
        self.known_blocks = {number for numbers in by_block.values() for number in numbers}
        for index, (_, _, _, role) in enumerate(self.blocks):
            self.blocks[index][1] = size = self.sizes[index]
            if self.types and self.types.add_block(role, by_block.get(index, ())):
                self.blocks[index][1] = self.types.bytes_of(size)
        made = self.before.play(self, by_block)
        for index, (_, size, row, _) in enumerate(self.blocks):
            inside = by_block[index]
            if not size:
                continue
            if not inside:
                self.fillers[index] = (size, row)
            elif all(number in self.states for number in inside):
                self.later.append((index, inside))
            elif (index not in made and any(number in self.used or number not in self.died for number in inside)
                  and not all(map(self.first.is_left_by_steps, inside))):
                self.make_block(index, inside)

    def make_block(self, index, inside):
        address, size, _, _ = self.blocks[index]
        if self.types and self.types.are_apart and len(inside) > 1 and self.recurrent.issuperset(inside):
            for number in inside:
                self.live[number] = self.alone(number)
            return
        memory = torch.empty(size, dtype=torch.uint8, device="cuda")
        for number in inside:
            self.live[number] = self.tensor_in(memory, number, self.tensors[number].address - address)

    def make_states(self):
        """Optimizers make theirs when they first step, not before."""
        for index, inside in self.later:
            self.make_block(index, inside)
        self.later = []

    def alone(self, number):
        """A parameter in a block of its own, not in one with others."""
        known = self.tensors[number]
        made = torch.empty_strided(known.sizes, known.strides, dtype=self.types.wanted, device="cuda")
        return made.requires_grad_(True) if number in self.asks else made

    def tensor_in(self, memory, number, behind):
        known = self.tensors[number]
        kind = getattr(torch, known.type)
        offset = known.offset + behind // kind.itemsize
        if self.types and number in self.types.changed:
            kind = self.types.wanted
        made = torch.empty(0, dtype=kind, device="cuda").set_(memory.untyped_storage(), offset, known.sizes, known.strides)
        return made.requires_grad_(True) if number in self.asks else made

    def fill(self, all_of_them):
        """Blocks of which nothing but their bytes is known. Those that live on may be work spaces of libraries, which the calls make for
        themselves: these are not made twice."""
        own = collections.Counter() if not all_of_them else self.own_blocks()
        for index, (size, row) in self.fillers.items():
            if index in self.filled or (row < 0) != all_of_them:
                continue
            if own[size] > 0:
                own[size] -= 1
                continue
            self.filled[index] = torch.empty(size, dtype=torch.uint8, device="cuda")

    def own_blocks(self):
        """Requested bytes of blocks that live and hold none of our tensors."""
        ours = {tensor.untyped_storage().data_ptr() for tensor in [*self.live.values(), *self.filled.values()] if tensor.untyped_storage().nbytes()}
        ours |= {tensor.grad.untyped_storage().data_ptr() for tensor in self.live.values() if tensor.is_leaf and tensor.grad is not None}
        found = collections.Counter()
        for segment in torch.cuda.memory_snapshot():
            for block in segment["blocks"]:
                if block["state"] == "active_allocated" and block["address"] not in ours:
                    found[block["requested_size"]] += 1
        return found

    def value(self, held, taken):
        if isinstance(held, list):
            values = [self.value(each, taken) for each in held]
            return [value for each, value in zip(held, values) if value is not None or each != "@"]
        if held == "@":
            return self.take(next(taken))
        if not isinstance(held, dict):
            return held
        (kind, what), = held.items()
        if kind == "n":
            return self.value(what, taken)
        if kind == "f":
            return float(what)
        if kind == "d":
            return torch.device(what)
        if kind == "h":
            name, sizes, strides = what
            return torch.empty_strided(sizes, strides, dtype=HOST_TYPES[name]).zero_()
        return what

    def take(self, ref):
        number = ref // 2
        if self.first.is_lacking(number):
            return None
        if self.later and number in self.states:
            self.make_states()
        self.before.make_lazy(number)
        tensor = self.casts.held.get(number, self.live.get(number))
        if tensor is None:
            tensor = self.live[number] = self.alias(number)
        if ref % 2 and not tensor.requires_grad and tensor.is_leaf:
            tensor.requires_grad_(True)
        return tensor

    def alias(self, number):
        """What no call returned: the program has another view of what it had, as by .data, or its gradient."""
        known = self.tensors[number]
        if known.gradient_of is not None and known.gradient_of in self.live:
            gradient = self.live[known.gradient_of].grad
            if gradient is not None:
                return gradient
        for other, tensor in self.live.items():
            if self.tensors[other].address == known.address and known.address:
                made = torch.empty(0, dtype=tensor.dtype, device="cuda").set_(tensor.untyped_storage(), known.offset, known.sizes, known.strides)
                return made
        if known.bytes == 0:
            return torch.empty_strided(known.sizes, known.strides, dtype=getattr(torch, known.type), device="cuda")
        raise RuntimeError(f"a tensor of its calls ({known.type}, {known.sizes}) was made by nothing that was seen")

    def call(self, row, place):
        operator = self.operators[row.name]
        taken = iter(row.taken)
        arguments, named = [], {}
        for known, held in zip(operator._schema.arguments, row.detail):
            value = self.value(held, taken)
            if known.kwarg_only:
                named[known.name] = value
            else:
                arguments.append(value)
        value = None
        if self.types:
            self.types.values(row, operator, arguments, named)
        try:
            with torch.set_grad_enabled(row.gradients and not self.is_without_gradients):
                if self.kernel and row.name.startswith(SDPA):
                    given = self.kernel.call(operator, arguments, named)
                else:
                    given = operator(*arguments, **named)
        except RuntimeError:
            if self.types and self.types.is_trial:
                self.types.failed(list(tensors_in([arguments, list(named.values())])))
            raise
        given = [each for each in tensors_in(given) if each.is_cuda]
        if self.types and self.types.is_trial:
            self.types.look(row, list(tensors_in([arguments, list(named.values())])), given, bool(self.casts.within))
        del arguments, named
        returned = [ref for ref in row.returned if not self.first.is_lacking(ref // 2)]
        if len(given) != len(returned):
            raise RuntimeError(f"{row.name} returns {len(given)} tensors, where {len(returned)} were recorded")
        was_taken = {ref // 2 for ref in row.taken}
        for ref, tensor in zip(returned, given):
            number = ref // 2
            if number not in was_taken:
                self.live[number] = tensor
            elif tensor is not self.casts.held.get(number, self.live.get(number)):
                self.casts.add(self, number, tensor, place)

    def gone_within(self, index):
        """What the program lets go of while autograd goes backward."""
        gone = []
        for row in self.rows[index + 1:]:
            if row.kind == BACKWARD_ENDS:
                break
            if row.kind == GONE:
                gone.append(row.taken[0] // 2)
        return gone

    def backward(self, row, gone):
        how, tensors = row.detail, [self.take(ref) for ref in row.taken]
        roots, rest = tensors[:how["roots"]], tensors[how["roots"]:]
        count = sum(how["gradients"])
        some = iter(rest[:count])
        gradients = tuple(next(some) if given else torch.ones_like(root) for root, given in zip(roots, how["gradients"]))
        inputs = tuple(rest[count:])
        del tensors, rest, some
        for number in gone:
            self.forget(number)
        return torch.autograd.Variable._execution_engine.run_backward(
            tuple(roots), gradients, how["retain"], how["create"], inputs, allow_unreachable=how["unused"], accumulate_grad=how["accumulate"])

    def forget(self, number):
        self.casts.forget(number)
        tensor = self.live.pop(number, None)
        whose = self.live.get(self.tensors[number].gradient_of)
        if whose is not None and tensor is not None and whose.grad is tensor:
            whose.grad = None

    def known(self, row):
        if row.name != "gradient":
            return
        for parameter, gradient in zip(row.taken[::2], row.taken[1::2]):
            whose = self.take(parameter)
            if whose.grad is not None:
                self.live[gradient // 2] = whose.grad
            elif gradient // 2 in self.live:
                whose.grad = self.live[gradient // 2]

    def enter(self, place):
        cast = self.cast_inputs(place)
        self.casts.enter(place, self.windows.get(place, (len(self.rows), False))[0])
        self.casts.within[-1][1].extend(cast)

    def taken_in(self, place):
        """Tensors that the calls of a module take from without, in the order of their first use."""
        found, made = {}, set()
        for row in self.rows[place:self.windows[place][0]]:
            for ref in row.taken if row.kind == CALL else ():
                if ref // 2 not in made:
                    found.setdefault(ref // 2, ref)
            made |= {ref // 2 for ref in row.returned}
        return found

    def cast_inputs(self, place):
        if not self.types or not self.windows.get(place, (0, False))[1]:
            return []
        taken = self.taken_in(place)
        return self.types.cast_inputs(self, taken) if any(number in self.types.changed for number in taken) else []

    def play(self, first, end, checkpoints=True):
        """The rows of these places."""
        place = first
        while place < end:
            if checkpoints and self.rows[place].index in self.checkpoints and self.is_training(place):
                place = self.checkpoint(place)
                continue
            self.make(self.rows[place], place)
            place += 1

    def without_gradients(self, first, end):
        """The same, where the program did not train."""
        self.is_without_gradients = True
        with torch.no_grad():
            self.play(first, end, checkpoints=False)
        self.is_without_gradients = False
        self.casts.clear()

    def make(self, row, place):
        for filler in self.frees.get(row.index, ()):
            self.filled.pop(filler, None)
        if self.first.is_skipped(row):
            return
        if row.kind == CALL:
            self.call(row, place)
            self.casts.behind(place)
        elif row.kind == ENTERS:
            self.enter(place)
        elif row.kind == LEAVES:
            self.casts.leave(self)
        elif row.kind == GONE:
            self.forget(row.taken[0] // 2)
        elif row.kind == BACKWARD:
            self.casts.behind(place)
            self.given = self.backward(row, self.gone_within(place))
        elif row.kind == BACKWARD_ENDS:
            for ref, tensor in zip(row.returned, [each for each in self.given or () if each is not None]):
                self.live[ref // 2] = tensor
            self.given = ()
        elif row.kind == AUTOCAST:
            kind = {"c10::BFloat16": torch.bfloat16, "c10::Half": torch.float16}.get(row.name)
            self.contexts.append(torch.autocast("cuda", kind, row.detail != "off", row.detail != "no cache"))
            self.contexts[-1].__enter__()
        elif row.kind == AUTOCAST_ENDS and self.contexts:
            self.contexts.pop().__exit__(None, None, None)
        elif row.kind == KNOWN:
            self.known(row)

    def is_training(self, place):
        """Whether the first thing that a module calls is seen by autograd."""
        if place not in self.windows:
            return False
        return next((row.gradients for row in self.rows[place:self.windows[place][0]] if row.kind == CALL), False)

    def checkpoint(self, first):
        """The calls of a module behind a checkpoint, as `strata dryrun --change checkpoint=...` has it: what the module takes is handed on,
        what else it uses the program has. Computed again they leave nothing. Where it goes on."""
        end = self.windows[first][0] + 1
        self.cast_inputs(first)  # before the checkpoint keeps them
        taken = self.taken_in(first)
        inputs = [number for number in taken if number in self.born]
        others = {number: self.take(ref) for number, ref in taken.items() if number not in self.born}
        runs = []

        def run(*given):
            if not runs:
                runs.append(True)
                self.play(first, end, checkpoints=False)
            else:
                self.play_again(first, end, {**others, **dict(zip(inputs, given))})
        torch.utils.checkpoint.checkpoint(run, *(self.take(taken[number]) for number in inputs), use_reentrant=False)
        return end

    def play_again(self, first, end, live):
        kept = self.live, self.casts, self.contexts
        self.live, self.casts, self.contexts = live, Casts(self.casts.uses, self.casts.late), []
        try:
            self.play(first, end, checkpoints=False)
        finally:
            while self.contexts:
                self.contexts.pop().__exit__(None, None, None)
            self.live, self.casts, self.contexts = kept

    def step(self, first=0):
        self.given = ()
        self.play(first, len(self.rows))

    def bytes_of(self, number):
        size = self.tensors[number].bytes
        return self.types.bytes_of(size) if self.types and number in self.types.changed else size

    def carry(self):
        """What the step leaves is what the next begins with: in the place of what died in it that was of the same size."""
        self.casts.clear()
        dead = collections.defaultdict(list)
        for index, (size, row) in self.fillers.items():
            if row >= 0:
                dead[size].append(("filler", index))
        has_others = {number for numbers in self.by_block.values() for number in numbers if any(each in self.live for each in numbers if each != number)}
        for number in self.outside:  # another view of what lives is made where it is taken
            if number in self.died and number in self.known_blocks and self.tensors[number].gradient_of is None and number not in has_others:
                dead[self.tensors[number].bytes].append(("tensor", number))
        for number in self.left:
            tensor = self.live.pop(number, None)
            if tensor is None or self.tensors[number].gradient_of is not None:
                continue
            places = dead[self.tensors[number].bytes]
            if places:
                kind, place = places.pop(0)
                (self.filled if kind == "filler" else self.live)[place] = tensor.detach()
            del tensor
        for places in dead.values():
            for kind, place in places:
                if kind == "tensor" and place not in self.live:
                    memory = torch.empty(max(self.bytes_of(place), 1), dtype=torch.uint8, device="cuda")
                    self.live[place] = self.tensor_in(memory, place, 0)
        for number in list(self.live):
            if number not in self.known_blocks:
                del self.live[number]

    def run(self, steps=STEPS):
        self.make_blocks()
        self.frees = collections.defaultdict(list)
        for index, (_, row) in self.fillers.items():
            if row >= 0:
                self.frees[row].append(index)
        if self.first.place:
            with self.first:
                self.step(self.first.place)
            self.carry()
        for number in range(steps):
            if number > 0 or self.first.place:
                self.fill(all_of_them=False)
            if number == 1:
                self.fill(all_of_them=True)
            self.step()
            self.carry()
        torch.cuda.synchronize()


def with_autocast(rows, name, tensors):
    """As `strata dryrun --change amp=...` has it: from the outermost module that is called until backward begins; without gradients until
    that module returns. What is still done with the loss, which is a number, autocast leaves alone: people end it before. Where no modules are
    told of, as of a program in C++, from the first call that makes something of a parameter."""
    if name is None:
        return rows
    kind = {"bf16": "c10::BFloat16", "fp16": "c10::Half"}[name]
    made, depth, ours, theirs = [], 0, False, []
    has_modules = any(row.kind == ENTERS for row in rows)
    for index, row in enumerate(rows):
        if row.kind == AUTOCAST:
            theirs.append(row.detail != "off")
        elif row.kind == AUTOCAST_ENDS and theirs:
            theirs.pop()
        is_first = depth == 0 and row.kind == ENTERS if has_modules else row.kind == CALL and row.gradients and any(ref % 2 for ref in row.taken)
        if is_first and not ours and not any(theirs[-1:]):  # autocast(enabled=False) is none
            made.append(Row(AUTOCAST, True, kind, "", [], []))
            ours = True
        if row.kind == ENTERS:
            depth += 1
        if row.kind == BACKWARD and ours:
            made.insert(behind_loss(made, tensors), Row(AUTOCAST_ENDS, True, "", "", [], []))
            ours = False
        made.append(row)
        if row.kind == LEAVES:
            depth -= 1
            last = next((each for each in reversed(rows[:index]) if each.kind == CALL), None)
            if depth == 0 and ours and last is not None and not last.gradients:
                made.append(Row(AUTOCAST_ENDS, True, "", "", [], []))
                ours = False
    return made


def behind_loss(rows, tensors):
    """Where nothing but numbers is computed with from there on."""
    place = len(rows)
    while place and (rows[place - 1].kind == GONE or (rows[place - 1].kind == CALL and rows[place - 1].taken
                                                      and not any(tensors[ref // 2].sizes for ref in rows[place - 1].taken))):
        place -= 1
    return place


def try_types(document, earlier):
    """Which calls name the type of another tensor, and whether the step has tensors of which it is not known how long the program has them;
    and what the program did before it trained."""
    document["earlier"], others = earlier
    for _ in range(MOST_TRIALS):
        replay = Replay(document)
        try:
            replay.run(steps=1)
            break
        except Again:
            document["follow"] = sorted(replay.types.follow)
            replay = None
    else:
        raise RuntimeError("which of its calls name the type of another tensor is not found out")
    with open(document["trial"], "w", encoding="utf-8") as file:
        json.dump({"follow": document.get("follow", []), "open": sorted(replay.types.open - replay.types.follow), "casts": replay.casts.met, "earlier": document["earlier"],
                   "others": others}, file)


HOST_TYPES = {"float": torch.float32, "double": torch.float64, "c10::Half": torch.float16, "c10::BFloat16": torch.bfloat16,
              "unsigned char": torch.uint8, "signed char": torch.int8, "short int": torch.int16, "int": torch.int32, "long int": torch.int64,
              "bool": torch.bool, "c10::complex<float>": torch.complex64, "c10::complex<double>": torch.complex128}


def leave_to_strata(kind, error, trace):
    """It says what cannot be called again: where in here that was found helps nobody."""
    if not issubclass(kind, RuntimeError):
        sys.__excepthook__(kind, error, trace)


def main():
    sys.excepthook = leave_to_strata
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    earlier = find_earlier(document, Replay) if document.get("trial") else None
    if "batch" in document:
        document = with_batch(document)
    if document.get("trial"):
        try_types(document, earlier)
    else:
        Replay(document).run()


if __name__ == "__main__":
    main()
