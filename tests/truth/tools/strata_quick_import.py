# SPDX-License-Identifier: GPL-3.0-or-later
"""Imports torch and torch._dynamo with the garbage collector off, which saves a quarter of the time. Later collections skip torch.

../environment.sh installs this module into the environments of the tests. A .pth file loads it when Python starts."""
import gc
import sys
from importlib.machinery import PathFinder


class Torch:
    """Finds a module as Python does, and runs it with the collector off."""

    def find_spec(self, name, path=None, target=None):
        if name not in ("torch", "torch._dynamo"):
            return None
        found = PathFinder.find_spec(name, path, target)
        if found and hasattr(found.loader, "exec_module"):
            load = found.loader.exec_module

            def without_collections(module):
                was_on = gc.isenabled()
                gc.disable()
                try:
                    load(module)
                finally:
                    if name == "torch":
                        gc.freeze()
                    if was_on:
                        gc.enable()

            found.loader.exec_module = without_collections
        return found


sys.meta_path.insert(0, Torch())
