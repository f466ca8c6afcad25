# SPDX-License-Identifier: GPL-3.0-or-later
"""A training whose FLOPs torch counts itself, in its first step: flops_program.py MODEL TRUTH. Writes the FLOPs of that step,
by operator, as JSON, then makes as many steps as it is let."""
import contextlib
import json
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import language
import models
import vision

STEPS = 8


def explicit(q, k, v, is_causal=False):
    """Attention in words of one syllable."""
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    if is_causal:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril()
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ v


def text(model, vocabulary, batch, context):
    def loss():
        ids = torch.randint(vocabulary, (batch, context), device="cuda")
        return F.cross_entropy(model(ids).flatten(0, 1).float(), ids.roll(-1, 1).flatten())
    return loss


def pictures(model, batch, size, classes):
    def loss():
        x, y = torch.randn(batch, 3, size, size, device="cuda"), torch.randint(classes, (batch,), device="cuda")
        return F.cross_entropy(model(x), y)
    return loss


def gpt2():
    model = models.Gpt(12, 768, 12, 50257, 1024).cuda()
    return model, text(model, 50257, 8, 1024)


def llama():
    model = language.Llama(32000, 1024, 8, 16, 4, 2816).cuda()
    return model, text(model, 32000, 2, 1024)


def resnet():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for stage, count in enumerate((3, 4, 6, 3)):
        for block in range(count):
            layers.append(vision.Bottleneck(inputs, 64 << stage, 2 if block == 0 and stage > 0 else 1))
            inputs = 256 << stage
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000)).cuda()
    return model, pictures(model, 32, 224, 1000)


def vit():
    model = vision.Vit(768, 12, 12, 224, 16).cuda()
    return model, pictures(model, 16, 224, 100)


#: Name: model, type of autocast or None, how attention is computed.
CASES = {
    "gpt2-flash": (gpt2, torch.bfloat16, SDPBackend.FLASH_ATTENTION),
    "gpt2-math": (gpt2, torch.bfloat16, SDPBackend.MATH),
    "gpt2-cudnn": (gpt2, torch.bfloat16, SDPBackend.CUDNN_ATTENTION),
    "gpt2-efficient": (gpt2, None, SDPBackend.EFFICIENT_ATTENTION),
    "gpt2-explicit": (gpt2, torch.bfloat16, None),
    "llama": (llama, torch.bfloat16, SDPBackend.FLASH_ATTENTION),
    "resnet50": (resnet, None, None),
    "resnet50-bf16": (resnet, torch.bfloat16, None),
    "vit": (vit, torch.bfloat16, SDPBackend.FLASH_ATTENTION),
    "vit-fp32": (vit, None, SDPBackend.EFFICIENT_ATTENTION),
}


def main(name, path):
    make, autocast, attention = CASES[name]
    if name == "gpt2-explicit":
        F.scaled_dot_product_attention = explicit
    torch.manual_seed(0)
    model, loss = make()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)

    def step():
        chosen = sdpa_kernel(attention) if attention else contextlib.nullcontext()
        with chosen, torch.autocast("cuda", autocast, enabled=autocast is not None):
            loss().backward()
        optimizer.step()
        optimizer.zero_grad()

    counter = FlopCounterMode(display=False)
    with counter:
        step()
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"total": counter.get_total_flops(),
                   "operators": {str(name): count for name, count in counter.get_flop_counts()["Global"].items()}}, file)
    for _ in range(STEPS):
        step()


if __name__ == "__main__":
    main(*sys.argv[1:])
