# SPDX-License-Identifier: Apache-2.0
"""Shards a program's model over ranks from outside: fully_shard (FSDP2) of each block and of the model, where the program
makes its first optimizer over it. A model in DistributedDataParallel is taken out of it.

As a person would have written it: the blocks, then the model, then the optimizer over what the model's parameters have become.
"""
import collections
import gc
import weakref


def fully_shard_function():
    try:
        from torch.distributed.fsdp import fully_shard
    except ImportError:  # before 2.6
        from torch.distributed._composable.fsdp import fully_shard
    return fully_shard


ON_HOST = "offload=True"  # CPUOffloadPolicy: parameters, gradients and the optimizer's state lie on the host


def calls_forward(module, nn):
    return type(module).forward is not nn.Module.forward


def is_leaf(module):
    return not module._modules


def as_list(parameters):
    return [parameters] if hasattr(parameters, "grad") else list(parameters)


def tensor_of(parameter):
    return parameter[1] if isinstance(parameter, tuple) else parameter


class Places:
    """Where parameters live: modules that hold them, and who holds these."""

    def __init__(self, nn):
        self.nn = nn
        self.owner = {}
        self.parents = collections.defaultdict(list)
        for module in [o for o in gc.get_objects() if issubclass(type(o), nn.Module)]:
            for name, parameter in module.__dict__.get("_parameters", {}).items():
                if parameter is not None:
                    self.owner.setdefault(id(parameter), (module, name))
            for child in module.__dict__.get("_modules", {}).values():
                if child is not None:
                    self.parents[id(child)].append(module)

    def find_root(self, module, trained):
        """The highest module above this one that holds no parameter to be trained by somebody else, without wrappers."""
        while True:
            above = [p for p in self.parents[id(module)]
                     if all(id(each) in trained for each in p.parameters() if each.requires_grad)]
            if not above:
                break
            module = above[0]
        while not any(parameter is not None for parameter in module._parameters.values()):
            inner = [child for child in module.children() if any(True for _ in child.parameters())]
            if len(inner) != 1 or not calls_forward(inner[0], self.nn):
                break
            module = inner[0]
        return module


def find_blocks(root, wanted, nn):
    """Outermost modules of the class; without one, what is repeated in a list of modules and is more than one layer."""
    lists = (nn.ModuleList, nn.Sequential, nn.ModuleDict)
    blocks = []

    def is_wanted(module, parent, siblings):
        if not any(True for _ in module.parameters()) or not calls_forward(module, nn):
            return False
        if wanted:
            return any(wanted in (c.__name__, f"{c.__module__}.{c.__qualname__}") for c in type(module).__mro__)
        return isinstance(parent, lists) and not is_leaf(module) and siblings[type(module)] > 1

    def walk(parent):
        siblings = collections.Counter(type(child) for child in parent.children())
        for child in parent.children():
            if is_wanted(child, parent, siblings):
                blocks.append(child)
            else:
                walk(child)
    walk(root)
    return blocks


class Sharding:
    def __init__(self, wanted, say):
        options = wanted.split(",")
        self.wanted, self.say = ",".join(each for each in options if each != ON_HOST), say
        self.on_host = ON_HOST in options
        self.sharded = 0

    def options(self):
        if not self.on_host:
            return {}
        from torch.distributed.fsdp import CPUOffloadPolicy
        return {"offload_policy": CPUOffloadPolicy()}

    def shard(self, module):
        """What the module's parameters were is given back at once, even where a list of the program's still holds them."""
        before = [weakref.ref(parameter) for parameter in module.parameters()]
        fully_shard_function()(module, **self.options())
        present = {id(parameter) for parameter in module.parameters()}
        for reference in before:
            parameter = reference()
            if parameter is not None and id(parameter) not in present:
                parameter.data = parameter.data.new_empty(0)

    def shard_model(self, root, nn):
        import torch.distributed as distributed

        if not distributed.is_initialized():
            distributed.init_process_group("nccl")
        blocks = find_blocks(root, self.wanted, nn)
        names = collections.Counter(type(block).__name__ for block in blocks)
        parts = "".join(f"{count} of {name}, " for name, count in names.items())
        self.say(f"--change fsdp: {parts}{type(root).__name__} sharded over {distributed.get_world_size()} ranks")
        for block in blocks:
            self.shard(block)
        self.shard(root)
        self.sharded += 1

    def replace(self, parameters, nn):
        """Shards the models that hold the parameters; the same groups with what the parameters have become."""
        groups = [{**g, "params": as_list(g["params"])} if isinstance(g, dict) else g for g in parameters]
        tensors = [tensor_of(p) for g in groups for p in (g["params"] if isinstance(g, dict) else [g])]
        places, trained, roots = Places(nn), {id(tensor) for tensor in tensors}, {}
        for tensor in tensors:
            place = places.owner.get(id(tensor))
            if place is not None and not hasattr(tensor, "placements"):
                tensor._strata_place = place
                root = places.find_root(place[0], trained)
                roots[id(root)] = root
        for root in roots.values():
            self.shard_model(root, nn)

        def current(parameter):
            if isinstance(parameter, tuple):  # with its name
                return (parameter[0], current(parameter[1]))
            place = getattr(parameter, "_strata_place", None)
            return parameter if place is None else place[0]._parameters[place[1]]
        return [{**g, "params": [current(p) for p in g["params"]]} if isinstance(g, dict) else current(g) for g in groups]


def install(wanted, say):
    sharding = Sharding(wanted, say)

    def patch_optimizer(module):
        original = module.Optimizer.__init__

        def initialize(self, params, defaults):
            import torch.nn

            original(self, sharding.replace(as_list(params), torch.nn), defaults)
        module.Optimizer.__init__ = initialize

    def patch_parallel(module):
        def new(cls, model, *_, **__):
            model.__dict__["module"] = model
            return model
        module.DistributedDataParallel.__new__ = new

    def at_end():
        import torch.distributed as distributed

        if distributed.is_initialized():
            distributed.destroy_process_group()
        if sharding.sharded == 0:
            return "--change fsdp: the program made no optimizer over a model"
        return None
    return {"torch.optim.optimizer": patch_optimizer, "torch.nn.parallel.distributed": patch_parallel}, at_end
