# SPDX-License-Identifier: GPL-3.0-or-later
"""Attention of the truth programs as other people write it: by hand, or by one kernel of scaled_dot_product_attention.

A word says which: `hand:fill` and `hand:add` are products, a mask that is filled in or added, softmax and dropout; `flash` and so on the
call that the models make, under that kernel; `efficient:fill` and `efficient:add` that call with the mask of those by hand.
"""
import contextlib
import math

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

KERNELS = {"math": SDPBackend.MATH, "efficient": SDPBackend.EFFICIENT_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION,
           "cudnn": SDPBackend.CUDNN_ATTENTION}
call = F.scaled_dot_product_attention


def hidden_of(query, key):
    """Where a query must not look: at what comes later."""
    ones = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool, device=query.device)
    return ones.triu(1)


def bias_of(query, key):
    return torch.full((query.size(-2), key.size(-2)), float("-inf"), dtype=query.dtype, device=query.device).triu(1)


def by_filling(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False):
    scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.size(-1)))
    if is_causal:
        hidden = hidden_of(query, key)
        scores = scores.masked_fill(hidden, float("-inf"))
    elif attn_mask is not None:
        scores = scores + attn_mask
    weights = F.dropout(F.softmax(scores, dim=-1), dropout_p)
    return weights @ value


def by_adding(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False):
    scores = torch.matmul(query, key.transpose(2, 3)) / math.sqrt(query.size(-1))
    if is_causal:
        attn_mask = bias_of(query, key)
    if attn_mask is not None:
        scores = scores + attn_mask
    weights = torch.softmax(scores, -1)
    weights = F.dropout(weights, p=dropout_p)
    return torch.matmul(weights, value)


def with_filled(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False):
    if is_causal:
        hidden = hidden_of(query, key)
        return call(query, key, value, attn_mask=hidden.logical_not(), dropout_p=dropout_p)
    return call(query, key, value, attn_mask=attn_mask, dropout_p=dropout_p)


def with_added(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False):
    return call(query, key, value, attn_mask=bias_of(query, key) if is_causal else attn_mask, dropout_p=dropout_p)


WAYS = {"hand:fill": by_filling, "hand:add": by_adding, "fill": with_filled, "add": with_added}


def chosen(word):
    """Sets how attention is computed; a context to train in."""
    kernel, _, way = word.partition(":")
    if kernel == "hand":
        F.scaled_dot_product_attention = WAYS[word]
        return contextlib.nullcontext()
    if way:
        F.scaled_dot_product_attention = WAYS[way]
    return sdpa_kernel(KERNELS[kernel])
