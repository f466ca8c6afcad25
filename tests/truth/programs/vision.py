# SPDX-License-Identifier: GPL-3.0-or-later
"""Models of the truth corpus that see pictures: as those people train, smaller. Sizes come from a random generator."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Bottleneck(nn.Module):
    """The block of ResNet-50: 1x1, 3x3, 1x1 with a fourfold widening at the end."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width))
        self.skip = None
        if stride != 1 or inputs != 4 * width:
            self.skip = nn.Sequential(nn.Conv2d(inputs, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        return F.relu(self.body(x) + (x if self.skip is None else self.skip(x)), inplace=True)


def resnet(rng):
    width, blocks = rng.choice((8, 16, 24, 32)), [rng.randint(1, 4) for _ in range(4)]
    layers = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
              nn.MaxPool2d(3, 2, 1)]
    inputs = width
    for stage, count in enumerate(blocks):
        for block in range(count):
            layers.append(Bottleneck(inputs, width << stage, 2 if block == 0 and stage > 0 else 1))
            inputs = 4 * width << stage
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 100))
    batch, size = rng.randint(2, 16), 32 * rng.randint(2, 6)
    return model, pictures(batch, size, lambda: torch.randint(100, (batch,), device="cuda"))


def pictures(batch, size, targets):
    return lambda: (torch.randn(batch, 3, size, size, device="cuda"), targets())


def double_conv(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.GroupNorm(4, outputs), nn.SiLU(),
                         nn.Conv2d(outputs, outputs, 3, padding=1), nn.GroupNorm(4, outputs), nn.SiLU())


class UNet(nn.Module):
    """Segments pictures: down, up, and concatenation with what came down."""

    def __init__(self, width, depth, classes):
        super().__init__()
        widths = [width << level for level in range(depth)]
        self.down = nn.ModuleList(double_conv(a, b) for a, b in zip([3] + widths, widths))
        self.rise = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(widths, widths[1:]))
        self.up = nn.ModuleList(double_conv(2 * a, a) for a in widths[:-1])
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        kept = []
        for level, body in enumerate(self.down):
            x = body(x if level == 0 else F.max_pool2d(x, 2))
            kept.append(x)
        for level in reversed(range(len(self.up))):
            x = self.up[level](torch.cat([kept[level], self.rise[level](x)], 1))
        return self.head(x)


def unet(rng):
    width, depth, classes = 8 * rng.randint(1, 4), rng.randint(2, 4), 5
    batch, size = rng.randint(1, 6), 16 * rng.randint(2, 8)
    targets = lambda: torch.randint(classes, (batch, size, size), device="cuda")  # noqa: E731
    model = UNet(width, depth, classes)
    model.loss = lambda model, x, y: F.cross_entropy(model(x), y)
    return model, pictures(batch, size, targets)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, d))


class Vit(nn.Module):
    def __init__(self, width, heads, layers, size, patch):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.zeros(1, (size // patch) ** 2 + 1, width))
        self.layers = nn.ModuleList(nn.ModuleDict({
            "norm1": nn.LayerNorm(width), "attention": Attention(width, heads), "norm2": nn.LayerNorm(width),
            "mlp": nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Dropout(0.1), nn.Linear(4 * width, width))})
            for _ in range(layers))
        self.head = nn.Linear(width, 100)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], 1) + self.positions
        for layer in self.layers:
            x = x + layer["attention"](layer["norm1"](x))
            x = x + layer["mlp"](layer["norm2"](x))
        return self.head(x[:, 0])


def vit(rng):
    heads, patch = rng.randint(2, 6), 8
    size, batch = patch * rng.randint(4, 16), rng.randint(2, 16)
    model = Vit(32 * heads, heads, rng.randint(2, 6), size, patch)
    return model, pictures(batch, size, lambda: torch.randint(100, (batch,), device="cuda"))


