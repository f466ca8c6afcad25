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


def runs(rows):
    """Of events(), where consecutive frees are one multiset: their order may be that of a set of addresses."""
    out = []
    for frees, some in itertools.groupby(rows, lambda e: e[0] in FREES):
        out += [collections.Counter(some)] if frees else some
    return out


def requests(rows):
    """Of events(), those that the program asks for; segments follow from them, and from the order in which frees come."""
    return [row for row in rows if row[0] not in GROWS + SHRINKS]


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
    """Address ranges that the segments of the recordings lay in, in the order in which they came, without what an earlier one has."""
    segments = []
    for snapshot in snapshots:
        trace = snapshot["device_traces"][device]
        known = {(e["addr"], e["size"]) for e in trace if e["action"] in GROWS + SHRINKS}
        # What was there before the recording began, then what came while it ran.
        segments += sorted((s["address"], s["total_size"]) for s in snapshot["segments"]
                           if s["device"] == device and not any(a <= s["address"] < a + size for a, size in known))
        segments += [(e["addr"], e["size"]) for e in trace if e["action"] in GROWS + SHRINKS]
    taken = []
    for address, size in segments:
        pieces = [(address // GRANULE * GRANULE, (address + size + GRANULE - 1) // GRANULE * GRANULE)]
        for begin, end in taken:
            pieces = [piece for b, e in pieces for piece in ((b, min(e, begin)), (max(b, end), e)) if piece[0] < piece[1]]
        taken += pieces
    return taken
