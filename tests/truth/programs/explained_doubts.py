# SPDX-License-Identifier: GPL-3.0-or-later
"""Trainings whose memory lives and dies like that of another category, one function a family: nothing of them may be firm and wrong.

Each says by name what its memory is for (explained_program.py). What only a graph holds is an activation, whoever made it.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

from explained_ledgers import backward_of, batch_of, learn, step_of, update_of

ODD = 8519680 // 4  # elements as large as the workspace of cuBLAS


def trained(n, rng, width=None, rows=None):
    width = width or 8 * rng.randint(30, 100)
    model = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 10)).cuda()
    n.weights(model)
    return model, torch.optim.AdamW(model.parameters()), width, rows or rng.randint(32, 256)


def locals_kept(n, rng):
    """Variables hold what the graph holds, too, and what it does not."""
    model, optimizer, width, rows = trained(n, rng)
    for _ in range(4):
        x, y = batch_of(n, rows, width)
        with n.phase("forward"):
            first = model[1](model[0](x))
            apart = first.detach() * 2
            out = model[4](model[3](model[2](first)))
            loss = F.cross_entropy(out, y)
        learn(n, loss, model.parameters(), optimizer)
        del apart
    return model, optimizer


def dropped_by_hooks(n, rng):
    """Hooks of Python drop a batch, and what nobody saved, within the backward."""
    model, optimizer, width, rows = trained(n, rng)
    held = {}
    model[2].register_full_backward_hook(lambda *_: held.clear())
    for _ in range(4):
        held["x"], y = batch_of(n, rows, width)
        held["noise"] = torch.rand(rows, width, device="cuda")
        n.all("other", held["noise"])
        step_of(n, model, optimizer, lambda: F.cross_entropy(model(held["x"]), y))
    return model, optimizer


def batches_dropped(n, rng):
    """The graph alone holds a batch that functions of torch.nn made."""
    model, optimizer, width, rows = trained(n, rng)
    for _ in range(4):
        y = torch.randint(10, (rows,), device="cuda")
        x = F.interpolate(torch.randn(rows, 1, width // 2, device="cuda"), width).flatten(1)
        z = F.normalize(torch.randn(rows, width, device="cuda"))
        n.all("input", [x, y, z])
        with n.phase("forward"):
            loss = F.cross_entropy(model(x), y) + model(z).square().mean()
        del x, y, z
        learn(n, loss, model.parameters(), optimizer)
    return model, optimizer


def teacher_dropped(n, rng):
    """The graph alone holds what a forward without gradients made."""
    model, optimizer, width, rows = trained(n, rng)
    teacher = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, 10)).cuda().requires_grad_(False)
    n.weights(teacher)

    def target(x):
        with torch.no_grad(), n.phase("no_grad"):
            out = teacher(x)
        n.all("hidden", out)
        return out
    for _ in range(4):
        x, _ = batch_of(n, rows, width)
        step_of(n, model, optimizer, lambda: F.mse_loss(model(x), target(x)))
    return model, teacher, optimizer


def gradients_of_inputs(n, rng):
    """As large as a frozen weight."""
    width = 8 * rng.randint(30, 100)
    model, _, _, _ = trained(n, rng, width)
    model.requires_grad_(False)
    found = []
    for _ in range(4):
        x = torch.randn(width, width, device="cuda", requires_grad=True)
        n.all("input", x)
        with n.phase("forward"):
            loss = model(x).square().mean()
        backward_of(n, loss, [x])
        found.append(x.grad)
    return model, found


def captured_by_hooks(n, rng):
    """Gradients of activations that are as large as a weight, some of them frozen."""
    model, _, width, _ = trained(n, rng)
    rows = width
    model[0].requires_grad_(rng.random() < 0.5)
    model[2].requires_grad_(False)
    kept = []
    model[3].register_full_backward_hook(lambda module, inputs, outputs: kept.append(outputs[0]))
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    for _ in range(4):
        x, y = batch_of(n, rows, width)
        step_of(n, model, optimizer, lambda: F.cross_entropy(model(x.requires_grad_()), y))
        n.all("other", kept[-1])
        n.all("gradient", x.grad)
    return model, kept


def penalty(n, rng):
    """A gradient of a gradient."""
    model, optimizer, width, rows = trained(n, rng)
    for _ in range(4):
        x, _ = batch_of(n, rows, width)
        x.requires_grad_()
        with n.phase("forward"):
            slope, = torch.autograd.grad(model(x).sum(), x, create_graph=True)
            loss = (slope.norm(dim=1) - 1).square().mean()
        learn(n, loss, [*model.parameters(), x], optimizer)
    return model, optimizer


def backward_of_backward(n, rng):
    """The program allocates nothing between the two."""
    model, optimizer, width, rows = trained(n, rng)
    seed = torch.ones(rows, width, device="cuda")
    n.all("input", seed)
    for _ in range(4):
        x, _ = batch_of(n, rows, width)
        x.requires_grad_()
        with n.phase("forward"):
            out = model(x).sum()
            slope, = torch.autograd.grad(out, x, create_graph=True)
        learn(n, slope, [*model.parameters(), x], optimizer, gradient=seed)
    return model, optimizer


def graphs_of_gradients(n, rng):
    """zero_grad() drops a graph with the gradient."""
    model, _, width, rows = trained(n, rng)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        x, y = batch_of(n, rows, width)
        with n.phase("forward"):
            loss = F.cross_entropy(model(x), y)
        learn(n, loss, model.parameters(), optimizer, create_graph=True)
    return model, optimizer


def graph_twice(n, rng):
    model, optimizer, width, rows = trained(n, rng)
    for _ in range(4):
        x, y = batch_of(n, rows, width)
        with n.phase("forward"):
            loss = F.cross_entropy(model(x), y)
        backward_of(n, loss, model.parameters(), retain_graph=True)
        learn(n, loss, model.parameters(), optimizer)
    return model, optimizer


def large_as_workspaces(n, rng):
    """Tensors of the sizes that cuBLAS allocates."""
    width, tokens = 512, 65
    model = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width), nn.Flatten(), nn.Linear(width * tokens, 10)).cuda()
    n.weights(model)
    optimizer, kept = torch.optim.AdamW(model.parameters()), []
    for _ in range(4):
        x, y = batch_of(n, 64, tokens, width)
        step_of(n, model, optimizer, lambda: F.cross_entropy(model(x), y))
        with torch.no_grad(), n.phase("no_grad"):
            kept.append(model[:3](x))
        n.all("other", kept[-1])
    return model, optimizer, kept


def noise_as_workspaces(n, rng):
    """Momentary tensors of the sizes that cuBLAS allocates."""
    model, optimizer, width, rows = trained(n, rng)
    long = [torch.zeros(count * 2, device="cuda") for count in (ODD, 1 << 18, 1 << 23)]
    n.all("other", long)

    def noisy(x):
        for each in long:
            half = each[:len(each) // 2]
            for _ in range(3):
                half.add_(torch.rand(len(half), device="cuda"))
        return model(x)
    for _ in range(4):
        x, y = batch_of(n, rows, width)
        step_of(n, model, optimizer, lambda: F.cross_entropy(noisy(x), y))
    return model, optimizer, long


def stepped_by_hooks(n, rng):
    """Each gradient goes as soon as it was used."""
    model, _, width, rows = trained(n, rng)

    def use(p):
        n.gradients([p])
        with torch.no_grad():
            p -= 0.1 * p.grad
        p.grad = None
    for p in model.parameters():
        p.register_post_accumulate_grad_hook(use)
    for _ in range(4):
        x, y = batch_of(n, rows, width)
        with n.phase("forward"):
            loss = F.cross_entropy(model(x), y)
        with n.phase("backward"):
            loss.backward()
    return model


class Renewing(torch.optim.Optimizer):
    """Makes its state anew at each step."""

    def __init__(self, parameters):
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self):
        for p in self.param_groups[0]["params"]:
            state = self.state[p]
            state["mean"] = state["mean"] * 0.9 + p.grad if state else p.grad.clone()
            p -= 0.1 * state["mean"]


def states_made_anew(n, rng):
    model, _, width, rows = trained(n, rng)
    optimizer = Renewing(model.parameters())
    for _ in range(4):
        x, y = batch_of(n, rows, width)
        with n.phase("forward"):
            loss = F.cross_entropy(model(x), y)
        backward_of(n, loss, model.parameters())
        for _ in range(2):
            update_of(n, optimizer)
        optimizer.zero_grad()
    return model, optimizer


class Carrying(nn.Module):
    """Keeps what it made last, without its graph."""

    def __init__(self, width):
        super().__init__()
        self.mix, self.last = nn.Linear(width, width), None

    def forward(self, x):
        out = torch.tanh(self.mix(x))
        out = out if self.last is None else out + self.last
        self.last = out.detach().clone()
        return out


def carried(n, rng):
    width, rows = 8 * rng.randint(30, 100), rng.randint(32, 256)
    model = nn.Sequential(Carrying(width), nn.Linear(width, 10)).cuda()
    n.weights(model)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(4):
        x, y = batch_of(n, rows, width)
        step_of(n, model, optimizer, lambda: F.cross_entropy(model(x), y))
        n.all("other", model[0].last)
    return model, optimizer


class Scaled(torch.autograd.Function):
    """Holds what its backward needs, and a note that it does not need."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x * 3)
        ctx.note = x + 1
        return x * 2

    @staticmethod
    def backward(ctx, slope):
        saved, = ctx.saved_tensors
        return slope * 2 + saved * 0


