#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stages of ./test: builds, runs ctest, counts, and prints one table. ./test installs the packages and sets the compiler cache.

Counts come from the XML of each GoogleTest program (tests/tools/run_cases.py) and of pytest, and from ctest for everything else; logs stay in
build/logs. Exit: 0 where nothing failed, 1 otherwise, 2 for bad usage.
"""
import argparse
import collections
import glob
import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

LOGS = "build/logs"
RECORDINGS = "build/release/recordings"  # of programs that several test modules record, for one run
FUZZ_SECONDS = 60  # processor time of all fuzzers in ./test
FUZZ_SECONDS_LONG = 300  # for each fuzzer in --long=fuzz
TORCH_PARTS = ("record", "dryrun", "whatif", "whatif2", "analysis")
PARTS = TORCH_PARTS + ("versions", "cases", "asan", "fonts", "dev", "tidy", "fuzz")
VERSIONS = ("2.11.0", "2.8.0", "2.4.0")
FONTS = {"noto": ("fonts-noto-core", "/usr/share/fonts/truetype/noto", "Noto Sans"),
         "cjk": ("fonts-noto-cjk", "/usr/share/fonts/opentype/noto", "Noto Sans CJK JP")}


def result_of(case):
    """Of run_cases.py, which says it, or of pytest."""
    kinds = {child.tag for child in case}
    return case.get("result") or ("failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed")


class Stage:
    def __init__(self, name):
        self.name, self.seconds, self.processor, self.counts, self.longest, self.failed = name, 0.0, 0.0, collections.Counter(), [], []


def processor_seconds():
    """User and system time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Stages:
    def __init__(self):
        self.done = []
        os.makedirs(LOGS, exist_ok=True)

    def begin(self, name):
        print(f"\n== {name}", flush=True)
        self.done.append(Stage(name))
        self.begun, self.used = time.monotonic(), processor_seconds()
        return self.done[-1]

    def end(self):
        self.done[-1].seconds, self.done[-1].processor = time.monotonic() - self.begun, processor_seconds() - self.used

    def command(self, words, log, **more):
        """Whether it ended well; its output goes into a log, and is shown if it did not."""
        path = os.path.join(LOGS, log + ".log")
        with open(path, "w", encoding="utf-8") as file:
            status = subprocess.run(words, stdout=file, stderr=subprocess.STDOUT, **more).returncode
        if status != 0:
            with open(path, encoding="utf-8", errors="replace") as file:
                sys.stderr.write("".join(file.readlines()[-80:]))
            print(f"strata: {' '.join(words[:4])} failed: {path}", file=sys.stderr, flush=True)
        return status == 0

    def build(self, preset, targets=(), environment=None, name=None):
        self.begin(f"build {name or preset}")
        good = self.command(["cmake", "--preset", preset], f"configure-{preset}", env=environment) and self.command(
            ["cmake", "--build", "--preset", preset, *(["--target", *targets] if targets else [])], f"build-{name or preset}", env=environment)
        if not good:
            self.done[-1].counts["failed"] += 1
        self.end()
        return good

    def ctest(self, name, preset, options, environment=None, passed_before=()):
        """Runs ctest and adds its results to a stage; those that passed before are left out."""
        stage = self.begin(name)
        log, report = f"{LOGS}/{name.replace(' ', '-')}.log", os.path.abspath(f"{LOGS}/{name.replace(' ', '-')}.xml")
        if passed_before:
            print(f"{len(passed_before)} tests passed in an earlier run of this part", flush=True)
            options = [*options, "-E", "^(" + "|".join(map(re.escape, passed_before)) + ")$"]
            stage.counts["passed"] += len(passed_before)
        if os.path.exists(report):
            os.remove(report)
        for old in glob.glob(f"build/{preset}/cases/*.xml"):
            os.remove(old)
        with open(log, "a" if passed_before else "w", encoding="utf-8") as file:
            run = subprocess.Popen(["ctest", "--preset", preset, "--no-tests=error", "--output-junit", report, *options],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment)
            for line in run.stdout:
                file.write(line)
                file.flush()
                if not re.match(r" *\d+/\d+ Test .*(Passed|Start)|^ +Start |^\[ (RUN|      )|^\[       OK", line):
                    print(line, end="", flush=True)
        status = run.wait()
        self.count(stage, preset, report)
        self.end()
        if status != 0 and not stage.counts["failed"]:
            print(f"strata: ctest ended with {status}: {log}", file=sys.stderr)
            stage.counts["failed"] += 1

    def count(self, stage, preset, report):
        try:
            tests = xml.parse(report).getroot().findall("testcase")
        except (OSError, xml.ParseError):
            print(f"strata: no report of {stage.name}: {report}", file=sys.stderr)
            stage.counts["failed"] += 1
            return
        for test in tests:
            name, status = test.get("name"), test.get("status")
            cases = f"build/{preset}/cases/{name}.xml"
            failed = status == "fail"
            stage.failed += [name] if failed else []
            if os.path.exists(cases):
                results = collections.Counter(map(result_of, xml.parse(cases).getroot().iter("testcase")))
                stage.counts.update(results)
                if failed and not results["failed"]:
                    stage.counts["failed"] += 1
            else:
                stage.counts["failed" if failed else "passed" if status == "run" else "skipped"] += 1
            if status not in ("fail", "run"):
                print(f"skipped: {name}")
        stage.longest = sorted(((float(test.get("time", 0)), test.get("name")) for test in tests), reverse=True)[:5]

    def table(self):
        print(f"\n{'stage':<28} {'minutes':>8} {'processor':>9} {'passed':>8} {'failed':>8} {'skipped':>8}  longest (s)")
        total = Stage("all")
        for stage in self.done:
            total.seconds += stage.seconds
            total.processor += stage.processor
            total.counts.update(stage.counts)
        for stage in [*self.done, total]:
            longest = ", ".join(f"{name} {seconds:.0f}" for seconds, name in stage.longest)
            counts = [str(stage.counts[kind]) if stage.counts else "" for kind in ("passed", "failed", "skipped")]
            times = f"{stage.seconds / 60:>8.1f} {stage.processor / 60:>9.1f}"
            print(f"{stage.name:<28} {times} {counts[0]:>8} {counts[1]:>8} {counts[2]:>8}  {longest}".rstrip())
        print(f"\n{total.counts['passed']} passed, {total.counts['failed']} failed, {total.counts['skipped']} skipped", flush=True)
        good = total.counts["failed"] == 0 and total.counts["passed"] > 0
        self.remember(good)
        return good

    def remember(self, good):
        """Appends a line about this run to a list of runs outside the checkout, which shows how long they take and how often one fails."""
        row = {"date": time.strftime("%Y-%m-%dT%H:%M:%S"), "state": state(), "arguments": sys.argv[1:], "passed": good,
               "seed": os.environ["STRATA_TEST_SEED"], "failed": [name for stage in self.done for name in stage.failed],
               "minutes": {stage.name: round(stage.seconds / 60, 2) for stage in self.done},
               "processor_minutes": {stage.name: round(stage.processor / 60, 2) for stage in self.done}}
        path = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "strata", "test-runs.jsonl")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a", encoding="utf-8") as file:
            print(json.dumps(row), file=file)