class TimedBlock(nn.Module):
    """A residual block that is told how noisy the picture is, with attention at the coarse levels."""

    def __init__(self, inputs, outputs, time, heads):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(4, inputs), nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time = nn.Linear(time, outputs)
        self.norm2, self.conv2 = nn.GroupNorm(4, outputs), nn.Conv2d(outputs, outputs, 3, padding=1)
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()
        self.attention = Attention(outputs, heads) if heads else None

    def forward(self, x, time):
        y = self.conv1(F.silu(self.norm1(x))) + self.time(time)[:, :, None, None]
        x = self.skip(x) + self.conv2(F.silu(self.norm2(y)))
        if self.attention is not None:
            b, c, h, w = x.shape
            x = x + self.attention(x.flatten(2).transpose(1, 2)).transpose(1, 2).reshape(b, c, h, w)
        return x


class DiffusionUNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        time = 4 * width
        self.width = width
        self.embed = nn.Sequential(nn.Linear(width, time), nn.SiLU(), nn.Linear(time, time))
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.down1, self.down2 = TimedBlock(width, width, time, 0), TimedBlock(width, 2 * width, time, 4)
        self.middle = TimedBlock(2 * width, 2 * width, time, 4)
        self.up2, self.up1 = TimedBlock(4 * width, width, time, 4), TimedBlock(2 * width, width, time, 0)
        self.last = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x, noise_level):
        half = self.width // 2
        angles = noise_level[:, None] * torch.exp(torch.arange(half, device=x.device) * (-math.log(10000) / half))
        time = self.embed(torch.cat([angles.sin(), angles.cos()], 1).to(x.dtype))
        a = self.down1(self.first(x), time)
        b = self.down2(F.avg_pool2d(a, 2), time)
        x = self.middle(b, time)
        x = self.up2(torch.cat([x, b], 1), time)
        return self.last(self.up1(torch.cat([F.interpolate(x, scale_factor=2), a], 1), time))


def diffusion(rng):
    model = DiffusionUNet(16 * rng.randint(1, 4))

    def loss(model, x, y):
        level = torch.rand(len(x), device=x.device)
        noise = torch.randn_like(x)
        return F.mse_loss(model(x + noise * level[:, None, None, None].to(x.dtype), level), noise)
    model.loss = loss
    batch, size = rng.randint(2, 8), 16 * rng.randint(1, 4)
    return model, pictures(batch, size, lambda: torch.zeros(batch, device="cuda"))


class Gan(nn.Module):
    """Both players in one model; a step trains one, then the other."""

    def __init__(self, latent, width):
        super().__init__()
        self.latent = latent
        self.generator = nn.Sequential(
            nn.ConvTranspose2d(latent, 4 * width, 4), nn.BatchNorm2d(4 * width), nn.ReLU(),
            nn.ConvTranspose2d(4 * width, 2 * width, 4, 2, 1), nn.BatchNorm2d(2 * width), nn.ReLU(),
            nn.ConvTranspose2d(2 * width, 3, 4, 2, 1), nn.Tanh())
        self.critic = nn.Sequential(
            nn.Conv2d(3, width, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(width, 2 * width, 4, 2, 1),
            nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(2 * width * 16, 1))

    def forward(self, x):
        return self.critic(x)

    def loss(self, model, x, y):
        fake = self.generator(torch.randn(len(x), self.latent, 1, 1, device=x.device, dtype=x.dtype))
        judged = self.critic(x), self.critic(fake.detach())
        critic = sum(F.binary_cross_entropy_with_logits(j.float(), torch.full_like(j, side).float())
                     for j, side in zip(judged, (1.0, 0.0)))
        critic.backward()
        return -self.critic(fake).float().mean()


def gan(rng):
    model = Gan(rng.randint(16, 100), 8 * rng.randint(1, 6))
    batch = rng.randint(4, 32)
    return model, pictures(batch, 16, lambda: torch.zeros(batch, device="cuda"))


MODELS = {"resnet": resnet, "unet": unet, "vit": vit, "diffusion": diffusion, "gan": gan}
