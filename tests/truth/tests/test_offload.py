# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what `strata whatif --change offload=activations` says of a recording with a deep step against the same program with
torch.autograd.graph.save_on_cpu around forward and loss, or around modules of a class, with real PyTorch and its real allocator on the simulated
device, and of offload=optimizer against it with an optimizer over copies of the parameters on the host: alone, under other settings of the allocator, and with another batch. What `--confirm` says is held against it to the byte.

usage: test_offload.py STRATA [--python PYTHON]... [--seeds N] [--first-seed N] [--only TEXT] [--held-back] [--keep FOLDER] [--write PAGE]

It prints the error of requested, allocated and reserved in percent of the truth, over answers with a point in which the change moves that figure
by 1 % or more, and beside it what predicting no change scores. A refusal counts as a miss of 100 %. A recording without a deep step is
refused. Without a Python with PyTorch the test is skipped (exit 77) and says so.
"""
import concurrent.futures
import os
import sys
import tempfile

from running import jobs, main, strata_json
from test_accumulate import peaks, report
from test_whatif import (CLASSES, DEEP, HELD_BACK, PROGRAM, SETTINGS, add_page_options, by_method, cases, checkpointed, chosen_cases, figures, is_short, kinds_table,
                         record, row_of, table, write_page)

#: Median and 95th percentile in percent, of requested and allocated, and of reserved.
BARS = {"the optimizer, roles": ((0.1, 0.5), (0.5, 1.5)), "the optimizer and settings, roles": ((0.1, 0.5), (0.5, 1.5)),
        "the optimizer and activations, deep step": ((0.1, 2), (0.5, 3)),
        "offload, deep step": ((0.1, 2), (0.5, 3)), "offload of modules, deep step": ((0.1, 2), (0.5, 3)),
        "offload and settings, deep step": ((0.1, 2), (0.5, 3)), "offload and batch, deep step and roles": ((0.5, 3), (1, 5))}


def offloaded(case, what, times=1):
    items, *words = checkpointed(case, times=times)
    return (items, "--offload", what, *words)


def questions(case):
    """Each method with what the truth saves on the host, how many times its batch is, and what is asked with."""
    modules = f"activations:{CLASSES[case.family][0]}"
    yield "the optimizer, roles", "optimizer", 1, ["--change", "offload=optimizer"]
    yield "the optimizer and settings, roles", "optimizer", 1, ["--change", "offload=optimizer", "--set", case.settings]
    yield ("the optimizer and activations, deep step", "activations+optimizer", 1,
           ["--change", "offload=activations", "--change", "offload=optimizer"])
    yield "offload, deep step", "activations", 1, ["--change", "offload=activations"]
    yield "offload of modules, deep step", modules, 1, ["--change", f"offload={modules}"]
    yield "offload and settings, deep step", "activations", 1, ["--change", "offload=activations", "--set", case.settings]
    yield ("offload and batch, deep step and roles", "activations", 2,
           ["--change", "batch=x2", "--change", "offload=activations", "--batch-of", checkpointed(case)[0]])


def settings_of(case, options):
    return case.settings if "--set" in options else ""


def record_all(arguments, python, folder, chosen):
    """With a deep step, by words; and the truth, by settings and words."""
    deep = record(arguments.strata, python, os.path.join(folder, "deep"), [checkpointed(case) for case in chosen], DEEP)
    truth = {}
    for number, settings in enumerate(("", *SETTINGS)):
        programs = [offloaded(case, what, times) for case in chosen for _, what, times, options in questions(case) if settings_of(case, options) == settings]
        some = record(arguments.strata, python, os.path.join(folder, f"truth{number}"), programs, ("--deep-step", "0"), settings) if programs else {}
        truth |= {(settings, words): path for words, path in some.items()}
    return deep, truth


def answer(arguments, question, deep, truth, failures):
    case, method, what, times, options = question
    path, wanted = deep.get(checkpointed(case)), truth.get((settings_of(case, options), offloaded(case, what, times)))
    if path is None or wanted is None:
        failures.expect(case.name, f"recordings of {method}", [path is not None, wanted is not None], [True, True])
        return None
    run, told = strata_json(arguments.strata, ["whatif", path, "--json", *options])
    if told is None or told["refused"]:
        print(f"  {case.name}: {method}: {run.stderr.strip()[:300]}", flush=True)
    else:
        weakest = "roles" if times != 1 or ("optimizer" in what and "sgd" not in case.words) else "replay" if what == "optimizer" else "deep"
        failures.expect(case.name, f"{method}: what it goes by", told["evidence"], weakest)  # SGD has nothing that could lie elsewhere
    row = row_of(case, method, what, told, peaks(arguments.strata, path), peaks(arguments.strata, wanted))
    if row.kind == "refused" or not row.held or any(abs(error) > 0.1 for error in row.errors or ()):
        print(f"  {case.name}: {method}, {what}: {row.kind} {' '.join(f'{error:+.3f}' for error in row.errors or ())} %"
              f"{'' if row.held else ', not in the interval'}", flush=True)
    return row


def check_confirmed(arguments, python, case, deep, truth, failures):
    """The program runs with the change, and comes to the program that was changed by hand."""
    whats = ("activations", f"activations:{CLASSES[case.family][0]}", "optimizer", "activations+optimizer")
    for what in whats[-1:] if is_short(arguments) else whats:
        asked = [word for each in what.split("+") for word in ("--change", f"offload={each}")]
        run, told = strata_json(arguments.strata, ["whatif", deep[checkpointed(case)], *asked, "--json", "--confirm", "--", python, PROGRAM,
                                                   *checkpointed(case)])
        device = told["devices"][0] if told and told["devices"] else {}
        failures.expect(case.name, f"{what}, confirmed by", device.get("confirmed_by", run.stderr[-500:]), "program")
        got, wanted = figures(device.get("confirmed")), peaks(arguments.strata, truth["", offloaded(case, what)])
        print(f"  {case.name}: {what}: confirmed {got}, by hand {wanted}", flush=True)
        failures.expect(case.name, f"{what}, confirmed", got, wanted)


def check_refused(arguments, case, deep, truth, failures):
    """Without a deep step, and with what does not go together with it."""
    path = deep[checkpointed(case)]
    for recording, options, reason in ((truth["", offloaded(case, "activations")], (), "no deep step"),
                                       (path, ("--change", "checkpoint=Nobody"), "do not go together"),
                                       (path, ("--change", "fsdp=2"), "do not go together"),
                                       (path, ("--change", "offload=activations:Nobody"), "of that class or path"),
                                       (path, ("--change", "offload=optimizer", "--change", "zero1=2"), "do not go together")):
        run, told = strata_json(arguments.strata, ["whatif", recording, "--change", "offload=activations", *options, "--json"])
        failures.expect(case.name, f"{options or 'no deep step'}: refused by name", reason in run.stderr, True)


def write(arguments, python, rows, found):
    write_page(arguments, python, "How far `strata whatif` is off with what backward needs, or the optimizer, on the host", [
        "Programs are the trainings of the other pages, recorded with a deep step. The truth is the same program with",
        "`torch.autograd.graph.save_on_cpu(pin_memory=True)` around forward and loss, or around the forwards of the modules of a class, or with",
        "optimizers over copies of their parameters on the host, to which gradients are copied and from which parameters are; on the",
        f"simulated device with PyTorch's own allocator. Families *held back* are {', '.join(sorted(HELD_BACK))}: no rule was made by them.",
        "In percent of the truth, over answers with a point in which the change moves the figure by 1 % or more; *no change* is what predicting the",
        "recorded figure scores. A refusal counts as 100 %.", "",
        *table(["change, evidence", "families", "figure", "cases", "median", "95th", "worst", "exact", "no change: median", "95th"], found), "",
        "*Within*: the truth lies between the bounds of all three figures. *Width*: that of the widest of them, in percent of the truth.", "",
        *kinds_table(rows, BARS)])


def test(arguments, python, failures):
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        chosen = chosen_cases(arguments, cases)
        deep, truth = record_all(arguments, python, arguments.keep or temporary, chosen)
        rows = [row for row in pool.map(lambda question: answer(arguments, question, deep, truth, failures),
                                        ((case, *question) for case in chosen for question in questions(case))) if row is not None]
        for case in [case for case in chosen if checkpointed(case) in deep][:1]:
            check_confirmed(arguments, python, case, deep, truth, failures)
            check_refused(arguments, case, deep, truth, failures)
    found = []
    for method, which, some in by_method(rows, BARS):
        report(some, method, which, BARS[method], failures, found)
    failures.expect("offload", "some were asked for", bool(rows))
    if arguments.write:
        write(arguments, python, rows, found)


if __name__ == "__main__":
    sys.exit(main(test, every_python=False, add_options=add_page_options))