def output(*words):
    return subprocess.run(words, capture_output=True, text=True).stdout.strip()


class Torch:
    """Python environments with PyTorch, which are loaded while the compiler works."""

    def __init__(self, wanted, versions):
        self.wanted, self.runs = wanted, []
        if wanted:
            for some in (versions, ("2.13.0",)):  # one version that nothing else names, for the tests of hooks
                self.runs.append(subprocess.Popen(["tests/truth/environment.sh", *some], stdout=subprocess.PIPE, text=True))

    def wait(self, stages):
        """Whether they are there, or are not wanted. Sets the variables that tests and the build of hooks read."""
        if not self.wanted:
            os.environ.pop("STRATA_TORCH_PYTHON", None)
            return True
        stages.begin("wait for PyTorch")
        found = [run.communicate()[0].split() for run in self.runs]
        os.environ["STRATA_TORCH_PYTHON"] = ":".join(found[0])
        os.environ["STRATA_TORCH_UNLISTED"] = "".join(found[1])
        if not found[0]:
            print("strata: no PyTorch could be installed: see above, or leave its tests out with --without-torch", file=sys.stderr)
            stages.done[-1].counts["failed"] += 1
        stages.end()
        return bool(found[0])


def seed():
    """Of shuffled cases: from the commit, so that another run of it takes the same order."""
    os.environ.setdefault("STRATA_TEST_SEED", str(int((output("git", "rev-parse", "HEAD") or "1")[:4], 16) % 99990 + 1))
    print(f"cases run in the order of seed {os.environ['STRATA_TEST_SEED']} (STRATA_TEST_SEED)")


def fuzz(stages, seconds):
    stage = stages.begin("fuzz")
    stage.counts["passed" if stages.command(["tests/fuzz/run", "build/asan/bin", str(seconds)], "fuzz") else "failed"] += 1
    with open(f"{LOGS}/fuzz.log", encoding="utf-8") as file:
        print("".join(line for line in file if ", clean" in line), end="")
    stages.end()


