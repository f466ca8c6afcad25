# SPDX-License-Identifier: Apache-2.0
"""torch.nn.init does nothing for tensors on the CPU: their values do not matter, their memory is never touched."""
import functools

NAMES = ("uniform_", "normal_", "trunc_normal_", "constant_", "ones_", "zeros_", "eye_", "dirac_", "xavier_uniform_",
         "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "orthogonal_", "sparse_")
skipped = False


def told():
    """Is given by whoever loads this: hears of the first that was skipped."""


def patch_init(module):
    import torch

    def skipping(original):
        @functools.wraps(original)
        def initialize(tensor, *arguments, **options):
            global skipped
            if isinstance(tensor, torch.Tensor) and tensor.device.type == "cpu":
                if not skipped:
                    skipped = True
                    told()
                return tensor
            return original(tensor, *arguments, **options)
        return initialize

    for name in NAMES:
        if hasattr(module, name):
            setattr(module, name, skipping(getattr(module, name)))
