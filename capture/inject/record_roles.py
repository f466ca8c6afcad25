# SPDX-License-Identifier: Apache-2.0
"""Tells the recorder which tensors are parameters, buffers, gradients and states of optimizers, by name.

Listens to what torch offers for it: hooks before and after the step of any optimizer, and at registrations of modules,
parameters and buffers. Until an optimizer steps it also looks at each backward, and at torch.func.functional_call(). Tells
what changed, never keeps a tensor alive, and must never end the program: what goes wrong is said once, and then nothing
more is told.
"""
import ctypes
import functools
import gc
import itertools
import os
import sys
import threading
import weakref
from array import array

PARAMETER, BUFFER, GRADIENT, STATE, _INPUT, STEPPED = range(6)
NO_OPTIMIZER = 0xffffffff
FEW_OPTIMIZERS = 4
ABSENT = -1  # address of what is not there
MOST_LEAVES = 100_000
ALWAYS_LOOKED, SELDOM_LOOKED = 16, 16  #: backwards: so many are looked at, then one of so many until something moves
PATIENCE = 30  # seconds that a thread may wait for another one's hook: the program may hold locks that we know nothing of


class _Tensor(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("device", ctypes.c_int32), ("role", ctypes.c_uint32),
                ("optimizer", ctypes.c_uint32), ("name", ctypes.c_char_p), ("part", ctypes.c_char_p),
                ("dtype", ctypes.c_char_p), ("elements", ctypes.c_uint64)]


