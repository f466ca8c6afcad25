# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a small GPT and prints the median seconds of a step, for tests/gpu/run."""
import random
import statistics
import sys
import time

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/truth")
import torch  # noqa: E402
import language  # noqa: E402

WARM_UP, STEPS = 15, 60

model, data = language.MODELS["gpt"](random.Random(0))
model = model.to("cuda")
optimizer = torch.optim.AdamW(model.parameters())
x, y = (t.to("cuda") for t in data())
seconds = []
for step in range(WARM_UP + STEPS):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    with torch.autocast("cuda", torch.bfloat16):
        loss = torch.nn.functional.cross_entropy(model(x).flatten(0, -2), y.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    torch.cuda.synchronize()
    seconds.append(time.perf_counter() - begin)
print(statistics.median(seconds[WARM_UP:]))
