# SPDX-License-Identifier: GPL-3.0-or-later
"""What programs do with ranks besides training: groups on the CPU, objects, a mesh, barriers.

Every rank holds the same values; what comes back is checked as far as that decides it.

usage: collectives.py [--truth FILE]
"""
import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

from truth import Truth


def main():
    truth = Truth()
    dist.init_process_group("cpu:gloo,cuda:nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    rank, size = dist.get_rank(), dist.get_world_size()
    same = {"answer": 42}

    everybody = [None] * size
    dist.all_gather_object(everybody, same)
    assert everybody == [same] * size, everybody
    group = dist.new_group(backend="gloo")
    dist.barrier(group)
    dist.barrier()
    rows = [torch.zeros(3, dtype=torch.int64) for _ in range(size)]
    dist.all_gather(rows, torch.arange(3), group=group)
    assert all(torch.equal(row, torch.arange(3)) for row in rows), rows
    if rank == 0:
        told = [same]
        dist.broadcast_object_list(told, src=0)
        assert told == [same]

    nccl = dist.new_group(backend="nccl")
    gathered = torch.zeros(size * 4, device="cuda")
    dist.all_gather_into_tensor(gathered, torch.full((4,), 2.0).cuda(), group=nccl)
    assert gathered.tolist() == [2.0] * (size * 4), gathered
    shard = torch.zeros(4, device="cuda")
    dist.reduce_scatter_tensor(shard, torch.full((size * 4,), 3.0, device="cuda"), group=nccl)

    mesh = init_device_mesh("cuda", (2, size // 2), mesh_dim_names=("data", "tensor"))
    inner = mesh["tensor"]
    assert inner.size() == size // 2 and inner.get_local_rank() == rank % (size // 2)
    part = torch.ones(8, device="cuda")
    dist.all_reduce(part, group=inner.get_group())
    out = torch.zeros(inner.size() * 8, device="cuda")
    dist.all_gather_into_tensor(out, part, group=inner.get_group())
    dist.all_to_all_single(torch.zeros(size * 2, device="cuda"), torch.ones(size * 2, device="cuda"))
    torch.cuda.synchronize()
    if "--truth" in sys.argv:
        truth.write(sys.argv[-1])
    print("done", rank, "of", size)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
