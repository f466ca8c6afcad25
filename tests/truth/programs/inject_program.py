# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains with torch's own recorder on from the start, for test_inject.py; prints what has to be the same however it was watched.

usage: inject_program.py STEPS SNAPSHOT.pickle [busy]

busy: with threads that allocate too, children that are forked, and a signal every few milliseconds.
"""
import hashlib
import json
import os
import pickle
import random
import signal
import sys
import threading

import torch

STEPS, TARGET, BUSY = int(sys.argv[1]), sys.argv[2], "busy" in sys.argv[3:]
torch.cuda.memory._record_memory_history(max_entries=10_000_000, stacks="python")
signals, children, lost = 0, [], []


def on_signal(*_):
    global signals
    signals += 1


def allocate(seed, digests):
    draw, digest = random.Random(seed), hashlib.sha256()
    for _ in range(STEPS):
        tensor = torch.empty(draw.randrange(1, 3_000_000), dtype=torch.uint8, device="cuda")
        digest.update(str(tensor.numel()).encode())
        del tensor
    digests[seed] = digest.hexdigest()


def fork():
    child = os.fork()
    if child == 0:
        os._exit(7)
    children.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


model = torch.nn.Sequential(*[torch.nn.Linear(128, 128) for _ in range(3)]).cuda()
optimizer = torch.optim.Adam(model.parameters())
digests, draw, own = {}, random.Random(1), hashlib.sha256()
threads = [threading.Thread(target=allocate, args=(seed, digests)) for seed in range(3 if BUSY else 0)]
if BUSY:
    signal.signal(signal.SIGALRM, on_signal)
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
print("ready", flush=True)
for thread in threads:
    thread.start()
for step in range(STEPS):
    optimizer.zero_grad(set_to_none=True)
    loss = model(torch.randn(draw.randrange(1, 64), 128, device="cuda")).sum()
    loss.backward()
    optimizer.step()
    own.update(f"{step} {loss.shape} {draw.random()}".encode())
    if not BUSY:
        own.update(str(torch.cuda.memory_allocated()).encode())
    elif step % 200 == 0:
        fork()
signal.setitimer(signal.ITIMER_REAL, 0)
for thread in threads:
    thread.join()
torch.cuda.synchronize()
if "torch._inductor" not in sys.modules:
    torch._inductor = type(sys)("torch._inductor")  # asked for by what makes stacks, and a second to import
with open(TARGET, "wb") as file:
    pickle.dump(torch.cuda.memory._snapshot(), file)
stats = torch.cuda.memory_stats()
print(json.dumps({"digest": own.hexdigest(), "threads": digests, "children": sorted(set(children)), "signals": signals > 0,
                  "allocations": stats["allocation.all.allocated"], "requested": stats["requested_bytes.all.allocated"]}, sort_keys=True))
