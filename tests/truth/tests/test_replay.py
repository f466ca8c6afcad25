# SPDX-License-Identifier: GPL-3.0-or-later
"""Records programs from the start of their process on the simulated device, by Strata and by torch's own recorder, and holds the
replay of each recording to it: every event, address and final block equal, and the peaks of allocated and active bytes those that the
program itself counted. Then what-if: the recording under some settings, asked for others, against the recording under the others.

usage: test_replay.py STRATA [--python PYTHON]... [--all] [--keep FOLDER] [--only TEXT]

Without a Python with PyTorch the test is skipped (exit 77) and says so. The short form is a sample; --all, or STRATA_LONG=1, runs
everything. --keep leaves the recordings in a folder, for replay_cuts.
"""
import collections
import glob
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile

import record_tools
from running import LONG, PROGRAMS, main, strata_json, version, with_environment

MANY = os.path.join(PROGRAMS, "many.py")
REPLAYED = os.path.join(PROGRAMS, "replayed.py")
PROGRAMS_ALONE = 8  # in one recording: what is lost where one of them fails
MIB = 1 << 20

# (options of strata record, settings, stacks, since, programs): `since` is the first PyTorch that takes the settings. Options with "="
# are of device_options.py.
A100 = "--simulated A100-80GB"
SMALL = "--simulated T4-16GB --capacity 1GiB"
TINY = "--simulated T4-16GB --capacity 600MiB"
FRACTION = "per_process_memory_fraction:0.8,garbage_collection_threshold:0.6"
SAMPLE = [
    (A100, "", "none", [2, 1], ["allocations.py mixed", "allocations.py streams", "train.py gpt --option variable_shapes"]),
    (SMALL + " event-lag=2", "", "none", [2, 1], ["allocations.py streams --seed 12", "allocations.py streams_apart --seed 12"]),
    (SMALL, "", "python", [2, 1], ["allocations.py runs_out", "allocations.py retries", "allocations.py empties", "corners.py"]),
    (SMALL, "expandable_segments:True", "none", [2, 1],
     ["allocations.py variable", "allocations.py retries", "allocations.py empties --seed 2", "allocations.py sizes_alike"]),
    (SMALL, "max_split_size_mb:40,roundup_power2_divisions:8", "none", [2, 1],
     ["allocations.py large", "allocations.py retries --seed 3", "allocations.py streams_apart"]),
    (A100 + " --devices 2", "", "python", [2, 1],
     ["allocations.py devices", "allocations.py pools", "allocations.py graphs", "train.py mlp --option two_devices"]),
]
ALL = SAMPLE + [
    (A100, "", "python", [2, 1], [
        "train.py mlp --optimizer sgd", "train.py conv --optimizer adamw_fused --precision autocast", "train.py lstm --optimizer adam",
        "train.py gpt --option side_stream --option variable_shapes --steps 6", "train.py resnet --optimizer momentum --precision fp16",
        "train.py unet --precision autocast --option accumulate", "train.py vit --precision bf16 --option variable_shapes",
        "train.py llama --precision bf16 --option variable_shapes", "train.py experts --precision autocast", "train.py t5 --option checkpoint",
        "train.py gan --optimizer adam", "train.py diffusion --precision autocast", "train.py lora --precision autocast",
        "train.py gpt2_124m --precision autocast --steps 2", "train.py mlp --option out_of_memory"]),
    (A100, "expandable_segments:True", "none", [2, 1], [
        "train.py gpt --option variable_shapes --steps 8", "train.py resnet --precision fp16", "train.py unet --option accumulate",
        "allocations.py mixed --turns 3000", "allocations.py streams", "allocations.py pools", "allocations.py graphs", "corners.py"]),
    (A100, "", "none", [2, 12], ["allocations.py pools_end", "allocations.py graphs_end", "allocations.py pools_end --seed 2",
                                 "allocations.py graphs_end --seed 2"]),
    (SMALL, "", "none", [2, 12], ["allocations.py graphs_end --seed 3", "allocations.py pools_end --seed 3"]),
    (A100, "max_split_size_mb:64", "none", [2, 1], ["allocations.py large --turns 2000", "allocations.py mixed --seed 2", "corners.py"]),
    (SMALL, "max_split_size_mb:64", "python", [2, 1], [
        "allocations.py large --seed 2", "allocations.py runs_out --seed 2", "allocations.py retries --seed 2", "allocations.py streams"]),
    (SMALL, "max_split_size_mb:32,max_non_split_rounding_mb:64", "none", [2, 6], [
        "allocations.py large --seed 3", "allocations.py runs_out --seed 3", "allocations.py retries --seed 4"]),
    (A100, "roundup_power2_divisions:4", "none", [2, 1], ["allocations.py mixed --seed 3", "allocations.py variable --seed 2",
                                                          "train.py gpt --option variable_shapes", "train.py conv"]),
    (SMALL, "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]", "none", [2, 1], ["allocations.py mixed --seed 4"]),
    (SMALL, "roundup_power2_divisions:[1:4,8:2,32:1,>:2]", "none", [2, 1], ["allocations.py mixed --seed 5", "allocations.py runs_out --seed 5"]),
    (SMALL, "garbage_collection_threshold:0.5", "none", [2, 1], ["allocations.py fraction"]),
    (SMALL, FRACTION, "none", [2, 10], ["allocations.py fraction --seed 2", "allocations.py retries --seed 5", "allocations.py runs_out --seed 6",
                                        "allocations.py streams --seed 5"]),
    (SMALL + " event-lag=1", FRACTION, "none", [2, 10], ["allocations.py streams --seed 13", "allocations.py streams_apart --seed 13"]),
    (SMALL, FRACTION + ",max_split_size_mb:40", "none", [2, 10], ["allocations.py fraction --seed 3", "allocations.py large --seed 5"]),
    (SMALL, FRACTION + ",expandable_segments:True", "none", [2, 10], ["allocations.py fraction --seed 4", "allocations.py retries --seed 6"]),
    (SMALL, "per_process_memory_fraction:0.5", "python", [2, 10], ["allocations.py runs_out --seed 7", "allocations.py retries --seed 7"]),
    (SMALL, "per_process_memory_fraction:0.7,throw_on_cudamalloc_oom:True", "none", [2, 12], ["allocations.py runs_out --seed 8"]),
    (SMALL, "large_segment_size_mb:64", "none", [2, 11], ["allocations.py mixed --seed 6", "allocations.py retries --seed 8"]),
    (A100, "large_segment_size_mb:12,expandable_segments:True", "none", [2, 11], ["allocations.py mixed --seed 7", "allocations.py variable --seed 3"]),
    (SMALL, "expandable_segments:True", "python", [2, 1], [
        "allocations.py runs_out", "allocations.py runs_out --seed 9", "allocations.py streams --seed 2", "allocations.py mixed --seed 8"]),
    (SMALL + " event-lag=3", "expandable_segments:True", "none", [2, 1], [
        "allocations.py streams --seed 14", "allocations.py streams_apart --seed 14", "allocations.py streams --seed 15 --turns 3000"]),
    (SMALL + " event-lag=7", "max_split_size_mb:64", "python", [2, 1], ["allocations.py streams --seed 16", "allocations.py streams_apart --seed 16"]),
    (TINY, "expandable_segments:True", "none", [2, 1], ["allocations.py runs_out --seed 10 --turns 3000", "allocations.py retries --seed 9 --turns 3000",
                                                        "allocations.py empties --seed 4 --turns 2000"]),
    (TINY, "", "none", [2, 1], ["allocations.py runs_out --seed 11 --turns 3000", "allocations.py retries --seed 10 --turns 3000",
                                "allocations.py empties --seed 5 --turns 2000", "allocations.py streams --turns 2000 --seed 3"]),
    (TINY + " event-lag=40", "", "none", [2, 1], ["allocations.py streams --seed 17 --turns 2000", "allocations.py streams_apart --seed 17 --turns 2000"]),
    (A100 + " addresses=random:7", "", "none", [2, 1], ["allocations.py variable --seed 18", "allocations.py mixed --seed 18",
                                                       "train.py gpt --option variable_shapes --steps 6"]),
    (SMALL + " addresses=ascending", "", "python", [2, 1], ["allocations.py retries --seed 19", "allocations.py sizes_alike --seed 19"]),
    (SMALL + " addresses=random:8 event-lag=4", "expandable_segments:True", "none", [2, 1], ["allocations.py retries --seed 20", "allocations.py streams --seed 20"]),
    (TINY, "expandable_segments:True,roundup_power2_divisions:4", "none", [2, 1], ["allocations.py runs_out --seed 12", "allocations.py variable --seed 5"]),
    (SMALL, "roundup_power2_divisions:2,garbage_collection_threshold:0.8,max_split_size_mb:128", "none", [2, 1],
     ["allocations.py mixed --seed 9", "allocations.py large --seed 6"]),
    (SMALL + " --devices 2", "expandable_segments:True", "none", [2, 1], ["allocations.py devices --seed 3 --turns 2000", "train.py mlp --option two_devices"]),
    (SMALL + " --devices 2", "", "none", [2, 1], ["allocations.py devices --seed 4 --turns 2000"]),
    (A100, "release_lock_on_cudamalloc:True,pinned_use_cuda_host_register:True", "none", [2, 2], ["allocations.py mixed --seed 10"]),
    (A100, "graph_capture_record_stream_reuse:True", "none", [2, 9], ["allocations.py graphs --seed 4", "corners.py"]),
    (SMALL, "", "none", [2, 1], ["allocations.py sizes_alike --seed 2 --turns 3000", "allocations.py streams_apart --seed 2 --turns 2000"]),
]

