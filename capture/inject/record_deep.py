# SPDX-License-Identifier: Apache-2.0
"""Python's side of a deep step: tells the recorder what autograd saves for backward, when that is taken out and let go, and which module's
forward runs. LibTorch's operators and their tensors the recorder sees itself.

What is saved is held as an alias that the program does not know, so that the recorder sees when the program itself lets go of a tensor. That
takes no memory of the device, and changes nothing in what the program allocates. A program that does what does not go together with that is left
alone: the step is not to be used then, and says why.
"""
import ctypes
import itertools
import json
import sys
import threading
import weakref

SAVED, UNPACKED, RELEASED, ENTERS, LEAVES = 3, 4, 5, 6, 7
BACKWARD, BACKWARD_ENDS, AUTOCAST, AUTOCAST_ENDS, KNOWN = 4, 5, 6, 7, 8
TYPES = {"torch.bfloat16": b"c10::BFloat16", "torch.float16": b"c10::Half"}

COMPILED = "the program uses torch.compile, which would trace the hooks of the deep step"
GRAPHS = "the program runs CUDA graphs, whose operators nobody sees"
DISABLED = "the program lets nobody see what autograd saves"
WITHIN = "the optimizer steps within backward"
UNFINISHED = "the program changed who sees what autograd saves, and had not changed it back when the step ended"
WRAPPED = "autograd saves tensors of a class that holds others, such as DTensor"


class _Held:
    """What is saved for backward."""
    __slots__ = ("tensor", "number", "tell")

    def __init__(self, tensor, number, tell):
        self.tensor, self.number, self.tell = tensor, number, tell

    def __del__(self):
        self.tensor = None
        self.tell(RELEASED, self.number, None)


def tensors_in(value, tensor_type, depth=4):
    """Those that a module takes or returns, in what they are mostly handed over in."""
    if isinstance(value, tensor_type):
        yield value
    elif depth and isinstance(value, (list, tuple)):
        for each in value:
            yield from tensors_in(each, tensor_type, depth - 1)
    elif depth and isinstance(value, dict):
        for each in value.values():
            yield from tensors_in(each, tensor_type, depth - 1)


def compiles():
    """Whether the program has called torch.compile. Dynamo traces hooks of modules, and fails in ours; frames of fullgraph=True it does not
    count. What only disables Dynamo, as optimizers do, has no backend."""
    tools, frames = sys.modules.get("torch._dynamo.utils"), sys.modules.get("torch._dynamo.eval_frame")
    backends = getattr(frames, "cached_backends", {})
    return bool(tools is not None and tools.counters["frames"]["total"]) or any(map(callable, backends.values()))


def instead(place, name, function):
    """Calls of `name` are made by `function`, which gets the original first. Gives what undoes that."""
    original = getattr(place, name)

    def call(*arguments, **named):
        return function(original, *arguments, **named)
    setattr(place, name, call)
    return lambda: setattr(place, name, original)