def functions_of_python(n, rng):
    model, optimizer, width, rows = trained(n, rng)
    for _ in range(4):
        x, y = batch_of(n, rows, width)
        step_of(n, model, optimizer, lambda: F.cross_entropy(model[2:](Scaled.apply(model[:2](x))), y))
    return model, optimizer


def weights_normed(n, rng):
    """The forward makes weights as large as the parameters."""
    width, rows = 8 * rng.randint(30, 100), rng.randint(32, 256)
    model = nn.Sequential(torch.nn.utils.parametrizations.weight_norm(nn.Linear(width, width)), nn.ReLU(), nn.Linear(width, 10)).cuda()
    n.weights(model)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(4):
        x, y = batch_of(n, rows, width)
        step_of(n, model, optimizer, lambda: F.cross_entropy(model(x), y))
    return model, optimizer


def learned_twice(n, rng):
    """Weights of a step within the step hang in the graph."""
    model, optimizer, width, rows = trained(n, rng)
    for _ in range(4):
        x, y = batch_of(n, rows, width)
        with n.phase("forward"):
            weights = dict(model.named_parameters())
            loss = F.cross_entropy(torch.func.functional_call(model, weights, (x,)), y)
            slopes = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
            weights = {name: w - 0.1 * g for (name, w), g in zip(weights.items(), slopes)}
            loss = F.cross_entropy(torch.func.functional_call(model, weights, (x,)), y)
        learn(n, loss, model.parameters(), optimizer)
        del weights, slopes, loss
    return model, optimizer


