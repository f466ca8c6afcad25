# SPDX-License-Identifier: Apache-2.0
"""Tells the recorder which tensors are parameters, buffers, gradients and states of optimizers, by name.

Listens to what torch offers for it: hooks before and after the step of any optimizer, and at registrations of modules,
parameters and buffers. Tells what changed, never keeps a tensor alive, and must never end the program: what goes wrong is
said once, and then nothing more is told.
"""
import ctypes
import functools
import gc
import sys
import weakref
from array import array

PARAMETER, BUFFER, GRADIENT, STATE, _INPUT, STEPPED = range(6)
NO_OPTIMIZER = 0xffffffff
FEW_OPTIMIZERS = 4
ABSENT = -1  # address of what is not there


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
            self.changed.append(number)
            self.changed.append(address)

    def send(self):
        if self.changed:
            self.library.strata_capture_list((ctypes.c_uint64 * len(self.changed)).from_buffer(self.changed),
                                             ctypes.c_uint64(len(self.changed) // 2))
            self.changed = array("Q")


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
        yield from parts_of(value, part)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from tensors_in(each, f"{part}.{key}", tensor_type)
    elif isinstance(value, (list, tuple)):
        for index, each in enumerate(value):
            yield from tensors_in(each, f"{part}.{index}", tensor_type)


class Places:
    """Where the tensors of one kind were when they were told of last."""

    def __init__(self, recorder, role, optimizer=NO_OPTIMIZER):
        self.recorder, self.role, self.optimizer = recorder, role, optimizer
        self.known = {}  # (name, part) -> [number, address, (dtype, elements, device)]

    def tell(self, name, part, tensor):
        address = tensor.data_ptr()
        about = (tensor.dtype, tensor.numel(), tensor.device)
        known = self.known.get((name, part))
        if known is None or known[2] != about:
            if known is not None and known[1]:
                self.recorder.place(known[0], 0)
            known = self.known[name, part] = [self.recorder.add(self.role, name, part, tensor, self.optimizer), 0, about]
        if known[1] != address:
            known[1] = address
            self.recorder.place(known[0], address)

    def move(self, name, address):
        """The same for a plain tensor that differs from the last of its name by its place alone; False if there was none."""
        known = self.known.get((name, ""))
        if known is None:
            return False
        known[1] = address
        self.recorder.place(known[0], address)
        return True

    def gone(self, seen):
        """All that is known and was not seen is nowhere any more."""
        for key, known in self.known.items():
            if known[1] and key not in seen:
                known[1] = 0
                self.recorder.place(known[0], 0)


class Modules:
    """Who is registered where. The recorder makes names of it: paths of modules."""

    def __init__(self, library):
        self.library = library
        self.told = {}  # id of a module that the recorder knows -> weak reference to it
        self.owners = {}  # id of a parameter -> (weak reference to its module, name)
        self.alive = weakref.WeakValueDictionary()  # those that own a parameter or a buffer
        self.dirty = True

    def know(self, module):
        address = id(module)
        if address not in self.told:
            def gone(_, told=self.told, library=self.library):
                told.pop(address, None)
                library.strata_capture_module_gone(ctypes.c_uint64(address))
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
            self.dirty = True
            if is_new:
                self.adopt(submodule)

    def adopt(self, module):
        """What is in a module that nobody registered it in: a copy, one from a file, one that is older than the recording."""
        for name, child in module._modules.items():
            self.add_module(module, name, child)
        for name, parameter in module._parameters.items():
            self.add_parameter(module, name, parameter)
        for name, buffer in module._buffers.items():
            self.add_buffer(module, name, buffer)

    def add_parameter(self, module, name, parameter):
        if parameter is not None:
            self.know(module)
            self.alive[id(module)] = module
            owner = self.owners.get(id(parameter))
            if owner is None or owner[0]() is None:  # the first that has it names it
                self.owners[id(parameter)] = weakref.ref(module), name
            self.dirty = True

    def add_buffer(self, module, name, buffer):
        if buffer is not None:
            self.know(module)
            self.alive[id(module)] = module
            self.dirty = True

    def name_in(self, module, name):
        full = ctypes.create_string_buffer(4096)
        self.library.strata_capture_name_in(ctypes.c_uint64(id(module)), name.encode("utf-8", "replace"), full,
                                            ctypes.c_uint64(len(full)))
        return full.value.decode("utf-8", "replace")

    def name_of(self, parameter):
        owner = self.owners.get(id(parameter))
        module = owner[0]() if owner else None
        if module is None or module._parameters.get(owner[1]) is not parameter:
            return None
        return self.name_in(module, owner[1])

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
        self.parameters, self.names, self.before = [], [], {}
        self.places = {role: Places(recorder, role, self.number) for role in (PARAMETER, GRADIENT, STATE)}
        self.steps = {}  # device of a parameter -> number to be told with each step

    def look_at_groups(self, optimizer):
        count = 0
        for group in optimizer.param_groups:
            count += len(group["params"])
        if count != len(self.parameters):
            self.parameters = [each for group in optimizer.param_groups for each in group["params"]]
            self.names = [self.modules.name_of(each) or f"parameter {i}" for i, each in enumerate(self.parameters)]

    def tell(self, role, addresses, tensors):
        """`addresses`: of plain tensors, or None where one has to be looked into. Mostly all are as before."""
        before, self.before[role] = self.before.get(role), addresses
        if addresses is not None and addresses == before:
            return
        places, seen = self.places[role], set()
        if role == GRADIENT and addresses is not None and before is not None and len(addresses) == len(before):
            changed = [i for i, address in enumerate(addresses) if address != before[i]]
            if all(addresses[i] != ABSENT and places.move(self.names[i], addresses[i]) for i in changed):
                return
        for name, part, tensor in tensors():
            for inner, each in parts_of(tensor, part):
                places.tell(name, inner, each)
                seen.add((name, inner))
                if role == PARAMETER and each.device.index not in self.steps:
                    self.steps[each.device.index] = self.recorder.add_step(self.title, each.device.index, self.number)
        places.gone(seen)

    def gradients(self, optimizer):
        self.look_at_groups(optimizer)
        gradients = [each.grad for each in self.parameters]
        self.tell(GRADIENT, addresses_of(gradients, self.data_ptr),
                  lambda: ((name, "", each) for name, each in zip(self.names, gradients) if each is not None))

    def values(self, optimizer):
        self.look_at_groups(optimizer)
        self.tell(PARAMETER, addresses_of(self.parameters, self.data_ptr),
                  lambda: ((name, "", each) for name, each in zip(self.names, self.parameters)))
        states = []
        for state in optimizer.state.values():
            states.extend(state.values())
        self.tell(STATE, addresses_of(states, self.data_ptr), lambda: self.state_tensors(optimizer))
        for number in self.steps.values():
            self.recorder.place(number, 0)

    def state_tensors(self, optimizer):
        for name, each in zip(self.names, self.parameters):
            for key, value in (optimizer.state.get(each) or {}).items():
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


class Listener:
    def __init__(self, library):
        self.recorder = Recorder(library)
        self.modules = Modules(library)
        self.optimizers = weakref.WeakKeyDictionary()
        self.owned = {role: Places(self.recorder, role) for role in (PARAMETER, BUFFER)}
        self.failed = self.looked = False

    def guarded(self, function):
        def call(*arguments):
            if not self.failed:
                try:
                    function(*arguments)
                except Exception as error:
                    self.failed = True
                    print(f"strata: the names of tensors are not recorded any more: {error!r}", file=sys.stderr, flush=True)
        return call

    def of(self, optimizer):
        known = self.optimizers.get(optimizer)
        if known is None:
            known = self.optimizers[optimizer] = Optimizer(optimizer, self.recorder, self.modules, self.tensor_type)
        return known

    def before_step(self, optimizer, *_):
        self.of(optimizer)
        # Gradients of another one's parameters, as of a discriminator when the generator steps, may be gone at its own step. Where
        # each parameter has an optimizer of its own, each looks after itself.
        for each in list(self.optimizers) if len(self.optimizers) <= FEW_OPTIMIZERS else [optimizer]:
            self.of(each).gradients(each)
        self.recorder.send()

    def after_step(self, optimizer, arguments=(), named=None):
        known = self.of(optimizer)
        if arguments or named:  # a closure makes them within the step
            known.gradients(optimizer)
        known.values(optimizer)
        if self.modules.dirty:
            self.list_modules()
        self.recorder.send()

    def list_modules(self):
        """Parameters and buffers that no optimizer need know."""
        self.modules.dirty = False
        told = {PARAMETER: set(), BUFFER: set()}
        for module in list(self.modules.alive.values()):
            for role, tensors in ((PARAMETER, module._parameters), (BUFFER, module._buffers)):
                for name, tensor in tensors.items():
                    if tensor is None:
                        continue
                    name = self.modules.name_in(module, name)
                    for part, each in parts_of(tensor):
                        self.owned[role].tell(name, part, each)
                        told[role].add((name, part))
        for role, seen in told.items():
            self.owned[role].gone(seen)

    def look_around(self):
        """Where a program runs already: the modules that it has. Once, a tenth of a second for a large one."""
        if not self.looked:
            self.looked = True
            self.guarded(self.modules.look_around)(sys.modules["torch.nn.modules.module"].Module)

    def list_all(self):
        """At the end, and where a recording begins late: what there is, whether or not an optimizer stepped."""
        def tell():
            self.list_modules()
            self.recorder.send()
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
        self.tensor_type = sys.modules["torch"].Tensor
        module.register_optimizer_step_pre_hook(self.guarded(self.before_step))
        module.register_optimizer_step_post_hook(self.guarded(self.after_step))

    @property
    def patches(self):
        """Module -> what is to be done when it is loaded."""
        return {"torch.nn.modules.module": [self.guarded(self.patch_modules)],
                "torch.optim.optimizer": [self.guarded(self.patch_optimizers)]}
