# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains models of other people's libraries, made from their configurations, and writes what torch itself counted.

usage: real.py gpt2|llama|resnet50|unet|compiled [--steps N] [--truth FILE]
"""
import argparse

import torch
import torch.nn.functional as F

from truth import Truth


def tokens(vocabulary, batch, context):
    ids = torch.randint(vocabulary, (batch, context), device="cuda")
    return {"input_ids": ids, "labels": ids}


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    config = GPT2Config(use_cache=False)
    return GPT2LMHeadModel(config), lambda model: model(**tokens(config.vocab_size, 4, 512)).loss


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM
    config = LlamaConfig(hidden_size=1024, intermediate_size=2816, num_hidden_layers=8, num_attention_heads=16,
                         num_key_value_heads=4, use_cache=False)
    return LlamaForCausalLM(config), lambda model: model(**tokens(config.vocab_size, 2, 512)).loss


def resnet50():
    from torchvision.models import resnet50
    return resnet50(), lambda model: F.cross_entropy(model(torch.randn(16, 3, 224, 224, device="cuda")),
                                                     torch.randint(1000, (16,), device="cuda"))


def unet():
    from diffusers import DDPMScheduler, UNet2DConditionModel
    model = UNet2DConditionModel(sample_size=32, block_out_channels=(64, 128, 256, 256), cross_attention_dim=256,
                                 attention_head_dim=8)
    schedule = DDPMScheduler()

    def loss(model):
        latents, text = torch.randn(4, 4, 32, 32, device="cuda"), torch.randn(4, 77, 256, device="cuda")
        noise, times = torch.randn_like(latents), torch.randint(1000, (4,), device="cuda")
        return F.mse_loss(model(schedule.add_noise(latents, noise, times), times, text).sample, noise)
    return model, loss


def compiled():
    from models import Gpt
    model = torch.compile(Gpt(2, 256, 4, 1000, 128))

    def loss(model):
        ids = torch.randint(1000, (4, 128), device="cuda")
        return F.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
    return model, loss


MODELS = {"gpt2": gpt2, "llama": llama, "resnet50": resnet50, "unet": unet, "compiled": compiled}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--truth")
    arguments = parser.parse_args()
    torch.cuda.init()
    truth = Truth()
    model, loss = MODELS[arguments.model]()
    model = model.cuda().train()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(arguments.steps):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            value = loss(model)
        value.backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.synchronize()
    if arguments.truth:
        truth.write(arguments.truth)
    print("done")
    return model, optimizer, loss, value


if __name__ == "__main__":
    kept = main()  # what is counted here is still there when the recording ends