Run = collections.namedtuple("Run", "name words session counts snapshot")


class Corpus:
    """Recordings of programs, with what torch counted in each."""

    def __init__(self, arguments, python, folder, failures):
        self.strata, self.python, self.folder, self.failures = arguments.strata, python, folder, failures
        self.number = 0

    def record(self, options, settings, stacks, programs, torchs=True):
        runs = []
        for first in range(0, len(programs), PROGRAMS_ALONE):
            runs += self.record_some(options, settings, stacks, programs[first:first + PROGRAMS_ALONE], torchs)
        return runs

    def record_some(self, options, settings, stacks, programs, torchs):
        prepared, words = [], []
        for program in programs:
            self.number += 1
            begin = os.path.join(self.folder, f"{self.number}")
            script, *arguments = program.split()
            prepared.append((program, begin))
            words.append([REPLAYED, begin + ".json", begin + ".pickle", stacks if torchs else "off", os.path.join(PROGRAMS, script), *arguments])
        named, ended = (os.path.join(self.folder, f"{self.number}.{what}") for what in ("programs", "ended"))
        with open(named, "w", encoding="utf-8") as file:
            json.dump(words, file)
        name = f"{settings or 'defaults'}, {options}, {stacks}"
        of_device = [word for word in options.split() if "=" in word]
        run = record_tools.record(
            self.strata, ["-o", os.path.join(self.folder, "{process}.strata"), "--stacks", stacks,
                          *(word for word in options.split() if word not in of_device)],
            [self.python, MANY, named, ended], env=with_environment(PYTORCH_CUDA_ALLOC_CONF=settings, DEVICE_OPTIONS=";".join(of_device)))
        if not os.path.exists(ended):
            self.failures.expect(name, "run", (run.returncode, run.stdout[-500:], run.stderr[-1500:]), "recordings")
            return []
        with open(ended, encoding="utf-8") as file:
            statuses = json.loads(file.readline())
        runs = []
        for (program, begin), status in zip(prepared, statuses):
            session = os.path.join(self.folder, f"{status['process']}.strata")
            if status["status"] != 0 or not os.path.exists(session):
                self.failures.expect(f"{program} under {name}", "run", (status["status"], run.stderr[-1500:]), "a recording")
                continue
            os.rename(session, begin + ".strata")
            with open(begin + ".json", encoding="utf-8") as file:
                counts = json.load(file)
            runs.append(Run(f"{program} under {name}", program, begin + ".strata", counts, begin + ".pickle" if torchs else None))
        return runs