def closures(n, rng):
    model, _, width, rows = trained(n, rng)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3, history_size=2)
    for _ in range(3):
        x, y = batch_of(n, rows, width)

        def loss_of():
            optimizer.zero_grad()
            with n.phase("forward"):
                loss = F.cross_entropy(model(x), y)
            backward_of(n, loss, model.parameters())
            return loss
        update_of(n, optimizer, loss_of)
    return model, optimizer


def sparse_gradients(n, rng):
    width = 64
    model = nn.Sequential(nn.Embedding(20000, width, sparse=True), nn.Flatten(), nn.Linear(16 * width, 10)).cuda()
    n.weights(model)
    optimizer = torch.optim.SparseAdam(model[0].parameters())
    second = torch.optim.SGD(model[2].parameters(), lr=0.1)
    for _ in range(4):
        ids = torch.randint(20000, (rng.randint(16, 64), 16), device="cuda")
        y = torch.zeros(len(ids), dtype=torch.long, device="cuda")
        n.all("input", [ids, y])
        with n.phase("forward"):
            loss = F.cross_entropy(model(ids), y)
        with n.phase("backward"):
            loss.backward()
        sparse = model[0].weight.grad
        n.all("gradient", [sparse._indices(), sparse._values(), model[2].weight.grad, model[2].bias.grad])
        del sparse
        update_of(n, optimizer)
        update_of(n, second)
        optimizer.zero_grad()
        second.zero_grad()
    return model, optimizer, second


def gradients_moved(n, rng):
    """Gradients outlive zero_grad() in a list, or are replaced."""
    model, optimizer, width, rows = trained(n, rng)
    kept = []
    for turn in range(4):
        x, y = batch_of(n, rows, width)
        with n.phase("forward"):
            loss = F.cross_entropy(model(x), y)
        backward_of(n, loss, model.parameters())
        if turn % 2:
            kept.append([p.grad for p in model.parameters()])
        for p in model.parameters():
            p.grad = p.grad * 0.5
        n.gradients(model.parameters())
        update_of(n, optimizer)
        optimizer.zero_grad()
    return model, optimizer, kept
