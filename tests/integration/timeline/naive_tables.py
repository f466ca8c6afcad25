# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of strata timeline from rows of a trace, in the slow and simple way: nothing of the program's own."""
import bisect
import collections

import naive_trace
from naive_trace import ns, number_of, union

KERNELS, COPIES = ("kernel", "Kernel"), ("gpu_memcpy", "gpu_memset", "Memcpy", "Memset")
OPERATORS, CALLS, ANNOTATIONS = ("cpu_op", "Operator"), ("cuda_runtime", "cuda_driver", "Runtime"), ("user_annotation",)


def span_of(row):
    begin = ns(row["ts"])
    return begin, begin + max(ns(row.get("dur", 0)), 0)


def thread_of(row):
    return row["pid"], number_of(row["tid"])


def under(span, covered):
    """How much of a span lies in times that do not touch each other."""
    total, at = 0, max(bisect.bisect_right(covered, [span[0]]) - 1, 0)
    while at < len(covered) and covered[at][0] < span[1]:
        total += max(min(span[1], covered[at][1]) - max(span[0], covered[at][0]), 0)
        at += 1
    return total


def apart(found):
    """Operators, and annotations but for the profiler's steps."""
    return [{name: figures for (is_operator, name), figures in found.items() if is_operator},
            {name: figures for (is_operator, name), figures in found.items() if not is_operator and not name.startswith("ProfilerStep#")}]


def operator_bytes(rows):
    """Of operators and annotations, by name: bytes itself, with what it calls, and at most within one call; None where no GPU's
    memory is told."""
    changes, operators = collections.defaultdict(list), collections.defaultdict(list)
    for row in rows:
        if row.get("name") == "[memory]" and row["args"]["Device Type"] != 0:
            changes[thread_of(row)].append((ns(row["ts"]), row["args"]["Bytes"]))
        elif row.get("ph") == "X" and row.get("cat") in (*OPERATORS, *ANNOTATIONS):
            operators[thread_of(row)].append((*span_of(row), (row["cat"] in OPERATORS, row["name"])))
    sums = {name: [0, 0, 0] for calls in operators.values() for _, _, name in calls}
    if not changes:
        return apart({name: [None, None, None] for name in sums})
    for thread, calls in operators.items():
        told = sorted(changes[thread], key=lambda change: change[0])
        times = [time for time, _ in told]
        owners = [None] * len(told)
        for begin, end, name in sorted(calls, key=lambda call: (call[0], -call[1], call[2][0])):  # those around others first
            level, most = 0, 0
            for at in range(bisect.bisect_left(times, begin), bisect.bisect_left(times, end)):
                level += told[at][1]
                most = max(most, level)
                owners[at] = name
            sums[name][1] += level
            sums[name][2] = max(sums[name][2], most)
        for (_, size), owner in zip(told, owners):
            if owner is not None:
                sums[owner][0] += size
    return apart(sums)


def kernels(rows):
    told = collections.defaultdict(lambda: ([], collections.Counter()))
    for row in rows:
        if row.get("ph") == "X" and row.get("cat") in KERNELS:
            arguments = row.get("args", {})
            occupied, launches = told[row["name"]]
            if "est. achieved occupancy %" in arguments:
                occupied.append(float(arguments["est. achieved occupancy %"]))
            if "grid" in arguments and "block" in arguments:
                launches[(*arguments["grid"], *arguments["block"])] += 1
    found = {}
    for name, (occupied, launches) in told.items():
        launch = min(launches, key=lambda each: (-launches[each], each)) if launches else None
        found[name] = (sum(occupied) / len(occupied) if occupied else None, launch and list(launch[:3]), launch and list(launch[3:]))
    return found


def device_of(row):
    arguments = row.get("args", {})
    return arguments.get("device", row["pid"]), arguments.get("stream", number_of(row["tid"]))


def beside_kernels(rows):
    """Copies and collectives by name: calls, time, bytes, and time beside kernels that compute."""
    streams = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        if row.get("ph") == "X" and row.get("cat") in KERNELS and not naive_trace.COMMUNICATION.search(row["name"]):
            device, stream = device_of(row)
            streams[device][stream].append(span_of(row))

    def computing(device, but=None):
        return union(span for stream, spans in streams[device].items() if stream != but for span in spans)

    covered = {}
    copies, collectives = collections.defaultdict(lambda: [0, 0, 0, 0]), collections.defaultdict(lambda: [0, 0, 0])
    for row in rows:
        if row.get("ph") != "X":
            continue
        is_copy = row.get("cat") in COPIES
        if not is_copy and not (row.get("cat") in KERNELS and naive_trace.COMMUNICATION.search(row["name"])):
            continue
        device, stream = device_of(row)
        place = (device, stream if is_copy else None)
        if place not in covered:
            covered[place] = computing(*place)
        span = span_of(row)
        sums = (copies if is_copy else collectives)[row["name"]]
        sums[0] += 1
        sums[1] += span[1] - span[0]
        sums[2] += under(span, covered[place])
        if is_copy:
            size = row["args"].get("bytes")
            sums[3] = None if None in (size, sums[3]) else sums[3] + size
    return copies, collectives


