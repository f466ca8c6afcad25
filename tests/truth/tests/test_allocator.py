# SPDX-License-Identifier: GPL-3.0-or-later
"""Random requests through PyTorch's own caching allocator on the simulated device, and through the replay's: every event, address,
sum and block must be the same.

The short form makes the same runs each time, from seed 0 on; the long one draws a seed, and takes a quarter of a minute with each PyTorch.
Each run draws its settings, capacity, streams, pools, order of addresses and changes in mid-run from its seed, which is printed where a
run differs: --first-seed S --seeds 1 repeats it. By hand with every minor version: --python PYTHON --events 1000000.
"""
import collections
import os
import random
import re
import signal
import subprocess
import tempfile
import time

import pytest

from conftest import of_build
from cpp import compiled
from running import LONG, PROGRAMS, version as version_of

pytestmark = pytest.mark.torch("older")

SOURCE = os.path.join(PROGRAMS, "requests.cpp")
SETTINGS = os.path.join(PROGRAMS, "settings.cpp")
GIB = 1 << 30
TRIES, CRASHES = 8, "seeds with which PyTorch crashes"


def draw_settings(draw, version):
    """One string of settings that move blocks, as this version knows them."""
    words = {}
    large = 20
    if draw.random() < 0.4:
        words["expandable_segments"] = draw.choice(("True", "True", "True", "False"))
    if version >= (2, 11) and draw.random() < 0.3:
        large = draw.choice((12, 16, 24, 32, 64, 128))
        words["large_segment_size_mb"] = large
    if draw.random() < 0.35:
        words["max_split_size_mb"] = draw.choice((large + 1, large + 5, large + 20, 2 * large, 128, 300))
    if version >= (2, 6) and draw.random() < 0.25:
        words["max_non_split_rounding_mb"] = draw.choice((large + 1, 2 * large, 256, 1024))
    if draw.random() < 0.3:
        words["roundup_power2_divisions"] = draw.choice((
            "1", "2", "4", "8", "64", "[1:2,2:4,4:8,>:2]", "[2:4,16:1,64:8]", "[256:1,512:2,1024:4,>:8]", "[>:4]", "[32:16,>:1]"))
    if draw.random() < 0.3:
        words["garbage_collection_threshold"] = draw.choice(("0.2", "0.5", "0.6", "0.8", "0.95"))
    if version >= (2, 10) and draw.random() < 0.25:
        words["per_process_memory_fraction"] = draw.choice(("0.3", "0.55", "0.8", "0.95", "1.0"))
    if version >= (2, 12) and draw.random() < 0.3:
        words["throw_on_cudamalloc_oom"] = draw.choice(("True", "True", "False"))
    if version >= (2, 15) and draw.random() < 0.2:
        words["expandable_segments_reserve"] = draw.choice(("0.1", "0.3", "0.6", "1.0", "2", "1G", "0.2G", "40G", "abc"))
    for harmless, since in (("release_lock_on_cudamalloc", (2, 2)), ("graph_capture_record_stream_reuse", (2, 9)),
                            ("pinned_use_background_threads", (2, 6))):
        if version >= since and draw.random() < 0.1:
            words[harmless] = "True"
    words = list(words.items())
    draw.shuffle(words)
    return ",".join(f"{key}:{value}" for key, value in words)


def crashes(version, settings, options):
    """Why PyTorch itself ends, or reads memory that it freed, under this combination; None where it does not."""
    expandable = any("expandable_segments:True" in text for text in settings)
    if version >= (2, 5) and expandable and options["pools"] and options["releases"]:
        return "a pool with expandable segments is released: PyTorch forgets blocks of it, reads what it freed, or ends"
    if version >= (2, 13) and expandable and options["pools"] and options["captures"]:
        return "unmapping waits for its stream, which ends a capture on it"
    if version <= (2, 4) and expandable and any("max_split_size_mb" in text for text in settings):
        return "expandable segments with max_split_size_mb: an assertion fails where a retry releases oversize blocks"
    if version < (2, 13) and options["pools"] and any("record_stream_reuse" in text for text in settings):
        return "graph_capture_record_stream_reuse asks for the graph of a pool's use, which need not be a capture"
    limits = {limit for text in settings for limit in re.findall("max_split_size_mb:[0-9]+", text) or [""]}
    if len(limits) > 1 or (len(settings) > 1 and expandable and limits != {""}):
        return "a block that was split becomes oversize in mid-run: parts of segments are given to cudaFree"
    return None


