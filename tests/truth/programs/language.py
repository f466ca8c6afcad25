# SPDX-License-Identifier: GPL-3.0-or-later
"""Models of the truth corpus that read text: as those people train, smaller. Sizes come from a random generator."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def tokens(vocabulary, batch, context):
    def draw():
        ids = torch.randint(vocabulary, (batch, context), device="cuda")
        return ids, ids.roll(-1, 1)
    return draw


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        y = x.float()
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * self.weight


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class GroupedAttention(nn.Module):
    """Several query heads share a head of keys and values."""

    def __init__(self, width, heads, shared):
        super().__init__()
        self.heads, self.shared, self.size = heads, shared, width // heads
        self.q = nn.Linear(width, width, bias=False)
        self.k, self.v = (nn.Linear(width, shared * self.size, bias=False) for _ in range(2))
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x, cos, sin):
        b, t, d = x.shape
        q = rotate(self.q(x).view(b, t, self.heads, self.size).transpose(1, 2), cos, sin)
        k = rotate(self.k(x).view(b, t, self.shared, self.size).transpose(1, 2), cos, sin)
        v = self.v(x).view(b, t, self.shared, self.size).transpose(1, 2)
        k, v = (z.repeat_interleave(self.heads // self.shared, 1) for z in (k, v))
        y = F.scaled_dot_product_attention(q, k.to(q.dtype), v.to(q.dtype), is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, t, d))


class GatedMlp(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate, self.up = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    """Mixture of experts: each token goes to the two whose score is highest. Every expert takes part, so that no
    parameter is without a gradient, whatever the scores are."""

    def __init__(self, width, hidden, experts):
        super().__init__()
        self.route = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList(GatedMlp(width, hidden) for _ in range(experts))

    def forward(self, x):
        shape, x = x.shape, x.flatten(0, 1)
        weights, chosen = self.route(x).softmax(-1).topk(2, -1)
        out = torch.zeros_like(x)
        for index, expert in enumerate(self.experts):
            rows, slots = (chosen == index).nonzero(as_tuple=True)
            part = expert(x[rows]) * weights[rows, slots, None].to(x.dtype)
            out = out.index_add(0, rows, part.to(out.dtype))
        return out.view(shape)


class Llama(nn.Module):
    def __init__(self, vocabulary, width, layers, heads, shared, hidden, experts=0):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(nn.ModuleDict({
            "norm1": RmsNorm(width), "attention": GroupedAttention(width, heads, shared), "norm2": RmsNorm(width),
            "mlp": Experts(width, hidden, experts) if experts else GatedMlp(width, hidden)}) for _ in range(layers))
        self.norm, self.head = RmsNorm(width), nn.Linear(width, vocabulary, bias=False)
        self.half = width // heads // 2

    def forward(self, ids):
        x = self.tokens(ids)
        speeds = 10000.0 ** (-torch.arange(self.half, device=ids.device) / self.half)
        angles = torch.arange(ids.shape[1], device=ids.device)[:, None] * speeds
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        for layer in self.layers:
            x = x + layer["attention"](layer["norm1"](x), cos, sin)
            x = x + layer["mlp"](layer["norm2"](x))
        return self.head(self.norm(x))


def llama(rng):
    shared = rng.randint(1, 2)
    heads = shared * rng.choice((2, 4))
    vocabulary = rng.randint(500, 4000)
    model = Llama(vocabulary, 64 * heads, rng.randint(1, 4), heads, shared, 32 * rng.randint(4, 24))
    return model, tokens(vocabulary, rng.randint(1, 6), 32 * rng.randint(1, 8))


def llama_1b(rng):
    """The sizes of Llama 3.2 1B."""
    return Llama(128256, 2048, 16, 32, 8, 8192), tokens(128256, 1, 1024)


def experts(rng):
    vocabulary = rng.randint(500, 2000)
    model = Llama(vocabulary, 256, rng.randint(1, 3), 4, 2, 64 * rng.randint(2, 6), experts=rng.randint(2, 6))
    return model, tokens(vocabulary, rng.randint(1, 4), 32 * rng.randint(1, 4))


class T5(nn.Module):
    """Encoder and decoder with attention across."""

    def __init__(self, vocabulary, width, heads, layers):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.core = nn.Transformer(width, heads, layers, layers, 4 * width, batch_first=True, norm_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids):
        x = self.tokens(ids)
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1], device=ids.device, dtype=x.dtype)
        return self.head(self.core(x, x, tgt_mask=mask, tgt_is_causal=True))


def t5(rng):
    heads, vocabulary = rng.randint(1, 4), rng.randint(500, 3000)
    model = T5(vocabulary, 64 * heads, heads, rng.randint(1, 3))
    return model, tokens(vocabulary, rng.randint(1, 6), 16 * rng.randint(1, 8))


class LowRank(nn.Module):
    """A frozen linear layer and what is learnt beside it (LoRA)."""

    def __init__(self, base, rank):
        super().__init__()
        self.base = base
        self.a = nn.Parameter(torch.randn(rank, base.in_features) / rank)
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.a), self.b)


def lora(rng):
    model, data = llama(rng)
    model.requires_grad_(False)
    rank = rng.choice((4, 8, 16))
    for layer in model.layers:
        layer["attention"].q = LowRank(layer["attention"].q, rank)
        layer["attention"].v = LowRank(layer["attention"].v, rank)
    return model, data


MODELS = {"llama": llama, "llama_1b": llama_1b, "experts": experts, "t5": t5, "lora": lora}
