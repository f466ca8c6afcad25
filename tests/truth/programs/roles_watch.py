# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a program of roles_list.py with hooks everywhere and writes what each allocation was for, by its number on the device.

usage: roles_watch.py OUT.json [--no-nodes] FAMILY [OPTIONS OF roles_program.py]...

Hooks make tensors live longer, yet never change what is allocated in which order: roles_truth.py takes lives from a run without
them and joins the two by the number of the allocation. --no-nodes leaves the nodes of autograd's graph alone.

OUT: `sizes` of all allocations; `marks` [number of the next allocation, phase, module, whether it is a collective's] wherever one
of them changes; `roles` {role: {number: name}}; `saved` by autograd; `backwards` [first, one past the last, depth];
`optimizers` [first, one past the last]; `steps`. A module is "Class:path"; null: none runs.
"""
import bisect
import collections
import contextlib
import functools
import json
import sys
import threading

import device_options  # noqa: F401  before torch
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

import roles_program
from allocation_numbers import roles_of
from roles_program import Trainer


def count():
    """Allocations so far, which is the number of the next one."""
    stats = torch.cuda.memory_stats_as_nested_dict(0)
    return stats["allocation"]["all"]["allocated"] if stats else 0


def local(tensor):
    """A tensor of the device: of a sharded one, the part that is here."""
    return getattr(tensor, "_local_tensor", tensor)


class Watch:
    def __init__(self, nodes):
        self.nodes = nodes
        self.states = [(None, None, False)]  # phase, module, of a collective; the last is the present one
        self.marks, self.notes = [], []
        self.numbers = collections.defaultdict(list)  # of autograd's sequence, by thread: (number, module)
        self.backwards, self.optimizers, self.steps, self.forwards = [], [], [], []
        self.names, self.parameters, self.model = {}, {}, None

    def mark(self):
        phase, module, collective = self.states[-1]
        self.marks.append((count(), phase, module, collective))
        if phase != "backward":
            self.numbers[threading.get_ident()].append((torch.autograd._get_sequence_nr(), module))

    @contextlib.contextmanager
    def state(self, *state):
        self.states.append(state)
        self.mark()
        try:
            yield
        finally:
            self.states.pop()
            self.mark()

    def compute(self, module):
        """The state in which a forward runs from here on."""
        if not torch.is_grad_enabled():
            phase = "no_grad"
        elif any(phase == "backward" for phase, _, _ in self.states):
            phase = "recompute"
        else:
            phase = "forward"
        return phase, module, False

    def name(self, root):
        for path, module in root.named_modules():
            self.names[id(module)] = f"{type(root).__name__}:{path}"

    def note(self, role, name, tensor):
        if not torch.is_tensor(tensor):
            return
        tensor = local(tensor)
        if tensor.is_cuda and tensor.untyped_storage().nbytes() > 0:
            self.notes.append((count(), tensor.untyped_storage().data_ptr(), role, name))

    def note_gradients(self):
        for name, parameter in self.parameters.items():
            self.note("gradient", name, parameter.grad)

    def note_model(self, model):
        for name, parameter in model.named_parameters():
            self.note("parameter", name, parameter)
        for name, buffer in model.named_buffers():
            self.note("buffer", name, buffer)

    def note_states(self, optimizer):
        names = {id(parameter): name for name, parameter in self.parameters.items()}

        def visit(name, value):
            if torch.is_tensor(value):
                self.note("optimizer_state", name, value)
            elif isinstance(value, (list, tuple)):
                for index, each in enumerate(value):
                    visit(f"{name}.{index}", each)
        for parameter, state in optimizer.state.items():
            for key, value in state.items():
                visit(f"{names.get(id(parameter), '')}.{key}", value)

    def module_of(self, node):
        known = self.numbers[threading.get_ident()]
        at = bisect.bisect_right(known, node._sequence_nr(), key=lambda pair: pair[0]) - 1
        return known[at][1] if at >= 0 else None

    def follow_nodes(self, roots):
        seen, todo = set(), [root.grad_fn for root in roots if root.grad_fn is not None]
        while todo:
            node = todo.pop()
            if node in seen or hasattr(node, "variable"):
                continue
            seen.add(node)
            todo += [following for following, _ in node.next_functions if following is not None]
            node.register_prehook(functools.partial(self.enter_node, self.module_of(node)))

    def enter_node(self, module, _):
        if self.states[-1][0] == "backward":
            self.states[-1] = ("backward", module, False)
            self.mark()

    def write(self, path):
        if "torch._inductor" not in sys.modules:
            torch._inductor = type(sys)("torch._inductor")  # asked for by what makes stacks, and a second to import
        trace = torch.cuda.memory._snapshot()["device_traces"][0]
        allocations = [event for event in trace if event["action"] == "alloc"]
        if len(allocations) != count():
            sys.exit(f"{len(allocations)} allocations in the trace, {count()} counted")
        try:
            roles = roles_of(self.notes, allocations)
        except ValueError as error:
            sys.exit(str(error))
        saved = sorted(roles.pop("saved", ()))
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"torch": torch.__version__, "sizes": [event["size"] for event in allocations], "marks": self.marks,
                       "roles": roles, "saved": saved, "backwards": self.backwards, "optimizers": self.optimizers,
                       "steps": self.steps}, file)


def watched_trainer(watch):
    """The Trainer of the program, which says what it does."""

    class Watched(Trainer):
        def __init__(self, arguments):
            super().__init__(arguments)
            watch.name(self.model)
            watch.note_model(self.model)
            watch.model = self.model

        def make_optimizers(self, make):
            # Before hooks of the program, which may throw gradients away.
            for name, parameter in self.model.named_parameters():
                watch.parameters[name] = parameter
                if parameter.requires_grad:
                    parameter.register_post_accumulate_grad_hook(lambda p, name=name: watch.note("gradient", name, p.grad))
            return super().make_optimizers(make)

        def spread(self):
            with watch.state(None, None, "ddp" in self.options or "ddp_views" in self.options):
                super().spread()

        def draw(self, step):
            batch = super().draw(step)
            for tensor in batch:
                watch.note("input", None, tensor)
            return batch

        def loss(self, *arguments):
            watch.forwards.append(count())
            with watch.state(*watch.compute(None)):
                return super().loss(*arguments)

        def scaled(self, loss, micro):
            with watch.state(*watch.compute(None)):
                return super().scaled(loss, micro)

        def clip(self):
            with watch.state("no_grad", None, False):
                super().clip()

        def average(self):
            with watch.state("no_grad", None, False):
                super().average()

        def evaluate(self, step):
            begin = count()
            super().evaluate(step)
            watch.steps.append({"kind": "eval", "begin": begin, "end": count()})

        def save(self):
            begin = count()
            super().save()
            watch.steps.append({"kind": "save", "begin": begin, "end": count()})

        def step(self, step):
            begin, backwards = count(), len(watch.backwards)
            super().step(step)
            outer = [row for row in watch.backwards[backwards:] if row[2] == 0]
            watch.steps.append({"kind": "train", "begin": begin, "end": count(), "micro_steps": len(outer),
                                "backward_end": outer[-1][1], "optimizer_end": watch.optimizers[-1][1]})
    return Watched


def install(watch):
    """Hooks that see phases, modules and roles, whatever the program is."""
    call = torch.nn.Module.__call__

    def called(self, *arguments, **named):
        with watch.state(*watch.compute(watch.names.get(id(self)))):
            return call(self, *arguments, **named)
    torch.nn.Module.__call__ = called

    def with_backward(original):
        def run(tensors, *arguments, **named):
            if watch.nodes:
                watch.follow_nodes([tensors] if torch.is_tensor(tensors) else tensors)
            row = [count(), None, sum(phase == "backward" for phase, _, _ in watch.states)]
            watch.backwards.append(row)
            try:
                with watch.state("backward", None, False):
                    return original(tensors, *arguments, **named)
            finally:
                row[1] = count()
        return run
    torch.autograd.backward = with_backward(torch.autograd.backward)
    torch.autograd.grad = with_backward(torch.autograd.grad)

    def before(optimizer, *_):
        watch.note_gradients()
        watch.optimizers.append([count(), None])
        watch.states.append(("optimizer", None, False))
        watch.mark()

    def after(optimizer, *_):
        watch.states.pop()
        watch.mark()
        watch.optimizers[-1][1] = count()
        watch.note_states(optimizer)
        watch.note_model(watch.model)
    register_optimizer_step_pre_hook(before)
    register_optimizer_step_post_hook(after)


def install_collectives(watch):
    """What process groups, DDP's reducer and FSDP's gather and scatter ask for."""
    import torch.distributed as dist
    from torch.distributed.fsdp._fully_shard import _fsdp_collectives, _fsdp_param, _fsdp_param_group

    def wrap(owner, name):
        original = getattr(owner, name, None)
        if original is None:
            return

        def run(*arguments, **named):
            with watch.state(None, None, True):
                return original(*arguments, **named)
        setattr(owner, name, run)
    wrap(dist, "_broadcast_coalesced")
    wrap(dist.Reducer, "_rebuild_buckets")
    for name in ("foreach_all_gather", "foreach_all_gather_copy_out", "foreach_reduce"):
        for owner in (_fsdp_collectives, _fsdp_param_group):
            wrap(owner, name)
    wrap(_fsdp_param.FSDPParam, "alloc_all_gather_outputs")
    wrap(_fsdp_param.FSDPParam, "init_all_gather_outputs")


def main():
    words = sys.argv[1:]
    target = words.pop(0)
    nodes = "--no-nodes" not in words
    arguments = roles_program.parse([word for word in words if word != "--no-nodes"])
    torch.cuda.memory._record_memory_history(context=None, stacks="python")
    watch = Watch(nodes)
    install(watch)
    if roles_program.distributed(arguments.option):
        install_collectives(watch)
    watch.mark()

    def pack(tensor):
        watch.note("saved", None, tensor)
        return tensor
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        trainer = roles_program.train(arguments, watched_trainer(watch))
    watch.note_model(trainer.model)
    for step in watch.steps:
        if step["kind"] == "train":
            following = [number for number in watch.forwards if number >= step["optimizer_end"] and number > step["begin"]]
            step["next_forward"] = following[0] if following else None
    if "torch._inductor" not in sys.modules:
        torch._inductor = type(sys)("torch._inductor")  # asked for by what makes stacks, and a second to import
    watch.write(target)
    return trainer


if __name__ == "__main__":
    kept = main()
