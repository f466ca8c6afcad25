# SPDX-License-Identifier: GPL-3.0-or-later
"""Has `strata whatif --confirm` run programs with another batch, other settings of the allocator and other code, and holds what it says
against the recording of the program that was changed by hand. To the byte: the answer is a run of the program.

usage: test_confirm.py STRATA [--python PYTHON]... [--seeds N] [--first-seed N] [--only TEXT]

It prints how many of the confirmed figures are those of the recordings, and beside it how many predicting no change has. Without a
Python with PyTorch the test is skipped (exit 77) and says so.
"""
import collections
import concurrent.futures
import os
import sys
import tempfile

from running import LONG, jobs, main, strata_json
from test_whatif import CARD, CLASSES, FIGURES, HELD_BACK, PROGRAM, SHORT, cases, figures, is_short, record, words_of

SHORT_QUESTIONS = ("autocast", "no checkpoint", "batch and settings")  # of the short form
Question = collections.namedtuple("Question", "name before after words settings")


def without(words, option):
    """The words of a program without an option."""
    found = [index for index, word in enumerate(words[:-1]) if (word, words[index + 1]) == ("--option", option)]
    return tuple(word for index, word in enumerate(words) if all(index not in (each, each + 1) for each in found))


def questions(case):
    """What is asked of which recording, and which program is the truth."""
    items = str(case.items)
    base = words_of(case, 1)
    yield Question("batch", base, words_of(case, 2), ["--change", "batch=x2", "--batch-of", items], "")
    yield Question("settings", base, base, ["--set", case.settings], case.settings)
    plain = without(base, "autocast")
    yield Question("autocast", plain, (*plain, "--option", "autocast"), ["--change", "amp=bf16"], "")
    for name, change in (("adamw", "adamw"), ("momentum", "SGD,momentum=0.9")):
        if name not in base:
            other = tuple(name if before == "--optimizer" else word for before, word in zip(("", *base), base))
            yield Question("optimizer", base, other, ["--change", f"optimizer={change}"], "")
            break
    chosen = CLASSES[case.family][0]
    checkpointed = (base[0], "--checkpoint", chosen, *base[1:])
    yield Question("checkpoint", base, checkpointed, ["--change", f"checkpoint={chosen}"], "")
    yield Question("no checkpoint", checkpointed, base, ["--change", "checkpoint=none"], "")
    yield Question("batch and settings", base, words_of(case, 0.5), ["--change", "batch=x0.5", "--batch-of", items, "--set", case.settings],
                   case.settings)


def check(arguments, python, case, question, paths, failures):
    """Whether all figures are those of the truth, and whether predicting no change has them."""
    name = f"{case.name}: {question.name}"
    before, after = paths["", question.before], paths[question.settings, question.after]
    command = [python, PROGRAM, "{BATCH}", *question.before[1:]] if "--batch-of" in question.words else [python, PROGRAM, *question.before]
    kept = f"{before}.{question.name.replace(' ', '_')}.strata"
    run, answer = strata_json(arguments.strata, ["whatif", before, *question.words, "--json", "-o", kept, "--confirm", "--", *command])
    _, truth = strata_json(arguments.strata, ["whatif", after, "--json"])
    if answer is None or truth is None or not answer["devices"]:
        failures.expect(name, "an answer", run.stderr[-2000:], "there")
        return False, False
    device, wanted = answer["devices"][0], figures(truth["devices"][0]["recorded"])
    failures.expect(name, "by", device["confirmed_by"], "program")
    failures.expect(name, "unchanged", figures(device["confirmed_unchanged"]), figures(device["recorded"]))
    failures.expect(name, "note", device["confirmed_note"], None)
    failures.expect(name, ", ".join(FIGURES), figures(device["confirmed"]), wanted)
    _, again = strata_json(arguments.strata, ["whatif", kept, "--json"])
    failures.expect(name, "the run that is kept", again and figures(again["devices"][0]["recorded"]), wanted)
    return figures(device["confirmed"]) == wanted, figures(device["recorded"]) == wanted


def record_all(arguments, python, folder, asked):
    """Recordings by settings and words of the program."""
    programs = collections.defaultdict(dict)  # in order
    for _, question in asked:
        programs[""][question.before] = programs[question.settings][question.after] = True
    made = {}
    for number, (settings, each) in enumerate(programs.items()):
        recorded = record(arguments.strata, python, os.path.join(folder, str(number)), list(each), settings=settings)
        made |= {(settings, words): path for words, path in recorded.items()}
    return made


def test(arguments, python, failures):
    chosen = [case for case in cases(range(arguments.first_seed, arguments.first_seed + arguments.seeds)) if arguments.only in case.name]
    asked = [(case, question) for case in chosen for question in questions(case)]
    if is_short(arguments):
        asked = [(case, each) for case, each in asked if case.family == SHORT and each.name in SHORT_QUESTIONS]
    with tempfile.TemporaryDirectory() as folder:
        paths = record_all(arguments, python, folder, asked)
        missing = [case.name for case, each in asked if ("", each.before) not in paths or (each.settings, each.after) not in paths]
        failures.expect("recordings", "missing", missing, [])
        asked = [(case, each) for case, each in asked if case.name not in missing]
        with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
            came = list(pool.map(lambda one: (one, check(arguments, python, *one, paths, failures)), asked))
    for which, rows in (("tuned", [row for row in came if row[0][0].family not in HELD_BACK]),
                        ("held back", [row for row in came if row[0][0].family in HELD_BACK])):
        print(f"  confirmed by the program on {CARD}, {which} families: {sum(same for _, (same, _) in rows)} of {len(rows)} are the truth to "
              f"the byte; no change: {sum(unchanged for _, (_, unchanged) in rows)}", flush=True)
    failures.expect("confirmed", "answers that no change does not have", any(same and not unchanged for _, (same, unchanged) in came))


def add_options(parser):
    parser.add_argument("--seeds", type=int, default=2 if LONG else 1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", default="", help="cases with this text in their name")


if __name__ == "__main__":
    sys.exit(main(test, every_python=False, add_options=add_options))
