# SPDX-License-Identifier: GPL-3.0-or-later
"""Small programs whose memory is easily taken for something else: see test_category_cases.py.

usage: category_cases.py NAME [SNAPSHOT]    with SNAPSHOT, PyTorch records, too
"""
import socket
import sys

import torch


class Dense(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(outputs, inputs, device="cuda"))

    def forward(self, x):
        return x @ self.weight.T


def weights():
    """Weights that a module of the program's own makes on the device, and no optimizer."""
    net = torch.nn.Sequential(*[Dense(1024, 1024) for _ in range(12)])
    x = torch.randn(8, 1024, device="cuda")
    with torch.no_grad():
        for _ in range(3):
            y = net(x)
    return net, x, y


def workspace():
    """One forward, with gradients on, for which cuBLAS allocates what stays."""
    layer = torch.nn.Linear(1, 1, device="cuda")
    return layer(torch.randn(1, 1, device="cuda")).item()


def cast():
    """Forwards without gradients within one autocast, which keeps a copy of each weight at half its size."""
    def conv(inputs):
        return torch.nn.Conv2d(inputs, 512, 3, padding=1)
    net = torch.nn.Sequential(conv(4), *[conv(512) for _ in range(12)]).cuda()
    x = torch.randn(1, 4, 32, 32, device="cuda")
    with torch.no_grad(), torch.autocast("cuda", torch.float16):
        for _ in range(3):
            y = net(x)
    return y


def grown():
    """A parameter that a larger one replaces behind the last step of its optimizer, with its states."""
    old = torch.nn.Parameter(torch.randn(1 << 20, device="cuda"))
    optimizer = torch.optim.Adam([old])
    for _ in range(2):
        (old * 2).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        new = torch.nn.Parameter(torch.cat([old, old]))
        state = optimizer.state.pop(old)
        for key in ("exp_avg", "exp_avg_sq"):
            state[key] = torch.cat([state[key], state[key]])
    optimizer.param_groups[0]["params"], optimizer.state[new] = [new], state
    return new, optimizer


def trained_cast():
    """The same in a training, whose graph keeps the copies."""
    net = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(8)]).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        with torch.autocast("cuda", torch.float16):
            loss = net(torch.randn(4, 512, device="cuda")).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def kept_graph():
    """Forwards with gradients on whose output stays until the next one is there."""
    net = torch.nn.Sequential(*[layer for _ in range(8) for layer in (torch.nn.Linear(256, 256), torch.nn.Sigmoid())]).cuda()
    for _ in range(5):
        y = net(torch.randn(4096, 256, device="cuda"))
    return y


def ddp(views=False):
    """A training under DistributedDataParallel, whose buckets repeat the gradients unless these are views of them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    torch.distributed.init_process_group("nccl", init_method=address, rank=0, world_size=1)
    net = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(8)]).cuda()
    net = torch.nn.parallel.DistributedDataParallel(net, gradient_as_bucket_view=views)
    optimizer = torch.optim.AdamW(net.parameters())
    for _ in range(4):
        net(torch.randn(64, 512, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.distributed.destroy_process_group()
    return net, optimizer


def ddp_views():
    return ddp(views=True)


def main():
    if len(sys.argv) > 2:
        torch.cuda.memory._record_memory_history()
    kept = {"weights": weights, "workspace": workspace, "cast": cast, "trained_cast": trained_cast, "kept_graph": kept_graph, "grown": grown,
            "ddp": ddp, "ddp_views": ddp_views}[sys.argv[1]]()
    torch.cuda.synchronize()
    if len(sys.argv) > 2:
        torch.cuda.memory._dump_snapshot(sys.argv[2])
    return kept


if __name__ == "__main__":
    kept = main()  # what is held here is there when the recording ends
