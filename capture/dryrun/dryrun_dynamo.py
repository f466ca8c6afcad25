# SPDX-License-Identifier: Apache-2.0
"""torch._dynamo is imported when a program compiles, not when its optimizer steps: half of a short run went into that.

Functions that torch keeps out of compilation import it on their first call, to say so. Until something else imports it they run
without saying so, which is the same to a program that compiles nothing.
"""
import functools
import sys

waiting = []


def until_dynamo(plain, full):
    """A function that is `plain` until torch._dynamo is there, then `full`."""
    if "torch._dynamo" in sys.modules:
        return full
    target = plain

    @functools.wraps(full)
    def call(*arguments, **options):
        return target(*arguments, **options)

    def change():
        nonlocal target
        target = full
    waiting.append(change)
    return call


def patch_compile(module):
    original = module._disable_dynamo

    @functools.wraps(original)
    def disable(fn=None, recursive=True):
        return functools.partial(disable, recursive=recursive) if fn is None else until_dynamo(fn, original(fn, recursive))
    module._disable_dynamo = disable


def patch_optimizer(module):
    """The decorator of every optimizer's step, which breaks the graph where there is one."""
    import torch

    original = module._use_grad_for_differentiable

    def decorate(function):
        def step(self, *arguments, **options):
            before = torch.is_grad_enabled()
            try:
                torch.set_grad_enabled(self.defaults["differentiable"])
                return function(self, *arguments, **options)
            finally:
                torch.set_grad_enabled(before)
        return until_dynamo(step, original(function))
    module._use_grad_for_differentiable = decorate


def patch_dynamo(_):
    for change in waiting:
        change()
    waiting.clear()


PATCHES = {"torch._compile": patch_compile, "torch.optim.optimizer": patch_optimizer, "torch._dynamo": patch_dynamo}
