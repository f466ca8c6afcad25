# SPDX-License-Identifier: Apache-2.0
"""Changes of a training program from outside: bf16 autocast, checkpointing of a class of modules, what backward needs saved on the host,
another optimizer, one on the host, another kernel of attention, parameters sharded over ranks.

Each is what a person would have written into the program, so that memory is that of the changed program to the byte.
install(changes, say, beside) gives what is to be done with modules of torch right after they were loaded.
"""
import fnmatch
import functools
import inspect
import sys
import threading
import types
import weakref

state = threading.local()


def wrap_backward(leave):
    """autograd.backward is what Tensor.backward calls too: autocast ends there, as a with block around forward and loss."""
    def patch(autograd):
        original = autograd.backward

        @functools.wraps(original)
        def backward(*arguments, **options):
            leave()
            return original(*arguments, **options)
        autograd.backward = backward
    return patch


def around_forward(name, make, is_there):
    """What make() gives, entered from the outermost module called until backward begins; without gradients until that module returns."""
    def leave():
        context = getattr(state, name, None)
        if context is not None:
            setattr(state, name, None)
            context.__exit__(None, None, None)

    def patch_module(module):
        import torch

        original, inside = module.Module.__call__, f"inside_{name}"

        def call(self, *arguments, **options):
            if getattr(state, inside, False) or getattr(state, name, None) or is_there(torch):
                return original(self, *arguments, **options)
            setattr(state, inside, True)
            setattr(state, name, make(torch))
            getattr(state, name).__enter__()
            try:
                return original(self, *arguments, **options)
            except BaseException:
                leave()
                raise
            finally:
                setattr(state, inside, False)
                if not torch.is_grad_enabled():
                    leave()
        module.Module.__call__ = call
    return {"torch.nn.modules.module": patch_module, "torch.autograd": wrap_backward(leave)}


def mixed_precision(name):
    """Autocast, as a with block around forward and loss."""
    def make(torch):
        return torch.autocast("cuda", dtype={"bf16": torch.bfloat16, "fp16": torch.float16}[name])
    return around_forward("autocast", make, lambda torch: torch.is_autocast_enabled()), lambda: None


def offloading(name):
    """torch.autograd.graph.save_on_cpu, as a with block around forward and loss, or around each call in training of modules of a class, or of
    a path; or optimizers there."""
    if name == "optimizer":
        return optimizer_on_host()
    _, _, modules = name.partition(":")
    counts = {"calls": 0}

    def make(torch):
        counts["calls"] += 1
        return torch.autograd.graph.save_on_cpu(pin_memory=True)

    def saves_nothing(torch):  # or backward runs it again
        return not torch.is_grad_enabled() or torch._C._current_graph_task_id() != -1

    def at_end():
        if counts["calls"] > 0:
            return None
        which = "module" if not modules else f"module of that {'path' if is_path else 'class'}"
        return f"--change offload={name}: no {which} was called in training"
    if not modules:
        return around_forward("offload", make, saves_nothing), at_end
    is_path, matches, add = module_matcher(modules)

    def patch_module(module):
        import torch

        original = module.Module.__call__

        def call(self, *arguments, **options):
            if not self.training or not torch.is_grad_enabled() or not matches(self):
                return original(self, *arguments, **options)
            with make(torch):
                return original(self, *arguments, **options)
        module.Module.__call__ = call
        if is_path:
            module.register_module_module_registration_hook(add)
    return {"torch.nn.modules.module": patch_module}, at_end


def wrap_steps(base, mark, wrap, within=False):
    """step() of each class of optimizers, once: around what is called before and behind a step, or `within` that."""
    patch_step = base._patch_step_function

    def patch(self):
        if not within:
            patch_step(self)
        if not getattr(type(self).step, mark, False):
            type(self).step = wrap(type(self).step)
            setattr(type(self).step, mark, True)
        if within:
            patch_step(self)
    base._patch_step_function = patch