def operator_times(rows):
    """Of operators and annotations, by name: on its thread itself, and with what is called within."""
    lanes = collections.defaultdict(list)
    for row in rows:
        is_call = row.get("cat") in CALLS or row.get("cat", "").endswith(("_runtime", "_driver"))
        if row.get("ph") == "X" and (is_call or row.get("cat") in (*OPERATORS, *ANNOTATIONS)):
            begin, end = span_of(row)
            lanes[row["pid"], row["tid"]].append((begin, begin - end, 2 if is_call else row["cat"] in OPERATORS, row["name"]))
    found = collections.defaultdict(lambda: [0, 0])
    for spans in lanes.values():
        spans.sort(key=lambda span: span[:3])
        for at, (begin, negative, kind, name) in enumerate(spans):
            if kind == 2:
                continue
            end, within, until = begin - negative, 0, begin  # what began later, as far as it reaches, has its time
            for after in range(at + 1, len(spans)):
                later, less, _, _ = spans[after]
                if later >= end:
                    break
                within += max(0, min(later - less, end) - max(later, until))
                until = max(until, min(later - less, end))
            found[kind == 1, name][0] += end - begin - within
            found[kind == 1, name][1] += end - begin
    return apart(found)


def message_bytes(rows):
    """Of collectives by name: what they moved; None where one does not tell it."""
    sizes = {"Float": 4, "Half": 2, "BFloat16": 2, "Double": 8, "Long": 8, "Int": 4, "Byte": 1, "Char": 1, "Bool": 1}
    found = {}
    for row in rows:
        if row.get("ph") == "X" and row.get("cat") in KERNELS and naive_trace.COMMUNICATION.search(row["name"]):
            arguments = row.get("args", {})
            size = max(arguments.get("In msg nelems", 0), arguments.get("Out msg nelems", 0)) * sizes.get(arguments.get("dtype"), 0) or None
            before = found.get(row["name"], 0)
            found[row["name"]] = None if None in (size, before) else before + size
    return found


#: Beside those with Synchronize in their names.
WAITING = ("cudaMemcpy", "hipMemcpy", "hipMemcpyWithStream", "cudaFree", "hipFree")


def waits(rows):
    """Calls that return when the device is done, among them copies to pageable memory."""
    found = collections.defaultdict(lambda: [0, 0])
    pageable = {row["args"].get("correlation") for row in rows if row.get("ph") == "X" and row.get("cat") in COPIES and "-> Pageable" in row["name"]} - {None, 0}
    for row in rows:
        if row.get("ph") == "X" and row.get("cat") in CALLS and ("Synchronize" in row["name"] or row["name"] in WAITING
                                                                or row.get("args", {}).get("correlation") in pageable):
            found[row["name"]][0] += 1
            found[row["name"]][1] += ns(row["dur"])
    return found


def loading(rows, steps):
    covered = union((step["start_ns"], step["start_ns"] + step["duration_ns"]) for step in steps)
    found = collections.defaultdict(lambda: [0, 0, []])
    for row in rows:
        if row.get("ph") == "X" and row.get("cat") in (*OPERATORS, "user_annotation") and row["name"].startswith("enumerate(DataLoader)"):
            found[row["name"]][0] += 1
            found[row["name"]][1] += ns(row["dur"])
            found[row["name"]][2].append(span_of(row))
    whole = naive_trace.length(covered)
    return {name: (calls, total, sum(under(span, covered) for span in union(spans)) / whole if whole else None) for name, (calls, total, spans) in found.items()}


def check(path, told, rows, steps):
    """Fails where the program says anything else. `steps`: on the clock of the rows."""
    def same(what, got, expected):
        differ = [(name, got.get(name), expected.get(name)) for name in got.keys() | expected.keys() if got.get(name) != expected.get(name)]
        assert not differ, f"{path}: {what}: of {len(expected)} differ {len(differ)}: {differ[:3]}"

    def near(got, expected):
        return got == expected if None in (got, expected) else abs(got - expected) <= 1e-5 * max(1, abs(expected))

    for table, moved, took in zip(("operators", "annotations"), operator_bytes(rows), operator_times(rows)):
        same(f"bytes of {table}", {row["name"]: [row["gpu_self_bytes"], row["gpu_total_bytes"], row["gpu_peak_bytes"]] for row in told[table]}, moved)
        same(f"times of {table}", {row["name"]: [row["self_ns"], row["total_ns"]] for row in told[table]}, took)
    launched = kernels(rows)
    for row in told["kernels"]:
        occupancy, grid, block = launched[row["name"]]
        assert near(row["occupancy_percent"], occupancy) and (row["grid"], row["block"]) == (grid, block), f"{path}: {row}, not {occupancy, grid, block}"
    copies, collectives = beside_kernels(rows)
    same("copies", {row["name"]: [row["calls"], row["total_ns"], row["under_computation_ns"], row["bytes"]] for row in told["copies"]}, dict(copies))
    for row in told["copies"]:
        assert near(row["bytes_per_second"], row["bytes"] * 1e9 / row["total_ns"] if row["total_ns"] and row["bytes"] is not None else None), row
        assert row["host_memory"] == ("pageable" if "Pageable" in row["name"] else "pinned" if "Pinned" in row["name"] else None), row
    same("communication", {row["name"]: [row["calls"], row["total_ns"], row["under_computation_ns"]] for row in told["communication"]}, dict(collectives))
    same("bytes of collectives", {row["name"]: row["bytes"] for row in told["communication"]}, message_bytes(rows))
    assert all(row["exposed_ns"] == row["total_ns"] - row["under_computation_ns"] for row in told["communication"])
    same("synchronisations", {row["name"]: [row["calls"], row["total_ns"]] for row in told["synchronisations"]}, dict(waits(rows)))
    wanted = loading(rows, steps)
    assert {row["name"]: (row["calls"], row["total_ns"]) for row in told["data_loader"]} == {name: each[:2] for name, each in wanted.items()}, wanted
    assert all(near(row["share_of_steps"], wanted[row["name"]][2]) for row in told["data_loader"]), wanted