def draw_run(seed, version):
    """Settings of the device, options of requests.cpp, settings of the allocator."""
    while True:
        draw = random.Random(seed)
        capacity = draw.choice((256 << 20, GIB // 2, GIB, 2 * GIB, 6 * GIB)) + draw.choice((0, 0, 3 << 20, 1234567))
        addresses = draw.choice(("top-down", "ascending", f"random:{draw.randrange(1, 1000)}"))
        settings = [draw_settings(draw, version)]
        if draw.random() < 0.3:
            settings += [draw_settings(draw, version) for _ in range(draw.randrange(1, 5))]
            # One limit for all, or none: see crashes().
            limit = draw.choice(("", "", ",max_split_size_mb:150"))
            settings = [(re.sub("(^|,)max_split_size_mb:[0-9]+", "", text) + limit).lstrip(",") for text in settings]
            # An earlier large_segment_size_mb stays, and may forbid it.
            if any("large_segment" in text for text in settings):
                settings = [re.sub("(^|,)max_non_split_rounding_mb:[0-9]+", "", text).lstrip(",") for text in settings]
        options = {
            "seed": seed, "requests": draw.choice((1000, 4000, 4000, 12000)), "streams": draw.choice((1, 1, 2, 3, 5)),
            "bytes": int(capacity * draw.choice((0.4, 0.7, 0.9, 1.1))), "lag": draw.choice((0, 1, 3, 10)),
            "fraction": draw.choice((0, 0, 0.3, 0.6, 0.9, 1.0)), "pools": int(draw.random() < 0.4),
            "captures": int(draw.random() < 0.5), "releases": int(draw.random() < 0.7), "fractions": int(draw.random() < 0.15)}
        if crashes(version, settings, options) is None:
            return f"capacity={capacity};addresses={addresses}", options, settings
        seed = f"{seed}, another"  # the combination is left out, the seed is not


@pytest.fixture(scope="module")
def follower():
    return of_build("bin", "follow_requests")


@pytest.fixture(scope="module")
def seed(request):
    first = request.config.getoption("first_seed")
    return first if first is not None else random.SystemRandom().randrange(1 << 40) if LONG else 0


def follow(command, follower):
    """Whether one run agrees; its figures, else what differs. PyTorch's own allocator may read what is gone (2.6: malloc with max_split_size_mb
    and a request beyond what can be released) and then ends in some of the runs of a seed: who ends so is run again."""
    for _ in range(TRIES):
        status, agrees, figures = follow_once(command, follower)
        if status != -signal.SIGSEGV:
            return agrees, figures
    return True, {CRASHES: 1}


def follow_once(command, follower):
    """How PyTorch ended, whether it agrees, and figures or what differs."""
    with tempfile.TemporaryFile() as said, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said) as real:
        followed = subprocess.run([follower], stdin=real.stdout, capture_output=True, text=True)
        real.stdout.close()  # who differs stops reading
        real.wait()
        said.seek(0)
        errors = said.read().decode(errors="replace")
    if real.returncode != 0 and not followed.stdout.startswith("DIFFERS"):
        return real.returncode, False, f"PyTorch ends with {real.returncode}: {errors[-600:]}"
    if followed.returncode != 0:
        return real.returncode, False, f"{followed.stdout}{followed.stderr[-600:]}\n  {command}"
    return real.returncode, True, {key: int(value) for key, value in re.findall(r"([a-z][a-z_ ]*?) (-?\d+)(?:,|$)", followed.stdout)}


SHORT_RUNS, OLDER_RUNS = 50, 25  # of the short form, with the newest PyTorch and with 2.6
MOST_FAILURES = 5  # who has so many stops
STRINGS = 1000  # of settings that are drawn, and pairs of them
NUMBERS = ("0", "1", "2", "3", "4", "7", "8", "16", "20", "21", "32", "64", "64", "128", "256", "1024", "65536", "131072", "-1", "1.5", "64MB",
           "0x40", "+64", "abc", "", "9999999999", "99999999999999999999999", "1e2", "18446744073709551615")
FRACTIONS = ("0", "0.0", "0.01", "0.1", "0.5", "0.8", "0.999", "1", "1.0", "1.1", "-0.5", ".5", "5e-1", "0.5x", "abc", "", "nan", "inf")
FLAGS = ("True", "False", "True", "False", "true", "1", "0", "yes", "", "False1")
KEYS = {
    "max_split_size_mb": NUMBERS, "max_non_split_rounding_mb": NUMBERS, "large_segment_size_mb": NUMBERS,
    "garbage_collection_threshold": FRACTIONS, "per_process_memory_fraction": FRACTIONS, "expandable_segments": FLAGS,
    "throw_on_cudamalloc_oom": FLAGS, "backend": ("native", "native", "native", "cudaMalloc", ""), "roundup_power2_divisions": NUMBERS,
    "release_lock_on_cudamalloc": FLAGS, "release_lock_on_hipmalloc": FLAGS, "pinned_use_cuda_host_register": FLAGS,
    "pinned_use_hip_host_register": FLAGS, "pinned_num_register_threads": NUMBERS, "pinned_use_background_threads": FLAGS,
    "graph_capture_record_stream_reuse": FLAGS, "pinned_reserve_segment_size_mb": NUMBERS, "pinned_free_catch_all": FLAGS,
    "pinned_max_round_threshold_mb": NUMBERS, "pinned_max_cached_size_mb": NUMBERS, "roundup_bypass_threshold_mb": NUMBERS,
    "expandable_segments_reserve": ("0.5", "40G", "0", "abc"), "expandable_segments_reserve_by_class": ("[a:0.5]", "[]", "[a:40G,b:0.5]"),
    "pinned_max_power2_size_mb": NUMBERS, "Max_Split_Size_MB": NUMBERS, "foo": NUMBERS, "": ("1", "")}
MOVING = ("max_split_size_mb", "max_non_split_rounding_mb", "large_segment_size_mb", "garbage_collection_threshold",
          "per_process_memory_fraction", "expandable_segments", "throw_on_cudamalloc_oom", "roundup_power2_divisions")
#: Lists, and strings that are broken as a whole.
LISTS = ("[256:1,512:2,1024:4,>:8]", "[1:1]", "[>:4]", "[]", "[", "]", "[1]", "[1:]", "[:1]", "[1:2", "[1:2,]", "[1:2,,4:4]", "[3:2]", "[4:3]",
         "[>:4,8:2]", "[64:8,1:2]", "[65536:2]", "[131072:2,>:4]", "[0:2]", "[1:0]", "[1:2];", "[ 1 : 2 , > : 4 ]", "[a:b]", "[32768:4,>:8]",
         "[1:2][2:4]", "[[1:2]]", "[1:2:3]", "[2:4,2:8]")
BROKEN = ("", ",", ":", " ", ",,", "max_split_size_mb", "max_split_size_mb:", "max_split_size_mb:64,", ",max_split_size_mb:64",
          "max_split_size_mb:64,,expandable_segments:True", "max_split_size_mb:64:65", "max_split_size_mb:64 expandable_segments:True",
          "max_split_size_mb=64", " max_split_size_mb : 64 , expandable_segments : True ", "max_split_size_mb:64;", "max_split_size_mb:[64]",
          "expandable_segments:[True]", "expandable_segments", "backend:native,max_split_size_mb:64", "max_split_size_mb:64,max_split_size_mb:128",
          "large_segment_size_mb:64,large_segment_size_mb:32", "expandable_segments:True,expandable_segments:False", "[max_split_size_mb:64]",
          "max_split_size_mb::64", "expandable_segments_reserve_by_class:0.5", "max_split_size_mb,64", "expandable_segments:True\x0bmax_split_size_mb:64", "max_split_size_mb: 6 4")


def draw_text(draw):
    """Settings, good or not."""
    if draw.random() < 0.05:
        return draw.choice(BROKEN)
    words = []
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 4))):
        key = draw.choice(MOVING) if draw.random() < 0.7 else draw.choice(tuple(KEYS))
        value = draw.choice(LISTS) if key == "roundup_power2_divisions" and draw.random() < 0.6 else draw.choice(KEYS[key])
        words.append(f"{key}:{value}")
    return ",".join(words)