def optimizer_on_host():
    """Optimizers step over copies of their parameters on the host, to which gradients are copied before and from which parameters are behind;
    so their states are there too. What clips or scales gradients works on the device, as before."""
    counts = {"steps": 0, "closures": 0, "sharded": 0}

    def on_host(parameter, copies):
        import torch

        if not parameter.is_cuda:
            return parameter
        if type(parameter) not in (torch.Tensor, torch.nn.Parameter):
            counts["sharded"] += 1
            return parameter
        if parameter not in copies:
            copies[parameter] = torch.empty_like(parameter, device="cpu", pin_memory=True).copy_(parameter)
        copies[parameter].grad = None if parameter.grad is None else parameter.grad.cpu()
        return copies[parameter]

    def wrap_step(original):
        @functools.wraps(original)
        def step(self, *arguments, **options):
            import torch

            if getattr(state, "stepping_on_host", False):
                return original(self, *arguments, **options)
            if callable(options.get("closure", arguments[0] if arguments else None)):
                counts["closures"] += 1
                return original(self, *arguments, **options)
            counts["steps"] += 1
            copies = self.__dict__.setdefault("_strata_copies", {})
            groups = [(group, group["params"]) for group in self.param_groups]
            with torch.no_grad():
                for group, parameters in groups:
                    group["params"] = [on_host(each, copies) for each in parameters]
            capturable = [group for group, _ in groups if group.get("capturable")]  # which is of the device alone
            for group in capturable:
                group["capturable"] = False
            state.stepping_on_host = True
            try:
                return original(self, *arguments, **options)
            finally:
                state.stepping_on_host = False
                for group in capturable:
                    group["capturable"] = True
                with torch.no_grad():
                    for group, parameters in groups:
                        for parameter, copy in zip(parameters, group["params"]):
                            if copy is not parameter and copy.grad is not None:
                                parameter.copy_(copy)
                                copy.grad = None
                        group["params"] = parameters
        return step

    def patch_optimizer(module):  # within what is called before and behind a step, which asks for parameters
        wrap_steps(module.Optimizer, "_strata_on_host", wrap_step, within=True)

    def at_end():
        if counts["closures"]:
            return "--change offload=optimizer: an optimizer steps by a closure, which is left as it is"
        if counts["sharded"]:
            return "--change offload=optimizer: parameters of ranks are left as they are; FSDP2 has that itself: --change fsdp=offload=True"
        return None if counts["steps"] else "--change offload=optimizer: no optimizer of the program made a step"
    return {"torch.optim.optimizer": patch_optimizer}, at_end


def other_type(name, say):
    """Parameters and buffers are of another type as they come to the GPU, before an optimizer has them; floating inputs of the outermost
    modules that have any become so in place, as people write x = x.to(dtype) before the call. Nothing scales losses, whose gradients
    torch.amp.GradScaler would not unscale."""
    counts = {"modules": 0}

    def patch_scaler(module):
        made, unscale = module.GradScaler.__init__, module.GradScaler._unscale_grads_

        @functools.wraps(made)
        def make(self, *arguments, **options):
            bound = inspect.signature(made).bind(self, *arguments, **options)
            if bound.arguments.get("enabled", True) and type(self)._unscale_grads_ is unscale:  # another may know how
                bound.arguments["enabled"] = False
                say(f"--change dtype={name}: a GradScaler is switched off: it unscales no gradients of 16 bits")
            made(*bound.args, **bound.kwargs)
        module.GradScaler.__init__ = make

    def patch_module(module):
        import torch

        dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}[name]
        original, apply = module.Module.__call__, module.Module._apply
        known = weakref.WeakKeyDictionary()  # of outermost modules: whether they have any

        def is_other(tensor):
            return tensor is not None and tensor.is_floating_point() and tensor.dtype != dtype

        def with_type(self, function, *arguments, **options):
            def changed(tensor):
                if not tensor.is_cuda and is_other(tensor):  # as model.to(device, dtype) does, there
                    there = function(tensor.to(dtype))
                    if not there.is_cuda:
                        return function(tensor)
                else:
                    there = function(tensor)
                counts["modules"] += there.is_cuda
                return there.to(dtype) if there.is_cuda and is_other(there) else there
            return apply(self, changed, *arguments, **options)

        def has_any(self):
            tensors = [each for each in (*self.parameters(), *self.buffers()) if each.is_cuda and each.is_floating_point()]
            if any(is_other(each) for each in tensors):  # made on the GPU
                self.to(dtype)
                counts["modules"] += 1
            return bool(tensors)

        def other(tensor):
            if not tensor.is_cuda or not is_other(tensor):
                return tensor
            if not tensor.is_leaf:
                return tensor.to(dtype)
            tensor.data = tensor.data.to(dtype)
            return tensor

        def replaced(value):
            if isinstance(value, torch.Tensor):
                return other(value)
            if type(value) in (list, tuple):
                return type(value)(replaced(each) for each in value)
            return {key: replaced(each) for key, each in value.items()} if type(value) is dict else value

        def call(self, *arguments, **options):
            if getattr(state, "typed", False):
                return original(self, *arguments, **options)
            if self not in known:
                known[self] = has_any(self)
            if known[self]:
                arguments, options = replaced(arguments), replaced(options)
            state.typed = True
            try:
                return original(self, *arguments, **options)
            finally:
                state.typed = False
        module.Module.__call__, module.Module._apply = call, with_type

    def at_end():
        return None if counts["modules"] else f"--change dtype={name}: no module of the program has floating parameters or buffers on a GPU"
    return {"torch.nn.modules.module": patch_module, "torch.amp.grad_scaler": patch_scaler}, at_end