def every_commit(stages, quick, torch):
    built = stages.build("release")
    if torch.wait(stages) and built:
        # What follows an allocator is built from headers that came with PyTorch.
        if torch.wanted:
            built = stages.build("release", ["strata_torch_hooks"], name="hooks")
        if built:
            stages.ctest("test release", "release", ["-LE", "long"])
    if quick:
        return
    if stages.build("asan", ["asan_tests"]):
        stages.ctest("test asan", "asan", ["-L", "asan"])
        fuzz(stages, FUZZ_SECONDS // len(glob.glob("build/asan/bin/fuzz_*")))
    if stages.build("tsan", ["threaded_tests"]):
        stages.ctest("test tsan", "tsan", ["-L", "threads"])


def state():
    """Of the checkout: what passed in this state need not run again when a long part resumes."""
    changes = output("git", "diff", "HEAD") + output("git", "ls-files", "--others", "--exclude-standard")
    return output("git", "rev-parse", "--short=12", "HEAD") + ("-" + hashlib.sha256(changes.encode()).hexdigest()[:8] if changes else "")


def passed_before(name):
    try:
        with open(f"{LOGS}/{name}.log", encoding="utf-8", errors="replace") as file:
            return sorted(set(re.findall(r"^ *\d+/\d+ Test +#\d+: (\S+) \.+ +Passed", file.read(), re.M)))
    except OSError:
        return []


def long_part(stages, part, torch):
    """One part of --long, which goes on where an earlier run of the same checkout was cut short."""
    name = f"long-{part}-{state()}"
    environment = {**os.environ, "STRATA_LONG": "1"}

    def resume(preset, options, suffix="", **more):
        stages.ctest(name + suffix, preset, options, {**environment, **more}, passed_before(name + suffix))

    if part in TORCH_PARTS or part == "versions":
        if not (stages.build("release") and torch.wait(stages) and torch.wanted and stages.build("release", ["strata_torch_hooks"], name="hooks")):
            return
        if part != "versions":
            resume("release", ["-L", f"^long-{part}$"])
            return
        for python in os.environ["STRATA_TORCH_PYTHON"].split(":"):
            version = os.path.basename(os.path.dirname(os.path.dirname(python)))
            resume("release", ["-L", "^torch$"], "-" + version, STRATA_TORCH_PYTHON=python, STRATA_LONG="0")
    elif part == "cases":
        if stages.build("release"):
            resume("release", ["-L", "^long-cases$"])
    elif part == "asan":
        if stages.build("asan-gui"):
            resume("asan-gui", ["-LE", "long|torch"])
    elif part == "dev":
        if stages.build("dev", ["all", "benchmarks"]):
            resume("dev", ["-LE", "long|torch"])
    elif part == "tidy":
        if stages.build("release"):  # which makes the headers that sources include
            stage = stages.begin("tidy")
            stage.counts["passed" if stages.command([sys.executable, "tests/tools/tidy.py", "build/release"], "tidy") else "failed"] += 1
            stages.end()
    elif part == "fonts":
        if stages.build("release"):
            for kind, (package, folder, family) in FONTS.items():
                if not os.path.isdir(folder):
                    stages.command(["apt-get", "install", "-y", "--no-install-recommends", package], f"install-{package}")
                resume("release", ["-L", "^window$"], "-" + kind, STRATA_TEST_FONTS=f"{family}:{folder}")
    elif part == "fuzz":
        if stages.build("asan", ["asan_tests"]):
            fuzz(stages, FUZZ_SECONDS_LONG)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--long", nargs="?", const="all", choices=("all", *PARTS))
    parser.add_argument("--without-torch", action="store_true")
    arguments = parser.parse_args()
    stages = Stages()
    shutil.rmtree(RECORDINGS, ignore_errors=True)
    os.environ["STRATA_RECORDINGS"] = os.path.abspath(RECORDINGS)
    if not os.path.isdir("../shared"):
        print("strata: no ../shared beside the project: tests against other people's recordings are skipped")
    parts = () if not arguments.long else PARTS if arguments.long == "all" else (arguments.long,)
    seed()
    if not parts:
        every_commit(stages, arguments.quick, Torch(not arguments.without_torch, ("newest", "2.6.0")))
    for part in parts:
        wanted = not arguments.without_torch and (part in TORCH_PARTS or part == "versions")
        long_part(stages, part, Torch(wanted, VERSIONS if part == "versions" else ("newest", "2.6.0")))
    return 0 if stages.table() else 1


if __name__ == "__main__":
    sys.exit(main())