class DeepStep:
    """The step of a training with that number, from the end of the optimizer's step before it to the end of its own: all on the thread
    that steps."""

    def __init__(self, library, number):
        self.library, self.number = library, number
        self.first, self.steps, self.is_on, self.why = None, 0, False, None
        self.numbers, self.undo = itertools.count(), []
        self.tell_saved = library.strata_capture_deep_saved
        self.tell_saved.argtypes = (ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)
        self.tell_module = library.strata_capture_deep_module
        self.tell_module.argtypes = (ctypes.c_uint32, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint64)
        self.tell_call = library.strata_capture_deep_call
        self.tell_call.argtypes = (ctypes.c_uint32, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint64)
        self.classes, self.optimizers = {}, []

    def stepped(self, optimizer):
        """An optimizer has done a step. Those of the one that steps first are counted: others have their turn in between."""
        if not any(known() is optimizer for known in self.optimizers):
            self.optimizers.append(weakref.ref(optimizer))
        if self.first is None:
            self.first = weakref.ref(optimizer)
        elif self.first() is not optimizer:
            return
        self.steps += 1
        if self.is_on:
            self.end()
        elif self.steps == self.number - 1:
            self.begin()

    def begin(self):
        torch = self.torch = sys.modules["torch"]
        if not self.library.strata_capture_deep_begin():
            return
        autograd = torch._C._autograd
        if torch._C._current_graph_task_id() != -1:
            self.why = WITHIN
        elif not autograd._saved_tensors_hooks_is_enabled():
            self.why = DISABLED
        elif compiles():
            self.why = COMPILED
        if self.why is not None:
            self.library.strata_capture_deep_end(self.why.encode())
            return
        self.tensor_type, self.plain = torch.Tensor, (torch.Tensor, torch.nn.Parameter)
        self.instead(autograd, "_saved_tensors_hooks_disable", DISABLED)
        self.instead(torch, "compile", COMPILED)
        for name in ("replay", "capture_begin"):
            self.instead(torch.cuda.graphs.CUDAGraph, name, GRAPHS)
        module = sys.modules["torch.nn.modules.module"]
        self.undo += [module.register_module_forward_pre_hook(self.enters).remove, module.register_module_forward_hook(self.leaves, always_call=True).remove]
        self.enter(autograd)
        self.is_on = True
        self.see_calls(torch)

    def enter(self, autograd):
        """Who sees what autograd saves stands on a stack of the thread, the innermost last. The program's own come and go above ours."""
        push, pop = autograd._push_saved_tensors_default_hooks, autograd._pop_saved_tensors_default_hooks
        thread, above = threading.get_ident(), 0

        def pushed(*arguments):
            nonlocal above
            above += threading.get_ident() == thread
            return push(*arguments)

        def popped():
            nonlocal above
            if threading.get_ident() != thread:
                pop()
            elif above == 0:  # those below ours go first
                self.end(UNFINISHED)
                pop()
            else:
                above -= 1
                pop()
                if not self.is_on:
                    self.leave()

        def leave():
            if above:
                return False
            autograd._push_saved_tensors_default_hooks, autograd._pop_saved_tensors_default_hooks = push, pop
            pop()
            return True
        push(self.pack, self.unpack)
        autograd._push_saved_tensors_default_hooks, autograd._pop_saved_tensors_default_hooks = pushed, popped
        self.leave = leave

    def instead(self, place, name, why):
        """A call of the program's that ends the step, and is made then."""
        original = getattr(place, name)

        def call(*arguments, **named):
            self.end(why)
            return original(*arguments, **named)
        setattr(place, name, call)
        self.undo.append(lambda: setattr(place, name, original))

    def end(self, why=None):
        if not self.is_on:
            return
        self.is_on = False
        for undo in self.undo:
            undo()
        self.undo = []
        if not self.leave():  # ours go with the program's, and do nothing until then
            why = why or UNFINISHED
        why = why or self.why or (COMPILED if compiles() else None)
        self.library.strata_capture_deep_end(why.encode() if why else None)

    def pack(self, tensor):
        alias = tensor.data  # as detach(), and no operator
        if not self.is_on or not alias.is_cuda:
            return alias
        if type(tensor) not in self.plain:
            self.why = self.why or WRAPPED
        number = next(self.numbers)
        self.tell_saved(SAVED, number, alias._cdata)
        return _Held(alias, number, self.tell_saved)

    def unpack(self, held):
        if type(held) is not _Held:
            return held
        tensor = held.tensor.data
        self.tell_saved(UNPACKED, held.number, tensor._cdata)
        return tensor

    def tell(self, kind, module, values):
        tensors = [each._cdata for each in tensors_in(values, self.tensor_type) if each.is_cuda]
        known = type(module)
        name = self.classes.get(known) or self.classes.setdefault(known, known.__name__.encode("utf-8", "replace"))
        self.tell_module(kind, id(module), name, (ctypes.c_void_p * len(tensors))(*tensors), len(tensors))

    def enters(self, module, arguments):
        self.tell(ENTERS, module, arguments)

    def leaves(self, module, arguments, result):
        self.tell(LEAVES, module, result)

    def see_calls(self, torch):
        """What the step does besides calling operators, so that its calls can be made again without the program."""
        self.thread, self.goes_backward = threading.get_ident(), False
        self.list_known()
        self.undo += [instead(torch.autograd, "_engine_run_backward", self.backward), instead(torch.amp.autocast_mode.autocast, "__enter__", self.autocast),
                      instead(torch.amp.autocast_mode.autocast, "__exit__", self.autocast_ends)]
        if torch.is_autocast_enabled():
            self.call(AUTOCAST, TYPES.get(str(torch.get_autocast_gpu_dtype()), b""))

    def call(self, kind, name=None, detail=None, tensors=()):
        self.tell_call(kind, name, detail, (ctypes.c_void_p * len(tensors))(*(each._cdata for each in tensors)), len(tensors))

    def list_known(self):
        """The tensors of optimizers; a gradient and a state behind its parameter. What they step on is no operator's."""
        parameters, pairs, states = [], [], []
        for optimizer in filter(None, (known() for known in self.optimizers)):
            for parameter in (each for group in optimizer.param_groups for each in group["params"] if each.is_cuda):
                parameters.append(parameter)
                if parameter.grad is not None and parameter.grad.is_cuda:
                    pairs += [parameter, parameter.grad]
                for state in optimizer.state.get(parameter, {}).values() if parameter in optimizer.state else ():
                    if isinstance(state, self.tensor_type) and state.is_cuda:
                        states += [parameter, state]
        self.call(KNOWN, b"parameter", None, parameters)
        self.call(KNOWN, b"state", None, states)  # what the program has anyway, first
        self.call(KNOWN, b"gradient", None, pairs)

    def backward(self, run, roots, gradients, retain, create, inputs=(), *rest, **named):
        """torch.autograd goes backward, by backward() or grad()."""
        if self.goes_backward or threading.get_ident() != self.thread or not self.is_on:
            return run(roots, gradients, retain, create, inputs, *rest, **named)
        detail = {"retain": bool(retain), "create": bool(create), "roots": len(roots), "gradients": [each is not None for each in gradients],
                  "inputs": len(inputs), "accumulate": bool(named.get("accumulate_grad", False)), "unused": bool(named.get("allow_unreachable", False))}
        tensors = [*roots, *(each for each in gradients if each is not None), *inputs]
        if all(isinstance(each, self.tensor_type) for each in tensors):
            self.call(BACKWARD, None, json.dumps(detail).encode(), tensors)
        tensors, self.goes_backward = None, True
        try:
            given = run(roots, gradients, retain, create, inputs, *rest, **named)
        finally:
            self.goes_backward = False
        if self.is_on:
            self.call(BACKWARD_ENDS, None, None, [each for each in given or () if each is not None])
            self.list_known()
        return given

    def autocast(self, enter, context):
        if self.is_on and context.device == "cuda" and threading.get_ident() == self.thread:
            detail = b"off" if not context._enabled else b"no cache" if not context._cache_enabled else None
            self.call(AUTOCAST, TYPES.get(str(context.fast_dtype), b""), detail)
        return enter(context)

    def autocast_ends(self, leave, context, *arguments):
        try:
            return leave(context, *arguments)
        finally:
            if self.is_on and context.device == "cuda" and threading.get_ident() == self.thread:
                self.call(AUTOCAST_ENDS)
