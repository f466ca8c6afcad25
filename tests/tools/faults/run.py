#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Do the tests catch faults? Puts each fault of this folder into a tree, builds what it touches, and runs the suites of its area.

Faults 1 to 24 were drawn on commit d6689911 by somebody who did not look at the tests; those of area "pages" show what
test_agreement finds. A fault that the suites of its area miss gets the
whole of ./test with --whole.

usage: run.py TREE [--only TEXT] [--whole] [--results FILE]
  TREE       a clean checkout with built presets; each fault is applied, tested and taken back there
  --results  appends a JSON line for each fault; faults that are listed there already are left out, so that a run can go on
Exit: 0 where every fault was caught, 1 otherwise.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))

#: For each area the programs of GoogleTest in bin of a preset, and the entries of ctest that are no such program, of this tree or of d6689911.
AREAS = {
    "readers": {"release": ["test_reader", "test_reader_files", "test_chrome_trace", "test_session", "test_cli"], "asan": ["test_reader", "test_chrome_trace"],
                "ctest": ["timeline_made", "memory_timeline", "timeline_real", "trace_memory_real"]},
    "pairing": {"release": ["test_device_trace", "test_growing", "test_session", "test_cli"], "asan": ["test_growing", "test_session", "test_agent"], "ctest": []},
    "replay": {"release": ["test_replay", "test_replays", "test_whatif"], "asan": ["test_replay"], "ctest": ["truth_allocator", "replay_truth"]},
    "steps": {"release": ["test_training_steps", "test_categories", "test_cli"], "asan": [], "ctest": ["roles_truth", "leaks_truth"]},
    "categories": {"release": ["test_categories", "test_training_steps", "test_cli"], "asan": [], "ctest": ["roles_truth"]},
    "leaks": {"release": ["test_leaks", "test_cli", "test_training_view"], "asan": [], "ctest": ["leaks_truth"]},
    "whatif": {"release": ["test_whatif", "test_what_if", "test_cli"], "asan": [], "ctest": ["whatif_batch_truth", "whatif_model_truth", "whatif_ranks_truth", "whatif_truth", "whatif_sharded_truth", "whatif_accumulate_truth"]},
    "wire": {"release": ["test_wire", "test_chunks", "test_session", "test_live"], "asan": ["test_wire", "test_session"], "ctest": ["record_events"]},
    "agent": {"release": ["test_agent", "test_killed", "test_live"], "asan": ["test_agent"], "tsan": ["test_agent"], "ctest": ["record_events", "record_roles", "record_threads"]},
    "live": {"release": ["test_live", "test_live_window", "test_terminal"], "asan": ["test_live"], "tsan": ["test_live", "test_growing_threads"], "ctest": ["record_live"]},
    "window": {"release": ["test_table_models", "test_table_pages", "test_shell", "test_growth", "test_agreement", "test_gui_models", "test_live_window", "test_end_to_end"],
               "asan": [], "ctest": []},
    "pages": {"release": ["test_agreement"], "asan": [], "ctest": []},
    "cli": {"release": ["test_cli", "test_commands"], "asan": [], "ctest": []},
    "timeline": {"release": ["test_timeline", "test_memory_view", "test_agreement"], "asan": [], "ctest": []},
    "simgpu": {"release": ["test_simgpu", "test_simgpu_activities", "test_simgpu_threads"], "asan": ["test_simgpu"], "tsan": ["test_simgpu_activities"],
               "ctest": ["dryrun_programs", "dryrun_gpu", "bounds_truth"]},
    "other": {"release": ["test_step_times", "test_work_cost", "test_timeline_page"], "asan": [], "ctest": ["timeline_made", "profiler_truth"]},
}
PRODUCT = ["strata", "strata_runtime", "strata_torch_hooks"]


class Tree:
    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "CCACHE_BASEDIR": folder, "CCACHE_NOHASHDIR": "1", "QT_QPA_PLATFORM": "offscreen",
                            "CCACHE_SLOPPINESS": "pch_defines,time_macros,include_file_mtime,include_file_ctime"}

    def run(self, words, seconds=3600):
        """(whether it ended well, the end of its output)"""
        try:
            run = subprocess.run(words, cwd=self.folder, env=self.environment, timeout=seconds, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, errors="replace")
        except subprocess.TimeoutExpired:
            return False, "timeout"
        return run.returncode == 0, run.stdout[-20000:]

    def build(self, preset, targets):
        good, text = self.run(["cmake", "--build", "--preset", preset, "--target", *targets])
        if not good:
            sys.exit(f"{preset} does not build with the fault:\n{text[-3000:]}")


def caught_by(tree, fault):
    """The first suite of the fault's area that fails, or nothing."""
    area = AREAS[fault["area"]]
    for preset in ("release", "asan", "tsan"):
        programs = area.get(preset, [])
        if not programs:
            continue
        tree.build(preset, programs)
        for program in programs:
            good, text = tree.run([f"build/{preset}/bin/{program}", "--gtest_brief=1"])
            if not good:
                failed = re.findall(r"\[  FAILED  \] (\S+)", text)
                return f"{preset} {program}: {failed[0] if failed else text.strip().splitlines()[-1][:120] if text.strip() else 'ended'}"
        if preset == "release" and area["ctest"]:
            tree.build(preset, PRODUCT)
            for name in area["ctest"]:
                good, text = tree.run(["ctest", "--preset", "release", "-R", f"^{name}$"])
                if not good:
                    return f"ctest {name}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tree")
    parser.add_argument("--only", default="")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--results")
    arguments = parser.parse_args()
    with open(os.path.join(HERE, "faults.json"), encoding="utf-8") as file:
        faults = json.load(file)
    done = set()
    if arguments.results and os.path.exists(arguments.results):
        with open(arguments.results, encoding="utf-8") as file:
            done = {json.loads(line)["name"] for line in file}
    tree, missed = Tree(os.path.realpath(arguments.tree)), 0
    if tree.run(["git", "status", "--porcelain", "--untracked-files=no"])[1]:
        sys.exit(f"{tree.folder} has changes: commit them, or take them back, first")
    for fault in faults:
        if arguments.only not in fault["name"] or fault["name"] in done:
            continue
        begun = time.monotonic()
        good, text = tree.run(["git", "apply", "-C1", os.path.join(HERE, fault["name"] + ".patch")])
        if not good:
            sys.exit(f"{fault['name']} cannot be applied: {text}")
        try:
            by = caught_by(tree, fault)
            if by is None and arguments.whole:
                good, text = tree.run(["./test"], 7200)
                by = None if good else "./test"
        finally:
            tree.run(["git", "checkout", "--", "."])
        missed += by is None
        row = {"name": fault["name"], "caught_by": by, "seconds": round(time.monotonic() - begun)}
        print(json.dumps(row), flush=True)
        if arguments.results:
            with open(arguments.results, "a", encoding="utf-8") as file:
                print(json.dumps(row), file=file)
    print(f"{missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
