# SPDX-License-Identifier: GPL-3.0-or-later
"""Records programs with a deep step, asks `strata whatif --change logits=chunks:N --confirm` what their cross entropy comes to in chunks, without
the program, and holds that against the same program with torch.nn.functional.linear_cross_entropy written in: alone, with autocast or bf16, which were there
or are asked for too, and with another batch.

usage: test_logits.py STRATA [--python PYTHON]... [--seeds N] [--first-seed N] [--only TEXT] [--question TEXT] [--keep FOLDER] [--rows FILE]
    [--write PAGE]

It prints how far off the confirmed figures are, in percent of the truth, over cases in which the change moves a figure by 1 % or more; a case
that is not confirmed is a miss of 100 %. Beside it stands what predicting no change scores. Programs of other kinds than those that it was made
with are reported apart. What PyTorch cannot compute in chunks is refused by name. Without a Python with a PyTorch that has that function the test
is skipped (exit 77) and says so.
"""
import os
import sys
import tempfile

from running import PROGRAMS, main, strata_json, version
from test_attention import add_options
from test_calls import Question, ask_all, check, report
from test_whatif import DEEP, Case, is_short, record, table, write_page

PROGRAM = os.path.join(PROGRAMS, "logits_programs.py")
TUNED, HELD_BACK = ("tied", "shift", "biased", "held"), ("classes", "product", "weighted", "masked", "two", "last", "inside")
LIBTORCH = ("summed", "fused")
CHUNKED_SINCE = [2, 13]  # releases of PyTorch
#: What cannot be, and in what words.
REFUSED = (("smooth", "smooths labels"), ("capped", "has aten::"), ("counted", "aten::argmax does, too"))
#: Programs and questions of the short form.
SHORT = (("held", "in 8, batch"), ("product", "in 8 with checkpoints"), ("summed", "in 8 with autocast"))
ITEMS, TIMES = 4, 3  # of a recorded batch, and as many are asked for
ALONE, COMPOSED = "in chunks", "composed"
#: Median and 95th percentile in percent, of requested, and of what hangs on where blocks lie: those of autocast by calls.
BARS = {ALONE: ((0.1, 0.5), (0.5, 2)), COMPOSED: ((0.5, 3), (1, 5))}


def words_of(kind, seed, loss, *options, items=ITEMS):
    return (kind, "--seed", str(seed), "--items", str(items), *options, "--loss", loss)


def questions(kind, seed):
    def one(name, row, changes, loss, before=(), after=(), other=None, items=ITEMS):
        return Question(name, row, words_of(kind, seed, "plain", *before), words_of(kind, seed, loss, *after, items=items), changes, other)
    for chunks in (4, 16):
        loss = f"chunks:{chunks}"
        yield one(f"in {chunks}", ALONE, (f"logits={loss}",), loss)
    for option in ("--autocast", "--bf16", "--checkpoints"):
        yield one(f"in 8 with {option[2:]}", ALONE, ("logits=chunks:8",), "chunks:8", (option,), (option,))
    for option, change in (("--autocast", "amp=bf16"), ("--bf16", "dtype=bf16")):
        yield one(f"in 8, {change}", COMPOSED, ("logits=chunks:8", change), "chunks:8", (), (option,))
    yield one("in 8, batch", COMPOSED, ("logits=chunks:8", f"batch=x{TIMES}"), "chunks:8", other=words_of(kind, seed, "plain", items=2 * ITEMS),
              items=TIMES * ITEMS)


def check_refused(arguments, python, folder, failures):
    programs = {kind: words_of(kind, 0, "plain") for kind, _ in REFUSED} | {"written": words_of("tied", 0, "chunks:4")}
    made = record(arguments.strata, python, os.path.join(folder, "refused"), list(programs.values()), DEEP, program=PROGRAM)
    for kind, why in (*REFUSED, ("written", "none of the operators of aten")):
        run, _ = strata_json(arguments.strata, ["whatif", made[programs[kind]], "--change", "logits=chunks:4", "--confirm", "--python", python, "--json"])
        failures.expect(kind, f"refused by name: {run.stderr[-300:]}", run.returncode == 1 and why in run.stderr and "Traceback" not in run.stderr, True)
    for options, why in (((), "--confirm alone"), (("--confirm", "--", python, PROGRAM, *programs["smooth"]), "into a program from outside")):
        run, _ = strata_json(arguments.strata, ["whatif", made[programs["smooth"]], "--change", "logits=chunks:4", "--json", *options])
        failures.expect("smooth", f"{options[:1]}: says what to do", why in run.stderr, True)
    asked, _ = strata_json(arguments.strata, ["dryrun", "--change", "logits=chunks:4", "--json", "--", python, PROGRAM, *programs["smooth"]])
    failures.expect("dryrun", "says what to do", "--confirm" in asked.stderr, True)


def write(arguments, python, cells):
    """The published page."""
    write_page(arguments, python, "How far `strata whatif --change logits=` is off", [
        "A recording with a deep step is asked what its cross entropy of a linear layer comes to in chunks: its calls are made again, without the",
        "program, with `torch.nn.functional.linear_cross_entropy` there. The truth is the same program written so: real PyTorch, its real requests, its",
        "real allocator on the simulated device; *composed* is that with autocast, in bf16 throughout, or with three times the batch. *Tuned* are four programs,",
        f"*held back* {len(HELD_BACK)} that compute their loss each in its own way, and were not run before all else was made (one mistake that they showed was",
        "mended: what turned a weight was taken for something that is there before each step), *as in C++* two that make logits as LibTorch's `nn::Linear` does. Errors are in percent of the truth,",
        "over cases where the change moves a figure by 1 % or more; *tail* is the 95th percentile, *no change* what predicting the recorded figure scores.",
        "What is not confirmed counts as 100 %.", "",
        *table(["change", "programs", "figure", "cases", "not confirmed", "median", "tail", "worst", "exact", "no change: median", "95th"], cells)])


def test(arguments, python, failures):
    if version(python) < CHUNKED_SINCE:
        return "its PyTorch has no linear_cross_entropy in chunks"
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    kinds = (*TUNED, *HELD_BACK, *LIBTORCH)
    asked = [(Case(f"{kind} --seed {seed} ", kind, [], ITEMS, ""), question) for kind in kinds for seed in seeds for question in questions(kind, seed)]
    asked = [(case, question) for case, question in asked if arguments.only in case.name and arguments.question in question.name
             and (not is_short(arguments) or arguments.question or (case.family, question.name) in SHORT)]
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or scratch
        before = [words for _, question in asked for words in (question.before, question.other) if words]
        paths = {"before": record(arguments.strata, python, os.path.join(folder, "before"), before, DEEP, program=PROGRAM),
                 "after": record(arguments.strata, python, os.path.join(folder, "after"), [question.after for _, question in asked], (), program=PROGRAM)}
        rows = ask_all(arguments, python, asked, paths, failures)
        if not arguments.only and not arguments.question:
            check_refused(arguments, python, scratch, failures)
    cells = []
    for name in BARS:
        for which, known in (("tuned", TUNED), ("held back", HELD_BACK), ("as in C++", LIBTORCH)):
            counted = report(name, which, [row for row in rows if row.question.row == name and row.case.family in known], cells)
            if counted:
                check(name, which, counted, 1 + (known is HELD_BACK), failures, BARS, ("allocated", "reserved"))
    failures.expect("logits", "some were asked for", bool(cells))
    if arguments.write:
        write(arguments, python, cells)
    return None


if __name__ == "__main__":
    sys.exit(main(test, every_python=False, add_options=add_options))
