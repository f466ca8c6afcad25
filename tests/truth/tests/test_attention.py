# SPDX-License-Identifier: GPL-3.0-or-later
"""Records programs with a deep step, asks `strata whatif --change attention=KERNEL --confirm` what another kernel of attention comes to, without
the program, and holds that against the same program written so: one that calls scaled_dot_product_attention under sdpa_kernel(...), one that
wrote attention by hand with the call instead, and both with autocast, checkpoints and another batch.

usage: test_attention.py STRATA [--python PYTHON]... [--seeds N] [--first-seed N] [--only TEXT] [--question TEXT] [--keep FOLDER] [--rows FILE]
    [--write PAGE]

It prints how far off the confirmed figures are, in percent of the truth, over cases in which the change moves a figure by 1 % or more; a case
that is not confirmed is a miss of 100 %. Beside it stands what predicting no change scores. The programs of attention_programs.py, which nobody
tunes against, are reported apart. Some are run with `strata dryrun --change attention=...`, and what cannot be is refused by name. Without a Python with
PyTorch the test is skipped (exit 77) and says so.
"""
import datetime
import os
import subprocess
import sys
import tempfile

from running import LONG, PROGRAMS, main, strata_json, version
from test_calls import Question, ask_all, check, report
from test_confirm import without
from test_whatif import CARD, CLASSES, DEEP, PROGRAM, Case, cases, figures, is_short, record, table, words_of

FAMILIES = ("gpt", "vit", "experts", "t5")  # that have attention
HELD_BACK = os.path.join(PROGRAMS, "attention_programs.py")
KINDS = ("gpt2", "bert", "cross", "scaled", "upcast", "flat", "einsum")  # of attention_programs.py
TIMES = 3
ANOTHER, BY_HAND, COMPOSED = "another kernel", "by hand", "composed"
#: Median and 95th percentile in percent, of requested, and of what hangs on where blocks lie: those of autocast by calls.
BARS = {ANOTHER: ((0.1, 0.5), (0.5, 2)), BY_HAND: ((0.1, 0.5), (0.5, 2)), COMPOSED: ((0.5, 3), (1, 5))}
AUTOCAST = ("--option", "autocast")
#: What a kernel cannot do, by change, and in what words of PyTorch's.
REFUSED = (("attention=flash", "Got Query dtype: float"), ("attention=cudnn", "Got Query dtype: float"))


def questions(case):
    """Of programs that call it, and that write it by hand."""
    plain = without(words_of(case, 1), "autocast")
    cast, times, chosen = (*plain, *AUTOCAST), f"batch=x{TIMES}", CLASSES[case.family][0]

    def words(word, of=plain, items=None, behind=None):
        return (items or of[0], "--attention", word, *(("--checkpoint", behind) if behind else ()), *of[1:])

    def change(kernel):
        return f"attention={kernel}"
    for kernel, of in (("math", plain), ("math", cast)):
        yield Question(f"{kernel}{', cast' if of is cast else ''}", ANOTHER, of, words(kernel, of), (change(kernel),))
    has_mask = case.family != "vit"
    for way in ("hand:fill", "hand:add") if has_mask else ("hand:add",):
        for kernel, of in (("efficient", plain), ("flash", cast)):
            yield Question(f"{way} to {kernel}{', cast' if of is cast else ''}", BY_HAND, words(way, of), words(kernel, of), (change(f"{kernel},causal"),))
        mask = way.partition(":")[2]
        if has_mask:
            yield Question(f"{way} to efficient with its mask", BY_HAND, words(way), words(f"efficient:{mask}"), (change("efficient"),))
    hand = words("hand:fill")
    many = (str(TIMES * case.items), str(2 * case.items))
    yield Question("by hand to flash, autocast", COMPOSED, hand, words("flash", cast), (change("flash,causal"), "amp=bf16"))
    yield Question("by hand to efficient, checkpoints", COMPOSED, hand, words("efficient", behind=chosen), (change("efficient,causal"), f"checkpoint={chosen}"))
    yield Question("by hand to flash, bf16", COMPOSED, hand, words("flash", (*plain, "--option", "bf16")), ("dtype=bf16", change("flash,causal")))
    yield Question("by hand to efficient, batch", COMPOSED, hand, words("efficient", items=many[0]), (change("efficient,causal"), times),
                   words("hand:fill", items=many[1]))


