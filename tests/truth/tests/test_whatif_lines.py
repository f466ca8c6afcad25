# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what `strata whatif --change remove=SITE`, `free=last-use` and `free=SITE` say of one recording against the same program edited by hand,
with real PyTorch and its real allocator on the simulated device: lines that allocate are not there, and what is held beyond its last use gets a del.

usage: test_whatif_lines.py STRATA [--python PYTHON]... [--seeds N] [--first-seed N] [--only TEXT] [--held-back] [--keep FOLDER] [--write PAGE]

Programs are those of whatif_lines_program.py in eleven families, and those of leak_programs.py. It prints the error of requested, allocated and
reserved in percent of the truth, over the cases in which the edit moves that figure by 1 % or more, and beside it what predicting no change
scores. A refusal counts as a miss of 100 %. Without a Python with PyTorch the test is skipped (exit 77) and says so.
"""
import concurrent.futures
import os
import subprocess
import sys
import tempfile

from running import PROGRAMS, jobs, main, strata_json
from test_accumulate import plain, report
from test_whatif import (Case, HELD_BACK, add_page_options, by_method, cases, chosen_cases, figures, is_short, kinds_table, record, row_of, table,
                         write_page)

PROGRAM, LEAKS = (os.path.join(PROGRAMS, name) for name in ("whatif_lines_program.py", "leak_programs.py"))
LAST_USE, OF_ONE, REMOVED, SNAPSHOT, LEAKED = "free=last-use", "free=SITE", "remove=SITE", "remove=SITE, PyTorch's snapshot", "remove=SITE, of a leak"
#: Median and 95th percentile in percent, of requested and allocated, and of reserved.
BARS = {method: ((0.1, 2), (0.5, 3)) for method in (LAST_USE, OF_ONE, REMOVED, SNAPSHOT, LEAKED)}
HELD = ("loop", "hooks", "kept", "zero_first")
SHORT_KINDS = ("hooks", "clones")  # of the short form: each method once
#: The function of whatif_lines_program.py, or the text of its line, that allocates.
SITES = {"debug": "debug", "cache": "self.cache.setdefault(step % 3", "clones": "keep_clone", "average": "average", "scores": "score"}
#: Of leak_programs.py: what leaks is asked for there.
LEAKING = {"hook": "keep_some", **{kind: kind for kind in ("evaluation", "concatenation", "keys_and_values", "optimizers", "streams", "attributes", "cycles")}}
ONE_STEP = ("--deep-step", "3")
STEPS = "20"  # of a leak
LEFT_OUT = ("gan", "experts")  # of two losses, and of shapes that hang on data, which the simulated device does not have


def site_of(kind):
    """A function by its name, else the line by its number."""
    site = SITES[kind]
    if site.isidentifier():
        return site
    with open(PROGRAM, encoding="utf-8") as file:
        return f"{os.path.basename(PROGRAM)}:{next(number for number, line in enumerate(file, 1) if site in line)}"


def words_of(case, kind, edited=False):
    words = [word for i, word in enumerate(case.words) if word != "evaluate" and not (word == "--option" and case.words[i + 1] == "evaluate")]
    words[words.index("--steps") + 1] = "6"
    return ("edited" if edited else "recorded", kind, str(case.items), *words)


def kinds_of(few):
    return SHORT_KINDS if few else (*HELD, *SITES)


def leaks(seeds):
    for kind in LEAKING:
        for seed in seeds:
            yield Case(f"leak {kind} --seed {seed}", kind, [kind, "--seed", str(seed), "--steps", STEPS], 0, "")


def check_refusals(strata, path, failures):
    """What it says of what it cannot do."""
    def said(words, *expected):
        run, _ = strata_json(strata, words)
        failures.expect(" ".join(words[2:]), f"says {expected}: {run.stderr.strip()}", all(text in run.stderr for text in expected))
    said(["whatif", path, "--change", "remove=no_such_function", "--json"], "no block", "lines that ask for blocks: ")
    said(["whatif", path, "--change", f"remove={os.path.basename(PROGRAM)}:1", "--json"], "no block", os.path.basename(PROGRAM))
    said(["whatif", path, "--change", "remove=average", "--json", "--confirm", "--", "python3", "x.py"], "edit the program")
    said(["dryrun", "--change", "free=last-use", "--", "python3", "x.py"], "edit the program and run it again")
    said(["whatif", path, "--change", "free=last-use", "--change", "optimizer=SGD", "--json"], "do not go together")


def peaks(strata, path):
    _, answer = strata_json(strata, ["whatif", path, "--json"])
    return figures(answer["devices"][0]["recorded"])


def questions(case, few):
    """Method, recording, truth, and what is asked."""
    for kind in kinds_of(few):
        recorded, truth = words_of(case, kind), words_of(case, kind, True)
        if kind in HELD:
            yield LAST_USE, recorded, truth, "free=last-use"
            if kind == "hooks":
                yield OF_ONE, recorded, truth, "free=loss"
        else:
            yield REMOVED, recorded, truth, f"remove={site_of(kind)}"
            yield SNAPSHOT, recorded, truth, f"remove={site_of(kind)}"


def snapshot_of(strata, path):
    snapshot = path + ".pickle"
    subprocess.run([strata, "convert", path, "-o", snapshot], capture_output=True, check=True)
    return snapshot


def write(arguments, python, rows, found):
    write_page(arguments, python, "How far `strata whatif` is off with a line edited", [
        "Programs are trainings of eleven families, each recorded with a line that costs memory, and run again edited by hand: without the line that allocates",
        "(copies of a batch or of activations, a cache, an average of the parameters, a second forward; of the leaks of `tests/truth/programs/leak_programs.py` what leaks), or with",
        "a `del` behind the last use of what was held (names of a loop, outputs kept by hooks, batches and losses kept in a list, gradients until the next step). Families",
        f"*held back* are {', '.join(sorted(HELD_BACK))}: rules were not made by them. In percent of the truth, over cases in which the edit moves the figure by 1 % or",
        "more; *no change* is what predicting the recorded figure scores.", "",
        *table(["change", "families", "figure", "cases", "median", "95th", "worst", "exact", "no change: median", "95th"], found), "",
        *kinds_table(rows, BARS)])


def test(arguments, python, failures):
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        folder, strata = arguments.keep or temporary, arguments.strata
        seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
        few = is_short(arguments)
        chosen = chosen_cases(arguments, lambda seeds: [case for case in map(plain, cases(seeds)) if case.family not in LEFT_OUT])
        leaking = [case for case in leaks(seeds) if arguments.only in case.name]
        if few:
            leaking = leaking[:1]
        asked = [(case, *question) for case in chosen for question in questions(case, few)]
        asked += [(case, LEAKED, tuple(case.words), (*case.words, "--fixed"), f"remove={LEAKING[case.family]}") for case in leaking]

        def made(name, words, options, program, needs):
            return record(strata, python, os.path.join(folder, name), list(dict.fromkeys(words)), options, program=program, needs=needs)
        paths = {}
        for is_leak, program, needs in ((False, PROGRAM, "whatif_program"), (True, LEAKS, "torch")):
            some = [each for each in asked if (each[1] == LEAKED) == is_leak]
            before = "leak " if is_leak else ""
            paths |= made(f"{before}deep", [each[2] for each in some if each[1] in (LAST_USE, OF_ONE)], ONE_STEP, program, needs)
            paths |= made(f"{before}plain", [words for each in some for words in each[2:4] if words not in paths], ("--deep-step", "0"), program, needs)

        def answer(question):
            case, method, recorded, truth, change = question
            path, wanted = paths.get(recorded), paths.get(truth)
            if path is None or wanted is None:
                failures.expect(case.name, f"recordings of {method}, {recorded}", [path is not None, wanted is not None], [True, True])
                return None
            run, told = strata_json(strata, ["whatif", snapshot_of(strata, path) if method == SNAPSHOT else path, "--json", "--change", change])
            if told is None or told["refused"]:
                print(f"  {case.name}: {method}: {run.stderr.strip()[:300]}", flush=True)
            row = row_of(case, method, 1, told, peaks(strata, path), peaks(strata, wanted))
            if row.kind == "refused" or not row.held or any(abs(error) > 0.1 for error in row.errors or ()):
                print(f"  {' '.join(recorded)}: {change}: {row.kind} {' '.join(f'{error:+.3f}' for error in row.errors or ())} % of "
                      f"{' '.join(f'{error:.1f}' for error in row.unchanged)}{'' if row.held else ', not in the interval'}", flush=True)
            return row
        rows = [row for row in pool.map(answer, asked) if row is not None]
        if paths:
            check_refusals(strata, next(iter(paths.values())), failures)
        found = []
        for method, which, some in by_method(rows, BARS):
            report(some, method, which, BARS[method], failures, found)
        failures.expect("lines", "some were asked for", bool(rows))
        if arguments.write:
            write(arguments, python, rows, found)


if __name__ == "__main__":
    sys.exit(main(test, every_python=False, add_options=add_page_options))