Score = collections.namedtuple("Score", "recordings exact events requested_for_allocated with_capacity", defaults=(0,) * 5)


def check_exact(strata, name, path, counts, failures, more=()):
    """The devices of one recording: is the replay exact, and are its peaks what torch counted?"""
    run, report = strata_json(strata, ["replay", path, "--check", "--json"])
    asked = more and run.returncode == 1
    if asked:
        run, report = strata_json(strata, ["replay", path, "--check", "--json", *more])
    if report is None:
        failures.expect(name, "strata replay --check", run.stderr, "a document")
        return Score(1)
    exact = run.returncode == 0
    found = {row["device"]: row for row in report["devices"]}
    guessed = True
    for index, wanted in enumerate(counts["devices"]):
        if wanted["reserved_peak"] == 0:
            continue
        row, before = found.get(index), failures.count
        if row is None:
            failures.expect(name, f"device {index}", None, "in the recording")
            exact = False
            continue
        failures.expect(name, f"device {index}: exact", row["exact"] or (row["reason"], row["first_difference"]), True)
        for key in ("allocated", "active"):
            failures.expect(name, f"device {index}: {key} peak", row[f"{key}_bytes_peak"], wanted[f"{key}_peak"])
            failures.expect(name, f"device {index}: allocated at the end", row["allocated_end_difference_bytes"], 0)
        exact = exact and failures.count == before
        guessed = guessed and wanted["requested_peak"] == wanted["allocated_peak"]
    return Score(1, exact, sum(row["events"] for row in report["devices"]), guessed, bool(asked))


