#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs all cases of a GoogleTest program, in one process and in shuffled order, and counts them from the program's own XML.

Cases that would disturb others (`--isolated PATTERN: REASON`) run in a process each. XML that is missing, or that lacks a case of
--gtest_list_tests, is a failure: a program that ends early cannot pass. After a failure each failed case runs once more alone,
only to say whether it fails alone too: the result stays "failed".

usage: run_cases.py PROGRAM --xml FILE [--isolated "PATTERN: REASON"]... [--seeds N] [--alone]
  --seeds N   N runs, with the seeds after STRATA_TEST_SEED (1 if that is not set)
  --alone     also every case in a process of its own
Exit: 0 passed, 1 failed, 77 every case was skipped.
"""
import argparse
import collections
import fnmatch
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml


def listed(program):
    """Names of the enabled cases, as filters take them."""
    run = subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{program} --gtest_list_tests ended with {run.returncode}:\n{run.stdout}{run.stderr}")
    names, suite = [], ""
    for line in run.stdout.splitlines():
        word = line.split("#")[0].rstrip()
        if line.startswith("  "):
            if "DISABLED_" not in suite + word:
                names.append(suite + word.strip())
        elif word.endswith("."):
            suite = word
    return names


def cases_of(path):
    """{name: (result, seconds, messages)} of one XML file; nothing where there is none."""
    try:
        suites = xml.parse(path).getroot()
    except (OSError, xml.ParseError):
        return {}
    found = {}
    for suite in suites:
        for case in suite.findall("testcase"):
            if case.get("status") != "run":
                continue
            failures = [each.get("message", "") for each in case.findall("failure")]
            result = "failed" if failures else "skipped" if case.find("skipped") is not None else "passed"
            found[f"{case.get('classname')}.{case.get('name')}"] = (result, float(case.get("time", 0)), failures)
    return found


class Runner:
    def __init__(self, program, folder):
        self.program, self.folder, self.runs = program, folder, 0

    def run(self, names, seed=None, quiet=False):
        """(cases, exit status, output) of one process that runs the named cases."""
        self.runs += 1
        path = os.path.join(self.folder, f"{self.runs}.xml")
        flags = os.path.join(self.folder, f"{self.runs}.flags")
        with open(flags, "w", encoding="utf-8") as file:  # a command line has less room than a filter may need
            file.write("--gtest_filter=" + ":".join(names) + "\n")
        command = [self.program, f"--gtest_flagfile={flags}", f"--gtest_output=xml:{path}", "--gtest_color=no"]
        if seed is not None:
            command += ["--gtest_shuffle", f"--gtest_random_seed={seed}"]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if not quiet:
            print(run.stdout, end="", flush=True)
        return cases_of(path), run.returncode, run.stdout


def whole(runner, names, seed, quiet=False):
    """Cases of `names` in one process; where one ends it, the others in further processes."""
    done, left = {}, list(names)
    while left:
        cases, status, output = runner.run(left, seed, quiet)
        done.update(cases)
        missing = [name for name in left if name not in cases]
        if not missing and status not in (0, 1):
            return done, [f"the program ended with {status} after all its cases"]
        if not missing:
            return done, []
        begun = re.findall(r"^\[ RUN      \] (\S+)$", output, re.M)
        ended = set(re.findall(r"^\[ (?: {6}OK|  FAILED | SKIPPED) \] ([^\s,]+)", output, re.M))
        culprit = next((name for name in reversed(begun) if name in missing and name not in ended), None)
        if culprit is None:
            return done, [f"{len(missing)} cases are missing in the XML (status {status}): {', '.join(missing[:5])}"]
        done[culprit] = ("failed", 0.0, [f"the program ended with {status} in this case (seed {seed})"])
        left = [name for name in missing if name != culprit]
    return done, []


def write(path, suites):
    """One XML file for all: what `./test` counts."""
    root = xml.Element("testsuites")
    for name, (result, seconds, messages) in sorted(suites.items()):
        suite, case = name.split(".", 1)
        entry = xml.SubElement(root, "testcase", classname=suite, name=case, time=f"{seconds:.3f}", result=result)
        for message in messages:
            xml.SubElement(entry, "failure", message=message[:4000])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    xml.ElementTree(root).write(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--xml", required=True)
    parser.add_argument("--isolated", action="append", default=[])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--alone", action="store_true")
    arguments = parser.parse_args()
    first = int(os.environ.get("STRATA_TEST_SEED", "1"))
    names = listed(arguments.program)
    problems = [] if names else ["the program has no case"]
    patterns = [entry.split(":", 1)[0].strip() for entry in arguments.isolated]
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            problems.append(f"--isolated {pattern}: no such case")
    alone = [name for name in names if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]
    together = [name for name in names if name not in alone]
    results = {}

    def take(cases, note=""):
        for name, (result, seconds, messages) in cases.items():
            before = results.get(name)
            if before is None or before[0] != "failed":  # one failure is enough
                results[name] = (result, seconds, [f"{note}{message}" for message in messages])

    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(arguments.program, folder)
        for seed in range(first, first + arguments.seeds):
            print(f"seed {seed}: {len(together)} cases in one process, {len(alone)} alone", flush=True)
            cases, wrong = whole(runner, together, seed)
            problems += wrong
            take(cases, f"seed {seed}: ")
        for name in names if arguments.alone else alone:
            cases, wrong = whole(runner, [name], None, quiet=arguments.alone)
            problems += wrong
            take(cases, "alone: ")
        failed = sorted(name for name, (result, _, _) in results.items() if result == "failed")
        for name in failed[:20]:
            cases, _, output = runner.run([name], quiet=True)
            again = cases.get(name, ("failed",))[0] == "failed"
            print(f"again, alone: {name} {'fails' if again else 'passes: it depends on what ran before, or on time'}")
    problems += [f"{name} is missing in the XML" for name in names if name not in results]
    write(arguments.xml, results)
    counts = collections.Counter(result for result, _, _ in results.values())
    for name in failed:
        print(f"FAILED {name}: {'; '.join(results[name][2])[:300]}")
    for problem in problems:
        print(f"FAILED {os.path.basename(arguments.program)}: {problem}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    if failed or problems:
        return 1
    return 77 if counts["skipped"] == len(results) else 0


if __name__ == "__main__":
    sys.exit(main())
