#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds run_cases.py against a program whose cases pass, fail, skip, abort, or end the program early with status 0.

usage: test_run_cases.py ODD_CASES
"""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = sys.argv.pop(1)


def run(way, *options):
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run([sys.executable, os.path.join(HERE, "run_cases.py"), PROGRAM, "--xml", os.path.join(folder, "cases.xml"),
                              *options], capture_output=True, text=True, env={**os.environ, "STRATA_ODD": way})
    return ran.returncode, ran.stdout.splitlines()[-1], ran.stdout


class RunCases(unittest.TestCase):
    def test_counts_what_passed_and_what_was_skipped(self):
        self.assertEqual(run("none")[:2], (0, "4 passed, 0 failed, 1 skipped"))

    def test_names_a_case_that_failed(self):
        status, counts, text = run("fail")
        self.assertEqual((status, counts), (1, "3 passed, 1 failed, 1 skipped"))
        self.assertIn("FAILED Odd.Fails", text)
        self.assertIn("again, alone: Odd.Fails fails", text)

    def test_a_case_that_ends_the_program_fails_whatever_the_status(self):
        for way in ("abort", "exit"):
            status, counts, text = run(way)
            self.assertEqual((status, counts), (1, "3 passed, 1 failed, 1 skipped"), way)
            self.assertIn("FAILED Odd.EndsTheProgram", text)

    def test_passing_alone_does_not_turn_a_failure_green(self):
        status, counts, text = run("disturbed")
        self.assertEqual((status, counts), (1, "3 passed, 1 failed, 1 skipped"))
        self.assertIn("again, alone: Odd.FailsBesideOthers passes", text)

    def test_an_isolated_case_runs_alone(self):
        self.assertEqual(run("disturbed", "--isolated", "Odd.FailsBesideOthers: needs a process of its own")[:2],
                         (0, "4 passed, 0 failed, 1 skipped"))

    def test_an_isolated_case_that_is_not_there_is_a_failure(self):
        self.assertEqual(run("none", "--isolated", "Odd.Gone: renamed since")[0], 1)

    def test_each_case_alone_finds_what_only_fails_alone(self):
        status, counts, _ = run("exit", "--alone", "--seeds", "2")
        self.assertEqual((status, counts), (1, "3 passed, 1 failed, 1 skipped"))


if __name__ == "__main__":
    unittest.main()
