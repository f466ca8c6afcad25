# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory of other people's traces: blocks and curves are what Python's json and a dictionary say, at every event.

usage: test_trace_memory.py STRATA REALDATA
"""
import glob
import gzip
import json
import os
import random
import subprocess
import sys

SKIPPED = 77
POSITIONS = 5


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True)


def lines(*arguments):
    told = run(*arguments)
    assert told.returncode == 0, f"{arguments}: {told.stderr}"
    return [json.loads(line) for line in told.stdout.splitlines()]


def readings(path):
    """By device, in order of time; of devices other than the CPU, with address and total."""
    with gzip.open(path) as file:
        trace = json.load(file)
    devices = {}
    for row in trace["traceEvents"] if isinstance(trace, dict) else trace:
        told = row.get("args", {})
        if row.get("name") == "[memory]" and told["Device Type"] > 0 and "Addr" in told and "Total Allocated" in told:
            devices.setdefault(told["Device Id"], []).append((row["ts"], told))
    for rows in devices.values():
        rows.sort(key=lambda row: float(row[0]))
    return devices


def pair(rows):
    """(address, bytes, born at, gone at) of each block; -1: it is older; None: it stays."""
    live, blocks = {}, []
    for event, (_, told) in enumerate(rows):
        if told["Bytes"] > 0:
            assert told["Addr"] not in live, "allocated twice"
            live[told["Addr"]] = (told["Bytes"], event)
        else:
            size, born = live.pop(told["Addr"], (-told["Bytes"], -1))
            assert size == -told["Bytes"], "freed with another size"
            blocks.append((told["Addr"], size, born, event))
    return blocks + [(address, size, born, None) for address, (size, born) in live.items()]


def check(strata, path, device, rows):
    at = ["--device", str(device)]
    [told] = [each for each in json.loads(run(strata, "summary", path, "--json").stdout)["devices"] if each["device"] == device]
    start = rows[0][1]["Total Allocated"] - rows[0][1]["Bytes"]
    assert told["requested_bytes_start"] == start, f"{told['requested_bytes_start']}, not {start}"
    assert told["requested_bytes_peak"] == max([start] + [row["Total Allocated"] for _, row in rows])
    assert told["reserved_bytes_start"] == rows[0][1]["Total Reserved"]
    assert told["reserved_bytes_peak"] == max(row["Total Reserved"] for _, row in rows)
    assert told["integrity"]["exact"], told["integrity"]

    blocks = pair(rows)
    rest = start - sum(size for _, size, born, _ in blocks if born < 0)
    if rest:
        blocks.append((0, rest, -1, None))
    found = [(row["address"], row["requested_bytes"], -1 if row["alloc_event"] is None else row["alloc_event"],
              row["free_completed_event"]) for row in lines(strata, "blocks", path, "--json", "--limit", "0", *at) if "block" in row]
    order = lambda block: (block[2], block[0])
    assert sorted(found, key=order) == sorted(blocks, key=order), "blocks differ"

    total = start
    events = [row for row in lines(strata, "events", path, "--json", "--limit", "0", *at) if "event" in row]
    assert len(events) == len(rows), f"{len(events)} events, not {len(rows)}"
    for event, (_, row) in zip(events, rows):
        assert event["address"] == row["Addr"] and event["action"] == ("alloc" if row["Bytes"] > 0 else "free_completed"), event
        total += event["bytes"] if event["action"] == "alloc" else -event["bytes"]
        assert total == row["Total Allocated"], f"{total} after {event}, not {row}"
    for event in random.Random(7).sample(range(len(rows)), min(POSITIONS, len(rows))):
        live = json.loads(run(strata, "at", path, str(event), "--json", *at).stdout)
        assert live["requested_bytes"] == rows[event][1]["Total Allocated"], f"at {event}: {live['requested_bytes']}"
    stacks = sum(row["stack_id"] is not None for row in events if row["action"] == "alloc")
    print(f"{os.path.basename(path)}: device {device}: {len(rows)} totals and {len(blocks)} blocks the same, "
          f"{stacks} of {sum(row['Bytes'] > 0 for _, row in rows)} allocations with a stack", flush=True)


def main(strata, folder):
    files = sorted(glob.glob(os.path.join(folder, "kineto", "*.json.gz")))
    if not files:
        print("no traces of other people beside the repository: skipped")
        return SKIPPED
    for path in files:
        devices = readings(path)
        for device, rows in sorted(devices.items()):
            check(strata, path, device, rows)
        if not devices:
            told = run(strata, "summary", path)
            assert told.returncode != 0 and "trace" in told.stderr, told
            print(f"{os.path.basename(path)}: {told.stderr.strip()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
