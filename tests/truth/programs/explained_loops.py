# SPDX-License-Identifier: GPL-3.0-or-later
"""Loops of trainings, evaluations and servers, with or without growth (explained_list.LOOPS), one function a family.

n.turn() says that the loop begins once more; with `named` drawn, a range of the profiler does so for everybody to see.
"""
import collections
import contextlib
import gc

import torch
import torch.nn as nn
import torch.nn.functional as F

TURNS = 30


def layers_of(rng, out=10):
    width = 8 * rng.randint(16, 80)
    return width, nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, out)).cuda()


def turns(n, rng, name="step", count=TURNS):
    """The loop; a third of programs name what it does."""
    named = rng.random() < 0.33
    for turn in range(count):
        n.turn()
        with torch.profiler.record_function(f"{name} {turn}") if named else contextlib.nullcontext():
            yield turn


def batch(rows, width):
    return torch.randn(rows, width, device="cuda"), torch.zeros(rows, dtype=torch.long, device="cuda")


def an_optimizer(rng, model):
    return rng.choice((lambda p: torch.optim.AdamW(p), lambda p: torch.optim.SGD(p, lr=0.1), lambda p: torch.optim.Adam(p, fused=True)))(
        model.parameters())


def trained(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


def losses_kept(n, rng):
    width, model = layers_of(rng)
    optimizer, losses, rows = an_optimizer(rng, model), [], rng.randint(16, 256)
    for _ in turns(n, rng):
        losses.append(trained(model, optimizer, *batch(rows, width)))
    return model, losses


def hidden_not_detached(n, rng):
    width = 8 * rng.randint(8, 40)
    cell, head, rows = nn.GRUCell(width, width).cuda(), nn.Linear(width, 10).cuda(), rng.randint(16, 128)
    hidden = torch.zeros(rows, width, device="cuda")
    for _ in turns(n, rng, "token"):
        hidden = cell(torch.randn(rows, width, device="cuda"), hidden)
        head(hidden)
    return hidden


def outputs_of_evaluation(n, rng):
    width, model = layers_of(rng)
    model.eval()
    outputs, rows = [], rng.randint(64, 512)
    with torch.no_grad() if rng.random() < 0.5 else torch.inference_mode():
        for _ in turns(n, rng, "batch"):
            outputs.append(model(batch(rows, width)[0]))
    return model, outputs


def results_joined(n, rng):
    width, model = layers_of(rng, 256)
    result, rows = torch.empty(0, 256, device="cuda"), rng.randint(64, 512)
    with torch.no_grad():
        for _ in turns(n, rng, "batch"):
            result = torch.cat([result, model(batch(rows, width)[0])])
    return result


def serving_by_new_keys(n, rng):
    width, model = layers_of(rng, 512)
    cache, rows = {}, rng.randint(32, 256)
    with torch.inference_mode():
        for turn in turns(n, rng, "request"):
            key = f"request {turn}"
            if key not in cache:
                cache[key] = model(batch(rows, width)[0]).softmax(-1)
    return model, cache


def exceptions_kept(n, rng):
    width, model = layers_of(rng)
    errors, rows = [], rng.randint(64, 512)

    def attempt():
        out = model(batch(rows, width)[0])
        raise ValueError(out.shape)
    with torch.no_grad():
        for _ in turns(n, rng, "try"):
            try:
                attempt()
            except ValueError as error:
                errors.append(error)  # whose traceback holds the frame
    return model, errors


def outputs_by_hook(n, rng):
    width, model = layers_of(rng)
    seen, rows = [], rng.randint(64, 512)
    model[2].register_forward_hook(lambda module, inputs, output: seen.append(output.detach().clone()))
    optimizer = an_optimizer(rng, model)
    for _ in turns(n, rng):
        trained(model, optimizer, *batch(rows, width))
    return model, seen


def optimizers_made_anew(n, rng):
    width, model = layers_of(rng)
    made, rows = [], rng.randint(16, 256)
    for _ in turns(n, rng, "round"):
        made.append(torch.optim.AdamW(model.parameters()))
        trained(model, made[-1], *batch(rows, width))
    return model, made


def sum_of_losses(n, rng):
    """What only prints at the end of an epoch keeps every graph until then."""
    width, model = layers_of(rng)
    total, rows = 0, rng.randint(64, 512)
    for _ in turns(n, rng, "batch"):
        x, y = batch(rows, width)
        total = total + F.cross_entropy(model(x), y)
    return model, total


class Node:
    def __init__(self, tensor):
        self.tensor, self.me = tensor, self


def cycles_uncollected(n, rng):
    gc.disable()
    width, model = layers_of(rng)
    optimizer, rows, size = an_optimizer(rng, model), rng.randint(16, 256), rng.randint(50, 500) * 1000
    for _ in turns(n, rng):
        trained(model, optimizer, *batch(rows, width))
        Node(torch.empty(size, device="cuda"))
    return model


def gradients_of_gradients_kept(n, rng):
    """backward(create_graph=True), whose gradients keep their graph: a cycle of parameter and gradient."""
    width, model = layers_of(rng)
    kept, rows = [], rng.randint(16, 128)
    for _ in turns(n, rng):
        x, y = batch(rows, width)
        slopes = torch.autograd.grad(F.cross_entropy(model(x), y), list(model.parameters()), create_graph=True)
        kept.append(sum(slope.pow(2).sum() for slope in slopes))
        with torch.no_grad():
            for p, slope in zip(model.parameters(), slopes):
                p -= 0.1 * slope
    return model, kept


def training(n, rng):
    width, model = layers_of(rng)
    optimizer, rows = an_optimizer(rng, model), rng.randint(16, 512)
    for _ in turns(n, rng):
        trained(model, optimizer, *batch(rows, width))
    return model


def evaluation(n, rng):
    width, model = layers_of(rng)
    right, rows = torch.zeros((), device="cuda"), rng.randint(64, 512)
    with torch.no_grad():
        for _ in turns(n, rng, "batch"):
            x, y = batch(rows, width)
            right += (model(x).argmax(1) == y).sum()
    return model, right


def serving(n, rng):
    width, model = layers_of(rng, 512)
    with torch.inference_mode():
        for _ in turns(n, rng, "request"):
            model(batch(rng.randint(1, 256), width)[0]).softmax(-1).cpu()
    return model


def cache_that_fills(n, rng):
    width, model = layers_of(rng, 512)
    cache, most, rows = collections.OrderedDict(), rng.randint(4, 9), rng.randint(32, 256)
    with torch.inference_mode():
        for turn in turns(n, rng, "request"):
            cache[turn] = model(batch(rows, width)[0])
            if len(cache) > most:
                cache.popitem(last=False)
    return model, cache


def retries(n, rng):
    width, model = layers_of(rng)
    rows, failed = rng.randint(64, 512), 0
    with torch.no_grad():
        for turn in turns(n, rng, "try"):
            try:
                out = model(batch(rows, width)[0])
                if turn % 3:
                    raise ValueError("no answer")
            except ValueError:
                failed += 1
            del out
    return model, failed


def cycles_collected(n, rng):
    gc.disable()
    width, model = layers_of(rng)
    optimizer, rows, size = an_optimizer(rng, model), rng.randint(16, 256), rng.randint(50, 500) * 1000
    every = rng.randint(3, 6)
    for turn in turns(n, rng):
        trained(model, optimizer, *batch(rows, width))
        Node(torch.empty(size, device="cuda"))
        if turn % every == every - 1:
            gc.collect()
    return model


def alternating_sizes(n, rng):
    width, model = layers_of(rng)
    optimizer, sizes, last = an_optimizer(rng, model), [rng.randint(16, 512) for _ in range(rng.randint(2, 4))], None
    for turn in turns(n, rng):
        x, y = batch(sizes[turn % len(sizes)], width)
        last = trained(model, optimizer, x, y).detach()
    return model, last


def warm_up_only(n, rng):
    """Statistics are kept for the first turns alone."""
    width, model = layers_of(rng)
    kept, first, rows = [], rng.randint(3, 6), rng.randint(64, 512)
    optimizer = an_optimizer(rng, model)
    for turn in turns(n, rng):
        x, y = batch(rows, width)
        trained(model, optimizer, x, y)
        if turn < first:
            kept.append(x)
    return model, kept


def window_of_outputs(n, rng):
    width, model = layers_of(rng)
    optimizer, last, rows = an_optimizer(rng, model), collections.deque(maxlen=rng.randint(3, 6)), rng.randint(64, 512)
    for _ in turns(n, rng):
        x, y = batch(rows, width)
        trained(model, optimizer, x, y)
        with torch.no_grad():
            last.append(model(x))
    return model, last


def generation(n, rng):
    """Keys and values grow within a request and go with it."""
    width, rows, length = 64 * rng.randint(1, 4), rng.randint(1, 8), rng.randint(6, 16)
    project, head = nn.Linear(width, 3 * width).cuda(), nn.Linear(width, 1000).cuda()
    with torch.inference_mode():
        for _ in turns(n, rng, "request"):
            x, keys, values = torch.randn(rows, 1, width, device="cuda"), None, None
            for _ in range(length):
                q, k, v = project(x).chunk(3, -1)
                keys, values = (k, v) if keys is None else (torch.cat([keys, k], 1), torch.cat([values, v], 1))
                x = F.scaled_dot_product_attention(q, keys, values)
            head(x).argmax(-1).cpu()
            del x, q, k, v, keys, values
    return project, head


def epochs_with_evaluation(n, rng):
    width, model = layers_of(rng)
    optimizer, rows, every = an_optimizer(rng, model), rng.randint(16, 256), rng.randint(4, 7)
    best = None
    for turn in turns(n, rng):
        trained(model, optimizer, *batch(rows, width))
        if turn % every == every - 1:
            model.eval()
            with torch.no_grad():
                best = torch.stack([F.cross_entropy(model(x), y) for x, y in (batch(rows, width) for _ in range(3))]).mean()
            model.train()
    return model, best
