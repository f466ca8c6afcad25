#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Do two builds of strata print the same? For changes of code that shall change no output: every command, with every change of what-if and
their refusals, on every recording that is named; stdout, stderr, exit code and written files are compared to the byte.

usage: same_outputs.py OLD NEW RECORDING... [--only TEXT] [--kept FILE] [--but KEY...] [--jobs N]
  OLD, NEW   two programs strata, each in a build folder with its libraries; --kept keeps what the old one printed for the next time
  RECORDING  a recording, or a folder of them
Exit: 0 where all outputs are equal, 1 otherwise.
"""
import argparse
import concurrent.futures
import difflib
import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

SUFFIXES = (".pickle", ".pickle.gz", ".strata", ".json", ".json.gz", ".html")
#: What differs from run to run, and what stands for it.
MASKS = [(re.compile(r"\d+(\.\d+)? seconds? (ago|to go)"), "TIME")]

READING = [*(f"at {{F}} {position} --by {group}" for position in ("peak", "end") for group in
             ("line", "site", "stream", "pool", "size", "category", "module")),
           "at {F} 0", "at {F} 10 --frames --by site", "at {F} nonsense", "at {F} 99999999", "summary {F} --replay",
           "summary {F} --max-peak 1MiB", "summary {F} --from 3 --to 20", "summary {F} --from 20 --to 3", "check {F} --from 2",
           *(f"{command} {{F}}" for command in ("summary", "check", "steps", "oom", "fragmentation", "leaks", "timeline", "replay", "notes",
                                                "ledger", "state", "whatif")), "render {F} -o {T}", "convert {F} -o {T}/out.strata", "render {F}", "convert {F}",
           "blocks {F} --limit 30 --sort -requested", "blocks {F} --frames --limit 5", "blocks {F} --from 5 --to 9 --filter size>1MiB",
           "blocks {F} --filter nonsense", "blocks {F} --replay --limit 9", "events {F} --limit 30 --annotations", "events {F} --from 7 --limit 3 --frames",
           "events {F} --sort size --limit 4", "oom {F} --capacity 1GiB", "state {F} peak", "state {F} end --limit 3", "ledger {F} end", "ledger {F} --by module",
           "fragmentation {F} --over 5", "leaks {F} --max-growth 1", "leaks {F} --capacity 16GiB", "timeline {F} --shapes --limit 3", "timeline {F} --step 2",
           "timeline {F} --from t:0.001 --to t:0.1", "replay {F} --check", "replay {F} --set= --capacity 4GiB", "replay {F} --set expandable_segments:True",
           "replay {F} --set expandable_segments:True,max_split_size_mb:64 --torch 2.6", "replay {F} --set nonsense", "replay {F} --set= --addresses random:3",
           "summary {F} --device 7", "summary {F} --nonsense"]
CHANGES = ["batch=x2", "batch=4", "batch=x0", "sequence=x2", "sequence=64", "checkpoint=Block", "checkpoint=path:*.0", "checkpoint=none", "accumulate=2",
           "offload=activations", "offload=optimizer", "offload=activations:Block", "optimizer=SGD", "optimizer=AdamW,lr=0.1", "optimizer=AdamW8bit",
           "optimizer=Nothing", "remove=train.py:57", "free=last-use", "free=train.py:57", "zero_grad=after-step", "zero_grad=before-forward",
           "zero_grad=before-backward", "in_backward=True", "ddp=2", "zero1=4", "fsdp=8", "fsdp=0", "amp=bf16", "dtype=fp16", "attention=math",
           "attention=flash,causal", "logits=chunks:4", "nonsense=1", "batch", "="]
WHATIF = [*(f"whatif {{F}} --change {change} --batch-of 8" for change in CHANGES), "whatif {F} --set expandable_segments:True", "whatif {F} --capacity 8GiB",
          "whatif {F} --change batch=x2", "whatif {F} --change sequence=512 --sequence-of 128", "whatif {F} --alternatives --batch-of 8",
          "whatif {F} --plan 1GiB", "whatif {F} --plan cheapest --batch-of 8", "whatif {F} --plan largest-batch --batch-of 8",
          "whatif {F} --plan 90% --among Block", "whatif {F} --change batch=x2 --batch-of 8 --max-peak 1MiB", "whatif {F} --change batch=x2 --with {F} --batch-of 8,16",
          "whatif {F} --confirm", "whatif {F} --change batch=x2 --batch-of 8 -o {T}/out.strata", "whatif {F} --change checkpoint=Block -o {T}/out.pickle"]
PAIRS = [f"whatif {{F}} --change {a} --change {b} --batch-of 8" for a, b in itertools.permutations(
    [change for change in CHANGES if "=" in change[1:] and not change.endswith(("=0", "x0"))][:-1], 2)]
ALONE = ["", "--version", "--help", "nonsense", "list --json", "dryrun", "dryrun --device Nothing -- true", "record", "attach", "attach 0", "share /nowhere",
         "summary /nowhere", "summary /dev/null", "summary", "symbolize /nowhere", "render /nowhere -o {T}",
         *(f"dryrun --change {change} -- true" for change in CHANGES),
         *(f"{command} --help" for command in ("summary", "check", "at", "blocks", "events", "steps", "oom", "state", "ledger", "fragmentation", "leaks",
                                               "timeline", "replay", "whatif", "render", "convert", "share", "notes", "symbolize", "record", "list", "attach",
                                               "dryrun", "doctor"))]


def cases(recordings, pairs_on):
    """(command, recording): each command as text and as JSON."""
    yield from ((command, "") for command in ALONE)
    for recording in recordings:
        for command in [*READING, *WHATIF, *(PAIRS if recording in pairs_on else ())]:
            yield command, recording
            if not command.startswith(("render", "convert", "check {F} --from")):
                yield command + " --json", recording


def said_by(strata, command, recording):
    """What it printed and wrote, as text."""
    with tempfile.TemporaryDirectory() as folder:
        words = [word.replace("{F}", recording).replace("{T}", folder) for word in command.split()]
        try:
            run = subprocess.run([strata, *words], cwd=folder, timeout=120, stdin=subprocess.DEVNULL, capture_output=True,
                                 env={**os.environ, "NO_COLOR": "1", "COLUMNS": "120", "HOME": folder, "STRATA_DATA": folder})
        except subprocess.TimeoutExpired:
            return "more than two minutes"
        parts = [f"exit {run.returncode}", run.stdout.decode(errors="replace"), run.stderr.decode(errors="replace")]
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    parts.append(f"{name}: {hashlib.sha256(file.read()).hexdigest()}")
        said = "\n".join(parts).replace(folder, "FOLDER")
        if recording: # which may lie below the folder of the program
            said = said.replace(recording, "RECORDING")
        said = said.replace(os.path.dirname(os.path.realpath(strata)), "BIN")
    for pattern, stands in MASKS:
        said = pattern.sub(stands, said)
    return said


def found(paths):
    for path in paths:
        if os.path.isdir(path):
            for folder, _, names in sorted(os.walk(path)):
                yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(SUFFIXES))
        else:
            yield path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--only", default="", help="only commands with this text")
    parser.add_argument("--kept", help="a file for hashes of what the old program said")
    parser.add_argument("--pairs", nargs="*", default=[], help="recordings on which changes are combined by twos")
    parser.add_argument("--but", nargs="*", default=[], help="keys of JSON that may differ: arrays of objects")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    MASKS.extend((re.compile(rf'"{key}":\[[^\]]*\]'), f'"{key}":...') for key in arguments.but)
    old, new = os.path.abspath(arguments.old), os.path.abspath(arguments.new)
    with open(old, "rb") as file:
        of_old = hashlib.sha256(file.read()).hexdigest()
    kept = {}
    if arguments.kept and os.path.exists(arguments.kept):
        with open(arguments.kept, encoding="utf-8") as file:
            kept = {(row[0], row[1]): row[2] for row in map(json.loads, file)}
    pairs_on = {os.path.abspath(path) for path in arguments.pairs}
    asked = [case for case in cases([os.path.abspath(path) for path in found(arguments.recordings)], pairs_on) if arguments.only in case[0]]

    def compare(case):
        key = (of_old, "\t".join(case))
        is_kept = key in kept
        before = None if is_kept else said_by(old, *case)
        digest = kept[key] if is_kept else hashlib.sha256(before.encode()).hexdigest()
        after = said_by(new, *case)
        if hashlib.sha256(after.encode()).hexdigest() == digest:
            return case, None if is_kept else (key, digest), None
        before = before or said_by(old, *case)
        lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "old", "new", lineterm="", n=0)
        return case, None, "\n".join(line[:300] for line in itertools.islice(lines, 12))

    different = collected = 0
    keep = open(arguments.kept, "a", encoding="utf-8") if arguments.kept else None
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for (command, recording), fresh, difference in pool.map(compare, asked):
            collected += 1
            if fresh and keep:
                print(json.dumps([*fresh[0], fresh[1]]), file=keep)
            if difference is not None:
                different += 1
                print(f"\nstrata {command.replace('{F}', recording)}\n{difference}", flush=True)
    print(f"{collected} outputs compared, {different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
