# SPDX-License-Identifier: GPL-3.0-or-later
"""Time and memory that strata timeline takes for a trace, beside Python's json.load of the same, in turns.

usage: bench_trace.py STRATA TRACE [MEBIBYTES [ROUNDS]]     # TRACE: .json or .json.gz, repeated up to that size, one behind the other in time
"""
import gzip
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time


def repeat(source, target, size):
    opener = gzip.open if source.endswith(".gz") else open
    with opener(source, "rt", encoding="utf-8") as file:
        trace = json.load(file)
    rows = [row for row in trace["traceEvents"] if isinstance(row, dict)]
    times = [row["ts"] for row in rows if isinstance(row.get("ts"), (int, float)) and row.get("cat") != "Trace"]
    span = max(times) - min(times) + 1000
    turn = 0
    with open(target, "w", encoding="utf-8") as file:
        file.write('{"schemaVersion": 1, "traceEvents": [\n')
        while True:
            for index, row in enumerate(rows):
                row = dict(row)
                if "ts" in row and isinstance(row["ts"], (int, float)):
                    row["ts"] += turn * span
                arguments = row.get("args")
                if isinstance(arguments, dict) and isinstance(arguments.get("correlation"), int):
                    row["args"] = {**arguments, "correlation": arguments["correlation"] + turn * 1_000_000}
                file.write((",\n" if turn or index else "") + json.dumps(row))
            turn += 1
            if file.tell() >= size:
                break
        file.write("\n]}\n")
    return turn * len(rows)


def measured(command):
    """Seconds, and the most memory in use, of a command."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0, command
    return time.monotonic() - begin, usage.ru_maxrss * 1024


def main(strata, source, mebibytes="0", rounds="3"):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        with multiprocessing.Pool(1) as pool:  # what this process has held would count as held by those that it starts
            rows = pool.apply(repeat, (source, path, int(float(mebibytes) * 2**20)))
        size = os.path.getsize(path)
        told = [measured([strata, "timeline", path, "--json", "--limit", "40", "--force"]) for _ in range(int(rounds))]
        python = [measured([sys.executable, "-c", f"import json; json.load(open({path!r}))"]) for _ in range(int(rounds))]
    ours, theirs = min(told), min(python)
    print(f"{size / 2**20:.0f} MiB, {rows} rows: strata {ours[0]:.2f} s, {ours[1] / 2**20:.0f} MiB ({ours[1] / size:.2f} of the file); "
          f"json.load {theirs[0]:.2f} s, {theirs[1] / 2**20:.0f} MiB: {theirs[0] / ours[0]:.1f} times faster", flush=True)
    return 0


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(main(*sys.argv[1:]))
