# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the allocator for other things than memory at known places, and prints before how many events of which device, as
torch's own recorder counts them: a line of JSON, [device, events, call, value], for each.

usage: calls.py
"""
import json

import torch

torch.cuda.init()
torch.cuda.memory._record_memory_history(enabled="all", context=None, max_entries=1 << 20)
DEVICES = range(torch.cuda.device_count())


def about(call, value="", devices=DEVICES):
    """What is done next."""
    traces = torch.cuda.memory._snapshot()["device_traces"]
    for device in devices:
        events = traces[device] if device < len(traces) else []
        print(json.dumps([device, sum(event["action"] != "snapshot" for event in events), call, value]))


def empty_cache():
    about("empty_cache")
    torch.cuda.empty_cache()


def set_fraction(fraction, device):
    about("memory_fraction", f"{fraction:g}", [device])
    torch.cuda.set_per_process_memory_fraction(fraction, device)


def set_settings(settings, call="settings"):
    about(call, settings)
    try:
        torch.cuda.memory._set_allocator_settings(settings)
    except (RuntimeError, ValueError):
        assert call == "settings_refused"


def allocate(bytes_, device=0):
    return torch.empty(bytes_, dtype=torch.uint8, device=f"cuda:{device}")


empty_cache()  # before the first allocation
set_fraction(0.75, 1)
small, large = allocate(1000), allocate(30 << 20)
empty_cache()  # nothing to release
del large
empty_cache()  # that, and not the small one
empty_cache()
other = allocate(5 << 20, 1)
del other
with torch.cuda.device(1):
    empty_cache()  # of both devices, whichever is the current one
set_settings("max_split_size_mb:128,garbage_collection_threshold:0.75")
kept = [allocate(12 << 20) for _ in range(3)]
set_settings("max_split_size_mb:256,nonsense:True", "settings_refused")
kept.pop(1)
set_settings("")
try:
    torch.cuda.set_per_process_memory_fraction(7.0, 0)  # refused: nothing is set
except ValueError:
    pass
set_fraction(0.3, 0)
try:
    allocate(1 << 40)
    raise SystemExit("there is no such memory")
except torch.cuda.OutOfMemoryError:
    empty_cache()
set_fraction(1.0, 0)

if hasattr(torch.cuda, "use_mem_pool"):
    about("pool_create", "0,1", [0])
    pool = torch.cuda.MemPool()
    about("pool_begin", "0,1", [0])
    with torch.cuda.use_mem_pool(pool):
        mine = allocate(1 << 20)
        about("pool_end", "0,1", [0])
        about("pool_release", "0,1", [0])
    del mine
    empty_cache()
    about("pool_release", "0,1", [0])
    about("empty_cache", "0,1")
    del pool
del kept, small
empty_cache()
