# SPDX-License-Identifier: GPL-3.0-or-later
"""What strata timeline tells of steps, from rows of a trace in the slow and simple way."""
import statistics

from naive_tables import CALLS, KERNELS, OPERATORS, span_of, thread_of, under
from naive_trace import COMMUNICATION, DEVICE, steps_of, union

WARMUP_TIMES = 1.5


def warmups(durations, first):
    """`first`: the number of the first one. A program's first steps, 0 and 1, warm up in any case."""
    half = max(len(durations) // 2, 1)
    usual = statistics.median_low(durations[min(half, len(durations) - 1):])
    count = 1 if first <= 1 else 0
    while count < half and durations[count] > WARMUP_TIMES * usual:
        count += 1
    return count


def tails(rows, spans):
    """For how long collectives run alone behind the last kernel that each step's backward launches."""
    rows = [row for row in rows if row.get("ph") == "X"]
    backward = [(thread_of(row), *span_of(row)) for row in rows
                if row.get("cat") in OPERATORS and row["name"].startswith("autograd::engine::evaluate_function")]
    by_thread = {thread: union(span[1:] for span in backward if span[0] == thread) for thread in {span[0] for span in backward}}
    launches, computing, communicating = {}, [], []
    for row in rows:
        if row.get("cat") in CALLS and row.get("args", {}).get("correlation", 0) > 0:
            launches.setdefault(row["args"]["correlation"], row)
        elif row.get("cat") in KERNELS:
            (communicating if COMMUNICATION.search(row["name"]) else computing).append(span_of(row))
    if not communicating or not backward:
        return [None] * len(spans)
    computing, communicating = union(computing), union(communicating)
    first, last = [None] * len(spans), [None] * len(spans)
    for row in rows:
        launch = launches.get(row.get("args", {}).get("correlation")) if row.get("cat") in DEVICE else None
        if launch is None:
            continue
        at = span_of(launch)[0]
        step = next((i for i, (begin, end) in enumerate(spans) if begin <= at < end), None)
        if step is None:
            continue
        begin, end = span_of(row)
        first[step] = begin if first[step] is None else min(first[step], begin)
        if row["cat"] in KERNELS and not COMMUNICATION.search(row["name"]) and under((at, at + 1), by_thread.get(thread_of(launch), [])):
            last[step] = end if last[step] is None else max(last[step], end)
    found = []
    for i in range(len(spans)):
        if last[i] is None:
            found.append(None)
            continue
        end = min([begin for begin in first[i + 1:] if begin is not None] + [communicating[-1][1]])
        alone = 0
        for begin, until in communicating:
            piece = (max(begin, last[i]), min(until, end))
            if piece[1] > piece[0]:
                alone += piece[1] - piece[0] - under(piece, computing)
        found.append(alone)
    return found


def described(rows, steps):
    """`steps` with what else is told of each."""
    if not steps:
        return steps
    spans = [(step["start_ns"], step["start_ns"] + step["duration_ns"]) for step in sorted(steps_of(rows), key=lambda step: step["start_ns"])]
    timed = [row for row in rows if row.get("ph") == "X" and row.get("cat") in (*OPERATORS, "user_annotation")]
    compiling = union(span_of(row) for row in timed if row["name"].endswith(" (dynamo_timed)"))
    loading = union(span_of(row) for row in timed if row["name"].startswith("enumerate(DataLoader)"))
    operators = [span_of(row) for row in rows if row.get("ph") == "X" and row.get("cat") in OPERATORS]
    operators = [span for span in operators if span[1] > spans[0][0]]
    empty = len(steps) > 1 and bool(operators) and not any(begin < spans[-1][1] and end > spans[-1][0] for begin, end in operators)
    durations = [step["duration_ns"] for step in steps[:-1 if empty else None]]
    warm = warmups(durations, int(steps[0]["name"].partition("#")[2] or -1))
    median = statistics.median_low(durations[warm:]) if durations[warm:] else None
    return [{**step, "empty": empty and i == len(steps) - 1,
             "above_median_ns": None if median is None or (empty and i == len(steps) - 1) else step["duration_ns"] - median, "compile_ns": under(span, compiling),
             "loading_ns": under(span, loading), "communication_tail_ns": tail, "warms_up": i < warm}
            for i, (step, span, tail) in enumerate(zip(steps, spans, tails(rows, spans)))]
