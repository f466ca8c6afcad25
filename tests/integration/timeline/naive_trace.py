# SPDX-License-Identifier: GPL-3.0-or-later
"""A profiler's trace read by Python's json, and its figures in the slow and simple way: what strata timeline must say of it."""
import collections
import decimal
import gzip
import json
import re

MEMORY = re.compile(r"^(Memcpy|Memset|dma)")
COMMUNICATION = re.compile(r"^nccl.*Kernel")
DEVICE = {"kernel", "Kernel", "gpu_memcpy", "gpu_memset", "Memcpy", "Memset"}
CALLS = {"cuda_runtime", "cuda_driver", "Runtime"}
KERNEL_WAIT_NS = 30_000


def read(path):
    opened = gzip.open(path, "rt", encoding="utf-8", errors="surrogateescape") if path.endswith(".gz") else open(path, encoding="utf-8")
    with opened as file:
        return json.load(file, parse_float=decimal.Decimal)


def ns(microseconds):
    return int(decimal.Decimal(microseconds) * 1000)


def union(spans):
    found = []
    for begin, end in sorted(span for span in spans if span[1] > span[0]):
        if found and begin <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([begin, end])
    return found


def length(spans):
    return sum(end - begin for begin, end in spans)


def common(spans, others):
    """Every pair: slow, and right."""
    starts = [begin for begin, _ in others]
    total, first = 0, 0
    for begin, end in spans:
        while first < len(others) and others[first][1] <= begin:
            first += 1
        for other in range(first, len(others)):
            if starts[other] >= end:
                break
            total += min(end, others[other][1]) - max(begin, starts[other])
    return total


def stream_figures(stream, pieces, launches):
    pieces = sorted(pieces, key=lambda piece: piece[0])
    waits = collections.Counter()
    end = None
    for begin, until, correlation in pieces:
        if end is not None and begin > end:
            launch = launches.get(correlation)
            kind = "host_wait_ns" if launch is not None and launch > end else "kernel_wait_ns" if begin - end < KERNEL_WAIT_NS else "other_ns"
            waits[kind] += begin - end
        end = until if end is None else max(end, until)
    return {"stream": stream, "events": len(pieces), "busy_ns": length(union([piece[:2] for piece in pieces])),
            **{kind: waits[kind] for kind in ("host_wait_ns", "kernel_wait_ns", "other_ns")}}


def number_of(place):
    return place if isinstance(place, int) else int(place.split()[-1])


def device_figures(rows):
    launches, streams, uses = {}, collections.defaultdict(lambda: collections.defaultdict(list)), collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        if row.get("ph") == "X" and row.get("cat") in CALLS and row.get("args", {}).get("correlation", 0) > 0:
            launches.setdefault(row["args"]["correlation"], ns(row["ts"]))
    for row in rows:
        if row.get("ph") != "X" or row.get("cat") not in DEVICE:
            continue
        arguments = row.get("args", {})
        begin = ns(row["ts"])
        span = (begin, begin + max(ns(row.get("dur", 0)), 0))
        device, stream = arguments.get("device", row["pid"]), arguments.get("stream", number_of(row["tid"]))
        correlation = arguments.get("correlation", 0)
        streams[device][stream].append((*span, correlation if correlation > 0 else None))
        use = "communication" if COMMUNICATION.search(row["name"]) else "memory" if MEMORY.search(row["name"]) else "computation"
        uses[device][use].append(span)
    figures = []
    for device in sorted(streams):
        every = [span for spans in uses[device].values() for span in spans]
        covered = {use: union(uses[device][use]) for use in ("computation", "communication", "memory")}
        whole = max(end for _, end in every) - min(begin for begin, _ in every)
        under = common(covered["computation"], covered["communication"])
        busy = length(union(every))
        figures.append({"device": device, "span_ns": whole, "busy_ns": busy, "idle_ns": whole - busy,
                        **{f"{use}_ns": length(spans) for use, spans in covered.items()},
                        "communication_under_computation_ns": under, "exposed_communication_ns": length(covered["communication"]) - under,
                        "streams": [stream_figures(stream, pieces, launches) for stream, pieces in sorted(streams[device].items())]})
    return figures


def steps_of(rows):
    """Steps as the profiler announced them, on the clock of the rows."""
    return [{"start_ns": ns(row["ts"]), "duration_ns": ns(row["dur"])} for row in rows
            if row.get("ph") == "X" and row.get("name", "").startswith("ProfilerStep") and row.get("cat") != "gpu_user_annotation"]


def running_sums_hold(rows):
    """How many totals there are; fails where one is not the sum of what came before."""
    totals, checked = {}, 0
    for row in sorted((row for row in rows if row.get("name") == "[memory]"), key=lambda row: row["ts"]):
        arguments = row["args"]
        if "Total Allocated" not in arguments:
            continue
        place = (arguments["Device Type"], arguments["Device Id"])
        if place in totals:
            assert totals[place] + arguments["Bytes"] == arguments["Total Allocated"], (place, row)
            checked += 1
        totals[place] = arguments["Total Allocated"]
    return checked


def figures(path):
    trace = read(path)
    rows = trace if isinstance(trace, list) else trace["traceEvents"]
    memory = [row["args"]["Bytes"] for row in rows if row.get("name") == "[memory]"]
    rank = trace.get("distributedInfo", {}).get("rank") if isinstance(trace, dict) else None
    base = trace.get("baseTimeNanoseconds", 0) if isinstance(trace, dict) else 0
    steps = [row for row in rows if row.get("ph") == "X" and row.get("name", "").startswith("ProfilerStep") and row.get("cat") != "gpu_user_annotation"]
    busy = union((ns(row["ts"]), ns(row["ts"]) + ns(row.get("dur", 0))) for row in rows if row.get("ph") == "X" and row.get("cat") in DEVICE)
    return {"counts": dict(collections.Counter(row.get("cat", "") for row in rows)), "memory": {"events": len(memory), "bytes_sum": sum(memory)},
            "rank": rank, "devices": device_figures(rows),
            "steps": [{"name": row["name"], "start_ns": ns(row["ts"]) + base, "duration_ns": ns(row["dur"]),
                       "gpu_busy_ns": common(busy, [(ns(row["ts"]), ns(row["ts"]) + ns(row["dur"]))]) if busy else None}
                      for row in sorted(steps, key=lambda row: row["ts"])],
            "kernels": collections.Counter(row["name"] for row in rows if row.get("ph") == "X" and row.get("cat") in ("kernel", "Kernel")),
            "operators": collections.Counter(row["name"] for row in rows if row.get("ph") == "X" and row.get("cat") in ("cpu_op", "Operator"))}, rows
