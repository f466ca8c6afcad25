# SPDX-License-Identifier: Apache-2.0
"""Lets scripts that run while torch is being imported do something to a module of it as soon as that is loaded."""
import importlib.abc
import sys


class Loader(importlib.abc.Loader):
    """Loads a module as it would be loaded, then patches it."""

    def __init__(self, loader, patches):
        self.loader = loader
        self.patches = patches

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        module.__spec__.loader = module.__loader__ = self.loader
        for patch in self.patches:
            patch(module)


class Finder(importlib.abc.MetaPathFinder):
    """`patches`: name of a module -> functions that take the module and do not throw."""

    def __init__(self, patches):
        self.patches = patches

    def find_spec(self, name, path=None, target=None):
        patches = self.patches.get(name)
        if patches is None:
            return None
        finders = sys.meta_path[sys.meta_path.index(self) + 1:] if self in sys.meta_path else sys.meta_path
        for finder in finders:
            spec = finder.find_spec(name, path, target) if hasattr(finder, "find_spec") else None
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = Loader(spec.loader, patches)
                return spec
        return None


def install(patches):
    """Modules that are loaded already are patched at once."""
    for name, functions in patches.items():
        if name in sys.modules:
            for function in functions:
                function(sys.modules[name])
    sys.meta_path.insert(0, Finder({name: each for name, each in patches.items() if name not in sys.modules}))