def held_back(seeds):
    """Programs of another kind: each writes attention its own way, and the call instead."""
    for kind in KINDS:
        for seed in seeds:
            case = Case(f"{kind} --seed {seed} ", kind, [], 1, "")
            for kernel, options in (("efficient", ()), ("flash", ("--autocast",)), ("math", ())):
                if kernel == "flash" and kind == "bert":
                    continue  # whose mask is of padding
                words = (kind, "--seed", str(seed), *options)
                causal = "" if kind == "bert" else ",causal"
                yield case, Question(f"to {kernel}", BY_HAND, (*words, "--attention", "hand"), (*words, "--attention", kernel), (f"attention={kernel}{causal}",))


def record_parts(arguments, python, folder, asked, options, of):
    """Recordings of what is asked for, by words: of the corpus, and of the programs that are held back."""
    listed = {HELD_BACK: [], PROGRAM: []}
    for case, question in asked:
        listed[HELD_BACK if case.family in KINDS else PROGRAM] += [words for words in of(question) if words]
    return {words: path for number, (program, words) in enumerate(listed.items()) if words
            for words, path in record(arguments.strata, python, os.path.join(folder, str(number)), words, options, program=program).items()}


def check_programs(arguments, python, folder, failures):
    """A program that is run with the change comes to the one that is written so; what cannot be is said."""
    def run(words, *changes):
        asked, answer = strata_json(arguments.strata, ["dryrun", "--device", CARD, "--json", *changes, "--", python, PROGRAM, *words])
        return asked, answer
    words = ("2", "gpt", "--seed", "1", "--steps", "4", "--optimizer", "adamw")
    for kernel in ("math",):
        _, changed = run(words, "--change", f"attention={kernel}")
        _, truth = run((words[0], "--attention", kernel, *words[1:]))
        failures.expect("dryrun", f"attention={kernel}", figures(changed["changed"]["ranks"][0]["devices"][0]), figures(truth["ranks"][0]["devices"][0]))
    _, by_hand = run((words[0], "--attention", "hand:fill", *words[1:]), "--change", "attention=math")
    failures.expect("dryrun", "by hand nothing calls it", by_hand["changed"]["applied"], False)
    for change, why in REFUSED if LONG else REFUSED[:1]:
        asked, _ = run(words, "--change", change)
        failures.expect("dryrun", f"{change} is refused in its words", change in asked.stderr and why in asked.stderr, True)
    made = record(arguments.strata, python, os.path.join(folder, "refused"), [words, ("2", "conv", *words[2:])], DEEP)
    for of, change, why in ((words, *REFUSED[0]), (("2", "conv", *words[2:]), "attention=math", "neither scaled_dot_product_attention nor attention by hand")):
        asked, _ = strata_json(arguments.strata, ["whatif", made[of], "--change", change, "--confirm", "--python", python, "--json"])
        failures.expect(of[1], f"{change} is refused by its calls", why in asked.stderr, True)


def check_order(arguments, python, path, failures):
    """Of independent changes."""
    told = []
    for changes in (("attention=flash,causal", "amp=bf16"), ("amp=bf16", "attention=flash,causal")):
        _, answer = strata_json(arguments.strata, ["whatif", path, *(word for each in changes for word in ("--change", each)), "--confirm", "--python", python, "--json"])
        told.append(figures(answer["devices"][0]["confirmed"]))
    failures.expect("order of changes", "the same figures", told[0], told[1])


