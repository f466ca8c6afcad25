# SPDX-License-Identifier: GPL-3.0-or-later
"""Traces of other people: strata timeline says what Python's json and slow sums say.

usage: test_timeline_real.py STRATA REALDATA
"""
import collections
import glob
import json
import math
import os
import subprocess
import sys
import tempfile

import naive_steps
import naive_tables
import naive_trace

SKIPPED = 77


def check(strata, path):
    run = subprocess.run([strata, "timeline", path, "--json", "--limit", "0"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    wanted, rows = naive_trace.figures(path)
    [rank] = told["ranks"]
    for what, got, expected in (("counts", told["counts"], wanted["counts"]), ("memory", told["memory"], wanted["memory"]),
                                ("rank", rank["rank"], wanted["rank"]), ("devices", rank["devices"], wanted["devices"]),
                                ("steps", rank["steps"], naive_steps.described(rows, wanted["steps"])),
                                ("kernels", {row["name"]: row["calls"] for row in told["kernels"]}, wanted["kernels"]),
                                ("operators", {row["name"]: row["calls"] for row in told["operators"]}, wanted["operators"])):
        assert got == expected, f"{path}: {what}: {json.dumps(got)[:2000]}, not {json.dumps(expected)[:2000]}"
    with tempfile.TemporaryDirectory() as folder:
        again = os.path.join(folder, "again.json")
        subprocess.run([strata, "timeline", path, "-o", again], stdout=subprocess.DEVNULL, check=True)
        run = subprocess.run([strata, "timeline", again, "--json", "--limit", "0"], capture_output=True, text=True)
        written = json.loads(run.stdout)
        check_kept(path, rows, naive_trace.read(again)["traceEvents"])
    for each in (told, written):
        each["ranks"][0].pop("file")
    for what in ("memory", "ranks", "verdict", "operators", "kernels", "copies", "communication", "synchronisations", "data_loader", "roofline"):
        assert written[what] == told[what], f"{path}: written as a trace: {what}: {json.dumps(written[what])[:1000]}, not {json.dumps(told[what])[:1000]}"
    check_roofline(path, told["roofline"], rows)
    naive_tables.check(path, told, rows, naive_trace.steps_of(rows))
    check_shapes(strata, path, told, rows)
    return len(rows), naive_trace.running_sums_hold(rows), told["verdict"]["queue"]


def kept_of(rows):
    """What a trace says for viewers alone: labels and places of what has rows, the last of each process, and arrows from forward to backward."""
    def number(of):  # a process that has a text instead of a number is written with one of Strata's
        return of if isinstance(of, int) and of > -(1 << 61) else "named"

    told = {(row["pid"], row["tid"]) for row in rows if row.get("ph") == "X"}
    processes = {process for process, _ in told}
    notes = {(row["name"], number(row["pid"]), number(row["tid"]) if row["name"].startswith("thread") else 0): row["args"] for row in rows
             if row.get("ph") == "M" and row["name"] in ("process_labels", "process_sort_index", "thread_sort_index")
             and (((row["pid"], row["tid"]) in told) if row["name"].startswith("thread") else row["pid"] in processes)}
    arrows = [(row["ph"], row["id"], row["pid"], row["tid"]) for row in rows if row.get("cat") == "fwdbwd"]
    return notes, sorted(arrows)


def check_kept(path, rows, written):
    for what, got, wanted in zip(("labels and places", "arrows"), kept_of(written), kept_of(rows)):
        assert got == wanted, f"{path}: written as a trace: {what}: {str(got)[:500]}, not {str(wanted)[:500]}"


def check_shapes(strata, path, told, rows):
    """Rows by shapes add up to those by name, and are as many as there are sizes."""
    run = subprocess.run([strata, "timeline", path, "--json", "--limit", "0", "--shapes"], capture_output=True, text=True, check=True)
    calls, times, kinds = collections.Counter(), collections.Counter(), collections.Counter()
    for row in json.loads(run.stdout)["operators"]:
        calls[row["name"]] += row["calls"]
        times[row["name"]] += row["self_ns"]
        kinds[row["name"]] += 1
    assert calls == {row["name"]: row["calls"] for row in told["operators"]} and times == {row["name"]: row["self_ns"] for row in told["operators"]}, path
    sizes = collections.defaultdict(set)
    for row in rows:
        if row.get("ph") == "X" and row.get("cat") in ("cpu_op", "Operator"):
            arguments = row.get("args", {})
            sizes[row["name"]].add(json.dumps(arguments.get("Input Dims", arguments.get("Input dims"))))
    assert kinds == {name: len(each) for name, each in sizes.items()}, f"{path}: {[(name, kinds[name], len(sizes[name])) for name in sizes if kinds[name] != len(sizes[name])][:5]}"


def check_roofline(path, told, rows):
    """Times of kernels by the operator that they name, and FLOPs of products by their sizes."""
    names, wanted, flops = {}, collections.Counter(), collections.Counter()
    for row in rows:
        if row.get("cat") == "cpu_op" and "External id" in row.get("args", {}):
            names[row["args"]["External id"]] = row
    launchers = {}
    for row in rows:
        is_inside = row.get("cat") in ("kernel", "gpu_memset") or (row.get("cat") == "gpu_memcpy" and "DtoD" in row["name"])
        if is_inside and row["args"].get("External id") in names and not row["name"].startswith("nccl"):
            operator = names[row["args"]["External id"]]
            wanted[operator["name"]] += naive_trace.ns(row["dur"])
            launchers[id(operator)] = operator
    if told["lack"] not in ("none", "card"):
        print(f"  no roofline: {told['lack']}")
        return
    for operator in launchers.values():
        sizes = operator["args"].get("Input Dims", [])
        if operator["name"] in ("aten::mm", "aten::bmm"):
            flops[operator["name"]] += 2 * math.prod(sizes[0]) * sizes[1][-1]
        elif operator["name"] == "aten::addmm":
            flops[operator["name"]] += 2 * math.prod(sizes[1]) * sizes[2][-1]
    took, counted = collections.Counter(), collections.Counter()
    for row in told["rows"]:
        took[row["name"]] += row["gpu_ns"]
        counted[row["name"]] += row.get("flops", 0)
        assert row["kind"] is None or row["least_ns"] <= row["gpu_ns"], f"{path}: a bound that is above what was measured: {row}"
    for name in flops:
        assert counted[name] == flops[name], f"{path}: FLOPs of {name}: {counted[name]}, not {flops[name]}"
    for name in wanted:
        assert took[name] == wanted[name], f"{path}: time of {name}: {took[name]}, not {wanted[name]}"
    print(f"  roofline: {len(told['rows'])} rows, {100 * told['known_ns'] / told['work_ns']:.1f} % of the GPU's time known, {sum(flops.values()):,} FLOPs of products the same")


def main(strata, folder):
    files = sorted(glob.glob(os.path.join(folder, "kineto", "*.json.gz")) + glob.glob(os.path.join(folder, "no-memory-events", "*.json.gz")))
    if not files:
        print("no traces of other people beside the repository: skipped")
        return SKIPPED
    for path in files:
        rows, totals, queue = check(strata, path)
        print(f"{os.path.basename(path)}: {rows} rows the same, {totals} totals hold, queue {queue}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
