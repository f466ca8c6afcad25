# SPDX-License-Identifier: GPL-3.0-or-later
"""Trainings and inferences as people write them, one function a family, which say by name what their memory is for (explained_program.py).

Roles beside those of Strata: `copy` of weights in another dtype, `other` where no category of Strata names a tensor.
"""
import copy
import io

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

import models


def batch_of(n, *shape):
    x = torch.randn(*shape, device="cuda")
    y = torch.randint(10, (shape[0],), device="cuda")
    n.all("input", [x, y])
    return x, y


def ids_of(n, rng, vocabulary, batch, length):
    ids = torch.randint(vocabulary, (batch, length), device="cuda")
    n.all("input", ids)
    return ids


def an_optimizer(rng, parameters):
    make = rng.choice((lambda p: torch.optim.AdamW(p, foreach=True), lambda p: torch.optim.Adam(p, fused=True), lambda p: torch.optim.SGD(p, lr=0.1),
                       lambda p: torch.optim.Adam(p, foreach=False), lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, foreach=True),
                       lambda p: torch.optim.RMSprop(p)))
    return make([p for p in parameters if p.requires_grad])


def layers_of(rng, low=256, high=1500, depth=(2, 5)):
    width = 8 * rng.randint(low // 8, high // 8)
    layers = []
    for _ in range(rng.randint(*depth)):
        layers += [nn.Linear(width, width), rng.choice((nn.ReLU, nn.GELU, nn.SiLU, nn.Tanh))()]
    return width, nn.Sequential(*layers, nn.Linear(width, 10))


def backward_of(n, loss, parameters, **how):
    with n.phase("backward"):
        loss.backward(**how)
    n.gradients(parameters)


def update_of(n, optimizer, *closure):
    with n.phase("optimizer"):
        optimizer.step(*closure)
    n.states_of(optimizer)


def learn(n, loss, parameters, optimizer, to_none=True, **how):
    """Backward, update and zero_grad() of a step; the caller keeps the loss."""
    backward_of(n, loss, parameters, **how)
    update_of(n, optimizer)
    optimizer.zero_grad(set_to_none=to_none)


def step_of(n, model, optimizer, loss_of, to_none=True):
    """A step of training that drops its loss; notes allocate nothing."""
    with n.phase("forward"):
        loss = loss_of()
    learn(n, loss, model.parameters(), optimizer, to_none)


def perceptron(n, rng):
    width, model = layers_of(rng)
    model.cuda()
    n.weights(model)
    optimizer, to_none, rows = an_optimizer(rng, model.parameters()), rng.random() < 0.5, rng.randint(16, 512)
    for _ in range(rng.randint(4, 8)):
        x, y = batch_of(n, rows, width)
        step_of(n, model, optimizer, lambda: F.cross_entropy(model(x), y), to_none)
    return model, optimizer


def convolutions(n, rng):
    width, size, rows = 8 * rng.randint(2, 6), rng.choice((16, 32, 48)), rng.randint(4, 24)
    model = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(width, 2 * width, 3, padding=1),
                          nn.BatchNorm2d(2 * width), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2 * width, 10)).to("cuda")
    n.weights(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(2):
        model.train()
        for _ in range(3):
            x, y = batch_of(n, rows, 3, size, size)
            optimizer.zero_grad()
            with n.phase("forward"):
                loss = F.cross_entropy(model(x), y)
            backward_of(n, loss, model.parameters())
            update_of(n, optimizer)
        model.eval()
        with torch.no_grad(), n.phase("no_grad"):
            for _ in range(2):
                x, y = batch_of(n, rows, 3, size, size)
                model(x).argmax(1).eq(y).sum()
    return model, optimizer


def transformer_autocast(n, rng):
    model, vocabulary, length = models.Gpt(rng.randint(2, 4), 64 * rng.randint(2, 6), 4, rng.randint(500, 5000), 128), 500, rng.randint(32, 128)
    model.cuda()
    n.weights(model)
    optimizer = torch.optim.AdamW(model.parameters(), fused=rng.random() < 0.5)
    evaluate = rng.random() < 0.5
    for _ in range(5):
        ids = ids_of(n, rng, vocabulary, 4, length + 1) if length < 128 else ids_of(n, rng, vocabulary, 4, 128)

        def loss_of():
            with torch.autocast("cuda", dtype=torch.bfloat16):
                out = model(ids[:, :-1])
                return F.cross_entropy(out.flatten(0, 1), ids[:, 1:].flatten())
        step_of(n, model, optimizer, loss_of)
    if evaluate:
        with torch.no_grad(), n.phase("no_grad"), torch.autocast("cuda", dtype=torch.bfloat16):
            for _ in range(2):
                model(ids)
    return model, optimizer


def accumulation(n, rng):
    width, model = layers_of(rng)
    model = model.cuda()
    n.weights(model)
    optimizer, micro, rows = an_optimizer(rng, model.parameters()), rng.choice((2, 4)), rng.randint(16, 256)
    for _ in range(4):
        optimizer.zero_grad(set_to_none=rng.random() < 0.5)
        for _ in range(micro):
            x, y = batch_of(n, rows, width)
            with n.phase("forward"):
                loss = F.cross_entropy(model(x), y) / micro
            backward_of(n, loss, model.parameters())
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        update_of(n, optimizer)
    return model, optimizer


def updates_by_hand(n, rng):
    width, model = layers_of(rng)
    model = model.cuda()
    n.weights(model)
    rows, to_none = rng.randint(16, 512), rng.random() < 0.5
    for _ in range(6):
        x, y = batch_of(n, rows, width)
        with n.phase("forward"):
            loss = F.cross_entropy(model(x), y)
        backward_of(n, loss, model.parameters())
        with torch.no_grad(), n.phase("optimizer"):
            for p in model.parameters():
                p -= 0.1 * p.grad
                if to_none:
                    p.grad = None
                else:
                    p.grad.zero_()
    return model


class Weights:
    """A model without nn.Module."""

    def __init__(self, width, depth, grad):
        self.layers = [torch.randn(width, width, device="cuda", requires_grad=grad) for _ in range(depth)]
        self.biases = [torch.zeros(width, device="cuda", requires_grad=grad) for _ in range(depth)]
        self.head = torch.randn(width, 10, device="cuda").requires_grad_(grad)

    def parameters(self):
        return [*self.layers, *self.biases, self.head]

    def __call__(self, x):
        for weight, bias in zip(self.layers, self.biases):
            x = torch.relu(x @ weight + bias)
        return x @ self.head


def weights_in_init(n, rng):
    width, rows = rng.randint(200, 1500), rng.randint(16, 256)
    model = Weights(width, rng.randint(2, 5), True)
    n.all("parameter", model.parameters())
    by_optimizer = rng.random() < 0.5
    optimizer = torch.optim.Adam(model.parameters()) if by_optimizer else None
    for _ in range(5):
        x, y = batch_of(n, rows, width)
        if optimizer:
            step_of(n, model, optimizer, lambda: F.cross_entropy(model(x), y))
            continue
        with n.phase("forward"):
            loss = F.cross_entropy(model(x), y)
        with n.phase("backward"):
            slopes = torch.autograd.grad(loss, model.parameters())
        n.all("gradient", list(slopes))
        with torch.no_grad(), n.phase("optimizer"):
            for weight, slope in zip(model.parameters(), slopes):
                weight.sub_(slope, alpha=0.1)
    return model, optimizer


def weights_without_grad(n, rng):
    width, rows = rng.randint(500, 2500), rng.randint(8, 256)
    model = Weights(width, rng.randint(2, 6), False)
    n.all("parameter", model.parameters())
    kept = []
    for _ in range(6):
        x, _ = batch_of(n, rows, width)
        with n.phase("no_grad"):
            out = model(x)
            kept.append(out)
    n.all("other", kept)
    return model, kept


def data_assigned(n, rng):
    width, model = layers_of(rng)
    model.cuda()
    new = {name: torch.randn_like(p) for name, p in model.named_parameters()}
    half = rng.random() < 0.5
    for name, p in model.named_parameters():
        p.data = new[name].to(torch.bfloat16) if half else new[name]
    del new, p
    n.weights(model)
    rows = rng.randint(16, 256)
    for _ in range(5):
        x, y = batch_of(n, rows, width)
        x = x.to(torch.bfloat16) if half else x
        n.all("input", x)
        with n.phase("forward"):
            loss = F.cross_entropy(model(x).float(), y)
        backward_of(n, loss, model.parameters())
        with torch.no_grad(), n.phase("optimizer"):
            for p in model.parameters():
                p.data = p.data - 0.1 * p.grad
                p.grad = None
        n.weights(model)
    return model


def loaded_weights(n, rng):
    width, model = layers_of(rng)
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    state = torch.load(file, map_location="cuda", weights_only=True)
    n.all("loaded", state)
    way = rng.choice(("copied", "kept", "assigned"))
    if way == "assigned":
        model.load_state_dict(state, assign=True)
    else:
        model.cuda().load_state_dict(state)
    n.weights(model)
    if way == "copied":
        del state
    model.eval()
    rows = rng.randint(16, 512)
    for _ in range(5):
        x, _ = batch_of(n, rows, width)
        with torch.inference_mode(), n.phase("no_grad"):
            model(x).softmax(-1)
    return model, locals().get("state")


def keys_and_values(n, rng):
    width, heads, layers, vocabulary = 64 * rng.randint(2, 8), 4, rng.randint(2, 4), rng.randint(1000, 8000)
    embed, head = nn.Embedding(vocabulary, width).cuda(), nn.Linear(width, vocabulary, bias=False).cuda()
    blocks = [nn.Linear(width, 3 * width).cuda() for _ in range(layers)]
    for part in (embed, head, *blocks):
        n.weights(part)
    whole, rows, length = rng.random() < 0.5, rng.randint(1, 8), rng.randint(20, 40)
    cache = [torch.zeros(2, rows, heads, length, width // heads, device="cuda") if whole else None for _ in blocks]
    ids = ids_of(n, rng, vocabulary, rows, 1)
    with torch.inference_mode(), n.phase("no_grad"):
        for place in range(length):
            x = embed(ids)
            for index, block in enumerate(blocks):
                q, k, v = block(x).view(rows, 1, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
                if whole:
                    cache[index][0, :, :, place:place + 1], cache[index][1, :, :, place:place + 1] = k, v
                    keys, values = cache[index][:, :, :, :place + 1]
                else:
                    new = torch.stack([k, v])
                    cache[index] = new if cache[index] is None else torch.cat([cache[index], new], 3)
                    keys, values = cache[index]
                x = x + F.scaled_dot_product_attention(q, keys, values).transpose(1, 2).reshape(rows, 1, width)
            ids = head(x).argmax(-1)
    n.all("other", [cache, ids])
    return embed, head, blocks, cache, ids


def embeddings(n, rng):
    rows, width, tables = rng.randint(5000, 40000), rng.randint(16, 128), rng.randint(2, 4)
    model = nn.ModuleDict({"tables": nn.ModuleList(nn.Embedding(rows, width) for _ in range(tables)), "out": nn.Linear(width * tables, 10)}).cuda()
    n.weights(model)
    optimizer = rng.choice((torch.optim.Adagrad, torch.optim.Adam))(model.parameters())
    for _ in range(4):
        ids = ids_of(n, rng, rows, rng.randint(32, 512), tables)
        y = torch.zeros(len(ids), dtype=torch.long, device="cuda")
        n.all("input", y)
        step_of(n, model, optimizer, lambda: F.cross_entropy(
            model["out"](torch.cat([table(ids[:, i]) for i, table in enumerate(model["tables"])], -1)), y))
    return model, optimizer


def averages(n, rng):
    width, model = layers_of(rng)
    model.cuda()
    n.weights(model)
    way, rows = rng.choice(("clones", "deepcopy", "averaged_model")), rng.randint(16, 256)
    if way == "clones":
        average = [p.detach().clone() for p in model.parameters()]
        n.all("other", average)
    else:
        average = copy.deepcopy(model).requires_grad_(False) if way == "deepcopy" else torch.optim.swa_utils.AveragedModel(model)
        n.weights(average)
    optimizer = an_optimizer(rng, model.parameters())
    for _ in range(5):
        x, y = batch_of(n, rows, width)
        step_of(n, model, optimizer, lambda: F.cross_entropy(model(x), y))
        if way == "averaged_model":
            average.update_parameters(model)
        else:
            with torch.no_grad(), n.phase("no_grad"):
                for a, p in zip(average if way == "clones" else average.parameters(), model.parameters()):
                    a.lerp_(p, 0.1)
    return model, average, optimizer


def frozen_parts(n, rng):
    width, backbone = layers_of(rng, depth=(3, 6))
    head = nn.Linear(10, rng.randint(10, 1000))
    model = nn.Sequential(backbone, head).cuda()
    backbone.requires_grad_(False)
    n.weights(model)
    optimizer, rows = an_optimizer(rng, model.parameters()), rng.randint(16, 512)
    for _ in range(6):
        x, y = batch_of(n, rows, width)
        step_of(n, model, optimizer, lambda: F.cross_entropy(model(x), y))
    return model, optimizer


def evaluation_only(n, rng):
    width, model = layers_of(rng)
    model.cuda().eval()
    n.weights(model)
    outputs, rows, inference = [], rng.randint(32, 1024), rng.random() < 0.5
    with torch.inference_mode() if inference else torch.no_grad():
        for _ in range(8):
            x, _ = batch_of(n, rows, width)
            with n.phase("no_grad"):
                outputs.append(model(x))
    n.all("other", outputs)
    return model, outputs


def preloaded_inputs(n, rng):
    width, model = layers_of(rng, 128, 600)
    rows, batches = rng.randint(32, 256), rng.randint(5, 20)
    if rng.random() < 0.5:
        data = torch.randn(rows * batches, width).cuda()
        labels = torch.randint(10, (rows * batches,)).cuda()
        loader = [(data[at:at + rows], labels[at:at + rows]) for at in range(0, len(data), rows)]
    else:
        loader = [(torch.randn(rows, width).to("cuda"), torch.randint(10, (rows,)).to("cuda")) for _ in range(batches)]
    n.all("input", loader)
    model.cuda()
    n.weights(model)
    optimizer = an_optimizer(rng, model.parameters())
    for x, y in loader[:6]:
        step_of(n, model, optimizer, lambda: F.cross_entropy(model(x), y))
    return model, optimizer, loader


def checkpoints(n, rng):
    width, blocks = 8 * rng.randint(16, 80), nn.ModuleList()
    for _ in range(rng.randint(3, 6)):
        blocks.append(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)))
    model = nn.ModuleDict({"blocks": blocks, "head": nn.Linear(width, 10)}).cuda()
    n.weights(model)
    optimizer, rows = an_optimizer(rng, model.parameters()), rng.randint(64, 1024)

    def body(block, x):
        with n.state(*n.compute(None)):  # again, in the backward
            return block(x)

    def forward(x):
        for block in blocks:
            x = x + checkpoint(body, block, x, use_reentrant=False)
        return model["head"](x)
    for _ in range(5):
        x, y = batch_of(n, rows, width)
        step_of(n, model, optimizer, lambda: F.cross_entropy(forward(x), y))
    return model, optimizer


def graph_kept(n, rng):
    width, model = layers_of(rng, 128, 600)
    model.cuda()
    n.weights(model)
    optimizer, rows = torch.optim.SGD(model.parameters(), lr=0.1), rng.randint(16, 256)
    total = 0
    with n.phase("forward"):
        for _ in range(rng.randint(3, 8)):
            x, y = batch_of(n, rows, width)
            total = total + F.cross_entropy(model(x), y)
    learn(n, total, model.parameters(), optimizer)
    return model, optimizer


def buckets(n, rng):
    width, model = layers_of(rng)
    model.cuda()
    n.weights(model)
    parameters = list(model.parameters())
    flat = torch.zeros(sum(p.numel() for p in parameters), device="cuda")
    n.all("gradient", flat)
    place = 0
    for p in parameters:
        p.grad = flat[place:place + p.numel()].view_as(p)
        place += p.numel()
    optimizer, rows = torch.optim.AdamW(parameters), rng.randint(16, 256)
    for _ in range(5):
        x, y = batch_of(n, rows, width)
        step_of(n, model, optimizer, lambda: F.cross_entropy(model(x), y), False)
    return model, optimizer, flat


class Adapter(nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(torch.zeros(rank, base.in_features, device="cuda"))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank, device="cuda"))

    def forward(self, x):
        return self.base(x) + x @ self.down.t() @ self.up.t()


def adapters(n, rng):
    width, model = layers_of(rng)
    model.cuda()
    for name, child in list(model.named_children()):
        if isinstance(child, nn.Linear):
            setattr(model, name, Adapter(child, rng.choice((4, 8, 16))))
    n.weights(model)
    optimizer, rows = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad]), rng.randint(16, 512)
    for _ in range(5):
        x, y = batch_of(n, rows, width)
        step_of(n, model, optimizer, lambda: F.cross_entropy(model(x), y))
    return model, optimizer