def without_checkpointing():
    """torch.utils.checkpoint calls what it is to run again, and nothing else."""
    counts = {"calls": 0}

    def patch_checkpoint(module):
        original = module.checkpoint

        @functools.wraps(original)
        def checkpoint(function, *arguments, use_reentrant=None, context_fn=None, determinism_check=None, debug=None, early_stop=None,
                       preserve_rng_state=None, **options):
            counts["calls"] += 1
            return function(*arguments, **options)
        module.checkpoint = checkpoint

    def at_end():
        if counts["calls"] == 0:
            return "--change checkpoint=none: the program called no torch.utils.checkpoint"
        return None
    return {"torch.utils.checkpoint": patch_checkpoint}, at_end


def class_matcher(name):
    def matches(module):
        return any(c.__name__ == name or f"{c.__module__}.{c.__qualname__}" == name for c in type(module).__mro__)
    return matches


class Paths:
    """Where modules are registered: "h.3.attn", and the class of what they are all in, as recordings name them."""

    def __init__(self):
        self.parents = weakref.WeakKeyDictionary()

    def add(self, module, name, submodule):
        if submodule is not None:
            self.parents[submodule] = (weakref.ref(module), name)

    def of(self, module):
        names = []
        while module in self.parents:
            parent, name = self.parents[module]
            if parent() is None or parent()._modules.get(name) is not module:
                break
            names.insert(0, name)
            module = parent()
        return ".".join(names), type(module).__name__

    def match(self, module, pattern):
        """What is in nothing has no path. Recordings put the class in front where there are several such."""
        path, root = self.of(module)
        return bool(path) and (fnmatch.fnmatchcase(path, pattern) or fnmatch.fnmatchcase(f"{root}.{path}", pattern))


def module_matcher(name):
    """Whether it is a path, whether a module is one of those, and what is to see modules being registered."""
    if not name.startswith("path:"):
        return False, class_matcher(name), None
    paths = Paths()
    return True, lambda module: paths.match(module, name[len("path:"):]), paths.add


def checkpointing(name):
    """torch.utils.checkpoint, not reentrant, around each call in training of the outermost modules of a class, or of a path."""
    if name == "none":
        return without_checkpointing()
    counts = {"calls": 0}
    is_path, matches, add = module_matcher(name)

    def patch_module(module):
        import torch

        original = module.Module.__call__

        def call(self, *arguments, **options):
            if getattr(state, "checkpointed", False) or not self.training or not torch.is_grad_enabled() or not matches(self):
                return original(self, *arguments, **options)
            from torch.utils.checkpoint import checkpoint

            def run(*inputs):
                state.checkpointed = True
                try:
                    return original(self, *inputs, **options)
                finally:
                    state.checkpointed = False
            counts["calls"] += 1
            return checkpoint(run, *arguments, use_reentrant=False)
        module.Module.__call__ = call
        if is_path:
            module.register_module_module_registration_hook(add)

    def at_end():
        if counts["calls"] == 0:
            return f"--change checkpoint={name}: no module of that {'path' if is_path else 'class'} was called in training"
        return None
    return {"torch.nn.modules.module": patch_module}, at_end


def read_value(text):
    return {"True": True, "False": False, "None": None}[text] if text in ("True", "False", "None") else float(text)