def write(arguments, python, cells):
    """The published page."""
    strata = subprocess.run([arguments.strata, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    lines = ["# How far `strata whatif --change attention=` is off", "",
             "Made by `tests/truth/tests/test_attention.py STRATA --seeds %d --first-seed %d --write docs/whatif-attention-accuracy.md`:" % (
                 arguments.seeds, arguments.first_seed),
             "%s, PyTorch %s, simulated %s, %s." % (strata, ".".join(map(str, version(python)[:3])), CARD, datetime.date.today()), "",
             "A recording with a deep step is asked what another kernel of attention comes to (*another kernel*: of programs that call",
             "scaled_dot_product_attention), what that call comes to where the program writes attention by hand (*by hand*), and either with autocast, in",
             "bf16 throughout, with checkpoints or three times the batch (*composed*): its calls are made again, without the program. The truth is",
             "the same program written so: real PyTorch, its real kernels' requests, its real allocator on the simulated device. *Tuned* are the families of",
             "[how far `strata whatif` is off](whatif-accuracy.md) that have attention; *held back* are seven programs that write it each in its own way, made after",
             "all else (one mistake that they showed was mended: a buffer that a mask alone was made of went, too). Errors are in percent of the truth, over cases where the change moves a figure by 1 % or",
             "more; *tail* is the 95th percentile, *no change* what predicting the recorded figure scores. What is not confirmed counts as 100 %.", "",
             *table(["change", "programs", "figure", "cases", "not confirmed", "median", "tail", "worst", "exact", "no change: median", "95th"], cells), ""]
    with open(arguments.write, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def chosen_of(arguments):
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    asked = [(case, question) for case in cases(seeds) if case.family in FAMILIES for question in questions(case)] + list(held_back(seeds))
    asked = [(case, question) for case, question in asked if arguments.only in case.name and arguments.question in question.name]
    if not is_short(arguments) or arguments.question:
        return asked
    return [one for one in asked if (one[0].family, one[1].name) in (("gpt", "math"), ("gpt", "by hand to flash, autocast"), ("gpt2", "to flash"))]


def test(arguments, python, failures):
    asked = chosen_of(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or scratch
        paths = {"before": record_parts(arguments, python, os.path.join(folder, "before"), asked, DEEP, lambda each: (each.before, each.other)),
                 "after": record_parts(arguments, python, os.path.join(folder, "after"), asked, (), lambda each: (each.after,))}
        rows = ask_all(arguments, python, asked, paths, failures)
        if not arguments.only and not arguments.question:
            check_programs(arguments, python, scratch, failures)
            if not is_short(arguments):
                check_order(arguments, python, next(path for words, path in paths["before"].items() if "hand:fill" in words and "autocast" not in words), failures)
    cells = []
    for name in BARS:
        some = [row for row in rows if row.question.row == name]
        for which, is_held in (("tuned", False), ("held back", True)):
            counted = report(name, which, [row for row in some if (row.case.family in KINDS) == is_held], cells)
            if counted:
                check(name, which, counted, 1 + is_held, failures, BARS, ("allocated", "reserved"))
    failures.expect("attention", "some were asked for", bool(cells))
    if arguments.write:
        write(arguments, python, cells)


def add_options(parser):
    parser.add_argument("--seeds", type=int, default=2 if LONG else 1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", default="", help="cases with this text in their name")
    parser.add_argument("--question", default="", help="questions with this text in their name")
    parser.add_argument("--keep", help="recordings that are there already are taken, and left there")
    parser.add_argument("--rows", metavar="FILE", help="answers of the same build that are there already are taken, and all are left there")
    parser.add_argument("--verbose", action="store_true", help="every case")
    parser.add_argument("--write", metavar="PAGE", help="writes the table as a page of the manual")


if __name__ == "__main__":
    sys.exit(main(test, every_python=False, add_options=add_options))