def two_players(n, rng):
    width, latent = rng.randint(100, 800), rng.randint(16, 100)
    generator = nn.Sequential(nn.Linear(latent, width), nn.ReLU(), nn.Linear(width, width)).cuda()
    critic = nn.Sequential(nn.Linear(width, width), nn.LeakyReLU(), nn.Linear(width, 1)).cuda()
    n.weights(generator), n.weights(critic)
    first, second, rows = torch.optim.Adam(generator.parameters()), torch.optim.Adam(critic.parameters()), rng.randint(32, 512)
    for _ in range(4):
        x, _ = batch_of(n, rows, width)
        z, _ = batch_of(n, rows, latent)
        with torch.no_grad(), n.phase("no_grad"):
            fake = generator(z)
        n.all("other", fake)
        step_of(n, critic, second, lambda: critic(fake).mean() - critic(x).mean())
        step_of(n, generator, first, lambda: -critic(generator(z)).mean())
        n.gradients(critic.parameters())
        second.zero_grad()
    return generator, critic, first, second


def recurrent(n, rng):
    width, rows, length = rng.randint(64, 512), rng.randint(8, 64), rng.randint(8, 32)
    model = nn.ModuleDict({"lstm": nn.LSTM(width, width, 2, batch_first=True), "head": nn.Linear(width, 10)}).cuda()
    n.weights(model)
    optimizer, state = an_optimizer(rng, model.parameters()), None
    for _ in range(5):
        x = torch.randn(rows, length, width, device="cuda")
        y = torch.zeros(rows, dtype=torch.long, device="cuda")
        n.all("input", [x, y])

        def loss_of():
            nonlocal state
            out, state = model["lstm"](x, state)
            return F.cross_entropy(model["head"](out[:, -1]), y)
        step_of(n, model, optimizer, loss_of)
        n.all("hidden", state)
        state = tuple(part.detach() for part in state)
    return model, optimizer, state