def test_settings(simgpu, follower, python, seed, failures):
    """Every string is refused by both, or read alike."""
    version = "%d.%d" % tuple(version_of(python)[:2])
    program = compiled(python, failures, SETTINGS, ("-O1", "-w"), libraries=("c10", "c10_cuda"))
    if not program:
        return
    draw = random.Random(seed)
    lines = [*BROKEN, *("roundup_power2_divisions:" + value for value in LISTS),
             *(f"{key}:{value}" for key, values in KEYS.items() for value in values)]
    lines += [draw_text(draw) for _ in range(STRINGS)]
    lines += [f"{draw_text(draw)}\t{draw_text(draw)}" for _ in range(STRINGS)]
    text = "\n".join(lines) + "\n"
    real, ours = (re.sub(r"\b184467440737\d{8}\b", "unlimited", subprocess.run(command, input=text, capture_output=True, text=True).stdout).split("\n")
                  for command in ([simgpu, "--", program], [follower, "--settings", version]))
    failures.expect(f"PyTorch {version}", "answers", (len(real), len(ours)), (len(lines) + 1,) * 2)
    for line, wanted, got in zip(lines, real, ours):
        failures.expect(f"PyTorch {version} {line!r}", "values", got, wanted)
    taken = sum(answer != "refused" for answer in real)
    failures.expect(f"PyTorch {version}", "some are taken, some refused", 100 < taken < len(lines) - 100)


