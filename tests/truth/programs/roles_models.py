# SPDX-License-Identifier: GPL-3.0-or-later
"""The thirteen families of the corpus of roles: those of the other corpus and four more. Sizes come from a random generator.

A family gives a model and what draws a batch; `model.loss(model, x, y)` where the loss is not the usual one, `model.parts` where
two optimizers train it in turn.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

import language
import models
import vision



class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(F.silu(self.up(self.norm(x))))


class Vae(nn.Module):
    """A variational autoencoder: what is drawn in the middle is neither parameter nor input."""

    def __init__(self, width, hidden, latent, depth):
        super().__init__()
        self.rise, self.fall = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.encoder = nn.ModuleList(Residual(hidden) for _ in range(depth))
        self.code, self.decode = nn.Linear(hidden, 2 * latent), nn.Linear(latent, hidden)
        self.decoder = nn.ModuleList(Residual(hidden) for _ in range(depth))

    def forward(self, x):
        x = self.rise(x)
        for layer in self.encoder:
            x = layer(x)
        mean, spread = self.code(x).chunk(2, -1)
        x = self.decode(mean + torch.randn_like(mean) * torch.exp(0.5 * spread))
        for layer in self.decoder:
            x = layer(x)
        return self.fall(x), mean, spread

    @staticmethod
    def loss(model, x, y):
        made, mean, spread = model(x)
        apart = -0.5 * (1 + spread - mean.pow(2) - spread.exp()).sum(-1).mean()
        return F.mse_loss(made.float(), x.float()) + 1e-3 * apart.float()


def vae(rng):
    width, hidden, batch = rng.randint(200, 1000), rng.randint(100, 600), rng.randint(16, 256)
    model = Vae(width, hidden, rng.randint(8, 64), rng.randint(1, 3))
    return model, lambda: (torch.randn(batch, width, device="cuda"), torch.zeros(batch, device="cuda"))


class Recommender(nn.Module):
    """Tables of embeddings, one of them summed over bags, and a tower."""

    def __init__(self, rows, width, tables, dense):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows // (1 + index), width) for index in range(tables))
        self.bag = nn.EmbeddingBag(rows, width, mode="sum")
        self.dense = nn.Sequential(nn.Linear(dense, width), nn.ReLU())
        self.register_buffer("popular", torch.zeros(rows))
        self.tower = nn.Sequential(nn.Linear(width * (tables + 2), 4 * width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(4 * width, 10))

    def forward(self, ids):
        parts = [table(ids[:, index] % table.num_embeddings) for index, table in enumerate(self.tables)]
        parts += [self.bag(ids), self.dense(ids[:, :self.dense[0].in_features].to(parts[0].dtype))]
        return self.tower(torch.cat(parts, -1)) + self.popular[ids[:, :1]]


def recommender(rng):
    rows, tables, batch = rng.randint(2000, 20000), rng.randint(2, 5), rng.randint(64, 1024)
    dense = rng.randint(2, 8)
    model = Recommender(rows, rng.randint(16, 64), tables, dense)
    return model, lambda: (torch.randint(rows, (batch, 12), device="cuda"), torch.randint(10, (batch,), device="cuda"))


class Siamese(nn.Module):
    """One tower sees both views; the loss compares every pair in the batch."""

    def __init__(self, width, hidden, out):
        super().__init__()
        self.tower = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), Residual(hidden), Residual(hidden), nn.Linear(hidden, out))
        self.warmth = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return F.normalize(self.tower(x), dim=-1)

    @staticmethod
    def loss(model, x, y):
        a, b = model(x + torch.randn_like(x)), model(x + torch.randn_like(x))
        scores = (a @ b.t()).float() * getattr(model, "module", model).warmth.float()
        return F.cross_entropy(scores, torch.arange(len(x), device=x.device))


def siamese(rng):
    width, batch = rng.randint(64, 512), rng.randint(32, 512)
    model = Siamese(width, rng.randint(128, 768), rng.randint(32, 256))
    return model, lambda: (torch.randn(batch, width, device="cuda"), torch.zeros(batch, device="cuda"))


class Players(nn.Module):
    """Generator and critic, which two optimizers train in turn."""

    def __init__(self, latent, width):
        super().__init__()
        both = vision.Gan(latent, width)
        self.latent, self.generator, self.critic = latent, both.generator, both.critic
        self.parts = ("critic", "generator")

    def forward(self, x):
        return self.critic(x)

    def turn(self, part, x):
        """The loss of one player in its turn."""
        drawn = torch.randn(len(x), self.latent, 1, 1, device=x.device, dtype=x.dtype)
        if part == "generator":
            judged = self.critic(self.generator(drawn)).float()
            return F.binary_cross_entropy_with_logits(judged, torch.ones_like(judged))
        with torch.no_grad():
            fake = self.generator(drawn)
        real, made = self.critic(x).float(), self.critic(fake).float()
        return (F.binary_cross_entropy_with_logits(real, torch.ones_like(real))
                + F.binary_cross_entropy_with_logits(made, torch.zeros_like(made)))


def gan(rng):
    model, batch = Players(rng.randint(16, 100), 8 * rng.randint(2, 8)), rng.randint(8, 48)
    return model, vision.pictures(batch, 16, lambda: torch.zeros(batch, device="cuda"))


FAMILIES = {
    "mlp": models.mlp, "conv": models.conv, "resnet": vision.resnet, "gpt": models.gpt, "lstm": models.lstm, "t5": language.t5,
    "unet": vision.unet, "vit": vision.vit, "experts": language.experts, "vae": vae, "gan": gan, "recommender": recommender,
    "siamese": siamese}



class Checkpointed(nn.Module):
    def __init__(self, body, reentrant):
        super().__init__()
        self.body, self.reentrant = body, reentrant

    def forward(self, *inputs):
        return checkpoint(self.body, *inputs, use_reentrant=self.reentrant)


def checkpoint_blocks(model, reentrant):
    """Puts what has parts of its own behind a checkpoint. The first one stays with a reentrant checkpoint, which gives no gradients
    where no input asks for them."""
    wrapped = 0

    def visit(module, top):
        nonlocal wrapped
        for name, child in module.named_children():
            if isinstance(child, (nn.ModuleList, nn.ModuleDict)) or (isinstance(child, nn.Sequential) and top):
                visit(child, False)
            elif not top or isinstance(module, nn.Sequential):
                if next(child.children(), None) is not None:
                    wrapped += 1
                    if wrapped > 1 or not reentrant:
                        setattr(module, name, Checkpointed(child, reentrant))
    visit(model, True)
    return wrapped