def half_inference(n, rng):
    model = models.Gpt(rng.randint(2, 4), 64 * rng.randint(2, 8), 4, rng.randint(1000, 8000), 128)
    way = rng.choice(("half_after", "half_before", "to"))
    if way == "half_after":
        model = model.cuda().half()
    else:
        model = model.half().cuda() if way == "half_before" else model.to("cuda", torch.bfloat16)
    n.weights(model)
    model.eval()
    for _ in range(4):
        ids = ids_of(n, rng, 1000, rng.randint(1, 8), 128)
        with torch.no_grad(), n.phase("no_grad"):
            model(ids)[:, -1].softmax(-1)
    return model


def teacher_student(n, rng):
    width, teacher = layers_of(rng)
    teacher.cuda().eval().requires_grad_(False)
    student = nn.Sequential(nn.Linear(width, width // 2), nn.ReLU(), nn.Linear(width // 2, 10)).cuda()
    n.weights(teacher), n.weights(student)
    optimizer, rows = an_optimizer(rng, student.parameters()), rng.randint(32, 512)
    for _ in range(5):
        x, _ = batch_of(n, rows, width)
        with torch.no_grad(), n.phase("no_grad"):
            target = teacher(x).softmax(-1)
        n.all("other", target)
        step_of(n, student, optimizer, lambda: F.kl_div(student(x).log_softmax(-1), target, reduction="batchmean"))
    return teacher, student, optimizer


def replay_buffer(n, rng):
    width, room, rows = rng.randint(16, 256), rng.randint(2000, 20000), rng.randint(64, 512)
    states, actions = torch.zeros(room, width, device="cuda"), torch.zeros(room, dtype=torch.long, device="cuda")
    n.all("other", [states, actions])
    policy = nn.Sequential(nn.Linear(width, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
    target = copy.deepcopy(policy)
    n.weights(policy), n.weights(target)
    optimizer = torch.optim.Adam(policy.parameters())
    for turn in range(6):
        with torch.no_grad(), n.phase("no_grad"):
            states[turn] = torch.randn(width, device="cuda")
            actions[turn] = policy(states[turn]).argmax()
        at = torch.randint(room, (rows,), device="cuda")
        x, a = states[at], actions[at]
        n.all("input", [at, x, a])
        with torch.no_grad(), n.phase("no_grad"):
            wanted = target(x).amax(1)
        n.all("other", wanted)
        step_of(n, policy, optimizer, lambda: F.mse_loss(policy(x).gather(1, a[:, None])[:, 0], wanted))
    return states, actions, policy, target, optimizer


def master_weights(n, rng):
    width, model = layers_of(rng)
    model.to("cuda", torch.bfloat16)
    n.weights(model)
    masters = [p.detach().float().clone() for p in model.parameters()]
    n.all("master", masters)
    optimizer, rows = torch.optim.AdamW(masters), rng.randint(16, 256)
    for _ in range(5):
        x, y = batch_of(n, rows, width)
        x = x.bfloat16()
        n.all("input", x)
        with n.phase("forward"):
            loss = F.cross_entropy(model(x).float(), y)
        backward_of(n, loss, model.parameters())
        for master, p in zip(masters, model.parameters()):
            master.grad = p.grad.float()
            p.grad = None
        n.gradients(masters)
        update_of(n, optimizer)
        optimizer.zero_grad()
        with torch.no_grad(), n.phase("no_grad"):
            for master, p in zip(masters, model.parameters()):
                p.copy_(master)
    return model, masters, optimizer


def adam_by_hand(n, rng):
    width, model = layers_of(rng)
    model.cuda()
    n.weights(model)
    first = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
    second = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
    n.all("optimizer_state", [first, second])
    rows = rng.randint(16, 256)
    for _ in range(5):
        x, y = batch_of(n, rows, width)
        with n.phase("forward"):
            loss = F.cross_entropy(model(x), y)
        backward_of(n, loss, model.parameters())
        with torch.no_grad(), n.phase("optimizer"):
            for name, p in model.named_parameters():
                first[name].mul_(0.9).add_(p.grad, alpha=0.1)
                second[name].mul_(0.99).addcmul_(p.grad, p.grad, value=0.01)
                p.addcdiv_(first[name], second[name].sqrt() + 1e-8, value=-0.001)
                p.grad = None
    return model, first, second


def functional_call(n, rng):
    width, model = layers_of(rng)
    weights = {name: p.detach().cuda().requires_grad_() for name, p in model.named_parameters()}
    n.all("parameter", weights)
    rows = rng.randint(16, 256)
    for _ in range(5):
        x, y = batch_of(n, rows, width)
        with n.phase("forward"):
            loss = F.cross_entropy(torch.func.functional_call(model, weights, (x,)), y)
        with n.phase("backward"):
            slopes = torch.autograd.grad(loss, list(weights.values()))
        n.all("gradient", list(slopes))
        with n.phase("optimizer"):
            weights = {name: (w.detach() - 0.1 * g).requires_grad_() for (name, w), g in zip(weights.items(), slopes)}
        n.all("parameter", weights)
    return weights


def autocast_evaluation(n, rng):
    """Copies of weights in the cache of autocast live until it ends; no graph holds them."""
    model = models.Gpt(rng.randint(2, 5), 64 * rng.randint(3, 8), 4, rng.randint(500, 4000), 128).cuda().eval()
    n.weights(model)
    losses = []
    for _ in range(3):
        ids = ids_of(n, rng, 500, rng.randint(1, 4), 64)
        with torch.no_grad(), n.phase("no_grad"), torch.autocast("cuda", dtype=torch.bfloat16):
            for _ in range(rng.randint(1, 3)):
                out = model(ids)
                losses.append(F.cross_entropy(out.flatten(0, 1), ids.flatten()))
            del out
    n.all("other", losses)
    return model, losses


class Masked(nn.Module):
    def __init__(self, width, length):
        super().__init__()
        self.project = nn.Linear(width, width)
        self.register_buffer("mask", torch.zeros(length, length))
        self.register_buffer("table", torch.zeros(length, width), persistent=False)

    def forward(self, x):
        x = x + self.table
        return self.project((x @ x.transpose(-2, -1) + self.mask).softmax(-1) @ x)


def masks_and_tables(n, rng):
    width, length, rows = 32 * rng.randint(2, 8), rng.randint(200, 900), rng.randint(1, 4)
    model = nn.Sequential(*(Masked(width, length) for _ in range(rng.randint(2, 4))), nn.Flatten(), nn.Linear(width * length, 10)).cuda()
    n.weights(model)
    optimizer = an_optimizer(rng, model.parameters())
    for _ in range(4):
        x, y = batch_of(n, rows, length, width)
        step_of(n, model, optimizer, lambda: F.cross_entropy(model(x), y))
    return model, optimizer