def replace_optimizer(wanted):
    """Another optimizer of torch.optim, or of bitsandbytes, over the same groups, with their learning rates and weight decays. in_backward=True: one
    for each parameter, which steps, and lets the gradient go, as that comes; what the program calls of the optimizer does nothing then."""
    name, *given = wanted.split(",")
    given = {key: read_value(value) for key, value in (item.split("=", 1) for item in given)}
    in_backward = given.pop("in_backward", False)
    replaced, missing = [], []

    def step_in_backward(optimizer, target):
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                each = target([{**{key: group[key] for key in optimizer.defaults if key in group}, "params": [parameter]}])

                def step(parameter, each=each):
                    each.step()
                    each.zero_grad()
                parameter.register_post_accumulate_grad_hook(step)
        for method in ("step", "zero_grad"):
            setattr(optimizer, method, types.MethodType(lambda self, *arguments, **options: None, optimizer))

    def among(module, base):
        return next((known for known in vars(module).values()
                     if inspect.isclass(known) and issubclass(known, base) and known.__name__.lower() == name.lower()), None)

    def find(torch_optim, base):
        if found := among(torch_optim, base):
            return found
        try:
            import bitsandbytes.optim
        except ImportError as error:
            missing.append(f"--change optimizer={name}: torch.optim has no such optimizer, and bitsandbytes, which may have it, is not there "
                           f"({error}): {sys.executable} -m pip install bitsandbytes")
            raise RuntimeError(missing[-1]) from None
        if found := among(bitsandbytes.optim, base):
            return found
        missing.append(f"--change optimizer={name}: neither torch.optim nor bitsandbytes {bitsandbytes.__version__} has such an optimizer")
        raise RuntimeError(missing[-1])

    def patch_optimizer(module):
        base = module.Optimizer
        ready = "_strata_replaced"

        def keep(target, options):
            known = inspect.signature(target.__init__).parameters
            return {k: v for k, v in options.items() if k in ("lr", "weight_decay") and k in known and v is not None}

        def guard(target):
            """Python calls __init__ again where the new class derives from the old one."""
            original = target.__init__
            if getattr(original, ready, False):
                return

            @functools.wraps(original)
            def initialize(self, *arguments, **options):
                if not self.__dict__.get(ready):
                    original(self, *arguments, **options)
            setattr(initialize, ready, True)
            target.__init__ = initialize

        def new(cls, *arguments, **options):
            target = find(sys.modules["torch.optim"], base)
            wraps_another = "optimizer_class" in inspect.signature(cls.__init__).parameters
            if not (arguments or options) or wraps_another or getattr(state, "making", False):
                return object.__new__(cls)
            bound = inspect.signature(cls.__init__).bind(None, *arguments, **options).arguments
            parameters = list(bound.get("params", arguments[0] if arguments else ()))
            groups = [{"params": p["params"], **keep(target, p)} for p in parameters if isinstance(p, dict)]
            guard(target)
            state.making = True
            try:
                optimizer = target(groups or parameters, **{**keep(target, {**bound, **bound.get("kwargs", {})}), **given})
                if in_backward:
                    step_in_backward(optimizer, target)
            finally:
                state.making = False
            optimizer.__dict__[ready] = True
            replaced.append(cls.__name__)
            return optimizer
        base.__new__ = new

    def at_end():
        if missing:
            return missing[0]
        return None if replaced else f"--change optimizer={name}: the program made no optimizer"
    return {"torch.optim.optimizer": patch_optimizer}, at_end


