# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory timelines of torch.profiler: peaks and sums by category are what Python's json and a dictionary say, at every event.

usage: test_memory_timeline.py STRATA DATA [--keep FOLDER]

--keep: writes those that it makes into FOLDER, for the fuzzers, and ends.
"""
import glob
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile

# torch/profiler/_memory_profiler.py: _CATEGORY_TO_INDEX; Strata has no word for autograd's details
WORDS = ["parameter", "optimizer_state", "input", "temporary", "activation", "gradient", "temporary", "unknown"]
POSITIONS = 25


def told(strata, *arguments):
    run = subprocess.run([strata, *arguments, "--json"], capture_output=True, text=True)
    assert run.returncode == 0, f"{arguments}: {run.stderr}"
    return run.stdout


def sums_of_rows(rows):
    """(time in ns, sums by category) behind each row that changes any; the versions of a storage count as one change."""
    first = min((row[0] for row in rows if row[0] >= 0), default=0)
    kept, versions = [], [row for row in rows if row[1] == 3]
    same = [old[3] == new[3] for old, new in zip(versions[::2], versions[1::2]) for _ in range(2)]
    for row in rows:
        if row[2] and not (row[1] == 3 and same.pop(0)):
            kept.append(row)
        elif row[1] == 3 and not row[2]:
            same.pop(0)
    sums, points = [0] * 8, []
    for time, _, size, category in kept:
        sums[category] += size
        points.append((first if time < 0 else time, list(sums)))
    return points


def read(path):
    """Of a file in either form: (time in ns, sums by category), those of one time in their order."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        content = json.load(file)
    if len(content) == 2 and len(content[0]) == len(content[1]) and isinstance(content[1][0], list):
        return [(time * 1000, sums[1:]) for time, sums in zip(*content)], False
    return sums_of_rows(content), True


def by_word(sums):
    words = {}
    for word, size in zip(WORDS, sums):
        words[word] = words.get(word, 0) + size
    return {word: size for word, size in words.items() if size}


def check(strata, path):
    points, has_rows = read(path)
    [device] = json.loads(told(strata, "summary", path))["devices"]
    assert device["requested_bytes_peak"] == max(sum(sums) for _, sums in points), path
    for unknown in ("reserved_bytes_peak", "reserved_bytes_start", "reserved_bytes_end", "segments", "allocated_bytes_end"):
        assert device[unknown] is None, f"{path}: {unknown} is {device[unknown]}"
    events = [json.loads(line) for line in told(strata, "events", path, "--limit", "0").splitlines()[1:]]
    if has_rows:
        assert [event["time_ns"] for event in events] == [time for time, _ in points], path
    picked = random.Random(path).sample(range(len(points)), min(POSITIONS, len(points)))
    for place in picked:
        time, sums = points[place]
        if has_rows:
            event = place
        elif place + 1 < len(points) and points[place + 1][0] == time:
            continue  # of one time the last
        else:
            event = max((at for at, each in enumerate(events) if each["time_ns"] <= time), default=-1)
        if event < 0:
            continue
        ledger = json.loads(told(strata, "ledger", path, str(event)))
        found = {row["category"]: row["bytes"] for row in ledger["rows"] if row["bytes"]}
        assert found == by_word(sums), f"{path}, event {event}: {found}, not {by_word(sums)}"
        for row in ledger["rows"]:
            assert row["category"] == "unknown" or row["recorded_bytes"] == row["bytes"], f"{path}: {row}"
        for unknown in ("reserved_bytes", "fragmentation_bytes", "cached_free_bytes", "rounding_bytes"):
            assert ledger[unknown] is None, f"{path}: {unknown} is {ledger[unknown]}"
    print(f"{os.path.basename(path)}: {len(points)} points, {len(events)} events")


def make(folder, seed):
    """The two forms of a made run: storages that come, change their category and go."""
    pick = random.Random(seed)
    rows, live = [], []
    for _ in range(pick.randint(1, 5)):
        live.append([512 * pick.randint(1, 9), pick.randint(0, 7)])
        rows.append([-1, 1, *live[-1]])
    time = 10**18
    for _ in range(pick.randint(1, 300)):
        time += pick.choice([0, 100, 5000])
        what = pick.random()
        if live and what < 0.4:
            size, category = live.pop(pick.randrange(len(live)))
            rows.append([time, 4, -size, category])
        elif live and what < 0.6:
            storage = pick.choice(live)
            rows.append([time, 3, -storage[0], storage[1]])
            storage[1] = pick.randint(0, 7)
            rows.append([time, 3, *storage])
        else:
            live.append([pick.choice([0, 1, 512, 4096, 1 << 30]), pick.randint(0, 7)])
            rows.append([time, 2, *live[-1]])
    times, sums = [], []
    for row in rows:
        us = -1 if row[0] < 0 else row[0] // 1000
        if not times or times[-1] != us:
            times.append(us)
            sums.append(list(sums[-1]) if sums else [0] * 9)
        sums[-1][row[3] + 1] += row[2]
    first = min((us for us in times if us >= 0), default=-1)
    paths = [os.path.join(folder, f"made_{seed}.raw.json.gz"), os.path.join(folder, f"made_{seed}.json")]
    with gzip.open(paths[0], "wt") as file:
        json.dump(rows, file)
    with open(paths[1], "w", encoding="utf-8") as file:
        json.dump([[first if us < 0 else us for us in times], sums], file)
    return paths


def cut(strata, path, folder):
    """The first half of a file opens, and says so."""
    with gzip.open(path, "rt") as file:
        text = file.read()
    half = os.path.join(folder, "half.json")
    with open(half, "w", encoding="utf-8") as file:
        file.write(text[:len(text) // 2])
    summary = json.loads(told(strata, "summary", half))
    assert summary["devices"][0]["events"] > 0 and summary["truncated"], summary


def main():
    if "--keep" in sys.argv:
        folder = sys.argv[sys.argv.index("--keep") + 1]
        for seed in range(4):
            make(folder, seed)
        return 0
    strata, data = sys.argv[1:3]
    paths = sorted(glob.glob(os.path.join(data, "*.json.gz")))
    assert paths, f"nothing in {data}"
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            check(strata, path)
        for seed in range(12):
            for path in make(folder, seed):
                check(strata, path)
        for path in paths:
            if path.endswith(".raw.json.gz"):
                cut(strata, path, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