def test_requests(request, simgpu, follower, python, newest, seed, failures):
    version = tuple(version_of(python)[:2])
    name = "PyTorch %d.%d" % version
    program = compiled(python, failures, SOURCE, ("-O1", "-rdynamic"), libraries=("c10", "c10_cuda"), behind=("-ldl",))
    if not program:
        return
    events, seeds = request.config.getoption("events"), request.config.getoption("seeds")
    sums, runs, end = collections.Counter(), 0, time.monotonic() + 15
    most = seeds or (0 if events or LONG else SHORT_RUNS if python == newest else OLDER_RUNS)
    while runs < most if most else sums["events"] < events if events else time.monotonic() < end:
        device, options, settings = draw_run(seed + runs, version)
        agrees, figures = follow([simgpu, device, "--", program, *(f"{key}={value}" for key, value in options.items()), "--", *settings], follower)
        runs += 1
        if agrees:
            failures.checks += 1
            sums.update(figures)
        else:
            failures.expect(f"{name} --first-seed {seed + runs - 1} --seeds 1", "the replay", figures, "no difference")
            if failures.count >= MOST_FAILURES:
                break
    print(f"{name}: {runs} runs from seed {seed} on: " + ", ".join(f"{key} {count}" for key, count in sums.items()), flush=True)
    failures.expect(name, f"{CRASHES}: one of a hundred at most", 100 * sums[CRASHES] <= max(runs, 100))
    # What was not asked for was not compared.
    if not failures.count and runs >= SHORT_RUNS:
        for what in ("segment_alloc", "segment_free", "segment_map", "segment_unmap", "oom", "settings changed", "completed late",
                     "completed by waiting", "pools release", "maps failed"):
            failures.expect(name, f"{what} in {runs} runs", sums[what] > 0)
