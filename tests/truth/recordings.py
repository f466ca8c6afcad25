# SPDX-License-Identifier: GPL-3.0-or-later
"""Snapshots of PyTorch as the tests compare them. Data alone is read: a pickle that would call anything is refused."""
import collections
import gzip
import itertools
import pickle

FREES = ("free_requested", "free_completed")
GROWS, SHRINKS = ("segment_alloc", "segment_map"), ("segment_free", "segment_unmap")
GRANULE = 2 << 20  # what cudaMalloc gives is a multiple of it


class DataOnly(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"{module}.{name}: refused")


def load(path):
    with (gzip.open(path) if path.endswith(".gz") else open(path, "rb")) as file:
        return DataOnly(file).load()


def events(snapshot, device=0):
    """(action, size, stream) of each event; streams by first appearance."""
    streams = {}
    return [(e["action"], e["size"], streams.setdefault(e["stream"], len(streams)))
            for e in snapshot["device_traces"][device]]


def runs(snapshot, device=0):
    """events(), where consecutive frees are one multiset: their order may be that of a set of addresses."""
    out = []
    for frees, rows in itertools.groupby(events(snapshot, device), lambda e: e[0] in FREES):
        out += [collections.Counter(rows)] if frees else rows
    return out


def totals(snapshot, device=None):
    """Bytes reserved, of blocks by state, and requested of those in use, when the recording ended."""
    sums = collections.Counter()
    for segment in snapshot["segments"]:
        if device is not None and segment["device"] != device:
            continue
        sums["reserved"] += segment["total_size"]
        for block in segment["blocks"]:
            sums[block["state"]] += block["size"]
            sums["requested"] += block["requested_size"] if block["state"] != "inactive" else 0
    return sums


def peaks(snapshot, device=0):
    """Peaks while the recording ran, and what is reserved at its end; counted back from the end."""
    end = totals(snapshot, device)
    requested = requested_peak = end["requested"]
    reserved = reserved_peak = end["reserved"]
    for event in reversed(snapshot["device_traces"][device]):
        action, size = event["action"], event["size"]
        requested += {"alloc": -size, "free_completed": size}.get(action, 0)
        reserved += size if action in SHRINKS else -size if action in GROWS else 0
        requested_peak, reserved_peak = max(requested_peak, requested), max(reserved_peak, reserved)
    return {"requested peak": requested_peak, "reserved peak": reserved_peak, "reserved at the end": end["reserved"]}


def ranges(snapshots, device=0):
    """Address ranges that the segments of the recordings lay in, ascending and joined where they touch."""
    segments = set()
    for snapshot in snapshots:
        segments |= {(s["address"], s["total_size"]) for s in snapshot["segments"] if s["device"] == device}
        segments |= {(e["addr"], e["size"]) for e in snapshot["device_traces"][device]
                     if e["action"] in GROWS + SHRINKS}
    joined = []
    for address, size in sorted(segments):
        end = address + (size + GRANULE - 1) // GRANULE * GRANULE
        if joined and address <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([address, end])
    return joined