def capacity_of(options, settings):
    """What torch's own recordings do not tell: a fraction is a part of it, and ranges of expandable segments are 9/8 of it."""
    words = options.split()
    needed = ("fraction" in settings or "expandable" in settings) and "--capacity" in words
    return words[words.index("--capacity"):][:2] if needed else []


def total(scores):
    return Score(*(sum(column) for column in zip(Score(), *scores)))


def check_corpus(corpus, groups, arguments):
    of_strata, of_torch = [], []
    for options, settings, stacks, since, programs in groups:
        chosen = [program for program in programs if arguments.only in f"{program} under {settings}, {options}"
                  and (version(corpus.python) >= [2, 5] or "pools" not in program)]  # torch.cuda.MemPool
        if version(corpus.python) < since or not chosen:
            continue
        for run in corpus.record(options, settings, stacks, chosen):
            of_strata.append(check_exact(corpus.strata, run.name, run.session, run.counts, corpus.failures))
            of_torch.append(check_exact(corpus.strata, run.name + ", by torch's recorder", run.snapshot, run.counts, corpus.failures,
                                        capacity_of(options, settings)))
    for whose, scores in (("strata's", total(of_strata)), ("torch's", total(of_torch))):
        given = f" ({scores.with_capacity} once --capacity was given)" if scores.with_capacity else ""
        print(f"  {whose} recordings: {scores.exact} of {scores.recordings} exact{given}, {scores.events} events; requested taken for "
              f"allocated would be right in {scores.requested_for_allocated}", flush=True)


