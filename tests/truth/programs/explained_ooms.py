# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that run out of memory for a reason that is known, on a device of 2 GiB, one function a family (explained_list.OOMS).

Each gets the name of an edit, with which it ends well.
"""
import copy
import ctypes
import io
import re
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

MIB = 1 << 20
CAPACITY = 2 << 30


def tower(width, depth, out=10):
    layers = []
    for _ in range(depth):
        layers += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, out))


def empty(size):
    return torch.empty(size, dtype=torch.uint8, device="cuda")


def train(model, optimizer, rows, width, steps=4, forward=None):
    for _ in range(steps):
        x = torch.randn(rows, width, device="cuda")
        y = torch.zeros(rows, dtype=torch.long, device="cuda")
        optimizer.zero_grad()
        loss = F.cross_entropy((forward or model)(x), y)
        loss.backward()
        optimizer.step()


def model_too_large(n, rng, edit):
    width = rng.choice((2048, 3072, 4096))
    count = int(rng.uniform(1.1, 1.6) * CAPACITY / (4 * width * width))
    layers = nn.ModuleList()
    for _ in range(count):
        layers.append(nn.Linear(width, width, device="cuda", dtype=torch.bfloat16 if edit == "half" else None))
    return layers


def batch_too_large(n, rng, edit):
    width, depth = rng.choice((1024, 1536)), rng.randint(16, 24)
    model = tower(width, depth).cuda()
    rows = int(rng.uniform(1.15, 1.3) * (CAPACITY - 16 * width * width * depth) / (4 * width * depth))
    if edit == "half_batch":
        rows //= 2
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def recomputed(x):
        for layer in range(0, 2 * depth, 8):
            x = checkpoint(model[layer:min(layer + 8, 2 * depth)], x, use_reentrant=False)
        return model[-1](x)
    train(model, optimizer, rows, width, forward=recomputed if edit == "checkpoint" else None)
    return model


def losses_kept(n, rng, edit):
    width, rows = 1024, rng.randint(4000, 8000)
    model = tower(width, 4).cuda()
    optimizer, losses = torch.optim.SGD(model.parameters(), lr=0.1), []
    for _ in range(40):
        x = torch.randn(rows, width, device="cuda")
        loss = model(x).pow(2).mean()
        losses.append(loss.detach() if edit == "detach" else loss)
        if len(losses) % 2 == 0:
            optimizer.zero_grad()
            loss.backward(retain_graph=edit is None)
            optimizer.step()
    return losses


def outputs_kept(n, rng, edit):
    width, rows = 512, rng.randint(8, 24) * 1024
    model = tower(width, 3, 2048).cuda().eval()
    outputs = []
    with torch.no_grad():
        for _ in range(40):
            out = model(torch.randn(rows, width, device="cuda"))
            outputs.append(out.cpu() if edit == "on_host" else out)
    return outputs


def evaluation_with_grad(n, rng, edit):
    width, rows = 1024, rng.randint(40, 60) * 1024
    model = tower(width, 12).cuda().eval()
    right = 0
    with torch.set_grad_enabled(edit != "no_grad"):
        for _ in range(4):
            out = model(torch.randn(rows, width, device="cuda"))
            right += int(out.argmax(1).sum())
    return right


def mixed_sizes(n, rng, edit):
    """Requests whose sizes grow a little each time. Half of each stays, and no other half holds it."""
    kept, size = [], rng.randint(20, 30) * MIB
    while sum(each.numel() for each in kept) + 2 * size < 0.8 * CAPACITY:
        whole = empty(size)
        del whole
        kept.append(empty(size * 55 // 100))
        size += 6 * MIB
    return kept


def stream_cache(n, rng, edit):
    streams, kept = [torch.cuda.Stream() for _ in range(rng.choice((4, 8)))], []
    part = int(0.8 * CAPACITY / len(streams)) // (4 * MIB) * 4 * MIB
    for turn, stream in enumerate(streams):
        with torch.cuda.stream(streams[0] if edit == "one_stream" else stream):
            work = empty(part - turn * 2 * MIB)
            del work
            kept.append(empty(3 * MIB // 2))
    torch.cuda.synchronize()
    with torch.cuda.stream(streams[0]):
        return kept, empty(CAPACITY // 2)


def fraction_limit(n, rng, edit):
    if edit != "whole_device":
        torch.cuda.set_per_process_memory_fraction(rng.choice((0.25, 0.3, 0.35)))
    width = 1024
    model = tower(width, 10).cuda()
    train(model, torch.optim.SGD(model.parameters(), lr=0.1), int(0.5 * CAPACITY / (8 * width * 10)) + rng.randint(6000, 7000), width)
    return model


def one_huge(n, rng, edit):
    rows = rng.randint(26, 40) * 1024
    points = torch.randn(rows, 64, device="cuda")
    with torch.no_grad():
        if edit == "chunked":
            return [torch.cdist(part, points).amin(1) for part in points.split(1024)]
        return torch.cdist(points, points).amin(1)


def graph_pools(n, rng, edit):
    pools, count = [], rng.choice((4, 6, 8))
    shared = torch.cuda.MemPool()
    part = int(0.75 * CAPACITY / count) // (2 * MIB) * 2 * MIB
    for _ in range(count):
        pool = shared if edit == "shared_pool" else torch.cuda.MemPool()
        with torch.cuda.use_mem_pool(pool):
            empty(part)
        pools.append(pool)
    return pools, shared, empty(int(0.5 * CAPACITY))


def first_optimizer_step(n, rng, edit):
    width = rng.choice((1024, 2048))
    depth = int(rng.uniform(0.29, 0.32) * CAPACITY / (4 * width * width))
    with torch.device("cuda"):
        model = tower(width, depth)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, foreach=False) if edit == "sgd" else torch.optim.Adam(model.parameters())
    train(model, optimizer, 64, width)
    return model, optimizer


def second_process(n, rng, edit):
    """The test gives 1.2 GiB of the device to another process."""
    width = 1024
    model = tower(width, 12).cuda()
    time.sleep(1.5)  # loads its data, while the recorder reads what the driver says
    train(model, torch.optim.SGD(model.parameters(), lr=0.1), rng.randint(17000, 20000), width)
    return model


def library_memory(n, rng, edit):
    torch.cuda.init()
    with open("/proc/self/maps", encoding="utf-8") as maps:
        runtime = ctypes.CDLL(re.search(r"\S*/libcudart[^\s]*", maps.read()).group(0))
    address = ctypes.c_void_p()
    if runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(rng.randint(600, 680) * 2 * MIB)) != 0:
        raise SystemExit("cudaMalloc failed")
    return second_process(n, rng, edit)


class Tagger(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.embed, self.mix, self.head = nn.Embedding(vocabulary, width), nn.Linear(width, width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids):
        return self.mix(self.embed(ids)).relu()


def logits_huge(n, rng, edit):
    vocabulary, width, length = rng.choice((32000, 50304)), 256, 512
    model = Tagger(vocabulary, width).cuda()
    rows = int(rng.uniform(0.42, 0.46) * CAPACITY / (4 * vocabulary * length))
    rows = max(2, rows // 2 if edit == "half_batch" else rows)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        ids = torch.zeros(rows, length, dtype=torch.long, device="cuda")
        optimizer.zero_grad()
        hidden = model(ids).flatten(0, 1)
        if edit == "chunked_loss":
            loss = sum(checkpoint(lambda h, t: F.cross_entropy(model.head(h), t, reduction="sum"), h, t, use_reentrant=False)
                       for h, t in zip(hidden.split(256), ids.flatten().split(256)))
        else:
            loss = F.cross_entropy(model.head(hidden).float(), ids.flatten())
        loss.backward()
        optimizer.step()
    return model


def graphs_retained(n, rng, edit):
    width, rows = 512, rng.randint(2000, 4000)
    cell, head = nn.GRUCell(width, width).cuda(), nn.Linear(width, 10).cuda()
    hidden = torch.zeros(rows, width, device="cuda")
    optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
    optimizer.zero_grad()
    for _ in range(100):
        hidden = cell(torch.randn(rows, width, device="cuda"), hidden)
        loss = head(hidden).pow(2).mean()
        loss.backward(retain_graph=edit != "detach")
        if edit == "detach":
            hidden = hidden.detach()
    optimizer.step()
    return hidden


def scores_of_attention(n, rng, edit):
    width, heads = 512, 8
    qkv, out = nn.Linear(width, 3 * width).cuda(), nn.Linear(width, width).cuda()
    length = rng.choice((1024, 2048))
    rows = int(rng.uniform(0.3, 0.34) * CAPACITY / (4 * heads * length * length))
    rows, length = (rows // 2 if edit == "half_batch" else rows), (length // 2 if edit == "half_sequence" else length)
    x = torch.randn(rows, length, width, device="cuda")
    for _ in range(3):
        q, k, v = qkv(x).view(rows, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        if edit == "fused_attention":
            mixed = F.scaled_dot_product_attention(q, k, v)
        else:
            mixed = (q @ k.transpose(-2, -1) / 8).softmax(-1) @ v
        out(mixed.transpose(1, 2).reshape(rows, length, width)).sum().backward()
    return qkv, out


def weights_twice(n, rng, edit):
    width = 2048
    depth = int(rng.uniform(0.55, 0.7) * CAPACITY / (4 * width * width))
    with torch.device("meta"):
        model = tower(width, depth)
    model, file = model.to_empty(device="cpu"), io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    model.cuda()
    state = torch.load(file, map_location="cpu" if edit == "map_to_host" else "cuda", weights_only=True)
    model.load_state_dict(state)
    return model


def halves_pinned(n, rng, edit):
    """Segments whose halves are freed, then a request that no half holds."""
    piece = 2 * rng.randint(60, 100) * MIB
    whole = [empty(piece) for _ in range(int(0.96 * CAPACITY / piece))]
    count = len(whole)
    del whole
    held = [empty(piece // 2) for _ in range(2 * count)]
    held = held[::2]
    return held, empty(CAPACITY // 5)


def keys_and_values(n, rng, edit):
    """Keys and values that are joined anew for each token, in ever larger blocks."""
    heads, dim, rows, length, layers = 8, 64, rng.randint(58, 60), 1400, 12
    step = 50
    if edit == "preallocate":
        cache = [torch.zeros(2, rows, heads, length, dim, device="cuda", dtype=torch.bfloat16) for _ in range(layers)]
        return cache
    cache = [torch.zeros(2, rows, heads, step, dim, device="cuda", dtype=torch.bfloat16) for _ in range(layers)]
    with torch.inference_mode():
        for _ in range(length // step - 1):
            for layer in range(layers):
                new = torch.zeros(2, rows, heads, step, dim, device="cuda", dtype=torch.bfloat16)
                cache[layer] = torch.cat([cache[layer], new], 3)
    return cache


def copies_of_model(n, rng, edit):
    with torch.device("cuda"):
        model = tower(2048, int(rng.uniform(0.25, 0.3) * CAPACITY / (4 * 2048 * 2048)))
    copies = [copy.deepcopy(model) for _ in range(1 if edit == "one_copy" else 4)]
    return model, copies


def pending_frees(n, rng, edit):
    """Blocks that another stream still reads, freed while a graph is captured."""
    side, kept = torch.cuda.Stream(), [empty(100 * MIB) for _ in range(rng.randint(9, 12))]
    if edit == "synchronize":
        del kept[:]
        return empty(int(0.6 * CAPACITY))
    graph = torch.cuda.graph(torch.cuda.CUDAGraph(), stream=torch.cuda.Stream(), capture_error_mode="relaxed")
    graph.__enter__()
    for tensor in kept:
        tensor.record_stream(side)
    del kept[:], tensor
    return graph, empty(int(0.6 * CAPACITY))


def gradients_and_states(n, rng, edit):
    """Weights, gradients and states together, none of which is too large alone."""
    width = 1024
    kind = torch.bfloat16 if edit == "half" else None
    with torch.device("cuda"):
        model = tower(width, int(rng.uniform(0.255, 0.27) * CAPACITY / (4 * width * width))).to(kind)
    make = torch.optim.SGD if edit == "sgd" else torch.optim.Adam
    optimizer = make(model.parameters(), lr=0.001, **({"foreach": False}))
    for _ in range(3):
        x = torch.randn(64, width, device="cuda", dtype=kind)
        loss = model(x).float().pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model, optimizer
