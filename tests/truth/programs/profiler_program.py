# SPDX-License-Identifier: GPL-3.0-or-later
"""A small program under torch.profiler, as people write it: profiler_program.py MODEL TRACE. Prints one line of JSON: what
key_averages() adds up to on the GPU, what it charges to operators, and the FLOPs of a step as torch counts them: of matrix products,
and by operator."""
import json
import os
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils.flop_counter import FlopCounterMode


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.behind = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.before(x)).split(width, 2)
        q, k, v = (p.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for p in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.behind(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, width=256, heads=4, layers=4, words=1000, length=128):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Bottleneck(nn.Module):
    def __init__(self, width, inner, stride):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(width, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU(),
            nn.Conv2d(inner, inner, 3, stride, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU(),
            nn.Conv2d(inner, 4 * inner, 1, bias=False), nn.BatchNorm2d(4 * inner))
        self.side = nn.Sequential()
        if stride != 1 or width != 4 * inner:
            self.side = nn.Sequential(nn.Conv2d(width, 4 * inner, 1, stride, bias=False), nn.BatchNorm2d(4 * inner))

    def forward(self, x):
        return F.relu(self.layers(x) + self.side(x))


def conv_net():
    layers = [nn.Conv2d(3, 32, 7, 2, 3, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    width = 32
    for inner, count, stride in ((32, 2, 1), (64, 2, 2), (128, 2, 2)):
        for index in range(count):
            layers.append(Bottleneck(width, inner, stride if index == 0 else 1))
            width = 4 * inner
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 100))


def training(model, inputs, targets, autocast):
    model = model.cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)

    def step():
        x, y = inputs.cuda(non_blocking=True), targets.cuda(non_blocking=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=autocast):
            out = model(x)
            loss = F.cross_entropy(out.reshape(-1, out.shape[-1]), y.reshape(-1))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()

    return step


def mlp():
    model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 10))
    return training(model, torch.randn(32, 64).pin_memory(), torch.randint(0, 10, (32,)), False)


def gpt():
    tokens = torch.randint(0, 1000, (4, 128))
    return training(Gpt(), tokens, tokens, True)


def conv(autocast):
    return training(conv_net(), torch.randn(8, 3, 64, 64), torch.randint(0, 100, (8,)), autocast)


def ddp():
    import torch.distributed as dist
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=4)
    torch.cuda.set_device(0)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 10)).cuda())
    return training(model, torch.randn(32, 64), torch.randint(0, 10, (32,)), False)


def graphs():
    model = nn.Sequential(nn.Linear(128, 128), nn.GELU(), nn.Linear(128, 128)).cuda()
    x = torch.zeros(16, 128, device="cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            model(x)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        (model(x) * 2).sum()

    return graph.replay


def streams():
    x = torch.zeros(256, 256, device="cuda")
    side = torch.cuda.Stream()
    pinned, pageable = torch.zeros(1 << 18).pin_memory(), torch.zeros(1 << 18)

    def step():
        done = torch.cuda.Event()
        with torch.cuda.stream(side):
            y = x @ x.t()
            copied = pinned.to("cuda", non_blocking=True)
            done.record(side)
        torch.cuda.current_stream().wait_event(done)
        z = (y + 1).sum() + copied.sum() + pageable.cuda().sum()
        z.cpu()
        done.synchronize()
        torch.cuda.synchronize()

    return step


def libraries():
    """What goes through libraries other than cuBLAS and cuDNN's graphs."""
    square = torch.eye(16, device="cuda")
    sparse = torch.sparse_csr_tensor(torch.arange(17), torch.arange(16), torch.ones(16), (16, 16)).cuda()
    lstm = nn.LSTM(8, 16).cuda()
    sequence = torch.zeros(5, 2, 8, device="cuda")

    def step():
        torch.special.bessel_j0(square)  # compiled at run time: a launch of the driver
        torch.fft.fft2(square)
        torch.linalg.cholesky_ex(square)
        torch.linalg.qr(square)
        sparse @ square
        lstm(sequence)[0].sum().backward()

    return step


MODELS = {"mlp": mlp, "gpt": gpt, "conv": lambda: conv(False), "conv_amp": lambda: conv(True), "ddp": ddp, "graphs": graphs,
          "streams": streams, "libraries": libraries}


def main():
    name, path = sys.argv[1:]
    step = MODELS[name]()
    step()
    torch.cuda.synchronize()
    more = {}
    if name in ("graphs", "streams"):
        more["experimental_config"] = torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True, **more) as profiler:
        for index in range(3):
            with record_function(f"ProfilerStep#{index}"):
                step()
    profiler.export_chrome_trace(path)
    averages = profiler.key_averages()
    averages.table(sort_by="self_cuda_time_total", row_limit=5)
    with FlopCounterMode(display=False) as counter:
        step()
    counted = counter.get_flop_counts().get("Global", {})
    products = sum(flops for operator, flops in counted.items() if str(operator) in ("aten.mm", "aten.addmm", "aten.bmm"))
    own = {"gpu_us": 0, "operators_us": 0, "product_flops": products,
           "flops": {str(operator): flops for operator, flops in counted.items()}}
    for each in averages:
        if not each.is_user_annotation:
            on_gpu = each.device_type == torch.autograd.DeviceType.CUDA
            own["gpu_us" if on_gpu else "operators_us"] += each.self_device_time_total
    print(json.dumps(own))
    if name == "ddp":
        import torch.distributed as dist
        dist.destroy_process_group()
    # Autograd's thread lets go of what it keeps of Python behind backward(), sometime. PyTorch ends the process with SIGABRT where that
    # is while Python ends, which a busy machine makes likely: Python does not end.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