# What-if: each program is recorded under all of these settings, and each recording is asked for all the others.
SETTINGS = [
    ([2, 1], ""), ([2, 1], "expandable_segments:True"), ([2, 1], "max_split_size_mb:64"), ([2, 1], "roundup_power2_divisions:4"),
    ([2, 10], "per_process_memory_fraction:0.9,garbage_collection_threshold:0.6"), ([2, 11], "large_segment_size_mb:64"),
]
OLDER_SETTINGS = ["expandable_segments:True,roundup_power2_divisions:4", "max_split_size_mb:40,roundup_power2_divisions:[16:2,>:8]"]
PAIR_PROGRAMS = ["allocations.py variable --seed 7", "allocations.py mixed --seed 20", "allocations.py retries --seed 20",
                 "allocations.py sizes_alike --seed 20", "allocations.py large --seed 20", "allocations.py retries --seed 21 --turns 2000",
                 "allocations.py empties --seed 20", "train.py gpt --option variable_shapes --steps 6"]
FIGURES = {"allocated_bytes_peak": "allocated_peak", "active_bytes_peak": "active_peak", "reserved_bytes_peak": "reserved_peak",
           "device_mallocs": "device_mallocs", "device_frees": "device_frees", "requests_refused": "out_of_memories"}


def check_pair(corpus, before, after, settings):
    """What differs between what a recording says of other settings and what torch counted under them, and whether the answer said
    that calls of empty_cache() which released nothing are not in the recording."""
    addresses = ["--addresses", "top-down"] if version(corpus.python) < [2, 12] else []
    run, answer = strata_json(corpus.strata, ["replay", before.session, "--set", settings, "--json", *addresses])
    if answer is None:
        return run.stderr, False
    got, wanted = answer["devices"][0]["replayed"], after.counts["devices"][0]
    off = {key: (got[key], wanted[name]) for key, name in FIGURES.items() if got[key] != wanted[name]}
    if answer["devices"][0]["exact"]:
        corpus.failures.expect(after.name, f"what-if from {before.name}, called exact", off, {})
    return off, "empty_cache" in (answer["devices"][0]["reason"] or "")


def check_pairs(corpus, programs, settings, failures):
    runs = {}
    for each in settings:
        for run in corpus.record(SMALL, each, "none", programs, torchs=False):
            runs[run.words, each] = run
    pairs = equal = unchanged = unseen = 0
    for words, (before, after) in itertools.product(programs, itertools.permutations(settings, 2)):
        if (words, before) not in runs or (words, after) not in runs:
            continue
        was, wanted = (runs[words, each].counts["devices"][0] for each in (before, after))
        unchanged += all(was[name] == wanted[name] for name in FIGURES.values())
        off, says_why = check_pair(corpus, runs[words, before], runs[words, after], after)
        if off and says_why and "empties" in words:
            unseen += 1
            continue
        pairs += 1
        equal += not off
        if off:
            print(f"  {words}: {before or 'defaults'} -> {after or 'defaults'}: {off}", flush=True)
    print(f"  what-if: {equal} of {pairs} pairs 0 bytes and 0 calls off; to say that nothing changes would be right in {unchanged}; {unseen} "
          "more differ by calls of empty_cache() that are not recorded, and say so", flush=True)
    failures.expect("what-if", "pairs", pairs > 0, True)
    failures.expect("what-if", "99 % of the pairs equal", equal * 100 >= pairs * 99, True)


# What an answer cannot know: in which order the driver of the other run hands out addresses, and when frees that wait for other streams
# end there. (options of the device in each run, programs)
UNKNOWN = [
    ("addresses=random:{seed}", PAIR_PROGRAMS),
    ("event-lag=5", ["allocations.py streams --seed 31", "allocations.py streams_apart --seed 32", "allocations.py retries --seed 33",
                     "allocations.py streams --seed 34 --turns 2000"]),
]


