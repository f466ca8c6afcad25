# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what `strata whatif` says of another batch, other sequences, micro-steps and settings of the allocator, from one recording, or from two or
three, against the recording of the program that was asked for. Where nothing changes, the answer is the recorded peaks, to the byte.
"""
import pytest

from running import LONG, dryrun
from whatif_cases import (CARD, CLASSES, FLAT, HELD_BACK, IDENTITY, PROGRAM, SAME, Bar, Question, Recording, Suite, changes,
                          checkpointed, figures, held_back, items_checkpointed, plain, words_of)

pytestmark = pytest.mark.torch("newest")

TIMES = (0.5, 2, 3)
MICRO_STEPS = 4  # of roles_program.py
#: By family, of its shortest sequences; others are two, three and four times as long. Positions of `gpt` end at four of these.
UNITS = {"experts": 32, "gpt": 8, "lstm": 12, "resnet": 32, "t5": 24, "unet": 32}
TWO, THREE = "sequence, two recordings", "sequence, three recordings"
#: Times of the unit: of the recording, of those beside it, and what is asked for.
SEQUENCES = ((TWO, 2, (1,), 4), (TWO, 2, (4,), 3), (TWO, 2, (1,), 3), (THREE, 2, (1, 3), 4), (THREE, 2, (1, 4), 3))
USUAL = ((0.1, 1), (1, 8))


def batch_questions(case, whatif):
    base = {times: Recording(words_of(case, times)) for times in (1, *TIMES)}
    under = {times: Recording(words_of(case, times), settings=case.settings) for times in (1, 2)}
    settings = ["--set", case.settings]

    def of(*times):
        return ["--batch-of", ",".join(str(int(case.items * each)) for each in times)]
    for each in (*base.values(), *under.values()):
        yield Question(case, SAME, each, [], each, evidence=("replay",), exact=True)
    for times in (1, 2):
        yield Question(case, "settings", base[times], settings, under[times])
    for times in (2,) if whatif.short else TIMES:
        change = changes(f"batch=x{times}")
        yield Question(case, "batch, one recording", base[1], [*change, *of(1)], base[times])
        yield Question(case, "batch, PyTorch's snapshot", base[1], [*change, *of(1)], base[times], snapshot=True)
        for method, others in (("batch, two recordings", (3,) if times == 2 else (2,)),
                               ("batch, three recordings", [each for each in (3, 2, 0.5) if each != times])):
            yield Question(case, method, base[1], [*change, *of(1, *others)], base[times], tuple(base[each] for each in others))
    yield Question(case, "batch, two recordings, and settings", base[1], [*changes("batch=x2"), *settings, *of(1, 3)], under[2], (base[3],))


def sequence_questions(case, whatif):
    unit = UNITS[case.family]
    base = {times: Recording((str(case.items), "--length", str(unit * times), *case.words)) for times in (1, 2, 3, 4)}

    def words(after, *recorded):
        return [*changes(f"sequence={unit * after}"), "--sequence-of", ",".join(str(unit * each) for each in recorded)]
    for method, before, others, after in SEQUENCES:
        yield Question(case, method, base[before], words(after, before, *others), base[after], tuple(base[each] for each in others))
    for asked, evidence in ((2, "replay"), (4, "recordings")):
        yield Question(case, SAME, base[2], words(asked, 2, 4), base[asked], (base[4],), (evidence,))
    yield Question(case, "one recording", base[2], [*changes("sequence=x2"), "--sequence-of", str(unit * 2)], refused=("one recording does not tell",))
    yield Question(case, "no lengths", base[2], changes("sequence=x2"), others=(base[4],), refused=("--sequence-of",))


def accumulate_questions(case, whatif):
    def truth(chosen=None, times=1):
        return None if case.family == "gan" else Recording((*checkpointed(case, chosen, times), "--option", "accumulate"), FLAT)
    base, change, chosen = Recording(checkpointed(case)), changes(f"accumulate={MICRO_STEPS}"), CLASSES[case.family][0]
    refused = ("several backwards",) if case.family == "gan" else ()  # which trains two models in turns
    yield Question(case, "accumulate", base, change, truth(), refused=refused)
    yield Question(case, "accumulate, its batch a quarter", base, [*change, *changes("batch=x0.25"), "--batch-of", str(items_checkpointed(case))],
                   truth(times=0.25), refused=refused)
    yield Question(case, "accumulate and checkpoints", base, [*changes(f"checkpoint={chosen}"), *change], truth(chosen), refused=refused)
    yield Question(case, SAME, base, changes("accumulate=1"), base, exact=True)


SUITES = [
    Suite("batch", lambda whatif: whatif.cases(), batch_questions,
          {**IDENTITY, "settings": Bar((0, 0), (0, 0), points=1 / 3, tail=0.99, always=True), "batch, two recordings": Bar(*USUAL, points=1 / 3),
           "batch, three recordings": Bar(*USUAL, points=1 / 3), "batch, two recordings, and settings": Bar((0.5, 3), (1, 5), points=1 / 3),
           "batch, one recording": Bar(*USUAL, points=1 / 3), "batch, PyTorch's snapshot": Bar((0, 0), (0, 0), points=0)}),
    Suite("sequence", lambda whatif: [case for case in whatif.cases() if case.family in UNITS], sequence_questions,
          {**IDENTITY, TWO: Bar(*USUAL, few=1), THREE: Bar(*USUAL, few=1)}),
    Suite("accumulate", lambda whatif: map(plain, whatif.cases()), accumulate_questions,
          {**IDENTITY, "accumulate": Bar(*USUAL, few=1), "accumulate, its batch a quarter": Bar(*USUAL, few=1),
           "accumulate and checkpoints": Bar((0.5, 3), (1, 5), few=1)})]


@pytest.mark.parametrize("suite", SUITES, ids=[suite.name for suite in SUITES])
def test_answers(whatif, suite, failures):
    whatif.check(suite, failures)


def test_held_back_as_drawn():
    assert HELD_BACK == held_back()


def test_items_by_the_shapes_of_operators(whatif, failures):
    """A recording with operators tells its batch itself, of most programs."""
    chosen, unknown = whatif.cases(usual=1, held_back=False), []
    made = whatif.record(Recording(words_of(case), ("--operators",)) for case in chosen)
    for case in chosen:
        recording = Recording(words_of(case), ("--operators",))
        if recording not in made:
            failures.expect(case.name, "a recording with operators", "none", "there")
            continue
        run, answer = whatif.ask(recording, *changes("batch=x2"))
        if answer is None and "--batch-of" in run.stderr:
            unknown.append(case.name)
            continue
        device = answer["devices"][0] if answer and answer["devices"] else {}
        failures.expect(case.name, "items by the shapes of operators", device.get("batch_before") or run.stderr, case.items)
        failures.expect(case.name, "items of x2", device.get("batch_after"), 2 * case.items)
    print(f"  items by the shapes of operators: {len(chosen) - len(unknown)} of {len(chosen)} known; not: {', '.join(unknown)}", flush=True)
    failures.expect("items", "of most programs they are known", 2 * len(unknown) < len(chosen))


def test_lengths_of_an_answer(whatif, failures):
    for question in whatif.questions(SUITES[1]):
        if question.truth and question.method != SAME and question.before in whatif.record([question.before, *question.others]):
            unit = UNITS[question.case.family]
            _, told = whatif.answer(question)
            device = told["devices"][0] if told and told["devices"] else {}
            after = int(question.words[1].partition("=")[2])
            failures.expect(question.case.name, "lengths", [device.get("sequence_before"), device.get("sequence_after")], [2 * unit, after])


def test_recorded_peaks_are_those_of_the_summary(whatif, failures):
    recordings = [Recording(words_of(case, times)) for case in whatif.cases() for times in (1, *TIMES)]
    for recording, path in whatif.record(recordings).items():
        _, summary = whatif.json("summary", path)
        told, peaks = summary["devices"][0], whatif.peaks(recording)
        failures.expect(" ".join(recording.words), "peaks", [peaks[0], peaks[2]], [told["requested_bytes_peak"], told["reserved_bytes_peak"]])


def test_dry_run_that_accumulates(whatif, failures):
    """Its peaks are those of the program that accumulates, but for the scalar by which that divides its loss."""
    case = next(plain(case) for case in whatif.cases() if case.family != "gan")
    truth = Recording((*checkpointed(case), "--option", "accumulate"), FLAT)
    whatif.record([truth])
    base = list(checkpointed(case))
    base[base.index("--steps") + 1] = str(3 * MICRO_STEPS)

    def run(micro_steps):
        return dryrun(whatif.strata, ["--device", CARD, *changes(f"accumulate={micro_steps}")], [whatif.python, PROGRAM, *base])[1]["changed"]
    changed, wanted = run(MICRO_STEPS), whatif.peaks(truth)
    got = figures(changed["ranks"][0]["devices"][0])
    failures.expect(case.name, f"a dry run with micro-steps: {got}, {wanted}", changed["applied"] and 0 <= wanted[0] - got[0] <= 512
                    and wanted[2] == got[2])
    if LONG:
        failures.expect(case.name, "too few steps are told", run(6 * MICRO_STEPS)["applied"], False)