class Recorder:
    """The calls of the library, with numbers for tensors."""

    def __init__(self, library):
        self.library = library
        self.changed = array("Q")

    def optimizer(self):
        return self.library.strata_capture_optimizer()

    def add(self, role, name, part, tensor, optimizer=NO_OPTIMIZER):
        index = tensor.device.index
        told = _Tensor(ctypes.sizeof(_Tensor), index if index is not None else -1, role, optimizer,
                       name.encode("utf-8", "replace"), part.encode("utf-8", "replace") if part else None,
                       str(tensor.dtype)[6:].encode(), tensor.numel())
        return self.library.strata_capture_add_tensor(ctypes.byref(told))

    def add_step(self, name, device, optimizer):
        told = _Tensor(ctypes.sizeof(_Tensor), device, STEPPED, optimizer, name.encode("utf-8", "replace"), None, None, 0)
        return self.library.strata_capture_add_tensor(ctypes.byref(told))

    def place(self, number, address):
        if number:
            self.changed.extend((number, address))

    def send(self):
        changed, self.changed = self.changed, array("Q")
        if changed:
            address, count = changed.buffer_info()
            self.library.strata_capture_list(ctypes.c_void_p(address), ctypes.c_uint64(count // 2))


def parts_of(tensor, part=""):
    """The plain tensors on GPUs that one is made of: (part, tensor). Sharded and packed ones hold others."""
    local = getattr(tensor, "_local_tensor", None)
    if local is not None:
        yield from parts_of(local, part)
    elif tensor.is_sparse:
        yield from parts_of(tensor._indices(), part + ".indices" if part else "indices")
        yield from parts_of(tensor._values(), part + ".values" if part else "values")
    elif hasattr(tensor, "__tensor_flatten__"):
        for name in tensor.__tensor_flatten__()[0]:
            yield from parts_of(getattr(tensor, name), f"{part}.{name}" if part else name)
    elif tensor.is_cuda and tensor.layout == sys.modules["torch"].strided:
        yield part, tensor


def tensors_in(value, part, tensor_type):
    """Those in the state of an optimizer, which may keep lists of them."""
    if isinstance(value, tensor_type):
        yield part, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from tensors_in(each, f"{part}.{key}", tensor_type)
    elif isinstance(value, (list, tuple)):
        for index, each in enumerate(value):
            yield from tensors_in(each, f"{part}.{index}", tensor_type)


def about_of(tensor):
    return tensor.dtype, tensor.numel(), tensor.device


class Places:
    """Where the tensors of one kind were when they were told of last."""

    def __init__(self, recorder, role, optimizer=NO_OPTIMIZER):
        self.recorder, self.role, self.optimizer = recorder, role, optimizer
        self.known = {}  # (name, part) -> [number, address, (dtype, elements, device)]

    def tell(self, name, part, tensor, is_new=False):
        address = tensor.data_ptr()
        about = about_of(tensor)
        known = self.known.get((name, part))
        if known is None or known[2] != about:
            if known is not None and known[1]:
                self.recorder.place(known[0], 0)
            known = self.known[name, part] = [self.recorder.add(self.role, name, part, tensor, self.optimizer), 0, about]
        if known[1] != address or is_new:
            known[1] = address
            self.recorder.place(known[0], address)

    def move(self, rows, tensors, addresses, before):
        """The same for plain tensors that differ from before by their places alone. `rows`: what is known of each, in their order.
        False: there are others. Devices are not asked for: this is for gradients, which are where their parameters are."""
        changes = []
        for known, tensor, address, old in zip(rows, tensors, addresses, before):
            if address != old:
                if known is None or address == ABSENT or tensor.dtype is not known[2][0] or tensor.numel() != known[2][1]:
                    break
                known[1] = address
                if known[0]:
                    changes += known[0], address
        else:
            self.recorder.changed.extend(changes)
            return True
        self.recorder.changed.extend(changes)
        return False

    def look_into(self, name, part, tensor, is_new=False):
        """Tells of what it is made of; the keys of that. Nothing of one that has no memory: uninitialised, fake.
        `is_new`: it may lie where the last one of that name lay."""
        seen = []
        try:
            for inner, each in parts_of(tensor, part):
                self.tell(name, inner, each, is_new)
                seen.append((name, inner))
        except Exception:
            pass
        return seen

    def tell_all(self, tensors):
        """(name, part, tensor) of all that there are."""
        self.gone({key for each in tensors for key in self.look_into(*each)})

    def gone(self, seen=()):
        """All that is known and was not seen is nowhere any more."""
        for key, known in self.known.items():
            if known[1] and key not in seen:
                known[1] = 0
                self.recorder.place(known[0], 0)


def is_replica(module):
    """One that DataParallel makes for a single forward."""
    return "_is_replica" in module.__dict__


class Modules:
    """Who is registered where. The recorder makes names of it: paths of modules."""

    def __init__(self, library):
        self.library = library
        self.told = {}  # id of a module that the recorder knows -> weak reference to it
        self.owners = {}  # id of a parameter -> (weak reference to its module, name), when they were last looked for
        self.alive = weakref.WeakValueDictionary()  # those that own a parameter or a buffer
        self.replaced = set()  # (id of a module, name) of buffers that took the place of others
        self.dirty = True

    def know(self, module):
        address = id(module)
        if address not in self.told:
            temporary = is_replica(module)

            def gone(_):
                self.told.pop(address, None)
                self.library.strata_capture_module_gone(ctypes.c_uint64(address))
                if not temporary:
                    self.dirty = True
            self.told[address] = weakref.ref(module, gone)
            self.library.strata_capture_module(ctypes.c_uint64(address), ctypes.c_uint64(0), None,
                                               type(module).__name__.encode("utf-8", "replace"))

    def add_module(self, module, name, submodule):
        if submodule is not None:
            is_new = id(submodule) not in self.told
            self.know(module)
            self.know(submodule)
            self.library.strata_capture_module(ctypes.c_uint64(id(submodule)), ctypes.c_uint64(id(module)),
                                               name.encode("utf-8", "replace"),
                                               type(submodule).__name__.encode("utf-8", "replace"))
            if is_replica(submodule):  # holds what is not its own yet
                return
            self.dirty = True
            if is_new:
                self.adopt(submodule)

    def adopt(self, module):
        """What is in a module that nobody registered it in: a copy, one from a file, one that is older than the recording."""
        for name, child in list(module._modules.items()):
            self.add_module(module, name, child)
        for name, parameter in list(module._parameters.items()):
            self.add_parameter(module, name, parameter)
        for name, buffer in list(module._buffers.items()):
            self.add_buffer(module, name, buffer)
        self.dirty = True

    def add_parameter(self, module, name, parameter):
        if parameter is not None:
            self.know(module)
            self.alive[id(module)] = module
            self.dirty = True

    def add_buffer(self, module, name, buffer):
        if buffer is not None and not is_replica(module):
            self.know(module)
            self.alive[id(module)] = module
            if name in module._buffers:
                self.replaced.add((id(module), name))
            else:
                self.dirty = True

    def name_in(self, module, name):
        full = ctypes.create_string_buffer(4096)
        self.library.strata_capture_name_in(ctypes.c_uint64(id(module)), name.encode("utf-8", "replace"), full,
                                            ctypes.c_uint64(len(full)))
        return full.value.decode("utf-8", "replace")

    def name_of(self, parameter):
        owner = self.owners.get(id(parameter))
        module = owner[0]() if owner else None
        if module is None or owner[1] not in module._parameters or module._parameters[owner[1]] is not parameter:
            return None
        return self.name_in(module, owner[1])

    def find_owners(self):
        """Not all come into their modules in a way that hooks are told of. The first module that has one names it."""
        self.owners = {}
        for module in list(self.alive.values()):
            for name, parameter in list(module._parameters.items()):
                if parameter is not None:
                    self.owners.setdefault(id(parameter), (weakref.ref(module), name))

    def names_of(self, parameters):
        names = [self.name_of(each) for each in parameters]
        if None in names:
            self.find_owners()
            names = [name or self.name_of(each) for name, each in zip(names, parameters)]
        return [name or f"parameter {i}" for i, name in enumerate(names)]

    def look_around(self, module_type):
        """Of a program that began without us."""
        for each in gc.get_objects():
            try:
                if issubclass(type(each), module_type):  # asking the object itself may wake it
                    self.adopt(each)
            except Exception:  # an object that does not want to be asked
                continue


class Optimizer:
    """What is told of one. Looks at every tensor at each step, and says what is elsewhere than before."""

    def __init__(self, optimizer, recorder, modules, tensor_type):
        self.recorder, self.modules, self.tensor_type = recorder, modules, tensor_type
        self.data_ptr = tensor_type.data_ptr
        self.number = recorder.optimizer()
        self.title = type(optimizer).__name__
        self.ids, self.names, self.before = [], [], {}
        self.rows = None  # of gradients, what is known of each, in the order of `names`
        self.thread = None  # that stepped last
        self.places = {role: Places(recorder, role, self.number) for role in (PARAMETER, GRADIENT, STATE)}
        self.steps = {}  # device of a parameter -> number to be told with each step

    def parameters(self, optimizer):
        """Those that it has now, in the order of `names`."""
        parameters = [each for group in optimizer.param_groups for each in group["params"]]
        ids = list(map(id, parameters))
        if ids != self.ids:
            self.ids, self.names, self.before, self.rows = ids, self.modules.names_of(parameters), {}, None
        return parameters

    def tell(self, role, tensors, named):
        """`named`: (name, part, tensor) of `tensors`, for a closer look. Mostly all are as before."""
        addresses = addresses_of(tensors, self.data_ptr)
        before, self.before[role] = self.before.get(role), addresses
        if addresses is not None and addresses == before:
            return
        places = self.places[role]
        if role == GRADIENT and addresses is not None and before is not None and len(addresses) == len(before):
            if self.rows is None:
                self.rows = [places.known.get((name, "")) for name in self.names]
            if places.move(self.rows, tensors, addresses, before):
                return
        if role == GRADIENT:
            self.rows = None
        places.tell_all(named)
        if role == PARAMETER:
            self.before.pop(GRADIENT, None)  # they may be of another type, at the same addresses
            for _, _, (_, _, device) in places.known.values():
                if device.index not in self.steps:
                    self.steps[device.index] = self.recorder.add_step(self.title, device.index, self.number)

    def gradients(self, optimizer):
        gradients = [each.grad for each in self.parameters(optimizer)]
        self.tell(GRADIENT, gradients, ((name, "", each) for name, each in zip(self.names, gradients) if each is not None))

    def values(self, optimizer, stepped=True):
        parameters = self.parameters(optimizer)
        self.tell(PARAMETER, parameters, ((name, "", each) for name, each in zip(self.names, parameters)))
        try:
            states = list(itertools.chain.from_iterable(map(dict.values, optimizer.state.values())))
        except TypeError:  # one is no dictionary
            states = [value for state in optimizer.state.values() if isinstance(state, dict) for value in state.values()]
        self.tell(STATE, states, self.state_tensors(optimizer, parameters))
        for number in self.steps.values() if stepped else ():
            self.recorder.place(number, 0)

    def state_tensors(self, optimizer, parameters):
        for name, each in zip(self.names, parameters):
            state = optimizer.state.get(each)
            for key, value in state.items() if isinstance(state, dict) else ():
                for part, tensor in tensors_in(value, str(key), self.tensor_type):
                    yield name, part, tensor


def addresses_of(tensors, data_ptr):
    """A list of where they are, to compare; None where that takes a closer look: at what is sparse, sharded, no tensor."""
    try:
        addresses = list(map(data_ptr, tensors))
    except Exception:
        try:
            addresses = [ABSENT if each is None else data_ptr(each) for each in tensors]
        except Exception:
            return None
    return None if 0 in addresses else addresses


def place_of(tensor):
    """Of any tensor; 0: it has none, or none that can be asked for."""
    try:
        return tensor.data_ptr()
    except Exception:  # it is gone, or has no memory of its own
        return 0


def held_by(module, role):
    return module._parameters if role == PARAMETER else module._buffers


def given(tensor):
    """What torch.func wraps while it runs; None of a result, which hangs in a graph, or of one that no gradient is asked for."""
    functorch, parameter, is_wrapped = sys.modules["torch"]._C._functorch, sys.modules["torch"].nn.Parameter, False
    while tensor.is_leaf and functorch.is_functorch_wrapped_tensor(tensor):
        tensor, is_wrapped = functorch.get_unwrapped(tensor), True
    return tensor if tensor.is_leaf and (is_wrapped or tensor.requires_grad or isinstance(tensor, parameter)) else None


def role_at(module, path):
    *owners, name = path.split(".")
    for each in owners:
        module = module._modules.get(each)
        if module is None:
            return PARAMETER
    return BUFFER if name in module._buffers else PARAMETER


class WithoutOptimizer:
    """What is told of a program until an optimizer steps: its own code changes the parameters of its modules."""

    def __init__(self, recorder, modules, list_modules):
        self.modules, self.list_modules = modules, list_modules
        self.passed = {role: Places(recorder, role) for role in (PARAMETER, BUFFER)}
        self.gradients = Places(recorder, GRADIENT)
        self.parameters, self.before = [], None  # weak references to those of modules, and where they were when looked at last
        self.backwards = self.quiet = 0  # since something moved
        self.names = {}  # id of a parameter that no module owns -> (weak reference to it, name)
        self.leaves = {}  # id of a tensor that grad() differentiated by -> (weak reference to it, its version then)

    def known(self, tensor, of=None):
        known = (self.names if of is None else of).get(id(tensor))
        return known if known is not None and known[0]() is tensor else None

    def passes(self, module, tensors):
        """functional_call(): a module runs with these in place of its own."""
        looked = {}
        for path, each in tensors.items():
            role, found = role_at(module, path), given(each)
            if found is None and role == BUFFER:
                found = each if each.is_leaf else None
            if found is not None and not self.known(found):
                looked[path] = role, found
        if looked:
            self.names = {number: known for number, known in self.names.items() if known[0]() is not None}
        for path, (role, each) in looked.items():
            name = self.modules.name_in(module, path)
            self.passed[role].look_into(name, "", each, is_new=True)
            self.names[id(each)] = weakref.ref(each), name

    def before_backward(self):
        """An assignment to `parameter.data` calls no hook. Where nothing moves, most backwards are not looked at."""
        self.backwards += 1
        if not self.modules.dirty and self.quiet > ALWAYS_LOOKED and self.backwards % SELDOM_LOOKED:
            return
        if self.modules.dirty:
            self.modules.find_owners()
            self.parameters = [weakref.ref(each) for module in list(self.modules.alive.values())
                               for each in list(module._parameters.values()) if each is not None]
            self.before = None
        places = [place_of(each()) for each in self.parameters]
        moved, self.before = self.before != places, places
        self.quiet = 0 if moved else self.quiet + 1
        if moved:
            self.list_modules()

    def after_grad(self, inputs, gradients):
        # Beside modules, leaves that change may be inputs: of an attack, positions, buffers that are filled again.
        moved = [] if self.parameters else [each for each in inputs if not self.known(each) and self.is_moved(each)]
        for each in moved if len(moved) > 1 else []:  # one alone may be an input
            name = f"parameter {len(self.passed[PARAMETER].known)}"
            self.passed[PARAMETER].look_into(name, "", each)
            self.names[id(each)] = weakref.ref(each), name
        for each, gradient in zip(inputs, gradients):
            name = gradient is not None and (self.modules.name_of(each) or (self.known(each) or (None, None))[1])
            if name:
                self.gradients.look_into(name, "", gradient, is_new=True)

    def is_moved(self, tensor):
        """A leaf that the program has changed in place since grad() differentiated by it first: that trains it."""
        if not isinstance(tensor, sys.modules["torch"].Tensor) or given(tensor) is not tensor:
            return False
        known = self.known(tensor, self.leaves)
        if known is None:
            if len(self.leaves) >= MOST_LEAVES:
                self.leaves = {number: each for number, each in self.leaves.items() if each[0]() is not None}
            if len(self.leaves) < MOST_LEAVES:
                self.leaves[id(tensor)] = weakref.ref(tensor), tensor._version
            return False
        return tensor._version != known[1] and len(self.passed[PARAMETER].known) < MOST_LEAVES


class Listener:
    def __init__(self, library):
        self.recorder = Recorder(library)
        self.modules = Modules(library)
        self.deep = None  # what sees a step in which every operator is told
        self.optimizers = weakref.WeakKeyDictionary()
        self.ended = []  # what was told of optimizers that are gone
        self.owned = {role: Places(self.recorder, role) for role in (PARAMETER, BUFFER)}
        self.without_optimizer = WithoutOptimizer(self.recorder, self.modules, self.list_modules)
        self.failed = self.looked = False
        self.renew_lock()
        os.register_at_fork(after_in_child=self.renew_lock)

    def see_deeply(self, deep):
        """From now on; None: no longer. A step that has not ended is not to be used."""
        if self.deep is not None:
            self.deep.end("the recording ended before the step did: let the program make more of them")
        self.deep = deep

    def renew_lock(self):
        self.lock = threading.RLock()

    def guarded(self, function):
        def call(*arguments):
            lock = self.lock
            if self.failed or not lock.acquire(timeout=PATIENCE):
                return
            try:
                function(*arguments)
            except Exception as error:
                self.failed = True
                print(f"strata: the names of tensors are not recorded any more: {error!r}", file=sys.stderr, flush=True)
            finally:
                lock.release()
        return call

    def telling(self, function):
        def call(*arguments):
            function(*arguments)
            self.send()
        return self.guarded(call)

    def of(self, optimizer):
        known = self.optimizers.get(optimizer)
        if known is None:
            known = self.optimizers[optimizer] = Optimizer(optimizer, self.recorder, self.modules, self.tensor_type)
            weakref.finalize(optimizer, self.ended.append, known).atexit = False
        return known

    def send(self):
        while self.ended:
            for places in self.ended.pop().places.values():
                places.gone()
        self.recorder.send()

    def before_step(self, optimizer, *_):
        thread = self.of(optimizer).thread = threading.get_ident()
        # Gradients of another one's parameters, as of a discriminator when the generator steps, may be gone at its own step. Where
        # each parameter has an optimizer of its own, each looks after itself. Those of another thread its backward may be changing.
        for each in list(self.optimizers) if len(self.optimizers) <= FEW_OPTIMIZERS else [optimizer]:
            if self.of(each).thread == thread:
                self.of(each).gradients(each)
        self.send()

    def after_step(self, optimizer, arguments=(), named=None):
        known = self.of(optimizer)
        if len(arguments) > 1 or named:  # a closure behind the optimizer itself makes them within the step
            known.gradients(optimizer)
        known.values(optimizer)
        if self.modules.dirty:
            self.list_modules()
        else:
            self.list_replaced()
        self.send()
        if self.deep is not None:
            self.deep.stepped(optimizer)

    def list_modules(self):
        """Parameters and buffers that no optimizer need know."""
        self.modules.dirty = False
        self.modules.replaced.clear()
        alive = list(self.modules.alive.values())
        for role, owned in self.owned.items():
            owned.tell_all((self.modules.name_in(module, name), "", tensor) for module in alive
                           for name, tensor in list(held_by(module, role).items()) if tensor is not None)

    def list_replaced(self):
        replaced, self.modules.replaced = self.modules.replaced, set()
        for address, name in replaced:
            module = self.modules.alive.get(address)
            if module is not None and name in module._buffers:
                self.owned[BUFFER].look_into(self.modules.name_in(module, name), "", module._buffers[name])

    def look_around(self):
        """Where a program runs already: the modules that it has. Once, a tenth of a second for a large one."""
        if not self.looked:
            self.looked = True
            self.guarded(self.modules.look_around)(sys.modules["torch.nn.modules.module"].Module)

    def list_all(self):
        """At the end, and where a recording begins late: what there is, whether or not an optimizer stepped since it came."""
        def tell():
            self.list_modules()
            for each in list(self.optimizers):
                try:
                    self.of(each).values(each, stepped=False)
                except Exception:  # another thread steps it meanwhile
                    continue
            self.send()
        self.guarded(tell)()

    def patch_modules(self, module):
        """torch.nn.modules.module is loaded."""
        module.register_module_module_registration_hook(self.guarded(self.modules.add_module))
        module.register_module_parameter_registration_hook(self.guarded(self.modules.add_parameter))
        module.register_module_buffer_registration_hook(self.guarded(self.modules.add_buffer))
        restore, adopt = module.Module.__setstate__, self.guarded(self.modules.adopt)

        @functools.wraps(restore)
        def set_state(copied, state):
            restore(copied, state)
            adopt(copied)
        module.Module.__setstate__ = set_state

    def patch_optimizers(self, module):
        """torch.optim.optimizer is loaded."""
        torch = sys.modules["torch"]
        self.tensor_type = torch.Tensor
        apart = getattr(torch, "_disable_dynamo", lambda function: function)  # a step that is compiled must not compile these
        module.register_optimizer_step_pre_hook(apart(self.guarded(self.before_step)))
        module.register_optimizer_step_post_hook(apart(self.guarded(self.after_step)))

    def patch_autograd(self, module):
        """torch.autograd is loaded."""
        run = getattr(module, "_engine_run_backward", None)
        if run is None:  # an older PyTorch
            return
        self.before_backward = self.telling(self.without_optimizer.before_backward)
        self.after_grad = self.telling(self.without_optimizer.after_grad)

        @functools.wraps(run)
        def run_backward(outputs, *arguments, **named):
            if self.optimizers:
                return run(outputs, *arguments, **named)
            self.before_backward()
            gradients = run(outputs, *arguments, **named)
            if gradients and len(arguments) > 3:  # grad() was asked for them
                self.after_grad(arguments[3], gradients)
            return gradients
        module._engine_run_backward = run_backward

    def patch_dynamo(self, module):
        """torch._dynamo is loaded: what is called within a compiled function must not compile these."""
        autograd = sys.modules["torch.autograd"]
        if hasattr(self, "before_backward"):
            self.before_backward, self.after_grad = module.disable(self.before_backward), module.disable(self.after_grad)
            autograd._engine_run_backward = module.disable(autograd._engine_run_backward, recursive=False)

    def patch_stateless(self, module):
        """torch.nn.utils.stateless is loaded."""
        if not hasattr(sys.modules.get("torch.autograd.graph"), "_engine_run_backward"):  # an older PyTorch
            return
        call, tell = module._functional_call, self.telling(self.without_optimizer.passes)

        @functools.wraps(call)
        def functional_call(of, tensors, *arguments, **named):  # torch.compile traces it: it must not use globals of this file
            import torch
            if not torch.compiler.is_compiling():
                tell(of, tensors)
            return call(of, tensors, *arguments, **named)
        module._functional_call = functional_call

    @property
    def patches(self):
        """Module -> what is to be done when it is loaded."""
        return {"torch.nn.modules.module": [self.guarded(self.patch_modules)],
                "torch.autograd": [self.guarded(self.patch_autograd)],
                "torch._dynamo": [self.guarded(self.patch_dynamo)],
                "torch.nn.utils.stateless": [self.guarded(self.patch_stateless)],
                "torch.optim.optimizer": [self.guarded(self.patch_optimizers)]}
