# SPDX-License-Identifier: Apache-2.0
"""The kernel that torch.nn.functional.scaled_dot_product_attention takes: of a program that runs, and of calls that are made again.

It is what a person would write around the program, with torch.nn.attention.sdpa_kernel(SDPBackend....), held around each call, so that
it counts within one of the program's own, too. Which kernel a backward takes its forward decides.
"""
import functools
import itertools
import warnings

KERNELS = {"math": "MATH", "efficient": "EFFICIENT_ATTENTION", "flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION"}
#: How PyTorch says why it takes none, for each that it does not take.
HEADINGS = {"efficient": "memory efficient kernel not used", "flash": "flash attention kernel not used", "cudnn": "cudnn attention kernel not used"}
NAMES = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa")
NONE_FITS = "No available kernel"


class Kernel:
    """KERNEL or KERNEL,causal: whatever mask a call is given then is a causal one, so that is_causal=True does for it."""

    def __init__(self, value):
        self.value = value
        self.name, _, causal = value.partition(",")
        self.is_causal = causal == "causal"

    def hold(self):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        backend = getattr(SDPBackend, KERNELS[self.name], None)
        if backend is None:
            raise RuntimeError(f"--change attention={self.value}: this PyTorch has no {KERNELS[self.name]}")
        return sdpa_kernel(backend)

    def call(self, function, arguments, named):
        """Of scaled_dot_product_attention, in whatever form. Where the kernel does not do for it, PyTorch's words why."""
        given = {**dict(zip(NAMES, arguments)), **named}
        if self.is_causal and given.get("attn_mask") is not None:
            given |= {"attn_mask": None, "is_causal": True}
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")  # why it takes none PyTorch warns of
            try:
                with self.hold():
                    result = function(**given)
            except RuntimeError as error:
                if NONE_FITS not in str(error):
                    raise
                result = None
        if result is None:
            raise self.refusal(given["query"], [str(each.message).partition(" (Triggered internally")[0].strip() for each in told])
        for each in told:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
        return result

    def refusal(self, query, texts):
        begins = [place for place, text in enumerate(texts) if text.lower().startswith(HEADINGS.get(self.name, "-"))]
        reasons = itertools.takewhile(lambda text: "kernel not used" not in text, texts[begins[-1] + 1:] if begins else ())
        why = " ".join(reasons).rstrip(".") or "it does not say why"
        error = RuntimeError(f"--change attention={self.value}: PyTorch does not take that kernel for queries of {str(query.dtype)[len('torch.'):]} "
                             f"and sizes {list(query.shape)}: {why}")
        error.strata_hint = ("ask for a kernel that it takes; for another type beside it, as with --change amp=bf16; or, where its masks are causal "
                             "ones, with ',causal' behind it")
        return error


def install(value):
    """As the other changes of a program: patches by module, and what to ask at the end."""
    kernel, counts = Kernel(value), {"calls": 0}

    def patch_functional(module):
        original = module.scaled_dot_product_attention

        @functools.wraps(original)
        def scaled_dot_product_attention(*arguments, **named):
            counts["calls"] += 1
            return kernel.call(original, arguments, named)
        module.scaled_dot_product_attention = scaled_dot_product_attention

    def at_end():
        if counts["calls"]:
            return None
        return (f"--change attention={value}: the program called no torch.nn.functional.scaled_dot_product_attention: where it writes attention "
                "by hand, strata whatif --confirm without a command tells it by the calls of a deep step")
    return {"torch.nn.functional": patch_functional}, at_end