def accumulating(count):
    """Optimizers step, and let gradients go, once in so many calls: as people write it, if (i + 1) % K == 0 around both. The program goes
    on drawing batches as before, so that it has fewer steps."""
    count = int(count)
    counts, stepped = {"most": 0, "closures": 0}, weakref.WeakKeyDictionary()

    def is_between(optimizer):
        return stepped.get(optimizer, 0) % count != 0

    def wrap_step(original):
        @functools.wraps(original)
        def step(self, *arguments, **options):
            if getattr(state, "stepping", False):  # a class whose step calls that of its base
                return original(self, *arguments, **options)
            if callable(options.get("closure", arguments[0] if arguments else None)):
                counts["closures"] += 1
                return original(self, *arguments, **options)
            stepped[self] = stepped.get(self, 0) + 1
            counts["most"] = max(counts["most"], stepped[self])
            if is_between(self):
                return None
            state.stepping = True
            try:
                return original(self, *arguments, **options)
            finally:
                state.stepping = False
        return step

    def patch_optimizer(module):
        zero_grad = module.Optimizer.zero_grad

        @functools.wraps(zero_grad)
        def zero(self, *arguments, **options):
            return None if is_between(self) else zero_grad(self, *arguments, **options)
        wrap_steps(module.Optimizer, "_strata_accumulates", wrap_step)
        module.Optimizer.zero_grad = zero

    def patch_module(module):
        zero_grad = module.Module.zero_grad

        @functools.wraps(zero_grad)
        def zero(self, *arguments, **options):
            return None if any(map(is_between, list(stepped))) else zero_grad(self, *arguments, **options)
        module.Module.zero_grad = zero

    def at_end():
        if counts["closures"]:
            return f"--change accumulate={count}: an optimizer steps by a closure, which is left as it is"
        if counts["most"] < 2 * count:  # the second one is the first to find the optimizer's state
            return f"--change accumulate={count}: the program made {counts['most']} steps: let it make {2 * count}, which makes two of {count}"
        return None
    return {"torch.optim.optimizer": patch_optimizer, "torch.nn.modules.module": patch_module}, at_end


def placing_zero_grad(where):
    """Gradients of an optimizer that has stepped go where zero_grad() would stand: right behind its step, or before the next forward or
    backward. The program's own calls of it do nothing from then on."""
    counts, stepped, original = {"steps": 0, "closures": 0}, weakref.WeakSet(), []

    def let_go():
        for optimizer in list(stepped):
            original[0](optimizer)
        stepped.clear()

    def wrap_step(step):
        @functools.wraps(step)
        def stepping(self, *arguments, **options):
            if getattr(state, "zeroing", False):  # a class whose step calls that of its base
                return step(self, *arguments, **options)
            if callable(options.get("closure", arguments[0] if arguments else None)):
                counts["closures"] += 1
                return step(self, *arguments, **options)
            state.zeroing = True
            try:
                done = step(self, *arguments, **options)
            finally:
                state.zeroing = False
            counts["steps"] += 1
            stepped.add(self)
            if where == "after-step":
                let_go()
            return done
        return stepping

    def own(zero_grad):
        @functools.wraps(zero_grad)
        def zero(self, *arguments, **options):
            return None if counts["steps"] else zero_grad(self, *arguments, **options)
        return zero

    def patch_optimizer(module):
        wrap_steps(module.Optimizer, "_strata_zeroes", wrap_step)
        original.append(module.Optimizer.zero_grad)
        module.Optimizer.zero_grad = own(module.Optimizer.zero_grad)

    def patch_module(module):
        import torch

        call = module.Module.__call__
        module.Module.zero_grad = own(module.Module.zero_grad)

        def calling(self, *arguments, **options):
            if torch.is_grad_enabled():
                let_go()
            return call(self, *arguments, **options)
        if where == "before-forward":
            module.Module.__call__ = calling

    def at_end():
        if counts["closures"]:
            return f"--change zero_grad={where}: an optimizer steps by a closure, which is left as it is"
        return None if counts["steps"] else f"--change zero_grad={where}: no optimizer of the program made a step"
    return {"torch.optim.optimizer": patch_optimizer, "torch.nn.modules.module": patch_module,
            "torch.autograd": wrap_backward(lambda: let_go() if where == "before-backward" else None)}, at_end


KINDS = {"amp": mixed_precision, "checkpoint": checkpointing, "optimizer": replace_optimizer,
         "accumulate": accumulating, "offload": offloading, "zero_grad": placing_zero_grad}


def install(changes, say, beside):
    """Patches by module, and functions to ask at the end for what went unused."""
    patches, ends = [], []
    outermost = ("offload=", "dtype=")  # outside of checkpoints, which save and keep their inputs
    for change in sorted(changes, key=lambda change: next((at for at, kind in enumerate(outermost) if change.startswith(kind)), -1)):
        kind, _, value = change.partition("=")
        found, at_end = (beside("dryrun_fsdp").install(value, say) if kind == "fsdp"
                         else beside("dryrun_attention").install(value) if kind == "attention"
                         else other_type(value, say) if kind == "dtype" else KINDS[kind](value))
        patches += found.items()
        ends.append(at_end)
    return patches, ends