def check_ranges(corpus, settings, programs_each, failures):
    """Does the range that is stated hold where the answer cannot be exact, and is none called exact that is not right?"""
    for options, programs in UNKNOWN:
        runs = {}
        for seed, each in enumerate(settings, 1):
            for run in corpus.record(f"{SMALL} {options.format(seed=seed)}", each, "none", programs[:programs_each], torchs=False):
                runs[run.words, each] = run
        pairs = held = right = unchanged = 0
        widths = []
        for words, (before, after) in itertools.product(programs, itertools.permutations(settings, 2)):
            if (words, before) not in runs or (words, after) not in runs:
                continue
            run, answer = strata_json(corpus.strata, ["replay", runs[words, before].session, "--set", after, "--json"])
            name, wanted = f"{words}: {before or 'defaults'} -> {after or 'defaults'}", runs[words, after].counts["devices"][0]
            if answer is None:
                failures.expect(name, "strata replay --set", run.stderr, "a document")
                continue
            row = answer["devices"][0]
            pairs += 1
            inside = all(row[f"{what}_bytes_peak_range"][0] <= wanted[f"{what}_peak"] <= row[f"{what}_bytes_peak_range"][1]
                         for what in ("reserved", "allocated"))
            equal = all(row["replayed"][key] == wanted[of] for key, of in FIGURES.items())
            held += inside
            right += equal
            unchanged += runs[words, before].counts["devices"][0]["reserved_peak"] == wanted["reserved_peak"]
            widths.append((row["reserved_bytes_peak_range"][1] - row["reserved_bytes_peak_range"][0]) / wanted["reserved_peak"])
            if row["exact"]:
                failures.expect(name, "what-if called exact", equal, True)
            if not inside:
                print(f"  {name}: {row['reserved_bytes_peak_range']}, {row['allocated_bytes_peak_range']}, counted {wanted}", flush=True)
        print(f"  what-if with {options}: the range holds in {held} of {pairs}, is {sum(widths) / max(pairs, 1):.2%} of reserved in the mean and "
              f"{max(widths, default=0):.1%} at most; {right} right to the byte; reserved as before would be right in {unchanged}", flush=True)
        failures.expect(f"what-if with {options}", "ranges that hold", held, pairs)


def cut(arguments, folder, failures):
    """Late starts of Strata's recordings."""
    sessions = sorted(path for path in glob.glob(os.path.join(folder, "*.strata")))
    if not arguments.cutter or not sessions:
        return
    cuts = "2000" if arguments.all else "200"
    run = subprocess.run([arguments.cutter, *sessions, "--cuts", cuts], capture_output=True, text=True)
    print("\n".join("  " + line for line in run.stdout.splitlines()), flush=True)
    failures.expect("late starts", "replay_cuts", run.returncode, 0)


def add_options(parser):
    parser.add_argument("--cutter", help="replay_cuts")
    parser.add_argument("--pairs", action="store_true", help="what-if alone")
    parser.add_argument("--all", action="store_true", default=LONG)
    parser.add_argument("--keep")
    parser.add_argument("--only", default="", help="programs and settings with this text in their name")


def test(arguments, python, failures):
    with tempfile.TemporaryDirectory() as temporary:
        folder = temporary
        if arguments.keep:
            folder = os.path.join(arguments.keep, ".".join(str(part) for part in version(python)[:2]))
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
        corpus = Corpus(arguments, python, folder, failures)
        is_newest = python == arguments.found[0]
        if not arguments.pairs:
            check_corpus(corpus, ALL if arguments.all else SAMPLE if is_newest else SAMPLE[2:4], arguments)
            cut(arguments, folder, failures)
        settings = [text for since, text in SETTINGS if version(python) >= since]
        settings += OLDER_SETTINGS[:6 - len(settings)]
        if not arguments.only:
            check_pairs(corpus, *((PAIR_PROGRAMS, settings) if arguments.all else (PAIR_PROGRAMS[1:4], settings[:2])), failures)
            if arguments.all or is_newest:
                check_ranges(corpus, *((settings, None) if arguments.all else (settings[:2], 2)), failures)


if __name__ == "__main__":
    sys.exit(main(test, add_options=add_options, older=True))
