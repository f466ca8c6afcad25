# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of explained_held_list.py: ledger_FAMILY, oom_FAMILY and loop_FAMILY, of which rules know nothing."""
import copy
import functools
import gc
import heapq
import os
import tempfile
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

from explained_ledgers import backward_of, batch_of, ids_of, learn, step_of, update_of
from explained_loops import an_optimizer, batch, layers_of, trained, turns
from explained_ooms import CAPACITY, tower


class Residual(nn.Module):
    def __init__(self, before, after, width):
        super().__init__()
        self.first = nn.Sequential(nn.GroupNorm(8, before), nn.SiLU(), nn.Conv2d(before, after, 3, padding=1))
        self.shift = nn.Linear(width, after)
        self.second = nn.Sequential(nn.GroupNorm(8, after), nn.SiLU(), nn.Dropout(0.1), nn.Conv2d(after, after, 3, padding=1))
        self.skip = nn.Conv2d(before, after, 1) if before != after else nn.Identity()

    def forward(self, x, time_of):
        return self.second(self.first(x) + self.shift(time_of)[:, :, None, None]) + self.skip(x)


class Unet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.time = nn.Sequential(nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width))
        self.labels = nn.Embedding(11, width)
        self.first, self.last = nn.Conv2d(3, width, 3, padding=1), nn.Conv2d(width, 3, 3, padding=1)
        self.down = nn.ModuleList([Residual(width, width, width), Residual(width, 2 * width, width)])
        self.middle = Residual(2 * width, 2 * width, width)
        self.up = nn.ModuleList([Residual(4 * width, width, width), Residual(2 * width, width, width)])

    def forward(self, x, t, y):
        steps = torch.exp(torch.arange(self.width // 2, device=x.device) * (-9.2 / (self.width // 2)))
        angles = t[:, None] * steps
        now = self.time(torch.cat([angles.sin(), angles.cos()], -1)) + self.labels(y)
        x, sides = self.first(x), []
        for layer in self.down:
            x = layer(x, now)
            sides.append(x)
            x = F.avg_pool2d(x, 2)
        x = self.middle(x, now)
        for layer in self.up:
            x = layer(torch.cat([F.interpolate(x, scale_factor=2.0), sides.pop()], 1), now)
        return self.last(x)


class Diffusion(nn.Module):
    def __init__(self, net, steps):
        super().__init__()
        self.net, self.steps = net, steps
        noise = torch.cos((torch.arange(steps) / steps + 0.008) / 1.008 * 1.5707963) ** 2
        for name, table in (("alphas_bar", noise), ("signal", noise.sqrt()), ("noise", (1 - noise).sqrt())):
            self.register_buffer(name, table)

    def forward(self, x, y):
        t = torch.randint(self.steps, (len(x),), device=x.device)
        noise = torch.randn_like(x)
        noisy = self.signal[t][:, None, None, None] * x + self.noise[t][:, None, None, None] * noise
        return F.mse_loss(self.net(noisy, t, y), noise)

    @torch.no_grad()
    def sample(self, y, size, steps=3):
        x = torch.randn(len(y), 3, size, size, device="cuda")
        for step in reversed(range(0, self.steps, self.steps // steps)):
            t = torch.full((len(y),), step, device="cuda")
            noise = self.net(x, t, y)
            x = (x - self.noise[step] * noise) / self.signal[step]
        return x


def ledger_diffusion(n, rng):
    width, size, rows = 32 * rng.randint(1, 3), rng.choice((16, 32)), rng.randint(4, 24)
    model = Diffusion(Unet(width), 1000).cuda()
    n.weights(model)
    average = {name: p.detach().clone() for name, p in model.named_parameters()}
    n.all("other", average)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    for _ in range(5):
        x, y = batch_of(n, rows, 3, size, size)
        step_of(n, model, optimizer, lambda: model(x, y))
        schedule.step()
        with torch.no_grad(), n.phase("no_grad"):
            for name, p in model.named_parameters():
                average[name].mul_(0.999).add_(p, alpha=0.001)
    model.eval()
    labels = torch.arange(4, device="cuda")
    n.all("input", labels)
    with n.phase("no_grad"):
        pictures = model.sample(labels, size)
    n.all("other", pictures)
    return model, average, optimizer, pictures


def weight_of(packed, scales, rows):
    """Two numbers of four bits in a byte; each block of 64 numbers has a scale."""
    values = torch.stack([packed & 15, packed >> 4], -1).to(torch.bfloat16).view(len(scales), -1)
    return ((values - 8) * scales[:, None]).view(rows, -1)


class QuantisedProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, packed, scales, rows):
        ctx.save_for_backward(packed, scales)
        ctx.rows = rows
        return x @ weight_of(packed, scales, rows).t()

    @staticmethod
    def backward(ctx, slope):
        packed, scales = ctx.saved_tensors
        return slope @ weight_of(packed, scales, ctx.rows), None, None, None


class QuantisedLinear(nn.Module):
    def __init__(self, before, after, rank):
        super().__init__()
        self.rows = after
        self.register_buffer("packed", torch.randint(256, (before * after // 2,), dtype=torch.uint8))
        self.register_buffer("scales", torch.rand(before * after // 64, dtype=torch.bfloat16))
        self.drop = nn.Dropout(0.05)
        self.down, self.up = nn.Linear(before, rank, bias=False), nn.Linear(rank, after, bias=False)

    def forward(self, x):
        return QuantisedProduct.apply(x, self.packed, self.scales, self.rows) + self.up(self.down(self.drop(x.float()))).to(x.dtype)


class QuantisedBlock(nn.Module):
    def __init__(self, width, heads, rank):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width, dtype=torch.bfloat16).requires_grad_(False) for _ in range(2))
        self.qkv, self.out = QuantisedLinear(width, 3 * width, rank), QuantisedLinear(width, width, rank)
        self.up, self.down = QuantisedLinear(width, 4 * width, rank), QuantisedLinear(4 * width, width, rank)

    def forward(self, x):
        q, k, v = self.qkv(self.norms[0](x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.down(F.silu(self.up(self.norms[1](x))))


def ledger_quantised_adapters(n, rng):
    width, vocabulary, rows, length = 128 * rng.randint(2, 6), rng.randint(2000, 12000), rng.randint(1, 6), rng.randint(32, 128)
    embed = nn.Embedding(vocabulary, width, dtype=torch.bfloat16).requires_grad_(False)
    blocks = nn.ModuleList(QuantisedBlock(width, 4, rng.choice((4, 8, 16, 32))) for _ in range(rng.randint(2, 4)))
    head = nn.Linear(width, vocabulary, bias=False, dtype=torch.bfloat16).requires_grad_(False)
    model = nn.ModuleDict({"embed": embed, "blocks": blocks, "head": head}).cuda()
    n.weights(model)
    learned = [p for p in model.parameters() if p.requires_grad]
    optimizer, micro = torch.optim.AdamW(learned, lr=1e-4), rng.randint(2, 4)

    def loss_of(ids):
        x = embed(ids[:, :-1])
        for block in blocks:
            x = block(x)
        return F.cross_entropy(head(x).float().flatten(0, 1), ids[:, 1:].flatten()) / micro
    for _ in range(3):
        for _ in range(micro):
            ids = ids_of(n, rng, vocabulary, rows, length)
            with n.phase("forward"):
                loss = loss_of(ids)
            backward_of(n, loss, learned)
        torch.nn.utils.clip_grad_norm_(learned, 0.3)
        update_of(n, optimizer)
        optimizer.zero_grad()
    return model, optimizer


class ActorCritic(nn.Module):
    def __init__(self, seen, actions, width):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(seen, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, actions))
        self.critic = nn.Sequential(nn.Linear(seen, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))
        self.spread = nn.Parameter(torch.zeros(1, actions))

    def forward(self, seen, action=None):
        policy = torch.distributions.Normal(self.actor(seen), self.spread.exp(), validate_args=False)
        if action is None:
            action = policy.mean + policy.stddev * torch.randn_like(policy.mean)
        return action, policy.log_prob(action).sum(1), policy.entropy().sum(1), self.critic(seen)[:, 0]


def ledger_rollouts(n, rng):
    seen, actions, width = rng.randint(30, 400), rng.randint(4, 20), 64 * rng.randint(2, 10)
    length, players = rng.choice((16, 32)), rng.choice((64, 128, 256, 512))
    agent = ActorCritic(seen, actions, width).cuda()
    n.weights(agent)
    optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4, eps=1e-5)
    store = {"seen": torch.zeros(length, players, seen, device="cuda"), "actions": torch.zeros(length, players, actions, device="cuda"),
             **{name: torch.zeros(length, players, device="cuda") for name in ("logs", "rewards", "ends", "values")}}
    n.all("other", store)
    now = torch.zeros(players, seen).cuda()
    n.all("input", now)
    for _ in range(2):
        for step in range(length):
            store["seen"][step] = now
            with torch.no_grad(), n.phase("no_grad"):
                store["actions"][step], store["logs"][step], _, store["values"][step] = agent(now)
            now = torch.randn(players, seen).cuda()
            reward = torch.randn(players).cuda()
            n.all("input", [now, reward])
            store["rewards"][step] = reward
        with torch.no_grad(), n.phase("no_grad"):
            value, last = agent.critic(now)[:, 0], 0
            gains = torch.zeros_like(store["rewards"])
            n.all("other", gains)
            for step in reversed(range(length)):
                delta = store["rewards"][step] + 0.99 * value * (1 - store["ends"][step]) - store["values"][step]
                gains[step] = last = delta + 0.95 * 0.99 * (1 - store["ends"][step]) * last
                value = store["values"][step]
            returns = gains + store["values"]
            n.all("other", returns)
            del value, last, delta
        flat = {name: each.flatten(0, 1) for name, each in {**store, "gains": gains, "returns": returns}.items()}
        for _ in range(2):
            order = torch.randperm(length * players, device="cuda")
            n.all("input", order)
            for part in order.chunk(4):
                some = {name: flat[name][part] for name in ("seen", "actions", "logs", "gains", "returns")}
                n.all("input", some)
                with n.phase("forward"):
                    _, log, entropy, value = agent(some["seen"], some["actions"])
                    ratio = (log - some["logs"]).exp()
                    gain = (some["gains"] - some["gains"].mean()) / (some["gains"].std() + 1e-8)
                    loss = torch.max(-gain * ratio, -gain * ratio.clamp(0.8, 1.2)).mean()
                    loss = loss + 0.5 * (value - some["returns"]).square().mean() - 0.01 * entropy.mean()
                optimizer.zero_grad()
                backward_of(n, loss, agent.parameters())
                torch.nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                update_of(n, optimizer)
    return agent, optimizer, store, flat, now


class Contrast(nn.Module):
    """Momentum contrast, with its queue as a buffer."""

    def __init__(self, width, out, room):
        super().__init__()
        self.query = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.BatchNorm2d(width), nn.ReLU(inplace=True), nn.Conv2d(width, 2 * width, 3, 2, 1),
                                   nn.BatchNorm2d(2 * width), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                                   nn.Linear(2 * width, 2 * width), nn.ReLU(), nn.Linear(2 * width, out))
        self.key = copy.deepcopy(self.query).requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(out, room), dim=0))
        self.place = 0

    @torch.no_grad()
    def follow(self):
        for mine, other in zip(self.key.parameters(), self.query.parameters()):
            mine.data = mine.data * 0.999 + other.data * 0.001

    @torch.no_grad()
    def enqueue(self, keys):
        self.queue[:, self.place:self.place + len(keys)] = keys.t()
        self.place = (self.place + len(keys)) % self.queue.shape[1]


def ledger_queue_of_keys(n, rng):
    rows, size = rng.choice((32, 64, 128)), rng.choice((32, 48, 64))
    model = Contrast(8 * rng.randint(2, 6), rng.choice((64, 128)), rows * rng.randint(64, 256)).cuda()
    n.weights(model)
    optimizer = torch.optim.SGD(model.query.parameters(), lr=0.03, momentum=0.9, weight_decay=1e-4)
    for _ in range(5):
        first, second = (torch.randn(rows, 3, size, size).cuda() for _ in range(2))
        n.all("input", [first, second])
        with n.phase("no_grad"), torch.no_grad():
            model.follow()
            keys = F.normalize(model.key(second), dim=1)
        n.weights(model)
        n.all("other", keys)

        def loss_of():
            query = F.normalize(model.query(first), dim=1)
            right = (query * keys).sum(1, keepdim=True)
            wrong = query @ model.queue.clone()
            return F.cross_entropy(torch.cat([right, wrong], 1) / 0.07, torch.zeros(rows, dtype=torch.long, device="cuda"))
        step_of(n, model.query, optimizer, loss_of)
        with n.phase("no_grad"):
            model.enqueue(keys)
    return model, optimizer


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return (x.float() * torch.rsqrt(x.float().square().mean(-1, keepdim=True) + 1e-6)).type_as(x) * self.weight


def turned(x, table):
    """Rotary positions."""
    first, second = x.float().chunk(2, -1)
    cos, sin = table[0, :x.shape[-2]], table[1, :x.shape[-2]]
    return torch.cat([first * cos - second * sin, first * sin + second * cos], -1).type_as(x)


class Experts(nn.Module):
    """Each expert chooses its tokens."""

    def __init__(self, width, count, hidden):
        super().__init__()
        self.gate = nn.Linear(width, count, bias=False)
        self.up, self.down = nn.Parameter(torch.randn(count, width, hidden) / 9), nn.Parameter(torch.randn(count, hidden, width) / 9)

    def forward(self, x):
        flat = x.flatten(0, 1)
        shares = self.gate(flat).float().softmax(-1)
        weights, tokens = shares.t().topk(max(1, 2 * len(flat) // shares.shape[1]), -1)
        out = torch.bmm(F.gelu(torch.bmm(flat[tokens], self.up)), self.down) * weights[..., None].to(x.dtype)
        mixed = torch.zeros_like(flat).index_add(0, tokens.flatten(), out.flatten(0, 1).to(flat.dtype))
        return mixed.view_as(x), shares.mean(0).square().sum()


class ExpertModel(nn.Module):
    def __init__(self, width, depth, heads, count, vocabulary, length):
        super().__init__()
        self.heads, self.embed, self.norm = heads, nn.Embedding(vocabulary, width), RmsNorm(width)
        self.layers = nn.ModuleList(nn.ModuleDict({"before": RmsNorm(width), "qkv": nn.Linear(width, 3 * width, bias=False), "after": RmsNorm(width),
                                                   "out": nn.Linear(width, width, bias=False), "experts": Experts(width, count, 2 * width)})
                                    for _ in range(depth))
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.embed.weight
        angles = torch.arange(length)[:, None] * (1e4 ** (-torch.arange(width // heads // 2) / (width // heads // 2)))
        self.register_buffer("table", torch.stack([angles.cos(), angles.sin()]), persistent=False)

    def forward(self, ids):
        x, balance = self.embed(ids), 0
        for layer in self.layers:
            q, k, v = layer["qkv"](layer["before"](x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
            mixed = F.scaled_dot_product_attention(turned(q, self.table), turned(k, self.table), v, is_causal=True)
            x = x + layer["out"](mixed.transpose(1, 2).flatten(2))
            more, uneven = layer["experts"](layer["after"](x))
            x, balance = x + more, balance + uneven
        return self.head(self.norm(x)), balance


def ledger_experts(n, rng):
    vocabulary, length, rows = rng.randint(1000, 6000), rng.randint(32, 128), rng.randint(2, 6)
    model = ExpertModel(64 * rng.randint(2, 5), rng.randint(1, 3), 4, rng.choice((4, 8)), vocabulary, 256).cuda()
    n.weights(model)
    groups = [{"params": [p for p in model.parameters() if p.dim() >= 2], "weight_decay": 0.1},
              {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=3e-4, fused=rng.random() < 0.5)
    for _ in range(4):
        ids = ids_of(n, rng, vocabulary, rows, length + 1)

        def loss_of():
            with torch.autocast("cuda", dtype=torch.bfloat16):
                out, balance = model(ids[:, :-1])
                return F.cross_entropy(out.flatten(0, 1), ids[:, 1:].flatten()) + 0.01 * balance
        step_of(n, model, optimizer, loss_of)
    return model, optimizer


class Muon(torch.optim.Optimizer):
    """Momentum made orthogonal by iterations of Newton and Schulz."""

    def __init__(self, parameters, lr=0.02):
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["momentum_buffer"] = torch.zeros_like(p)
                state["momentum_buffer"].lerp_(p.grad, 0.05)
                x = p.grad.lerp(state["momentum_buffer"], 0.95).bfloat16()
                x = x / (x.norm() + 1e-7)
                for _ in range(5):
                    a = x @ x.t()
                    x = 3.4445 * x + (-4.775 * a + 2.0315 * a @ a) @ x
                p.add_(x.to(p.dtype), alpha=-group["lr"])


class MaskedBlock(nn.Module):
    """Attention with a mask that is a buffer, as small language models have it."""

    def __init__(self, width, heads, length):
        super().__init__()
        self.heads, self.first, self.second = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out, self.drop = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False), nn.Dropout(0.1)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width, bias=False), nn.GELU(), nn.Linear(4 * width, width, bias=False))
        self.register_buffer("mask", torch.tril(torch.ones(length, length)).view(1, 1, length, length))

    def forward(self, x):
        length = x.shape[1]
        q, k, v = self.qkv(self.first(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-2, -1) / 8).masked_fill(self.mask[:, :, :length, :length] == 0, float("-inf"))
        x = x + self.out((self.drop(scores.softmax(-1)) @ v).transpose(1, 2).flatten(2))
        return x + self.mlp(self.second(x))


def ledger_orthogonal_updates(n, rng):
    width, vocabulary, length, rows = 64 * rng.randint(2, 8), rng.randint(1000, 8000), rng.choice((64, 128)), rng.randint(2, 8)
    model = nn.ModuleDict({"tokens": nn.Embedding(vocabulary, width), "places": nn.Embedding(length, width), "norm": nn.LayerNorm(width),
                           "blocks": nn.ModuleList(MaskedBlock(width, 4, length) for _ in range(rng.randint(2, 4))),
                           "head": nn.Linear(width, vocabulary, bias=False)}).cuda()
    model["tokens"].weight = model["head"].weight
    n.weights(model)
    matrices = [p for p in model["blocks"].parameters() if p.dim() == 2]
    known = set(map(id, matrices))
    first = Muon(matrices)
    second = torch.optim.AdamW([p for p in model.parameters() if id(p) not in known], lr=3e-3, betas=(0.8, 0.95))
    places = torch.arange(length, device="cuda")
    n.all("input", places)
    for _ in range(3):
        for _ in range(2):
            ids = ids_of(n, rng, vocabulary, rows, length + 1)
            with n.phase("forward"):
                x = model["tokens"](ids[:, :-1]) + model["places"](places)
                for block in model["blocks"]:
                    x = block(x)
                out = 15 * torch.tanh(model["head"](model["norm"](x)) / 15)
                loss = F.cross_entropy(out.flatten(0, 1), ids[:, 1:].flatten()) / 2
                del x, out
            backward_of(n, loss, model.parameters())
        for optimizer in (first, second):
            update_of(n, optimizer)
            optimizer.zero_grad()
    return model, first, second, places


class StaticCache(nn.Module):
    def __init__(self, rows, heads, length, width, dtype):
        super().__init__()
        for name in ("k", "v"):
            self.register_buffer(name, torch.zeros(rows, heads, length, width, dtype=dtype))

    def forward(self, places, k, v):
        self.k[:, :, places], self.v[:, :, places] = k, v
        return self.k, self.v


class Served(nn.Module):
    def __init__(self, width, depth, heads, shared, vocabulary):
        super().__init__()
        self.heads, self.shared, self.width = heads, shared, width // heads
        self.embed, self.norm, self.head = nn.Embedding(vocabulary, width), RmsNorm(width), nn.Linear(width, vocabulary, bias=False)
        self.layers = nn.ModuleList()
        for _ in range(depth):
            self.layers.append(nn.ModuleDict({
                "before": RmsNorm(width), "qkv": nn.Linear(width, width + 2 * shared * self.width, bias=False), "after": RmsNorm(width),
                "out": nn.Linear(width, width, bias=False), "gate": nn.Linear(width, 3 * width, bias=False),
                "up": nn.Linear(width, 3 * width, bias=False), "down": nn.Linear(3 * width, width, bias=False)}))

    def prepare(self, rows, length, dtype):
        for layer in self.layers:
            layer["cache"] = StaticCache(rows, self.shared, length, self.width, dtype).cuda()
        angles = torch.arange(length, device="cuda")[:, None] * (1e4 ** (-torch.arange(self.width // 2, device="cuda") / self.width))
        self.register_buffer("table", torch.stack([angles.cos(), angles.sin()]), persistent=False)
        self.register_buffer("mask", torch.ones(length, length, dtype=torch.bool, device="cuda").tril(), persistent=False)

    def forward(self, ids, places):
        x, table, mask = self.embed(ids), self.table[:, places], self.mask[None, None, places]
        for layer in self.layers:
            q, k, v = layer["qkv"](layer["before"](x)).unflatten(-1, (-1, self.width)).transpose(1, 2).split(
                [self.heads, self.shared, self.shared], 1)
            k, v = layer["cache"](places, turned(k, table), v)
            k, v = (each.repeat_interleave(self.heads // self.shared, 1) for each in (k, v))
            mixed = F.scaled_dot_product_attention(turned(q, table), k, v, attn_mask=mask)
            x = x + layer["out"](mixed.transpose(1, 2).flatten(2))
            now = layer["after"](x)
            x = x + layer["down"](F.silu(layer["gate"](now)) * layer["up"](now))
        return self.head(self.norm(x[:, -1:]))


def ledger_served_from_file(n, rng):
    width, vocabulary, rows, length = 128 * rng.randint(3, 8), rng.randint(8000, 32000), rng.randint(2, 12), 64 * rng.randint(6, 24)
    dtype, how = rng.choice((torch.float16, torch.bfloat16)), (width, rng.randint(2, 4), 8, rng.choice((2, 4)), vocabulary)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weights.pt")
        torch.save(Served(*how).to(dtype).state_dict(), path)
        with torch.device("meta"):
            model = Served(*how)
        model.load_state_dict(torch.load(path, mmap=True, weights_only=True), assign=True)
        model = model.to("cuda").eval().requires_grad_(False)
    model.prepare(rows, length, dtype)
    n.weights(model)
    answers = []
    for _ in range(rng.randint(2, 4)):
        prompt = rng.randint(8, 64)
        ids = ids_of(n, rng, vocabulary, rows, prompt)
        places = torch.arange(prompt, device="cuda")
        n.all("input", places)
        with torch.inference_mode(), n.phase("no_grad"):
            said = []
            for _ in range(rng.randint(8, 24)):
                out = model(ids, places)[:, -1] / 0.8
                best, which = out.topk(50)
                ids = which.gather(1, (best.softmax(-1) / torch.empty_like(best).exponential_(1)).argmax(-1, keepdim=True))
                places = places[-1:] + 1
                said.append(ids)
            answers.append(torch.cat(said, 1))
            del said, out, best, which
        n.all("other", [answers, ids, places])
        del ids, places
    return model, answers


def ledger_ensemble(n, rng):
    width, rows, count = 8 * rng.randint(32, 120), rng.randint(64, 512), rng.randint(3, 8)
    made = [nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width), nn.ELU(), nn.Dropout(0.1), nn.Linear(width, width), nn.ELU(),
                          nn.Linear(width, 10)).cuda() for _ in range(count)]
    for each in made:
        n.weights(each)
    weights, tables = torch.func.stack_module_state(made)
    n.all("parameter", weights)
    form = copy.deepcopy(made[0]).to("meta")
    del made, each
    optimizer, apart = torch.optim.Adam(weights.values(), foreach=rng.random() < 0.5), rng.random() < 0.5

    def one(mine, others, x, y):
        return F.cross_entropy(torch.func.functional_call(form, (mine, others), (x,)), y)
    for _ in range(4):
        x = torch.randn(*([count] if apart else []), rows, width, device="cuda")
        y = torch.zeros(x.shape[:-1], dtype=torch.long, device="cuda")
        n.all("input", [x, y])
        with n.phase("forward"):
            loss = torch.func.vmap(one, (0, 0, 0, 0) if apart else (0, 0, None, None), randomness="different")(weights, tables, x, y).sum()
        learn(n, loss, weights.values(), optimizer)
    form.eval()
    x = torch.randn(4 * rows, width, device="cuda")
    n.all("input", x)
    with torch.no_grad(), n.phase("no_grad"):
        said = torch.func.vmap(lambda mine, others: torch.func.functional_call(form, (mine, others), (x,)).softmax(-1))(weights, tables)
        found = said.mean(0), said.var(0)
        del said
    n.all("other", found)
    return weights, optimizer, found


class Prefetcher:
    """Copies the next batch on a stream of its own while this one is used."""

    def __init__(self, n, batches, rows, size):
        self.n, self.left, self.rows, self.size, self.stream = n, batches, rows, size, torch.cuda.Stream()
        self.mean, self.spread = (torch.tensor(numbers).cuda().view(1, 3, 1, 1) for numbers in ([123.7, 116.3, 103.5], [58.4, 57.1, 57.4]))
        n.all("other", [self.mean, self.spread])
        self.load()

    def load(self):
        self.x = self.y = None
        if not self.left:
            return
        self.left -= 1
        x, y = torch.zeros(self.rows, 3, self.size, self.size, dtype=torch.uint8).pin_memory(), torch.zeros(self.rows, dtype=torch.long).pin_memory()
        with torch.cuda.stream(self.stream):
            x, self.y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
            self.n.all("input", [x, self.y])
            self.x = x.float().sub_(self.mean).div_(self.spread)
            self.n.all("input", self.x)

    def __iter__(self):
        while self.x is not None:
            torch.cuda.current_stream().wait_stream(self.stream)
            x, y = self.x, self.y
            for each in (x, y):
                each.record_stream(torch.cuda.current_stream())
            self.load()
            yield x, y


class Bottleneck(nn.Module):
    def __init__(self, width):
        super().__init__()
        part = width // 4
        self.body = nn.Sequential(nn.Conv2d(width, part, 1, bias=False), nn.BatchNorm2d(part), nn.ReLU(inplace=True),
                                  nn.Conv2d(part, part, 3, padding=1, bias=False), nn.BatchNorm2d(part), nn.ReLU(inplace=True),
                                  nn.Conv2d(part, width, 1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return F.relu(self.body(x) + x, inplace=True)


def ledger_scaled_prefetch(n, rng):
    width, size, rows = 64 * rng.randint(2, 8), rng.choice((64, 96, 128)), rng.randint(8, 32)
    model = nn.Sequential(nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1),
                          *(Bottleneck(width) for _ in range(rng.randint(2, 4))), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 1000))
    model = model.cuda().to(memory_format=torch.channels_last)
    n.weights(model)
    flat, deep = ([p for p in model.parameters() if (p.dim() > 1) == wanted] for wanted in (False, True))
    optimizer = torch.optim.SGD([{"params": flat, "weight_decay": 0}, {"params": deep, "weight_decay": 5e-5}], lr=0.5, momentum=0.9, nesterov=True)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in Prefetcher(n, 6, rows, size):
        x = x.contiguous(memory_format=torch.channels_last)
        n.all("input", x)
        optimizer.zero_grad(set_to_none=True)
        with n.phase("forward"), torch.autocast("cuda", dtype=torch.float16):
            loss = F.cross_entropy(model(x), y, label_smoothing=0.1)
        with n.phase("forward"):
            loss = scaler.scale(loss)
        n.all("other", [scaler._scale, scaler._growth_tracker])
        backward_of(n, loss, model.parameters())
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        with n.phase("optimizer"):
            scaler.step(optimizer)
        n.states_of(optimizer)
        scaler.update()
        n.all("other", [scaler._scale, scaler._growth_tracker])
    return model, optimizer, scaler


def ledger_growing_points(n, rng):
    """A scene of points, which are its parameters, and which grow in number."""
    count, pixels, views = rng.randint(8, 24) * 1000, rng.choice((256, 512, 1024)), rng.randint(3, 8)
    shapes = {"means": (3,), "scales": (3,), "turns": (4,), "shares": (1,), "colours": (rng.choice((4, 9, 16)), 3)}
    scene = {name: nn.Parameter(torch.randn(count, *shape, device="cuda")) for name, shape in shapes.items()}
    n.all("parameter", scene)
    optimizers = {name: torch.optim.Adam([p], lr=1e-3, eps=1e-15) for name, p in scene.items()}
    pictures = [torch.rand(pixels, 3).cuda() for _ in range(views)]
    rays = [torch.rand(pixels, 2).cuda() for _ in range(views)]
    n.all("input", [pictures, rays])
    moved = torch.zeros(count, device="cuda")
    n.all("other", moved)

    def loss_of(view):
        flat = scene["means"][:, :2] / (scene["means"][:, 2:].abs() + 1)
        far = torch.cdist(rays[view], flat)
        alpha = scene["shares"].sigmoid()[:, 0] * torch.exp(-far / scene["scales"].exp().mean(1))
        colours = scene["colours"].sum(1) * F.normalize(scene["turns"], dim=-1)[:, :1]
        return (alpha @ colours.sigmoid() / (alpha.sum(1, keepdim=True) + 1) - pictures[view]).abs().mean()
    for step in range(6):
        with n.phase("forward"):
            loss = loss_of(step % views)
        backward_of(n, loss, scene.values())
        with torch.no_grad(), n.phase("no_grad"):
            moved += scene["means"].grad.norm(dim=-1)
        for optimizer in optimizers.values():
            update_of(n, optimizer)
            optimizer.zero_grad(set_to_none=True)
        if step % 2:
            with torch.no_grad(), n.phase("no_grad"):
                most = moved.topk(count // 8).indices
                for name, old in list(scene.items()):
                    new = nn.Parameter(torch.cat([old, old[most]]))
                    state = optimizers[name].state.pop(old)
                    for key in ("exp_avg", "exp_avg_sq"):
                        state[key] = torch.cat([state[key], torch.zeros_like(old[most])])
                    optimizers[name].param_groups[0]["params"], optimizers[name].state[new], scene[name] = [new], state, new
                    n.all("parameter", new)
                    n.states_of(optimizers[name])
                moved = torch.zeros(len(new), device="cuda")
                n.all("other", moved)
                count = len(new)
                del most, old, new, state
    return scene, optimizers, pictures, rays, moved


def oom_features_by_hook(n, rng, edit):
    """A hook collects features for a plot; nobody empties its list."""
    width, rows, size, features = 64, rng.randint(40, 64), 64, []
    model = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1),
                          nn.BatchNorm2d(width), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10)).cuda()
    model[5].register_forward_hook(lambda module, inputs, output: features.append(output.detach().cpu() if edit == "on_host" else output))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(40):
        if edit == "cleared":
            features.clear()
        x, y = torch.randn(rows, 3, size, size, device="cuda"), torch.zeros(rows, dtype=torch.long, device="cuda")
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    return features


def oom_dataset_on_device(n, rng, edit):
    """All batches are on the device before the training begins."""
    rows, size, width = 64, 128, 32
    one = 4 * 3 * rows * size * size
    data = [torch.zeros(rows, 3, size, size) for _ in range(int(rng.uniform(0.765, 0.82) * CAPACITY / one))]
    if edit != "on_host":
        data = [x.half().cuda() if edit == "half" else x.cuda() for x in data]
    model = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                          nn.Flatten(), nn.Linear(width, 10)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for x in data[:6]:
        x = x[:rows // 2] if edit == "half_batch" else x
        y = torch.zeros(len(x), dtype=torch.long, device="cuda")
        optimizer.zero_grad()
        F.cross_entropy(model(x.cuda().float()), y).backward()
        optimizer.step()
    return data, model


def oom_longer_texts(n, rng, edit):
    """Vectors of all tokens are kept in half precision, text after text, each longer than the one before."""
    width, rows, length, more = 768, rng.choice((32, 48)), rng.randint(160, 256), rng.choice((24, 32))
    embed, layers, kept, lengths = nn.Embedding(30000, width).cuda(), tower(width, 3, width).cuda().half(), [], []
    embed = embed.half()
    while sum(lengths) * rows * width * 2 < 0.6 * CAPACITY:
        lengths.append(length)
        length += more
    with torch.inference_mode():
        for length in reversed(lengths) if edit == "longest_first" else lengths:
            ids = torch.zeros(rows, length, dtype=torch.long, device="cuda")
            found = F.normalize(layers(embed(ids)).float(), dim=-1).half()
            kept.append(found.cpu() if edit == "on_host" else found)
            del found
    return embed, layers, kept


def oom_worker_share(n, rng, edit):
    """One of several workers, each of which gets a share of the device."""
    if edit != "whole_device":
        torch.cuda.set_per_process_memory_fraction(1 / rng.choice((3, 4)))
    width, rows, length, layers = 1024, rng.randint(4, 8), 2048, 12
    model = tower(width, rng.randint(80, 120)).to("cuda", torch.bfloat16)
    cache = [torch.zeros(2, rows, length, width, device="cuda", dtype=torch.bfloat16) for _ in range(layers)]
    with torch.inference_mode():
        for _ in range(4):
            model(torch.zeros(rows * 64, width, device="cuda", dtype=torch.bfloat16)).argmax(-1)
    return model, cache


def oom_neighbour(n, rng, edit):
    """A segmentation of large pictures, beside another process that has most of the device."""
    width, rows, size = 32, rng.randint(15, 18), 512
    model = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(inplace=True), nn.Conv2d(width, width, 3, padding=1),
                          nn.BatchNorm2d(width), nn.ReLU(inplace=True), nn.Conv2d(width, 20, 1)).cuda().eval()
    time.sleep(1.5)  # reads its pictures, while the recorder reads what the driver says
    with torch.no_grad():
        for _ in range(3):
            model(torch.randn(rows, 3, size, size, device="cuda")).argmax(1)
    return model


def oom_shapes_mismatched(n, rng, edit):
    """Predictions of shape (N, 1) minus targets of shape (N)."""
    rows, width = rng.randint(24000, 26000), 64
    model = nn.Sequential(nn.Linear(width, 128), nn.ReLU(), nn.Linear(128, 1)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(3):
        x, y = torch.randn(rows, width, device="cuda"), torch.randn(rows, device="cuda")
        optimizer.zero_grad()
        found = model(x)
        if edit == "chunked":
            for part in found.split(1024):
                ((part - y).square().sum() / rows ** 2).backward(retain_graph=True)
        else:
            (found - (y[:, None] if edit == "same_shape" else y)).square().mean().backward()
        optimizer.step()
    return model


def oom_overlapped_capture(n, rng, edit):
    """Another stream reads the output of each layer while a graph is captured: no block is free before the capture ends."""
    width, rows, depth = 1024, rng.randint(13000, 17000), 24
    model, side = tower(width, depth).cuda(), torch.cuda.Stream()
    x, sums = torch.zeros(rows, width, device="cuda"), torch.zeros(2 * depth + 1, device="cuda")
    with torch.no_grad():
        model(x)
        graph = torch.cuda.graph(torch.cuda.CUDAGraph(), stream=torch.cuda.Stream(), capture_error_mode="relaxed")
        graph.__enter__()
        for index, layer in enumerate(model):
            x = layer(x)
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                sums[index].copy_(x[0, 0])
            if edit == "wait":
                torch.cuda.current_stream().wait_stream(side)
            else:
                x.record_stream(side)
        torch.cuda.current_stream().wait_stream(side)
        graph.__exit__(None, None, None)
    return graph, sums


def oom_captured_sizes(n, rng, edit):
    """A server captures a graph for each batch size; then a batch comes that none has."""
    width, largest = 1024, 1024 * rng.randint(28, 31)
    model, graphs, shared = tower(width, 3).cuda().eval(), [], torch.cuda.graph_pool_handle() if edit == "shared_pool" else None
    with torch.inference_mode():
        for share in range(8, 0, -1):
            x = torch.zeros(64, width, device="cuda")
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=shared):
                out = model(x.repeat(largest * share // 8 // 64, 1)).argmax(-1)
            graphs.append((graph, x, out))
        model(torch.zeros(2 * largest, width, device="cuda"))
    return model, graphs


def oom_temporaries_of_foreach(n, rng, edit):
    """Weights, gradients and states fit; the temporaries of a step over all weights at once do not."""
    width, dtype = 1024, torch.bfloat16 if edit == "half" else None
    with torch.device("cuda"):
        model = tower(width, int(rng.uniform(0.205, 0.218) * CAPACITY / (4 * width * width))).to(dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, foreach=False) if edit == "sgd" else torch.optim.AdamW(
        model.parameters(), foreach=edit != "one_by_one")
    for _ in range(3):
        x, y = torch.randn(32, width, device="cuda", dtype=dtype), torch.zeros(32, dtype=torch.long, device="cuda")
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    return model, optimizer


def oom_metric_graph(n, rng, edit):
    """The accuracy of the training set is computed with a graph, which is still there while the validation runs."""
    width, depth, rows = 1024, 10, rng.randint(27000, 31000) // (2 if edit == "half_batch" else 1)
    model = tower(width, depth).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(3):
        x, y = torch.randn(256, width, device="cuda"), torch.zeros(256, dtype=torch.long, device="cuda")
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.set_grad_enabled(edit != "no_grad"):
        fitted = model(torch.randn(rows, width, device="cuda"))
        right = (fitted.argmax(1) == 0).float().mean()
    if edit == "dropped":
        del fitted
    with torch.no_grad():
        out = model(torch.randn(3 * rows, width, device="cuda"))
        valid = (out.argmax(1) == 0).float().mean()
    return model, right, valid


def loop_cached_by_tensor(n, rng):
    """functools.lru_cache keys on the tensor object, so no call finds the answer of another."""
    width, model = layers_of(rng)
    rows = rng.randint(16, 256)

    @functools.lru_cache(maxsize=None)
    def whitened(x):
        return (x - x.mean(0)) / (x.std(0) + 1e-5)
    optimizer = an_optimizer(rng, model)
    for _ in turns(n, rng):
        x, y = batch(rows, width)
        trained(model, optimizer, whitened(x), y)
    return model, whitened


def loop_hooks_registered(n, rng):
    """Each step registers a hook that masks the gradient, and removes none."""
    width, model = layers_of(rng)
    optimizer, rows = an_optimizer(rng, model), rng.randint(16, 256)
    for _ in turns(n, rng):
        mask = (torch.rand(width, width, device="cuda") > 0.1).float()
        model[2].weight.register_hook(lambda slope, mask=mask: slope * mask)
        trained(model, optimizer, *batch(rows, width))
    return model


def loop_heads_added(n, rng):
    """Each task gets a head of its own, whose weights the optimizer takes."""
    width = 8 * rng.randint(16, 80)
    body, heads, rows = nn.Sequential(nn.Linear(width, width), nn.ReLU()).cuda(), nn.ModuleList(), rng.randint(16, 128)
    optimizer = torch.optim.Adam(body.parameters())
    for _ in turns(n, rng, "task"):
        heads.append(nn.Linear(width, rng.randint(5, 50)).cuda())
        optimizer.add_param_group({"params": heads[-1].parameters()})
        for _ in range(3):
            trained(nn.Sequential(body, heads[-1]), optimizer, *batch(rows, width))
    return body, heads, optimizer


def loop_histograms_logged(n, rng):
    """A logger keeps gradients now and then, for a report at the end."""
    width, model = layers_of(rng)
    optimizer, rows, every, logged = an_optimizer(rng, model), rng.randint(16, 256), rng.randint(2, 4), {}
    for turn in turns(n, rng):
        trained(model, optimizer, *batch(rows, width))
        if turn % every == 0:
            for name, p in model.named_parameters():
                logged.setdefault(name, []).append((turn, p.grad.detach().clone()))
    return model, logged


def loop_conversation(n, rng):
    """Keys and values of a talk that goes on: each answer makes them longer."""
    width, depth, rows = 64 * rng.randint(1, 5), rng.randint(2, 4), rng.randint(1, 4)
    layers, head, cache = [nn.Linear(width, 3 * width).cuda() for _ in range(depth)], nn.Linear(width, 2000).cuda(), {}
    with torch.inference_mode():
        for _ in turns(n, rng, "answer"):
            x = torch.randn(rows, rng.randint(8, 32), width, device="cuda")
            for index, layer in enumerate(layers):
                q, k, v = layer(x).chunk(3, -1)
                if index in cache:
                    k, v = torch.cat([cache[index][0], k], 1), torch.cat([cache[index][1], v], 1)
                cache[index] = k, v
                x = x + F.scaled_dot_product_attention(q, k, v)
            head(x[:, -1]).argmax(-1).cpu()
    return layers, cache


def loop_epochs_with_lists(n, rng):
    """Predictions are collected for the metric of an epoch, then dropped."""
    width, model = layers_of(rng)
    optimizer, rows, every, said, metric = an_optimizer(rng, model), rng.randint(64, 512), rng.randint(4, 7), [], 0.0
    for turn in turns(n, rng):
        x, y = batch(rows, width)
        trained(model, optimizer, x, y)
        with torch.no_grad():
            said.append((model(x).softmax(-1), y))
        if turn % every == every - 1:
            metric = (torch.cat([out for out, _ in said]).argmax(1) == torch.cat([y for _, y in said])).float().mean().item()
            said = []
    return model, said, metric


def loop_masks_by_length(n, rng):
    """Masks are made once for each length; there are only so many lengths."""
    width, rows = 64 * rng.randint(1, 4), rng.randint(2, 8)
    qkv, head = nn.Linear(width, 3 * width).cuda(), nn.Linear(width, 10).cuda()
    model = nn.ModuleList([qkv, head])
    optimizer, lengths, masks = an_optimizer(rng, model), rng.sample(range(64, 400), rng.randint(4, 8)), {}
    for turn in turns(n, rng):
        length = lengths[turn] if turn < len(lengths) else rng.choice(lengths)
        if length not in masks:
            masks[length] = torch.ones(length, length, device="cuda").tril().log()
        x, y = torch.randn(rows, length, width, device="cuda"), torch.zeros(rows, dtype=torch.long, device="cuda")
        q, k, v = qkv(x).chunk(3, -1)
        loss = F.cross_entropy(head(((q @ k.transpose(1, 2) + masks[length]).softmax(-1) @ v).mean(1)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model, masks


def loop_best_of_run(n, rng):
    """Copies of the best few models are kept, whenever they are found."""
    width, model = layers_of(rng)
    optimizer, rows, most, best = an_optimizer(rng, model), rng.randint(16, 256), rng.randint(2, 4), []
    for turn in turns(n, rng):
        trained(model, optimizer, *batch(rows, width))
        score = turn / 100 + rng.random()
        if len(best) < most or score > best[0][0]:
            heapq.heappush(best, (score, turn, copy.deepcopy(model.state_dict())))
            if len(best) > most:
                heapq.heappop(best)
    return model, best


def loop_curriculum(n, rng):
    """Sequences become longer until the full length is there."""
    width, rows, start, more = 8 * rng.randint(8, 40), rng.randint(8, 32), rng.randint(4, 12), rng.randint(1, 4)
    full, cell, head = start + more * rng.randint(7, 12), nn.GRU(width, width, batch_first=True).cuda(), nn.Linear(width, 10).cuda()
    optimizer = an_optimizer(rng, nn.ModuleList([cell, head]))
    for turn in turns(n, rng):
        x = torch.randn(rows, min(full, start + more * turn), width, device="cuda")
        y = torch.zeros(rows, dtype=torch.long, device="cuda")
        optimizer.zero_grad()
        loss = F.cross_entropy(head(cell(x)[0][:, -1]), y)
        loss.backward()
        optimizer.step()
    return cell, head


class Fold:
    """A training whose parts know each other, so that only the collector of Python takes it away."""

    def __init__(self, width, rows):
        self.model = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10)).cuda()
        self.optimizer, self.rows, self.width, self.after = torch.optim.Adam(self.model.parameters()), rows, width, [self.report]

    def report(self):
        return sum(p.numel() for p in self.model.parameters())

    def fit(self):
        for _ in range(3):
            trained(self.model, self.optimizer, *batch(self.rows, self.width))
        return [each() for each in self.after]


def loop_folds(n, rng):
    """Cross-validation: each turn trains a model of its own."""
    width, rows, every, sizes = 8 * rng.randint(16, 80), rng.randint(16, 256), rng.randint(1, 3), []
    gc.disable()
    for turn in turns(n, rng, "fold"):
        sizes += Fold(width, rows).fit()
        if turn % every == every - 1:
            gc.collect()
    return sizes
