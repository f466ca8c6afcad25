# SPDX-License-Identifier: GPL-3.0-or-later
"""What a program of the corpus knows about its own memory, by torch's own count."""
import json
import os
import time

import torch


def storage_of(tensor):
    storage = tensor.untyped_storage()
    return {"device": tensor.device.index, "address": storage.data_ptr(), "bytes": storage.nbytes()}


class Truth:
    """Peaks, kept over resets of them, one entry a device; where steps and phases begin; what storages are for."""

    def __init__(self):
        self.peaks = [dict.fromkeys(("requested", "allocated", "reserved"), 0)
                      for _ in range(torch.cuda.device_count())]
        self.marks = []
        self.tensors = {}

    def look(self):
        for device, peaks in enumerate(self.peaks):
            stats = torch.cuda.memory_stats(device)
            for name in peaks:
                peaks[name] = max(peaks[name], stats.get(f"{name}_bytes.all.peak", 0))

    def mark(self, kind, step):
        """`allocations` counts those of each device before the mark: the place of the mark in a trace."""
        counts = [torch.cuda.memory_stats(d).get("allocation.all.allocated", 0) for d in range(len(self.peaks))]
        self.marks.append({"kind": kind, "step": step, "time_ns": time.time_ns(), "allocations": counts})

    def keep(self, category, tensors):
        rows = [storage_of(t) for t in tensors if t is not None and t.is_cuda and t.untyped_storage().nbytes() > 0]
        unique = {(row["device"], row["address"]): row for row in rows}
        self.tensors[category] = list(unique.values())

    def write(self, path):
        self.look()
        stats = [torch.cuda.memory_stats(d) for d in range(len(self.peaks))]
        ends = ("requested", "allocated", "active", "reserved")
        truth = {"torch": torch.__version__, "process": os.getpid(), "devices": [
            {**peaks, "out_of_memories": s.get("num_ooms", 0),
             **{f"end_{name}": s.get(f"{name}_bytes.all.current", 0) for name in ends}}
            for peaks, s in zip(self.peaks, stats)], "marks": self.marks, "tensors": self.tensors}
        with open(path, "w") as file:
            json.dump(truth, file)
