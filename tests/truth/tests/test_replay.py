# SPDX-License-Identifier: GPL-3.0-or-later
"""Records programs from the start of their process on the simulated device, by Strata and by torch's own recorder, and holds the
replay of each recording to it: every event, address and final block equal, and the peaks of allocated and active bytes those that the
program itself counted. Then what-if: the recording under some settings, asked for others, against the recording under the others.

The short form is a sample. --only TEXT takes the programs and settings with that text in their name; pytest's --basetemp FOLDER leaves the
recordings there, for replay_cuts.
"""
import collections
import itertools
import json
import os
import subprocess
import tempfile

import pytest

from conftest import of_build
from forks import TRAINING, recorded
from running import LONG, PROGRAMS, strata_json, version, with_environment

pytestmark = pytest.mark.torch("older")

REPLAYED = os.path.join(PROGRAMS, "replayed.py")

# (options of strata record, settings, stacks, since, programs): `since` is the first PyTorch that takes the settings. Options with "="
# are of device_options.py.
A100 = "--simulated A100-80GB"
SMALL = "--simulated T4-16GB --capacity 1GiB"
TINY = "--simulated T4-16GB --capacity 600MiB"
FRACTION = "per_process_memory_fraction:0.8,garbage_collection_threshold:0.6"
SAMPLE = [
    (SMALL, "", "python", [2, 1], ["allocations.py runs_out", "allocations.py retries", "allocations.py empties", "corners.py"]),
    (SMALL, "expandable_segments:True", "python", [2, 1],
     ["allocations.py variable", "allocations.py retries", "allocations.py empties --seed 2", "allocations.py sizes_alike"]),
]
SAMPLE_OF_NEWEST = SAMPLE + [
    (SMALL, "max_split_size_mb:40,roundup_power2_divisions:8", "python", [2, 1],
     ["allocations.py large", "allocations.py retries --seed 3", "allocations.py streams_apart"]),
    (A100 + " --devices 2", "", "python", [2, 1],
     ["allocations.py devices", "allocations.py pools", "allocations.py graphs", "train.py mlp --option two_devices",
      "allocations.py mixed", "allocations.py streams", "train.py gpt --option variable_shapes"]),
]
ALL = SAMPLE_OF_NEWEST + [
    (SMALL + " event-lag=2", "", "none", [2, 1], ["allocations.py streams --seed 12", "allocations.py streams_apart --seed 12"]),
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


# What-if: each program is recorded under all of these settings, and each recording is asked for all the others.
SETTINGS = [
    ([2, 1], ""), ([2, 1], "expandable_segments:True"), ([2, 1], "max_split_size_mb:64"), ([2, 1], "roundup_power2_divisions:4"),
    ([2, 10], "per_process_memory_fraction:0.9,garbage_collection_threshold:0.6"), ([2, 11], "large_segment_size_mb:64"),
]
OLDER_SETTINGS = ["expandable_segments:True,roundup_power2_divisions:4", "max_split_size_mb:40,roundup_power2_divisions:[16:2,>:8]"]
PAIR_PROGRAMS = ["allocations.py mixed --seed 20", "allocations.py retries --seed 20", "allocations.py sizes_alike --seed 20"]
if LONG:
    PAIR_PROGRAMS = [*PAIR_PROGRAMS, "allocations.py variable --seed 7", "allocations.py large --seed 20", "allocations.py retries --seed 21 --turns 2000",
                     "allocations.py empties --seed 20", "train.py gpt --option variable_shapes --steps 6"]
FIGURES = {"allocated_bytes_peak": "allocated_peak", "active_bytes_peak": "active_peak", "reserved_bytes_peak": "reserved_peak",
           "device_mallocs": "device_mallocs", "device_frees": "device_frees", "requests_refused": "out_of_memories"}


#: `words` are those of the program; `why` it left no recording.
Run = collections.namedtuple("Run", "name options settings words session counts snapshot why")


def record(strata, python, folder, groups, only=""):
    """Runs of groups of programs, by options, settings and words; those on the same device share one start of torch."""
    starts, found = collections.defaultdict(dict), {}
    for options, settings, stacks, since, programs in groups:
        if version(python) >= since:
            starts[options, stacks].update(((settings, words), None) for words in programs if only in f"{words} under {settings}, {options}"
                                           and (version(python) >= [2, 5] or "pools" not in words))  # torch.cuda.MemPool
    for (options, stacks), asked in starts.items():
        place = tempfile.mkdtemp(dir=folder)
        begins = [os.path.join(place, str(index)) for index in range(len(asked))]
        programs = []
        for (settings, words), begin in zip(asked, begins):
            script, *arguments = words.split()
            programs.append([REPLAYED, begin + ".json", begin + ".pickle", stacks, settings, os.path.join(PROGRAMS, script), *arguments])
        of_device = [word for word in options.split() if "=" in word]
        run, ended = recorded(strata, ["--stacks", stacks, *(word for word in options.split() if word not in of_device)], python, programs,
                              place, TRAINING if "train.py" in str(programs) else (), env=with_environment(DEVICE_OPTIONS=";".join(of_device)))
        for (settings, words), begin, (status, session) in zip(asked, begins, ended):
            counts, why = None, None
            if status == 0 and session:
                with open(begin + ".json", encoding="utf-8") as file:
                    counts = json.load(file)
            else:
                why = f"ended with {status}: {run.stderr[-1500:]}"
            found[options, settings, words] = Run(f"{words} under {settings or 'defaults'}, {options}", options, settings, words, session, counts,
                                                  begin + ".pickle", why)
    return found


@pytest.fixture(scope="module")
def groups(python, newest):
    return ALL if LONG else SAMPLE_OF_NEWEST if python == newest else SAMPLE


@pytest.fixture(scope="module")
def settings(python):
    """For what-if."""
    known = [text for since, text in SETTINGS if version(python) >= since]
    return (known + OLDER_SETTINGS[:6 - len(known)])[:None if LONG else 2]


@pytest.fixture(scope="module")
def runs(request, strata, python, groups, settings, tmp_path_factory):
    """All programs of groups, and those of what-if under each of its settings."""
    of_pairs = [(SMALL, each, "python", [2, 1], PAIR_PROGRAMS) for each in settings]
    return record(strata, python, str(tmp_path_factory.mktemp("recordings")), groups + of_pairs, request.config.getoption("only") or "")


def of_groups(runs, groups):
    return [runs[options, settings, words] for options, settings, _, _, programs in groups for words in programs if (options, settings, words) in runs]


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


def test_exact(strata, runs, groups, failures):
    of_strata, of_torch = [], []
    for run in of_groups(runs, groups):
        failures.expect(run.name, "why it was not recorded", run.why, None)
        if not run.why:
            of_strata.append(check_exact(strata, run.name, run.session, run.counts, failures))
            of_torch.append(check_exact(strata, run.name + ", by torch's recorder", run.snapshot, run.counts, failures,
                                        capacity_of(run.options, run.settings)))
    for whose, scores in (("strata's", total(of_strata)), ("torch's", total(of_torch))):
        given = f" ({scores.with_capacity} once --capacity was given)" if scores.with_capacity else ""
        print(f"  {whose} recordings: {scores.exact} of {scores.recordings} exact{given}, {scores.events} events; requested taken for "
              f"allocated would be right in {scores.requested_for_allocated}", flush=True)


def test_late_starts(runs, groups):
    """Of Strata's recordings."""
    sessions = [run.session for run in of_groups(runs, groups) if not run.why]
    run = subprocess.run([of_build("bin", "replay_cuts"), *sessions, "--cuts", "2000" if LONG else "200"], capture_output=True, text=True)
    print(run.stdout, flush=True)
    assert run.returncode == 0, run.stderr


def check_pair(strata, python, before, after, failures):
    """What differs between what a recording says of other settings and what torch counted under them, and whether the answer said
    that calls of empty_cache() which released nothing are not in the recording."""
    addresses = ["--addresses", "top-down"] if version(python) < [2, 12] else []
    run, answer = strata_json(strata, ["replay", before.session, "--set", after.settings, "--json", *addresses])
    if answer is None:
        return run.stderr, False
    got, wanted = answer["devices"][0]["replayed"], after.counts["devices"][0]
    off = {key: (got[key], wanted[name]) for key, name in FIGURES.items() if got[key] != wanted[name]}
    if answer["devices"][0]["exact"]:
        failures.expect(after.name, f"what-if from {before.name}, called exact", off, {})
    return off, "empty_cache" in (answer["devices"][0]["reason"] or "")


def pairs_of(runs, programs, keys):
    """Recordings of a program under (options, settings) and under others."""
    for words, (before, after) in itertools.product(programs, itertools.permutations(keys, 2)):
        if (*before, words) in runs and (*after, words) in runs:
            yield runs[(*before, words)], runs[(*after, words)]


def test_other_settings(strata, python, runs, settings, failures):
    pairs = equal = unchanged = unseen = 0
    for before, after in pairs_of(runs, PAIR_PROGRAMS, [(SMALL, each) for each in settings]):
        assert not before.why and not after.why
        was, wanted = (run.counts["devices"][0] for run in (before, after))
        unchanged += all(was[name] == wanted[name] for name in FIGURES.values())
        off, says_why = check_pair(strata, python, before, after, failures)
        if off and says_why and "empties" in before.words:
            unseen += 1
            continue
        pairs += 1
        equal += not off
        if off:
            print(f"  {before.name} -> {after.settings or 'defaults'}: {off}", flush=True)
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


@pytest.mark.torch("every")
@pytest.mark.parametrize("options, programs", UNKNOWN, ids=[options.partition("=")[0] for options, _ in UNKNOWN])
def test_ranges(strata, python, settings, options, programs, tmp_path, failures):
    """Does the range that is stated hold where the answer cannot be exact, and is none called exact that is not right?"""
    programs = programs[:None if LONG else 2]
    keys = [(f"{SMALL} {options.format(seed=seed)}", each) for seed, each in enumerate(settings, 1)]
    runs = record(strata, python, str(tmp_path), [(on, each, "none", [2, 1], programs) for on, each in keys])
    pairs = held = right = unchanged = 0
    widths = []
    for before, after in pairs_of(runs, programs, keys):
        name = f"{before.name} -> {after.settings or 'defaults'}"
        assert not before.why and not after.why
        run, answer = strata_json(strata, ["replay", before.session, "--set", after.settings, "--json"])
        assert answer, run.stderr
        row, wanted = answer["devices"][0], after.counts["devices"][0]
        inside = all(row[f"{what}_bytes_peak_range"][0] <= wanted[f"{what}_peak"] <= row[f"{what}_bytes_peak_range"][1]
                     for what in ("reserved", "allocated"))
        equal = all(row["replayed"][key] == wanted[of] for key, of in FIGURES.items())
        pairs += 1
        held += inside
        right += equal
        unchanged += before.counts["devices"][0]["reserved_peak"] == wanted["reserved_peak"]
        widths.append((row["reserved_bytes_peak_range"][1] - row["reserved_bytes_peak_range"][0]) / wanted["reserved_peak"])
        if row["exact"]:
            failures.expect(name, "what-if called exact", equal, True)
        if not inside:
            print(f"  {name}: {row['reserved_bytes_peak_range']}, {row['allocated_bytes_peak_range']}, counted {wanted}", flush=True)
    print(f"  what-if with {options}: the range holds in {held} of {pairs}, is {sum(widths) / max(pairs, 1):.2%} of reserved in the mean and "
          f"{max(widths, default=0):.1%} at most; {right} right to the byte; reserved as before would be right in {unchanged}", flush=True)
    failures.expect(f"what-if with {options}", "ranges that hold, and are some", (held, pairs > 0), (pairs, True))
