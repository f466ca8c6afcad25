# SPDX-License-Identifier: GPL-3.0-or-later
"""Deep steps (strata record --deep-step) of real training programs on the simulated device: whether they leave what a program allocates as it is,
and tell what happens in it.

usage: test_deep.py STRATA STRATA_SIMGPU CAPTURE_FOLDER [--python PYTHON]... [--program WORD]...

A program is run with a deep step and without, and the two are held against each other event by event: the same allocations (size, stream) in
the same order, every block freed between the same two allocations, the same peaks. Within the run with one, it is held against its neighbours.
What it tells is held against a third and a fourth run, in which torch.profiler and hooks look at the same step. A fifth one shows
what this test says of a step that is looked at in the wrong way. Skipped (exit 77) without PyTorch.
"""
import bisect
import collections
import itertools
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile

from running import LONG, PROGRAMS, PROJECT, main, strata_json
import record_tools  # noqa: E402

MANY, PROGRAM = (os.path.join(PROGRAMS, name) for name in ("many.py", "deep_program.py"))
DEEP, STEPS = 3, 7
TOGETHER = 5  # programs that share the import of torch
#: family, optimizer, seed, options. `--program WORD` picks those whose words hold it.
PROGRAMS = [
    ("mlp", "adamw", 4, ("clip",)), ("gpt_dropout", "adamw_fused", 5, ("checkpoint",))]
if LONG:
    PROGRAMS += [
        ("gpt_dropout", "adamw", 1, ()), ("llama", "adamw", 2, ("bf16",)), ("resnet", "momentum", 3, ()),
        ("slim", "sgd", 6, ("accumulate",)), ("gpt", "adamw", 7, ("autocast",)), ("gan", "adamw", 8, ()), ("gpt2_124m", "adamw", 29, ()),
        ("vit", "adamw", 9, ("scaler", "clip")), ("unet", "adamw", 10, ()), ("t5", "adamw", 11, ()), ("experts", "adamw", 12, ()),
        ("lstm", "rmsprop", 13, ()), ("vae", "adamw", 14, ("average",)), ("recommender", "adagrad", 15, ()), ("siamese", "adamw", 16, ()),
        ("conv", "momentum", 17, ("keep_gradients",)), ("lora", "adamw", 18, ()), ("llama", "adamw", 19, ("checkpoint_reentrant",)),
        ("gpt", "adamw", 20, ("evaluate", "save")), ("mlp", "lbfgs", 21, ()), ("mlp", "adamw", 22, ("penalty",)),
        ("gpt", "adamw", 23, ("two_optimizers", "zero_first")), ("resnet", "momentum", 24, ("checkpoint", "autocast")),
        ("gpt_dropout", "adamw", 25, ("ddp",)), ("gpt", "adamw", 26, ("fsdp2",)), ("slim", "adamw", 27, ("variable_shapes",)),
        ("experts", "adamw", 28, ("checkpoint", "bf16"))]
KINDS = ("operator", "returns", "gone", "saved", "unpacked", "released", "enters", "leaves")
MOST_BYTES_AN_OPERATOR = 64


def deep_steps(session):
    """Chunks 25 of a session, as model/wire/FORMAT.md says."""
    strings = []
    for chunk in record_tools.payloads(session, 2):
        chunk.varint()
        strings += [chunk.text() for _ in range(chunk.varint())]

    def text():
        number = chunk.id()
        return None if number is None else strings[number]

    def running(count, value=0):
        values = []
        for _ in range(count):
            value = (value + chunk.signed()) % (1 << 64)
            values.append(value)
        return values
    steps = []
    for chunk in record_tools.payloads(session, 25):
        step = {"device": chunk.signed(), "unusable": text(), "begin": chunk.varint(), "end": chunk.varint()}
        addresses = running(chunk.varint())
        step["tensors"] = list(zip(addresses, [text() for _ in addresses]))
        count = chunk.varint()
        kinds, threads = [KINDS[chunk.byte()] for _ in range(count)], [chunk.varint() for _ in range(count)]
        events = running(count, step["begin"])
        names, details = [text() for _ in range(count)], [text() for _ in range(count)]
        saved, counts = [chunk.id() for _ in range(count)], [chunk.varint() for _ in range(count)]
        refs = running(chunk.varint())
        step["rows"], at = [], 0
        for row in zip(kinds, threads, events, names, details, saved, counts):
            step["rows"].append(dict(zip(("kind", "thread", "event", "name", "detail", "saved"), row), tensors=refs[at:at + row[-1]]))
            at += row[-1]
        steps.append(step)
    return steps


class Events:
    """What the allocator did, of device 0."""

    def __init__(self, strata, session, folder):
        self.events = [e for e in record_tools.as_snapshot(strata, session, folder)["device_traces"][0] if e["action"] != "snapshot"]
        self.steps = step_ends(session)
        live, self.allocations, self.freed, self.begin = {}, [], {}, {}
        now = self.requested_peak = 0
        reserved = self.reserved_peak = 0
        for index, event in enumerate(self.events):
            if event["action"] == "alloc":
                live[event["addr"]] = len(self.allocations)
                self.begin[len(self.allocations)] = index
                self.allocations.append((event["size"], event["stream"]))
                now += event["size"]
            elif event["action"] == "free_requested":
                self.freed[live.pop(event["addr"])] = (len(self.allocations), index)
                now -= event["size"]
            elif event["action"].startswith("segment_"):
                reserved += event["size"] * (1 if event["action"] in ("segment_alloc", "segment_map") else -1)
            self.requested_peak, self.reserved_peak = max(self.requested_peak, now), max(self.reserved_peak, reserved)

    def frees(self):
        """Of each block, the number of allocations before it is freed; None: never."""
        return [self.freed.get(number, (None,))[0] for number in range(len(self.allocations))]

    def step(self, number):
        """Events of a step: from the end of the optimizer's step before it."""
        return self.steps[number - 2], self.steps[number - 1]

    def allocations_of(self, number):
        """Of a step its allocations, and of each how many come before it is freed; None: it outlives the step."""
        begin, end = self.step(number)
        numbers = [each for each, index in self.begin.items() if begin <= index < end]
        frees = [self.freed.get(each, (0, end))[0] - numbers[0] if self.freed.get(each, (0, end))[1] < end else None for each in numbers]
        return [self.allocations[each] for each in numbers], frees


def step_ends(session):
    """So many events come before the end of each step of the optimizer that steps first."""
    rows = [row for row in record_tools.roles(session) if row["role"] in ("stepped", "stepped_unlisted") and row["device"] == 0 and row["address"] == 0]
    return [row["event"] for row in rows if row["optimizer"] == rows[0]["optimizer"]]


def differences(one, other):
    """Places at which two lists differ."""
    return sum(a != b for a, b in zip(one, other)) + abs(len(one) - len(other))


class Program:
    def __init__(self, program):
        family, optimizer, seed, options = program
        self.name = " ".join((family, optimizer, *options))
        self.words = [family, "--optimizer", optimizer, "--seed", str(seed), "--steps", str(STEPS), *(w for o in options for w in ("--option", o))]


class Recordings:
    """Of programs, in forks of a Python that has imported torch: what is recorded of each, and what that tells of itself."""

    def __init__(self, arguments, python, folder):
        self.arguments, self.python, self.folder, self.made, self.told = arguments, python, folder, {}, itertools.count()

    def make(self, deep, wanted):
        """`wanted`: programs, each with who looks."""
        listed, ended = (os.path.join(self.folder, name) for name in ("programs", "ended"))
        told = [os.path.join(self.folder, f"told{next(self.told)}.json") for _ in wanted]
        with open(listed, "w", encoding="utf-8") as file:
            json.dump([[PROGRAM, look, str(DEEP), path, *program.words] for path, (program, look) in zip(told, wanted)], file)
        open(ended, "w", encoding="utf-8").close()
        run = record_tools.record(self.arguments.strata, ["-o", os.path.join(self.folder, "{process}.strata"), "--simulated", "A100-80GB",
                                                          "--deep-step", str(deep)],
                                  [self.python, MANY, "--import", "deep_program", listed, ended])
        with open(ended, encoding="utf-8") as file:
            statuses = json.loads(file.readline() or "[]")
        if len(statuses) != len(wanted):
            raise RuntimeError(run.stderr[-600:])
        for (program, look), path, status in zip(wanted, told, statuses):
            session = os.path.join(self.folder, f"{status['process']}.strata")
            self.made[program.name, deep, look] = (session, path) if status["status"] == 0 and os.path.exists(session) else run.stderr[-600:]

    def take(self, program, deep, look="none"):
        made = self.made.pop((program.name, deep, look))
        if isinstance(made, str):
            raise RuntimeError(made)
        try:
            return Run(self.arguments.strata, *made, self.folder)
        finally:
            for path in made:
                os.remove(path)


class Run:
    def __init__(self, strata, session, told, folder):
        self.events, self.deep, self.stored = Events(strata, session, folder), deep_steps(session), sum(stored_bytes(session))
        self.bytes = os.path.getsize(session)
        self.summary = strata_json(strata, ["summary", "--replay", "--json", session])[1]
        self.said = strata_json(strata, ["steps", "--json", session])[1]["devices"][0].get("deep_steps", [])
        with open(told, encoding="utf-8") as file:
            self.told = json.load(file)


def peaks(summary):
    device, = summary["devices"]
    return {key: value for key, value in device.items() if key.endswith("_bytes_peak") or key in ("peak_bytes", "segments")}


def test_neutral(name, plain, deep, failures):
    failures.expect(name, "allocations that differ from the run without", differences(plain.allocations, deep.allocations), 0)
    failures.expect(name, "blocks freed elsewhere than without", differences(plain.frees(), deep.frees()), 0)
    failures.expect(name, "requested peak", deep.requested_peak, plain.requested_peak)
    failures.expect(name, "reserved peak", deep.reserved_peak, plain.reserved_peak)


def test_neighbours(name, plain, run, failures):
    """Where neighbours agree with each other without a deep step."""
    deep = run.events
    before, step, behind = (plain.allocations_of(number) for number in (DEEP - 1, DEEP, DEEP + 1))
    alike = before[0] == step[0] == behind[0]
    if alike:
        for other in (DEEP - 1, DEEP + 1):
            failures.expect(name, f"allocations that differ from step {other}",
                            differences(deep.allocations_of(DEEP)[0], deep.allocations_of(other)[0]), 0)
            failures.expect(name, f"frees that differ from step {other} and do not without a deep step",
                            differences(deep.allocations_of(DEEP)[1], deep.allocations_of(other)[1]),
                            differences(plain.allocations_of(DEEP)[1], plain.allocations_of(other)[1]))
    failures.expect(name, "what strata steps says of it", run.said[0]["likeness"] in (("same",) if alike else ("same", "alike")))


def test_content(name, step, events, operators, saved, failures):
    rows = step["rows"]
    mine = collections.Counter(row["name"] for row in rows if row["kind"] == "operator")
    theirs = collections.Counter(operators)
    failures.expect(name, f"operators that it lacks ({list((theirs - mine).items())[:4]})", (theirs - mine).total(), 0)
    failures.expect(name, f"operators that it has besides ({list((mine - theirs).items())[:4]})", (mine - theirs).total(), 0)
    kinds = collections.Counter(row["kind"] for row in rows)
    failures.expect(name, "operators return", kinds["returns"], kinds["operator"])
    failures.expect(name, "what is saved", kinds["saved"], saved["saved"])
    failures.expect(name, "modules run", collections.Counter(row["detail"] for row in rows if row["kind"] == "enters"),
                    collections.Counter(saved["modules"]))
    failures.expect(name, "modules return", kinds["leaves"], kinds["enters"])
    saves, releases = ([row["saved"] for row in rows if row["kind"] == kind] for kind in ("saved", "released"))
    failures.expect(name, "what was released was saved", set(releases) <= set(saves) and len(set(releases)) == len(releases))
    return lets_go(step, events), mine.total()


def lets_go(step, events):
    """Of each block that a step both allocates and frees: whether the step tells who has it, and whether the last of them lets go between the same
    two allocations between which it is freed. What no operator returns and nobody saves, an operator has for itself."""
    begin, end = events.step(DEEP)
    blocks = [each for each, index in events.begin.items() if begin <= index < end and events.freed.get(each, (0, end))[1] < end]
    by_address = collections.defaultdict(list)
    for each in blocks:
        by_address[events.events[events.begin[each]]["addr"]].append(each)

    def block_of(tensor, event):
        """The last one there that had begun before."""
        begun = [each for each in by_address[step["tensors"][tensor][0]] if events.begin[each] < event]
        return begun[-1] if begun and events.freed[begun[-1]][1] >= event else None
    of_tensor, of_saved, last = {}, {}, {}
    for row in step["rows"]:
        if row["kind"] in ("operator", "returns", "unpacked", "enters", "leaves"):
            of_tensor.update({each: block_of(each, row["event"]) for each in row["tensors"]})
        elif row["kind"] == "saved":
            of_saved[row["saved"]] = block_of(row["tensors"][0], row["event"])
        elif row["kind"] == "gone":
            last[of_tensor.get(row["tensors"][0])] = row["event"]
        elif row["kind"] == "released":
            last[of_saved.get(row["saved"])] = row["event"]
    had = set(of_tensor.values()) | set(of_saved.values())
    allocations = sorted(events.begin.values())
    wrong = [each for each in blocks if each in had and
             (each not in last or bisect.bisect_left(allocations, last[each]) != events.freed[each][0])]
    return blocks, [each for each in blocks if each in had], wrong


def run_program(program, recordings, failures, version):
    name = f"{version} {program.name}"
    plain = recordings.take(program, 0, "operators")  # the profiler allocates nothing on the device
    deep = recordings.take(program, DEEP)
    failures.expect(name, "deep steps without one", plain.deep, [])
    failures.expect(name, "deep steps", [(step["device"], step["unusable"]) for step in deep.deep], [(0, None)])
    if len(deep.deep) != 1 or deep.deep[0]["unusable"]:
        return None
    step, = deep.deep
    failures.expect(name, "its events", (step["begin"], step["end"]), deep.events.step(DEEP))
    test_neutral(name, plain.events, deep.events, failures)
    failures.expect(name, "peaks", peaks(deep.summary), peaks(plain.summary))
    test_neighbours(name, plain.events, deep, failures)
    saved = recordings.take(program, 0, "saved").told
    (blocks, had, wrong), count = test_content(name, step, deep.events, plain.told["operators"], saved, failures)
    if "fsdp2" not in name:  # which takes the memory of tensors that live
        failures.expect(name, "blocks freed elsewhere than it tells", len(wrong), 0)
    failures.expect(name, "what strata steps tells of it", [deep.said[0][key] for key in ("usable", "operators", "saved_tensors")],
                    [True, count, saved["saved"]])
    failures.expect(name, "bytes stored are few", deep.stored <= max(MOST_BYTES_AN_OPERATOR * count, 4096))
    score = differences(plain.events.frees(), recordings.take(program, 0, "held").events.frees())
    ends = deep.told["ends"]
    took = [end - begin for begin, end in zip(ends, ends[1:])]  # step 2 is the first
    ratio, later = (took[DEEP - 2] / each for each in (statistics.mean((took[DEEP - 3], took[DEEP - 1])), statistics.median(took[DEEP:])))
    print(f"{name}: {len(plain.events.allocations)} allocations the same, {deep.said[0]['likeness']}; {count} operators, {deep.stored} B "
          f"({deep.stored / count:.1f} an operator) of {deep.bytes}; {len(blocks)} blocks freed within, {len(had)} of them of somebody, {len(wrong)} "
          f"elsewhere than told; {ratio:.1f} times the time of its neighbours, {later:.1f} that of later steps; looked at in the wrong way "
          f"{score} blocks are freed elsewhere", flush=True)
    return later


#: What the program does in the step -> a word of what is said of it, and whether the recorder says it.
REFUSED = {"astride": ("changed who sees", True), "held": ("changed who sees", True), "extra": ("not what the steps around it do", False), "functional": ("lets nobody see", True), "graph": ("CUDA graphs", True),
           "compiled": ("torch.compile", True)}


def test_refused(program, recordings, failures, version):
    """Steps that are not to be used say so, and programs that do what does not go together with one go on."""
    in_backward = Program(("mlp", "adamw", 4, ("in_backward",)))
    recordings.make(DEEP, [*((program, look) for look in ("none", *REFUSED)), (in_backward, "none")])
    for look, (word, is_recorded) in REFUSED.items():
        name = f"{version} {look}"
        run = recordings.take(program, DEEP, look)
        failures.expect(name, "deep steps", [(each["usable"], word in each["why"]) for each in run.said], [(False, True)])
        failures.expect(name, "the recorder says so", [word in (each["unusable"] or "") for each in run.deep], [is_recorded])
    failures.expect(version, "optimizers within backward", [each["why"] for each in recordings.take(in_backward, DEEP).said],
                    ["it is not to be used: the optimizer steps within backward"])


def test_api(program, recordings, arguments, failures, version):
    """A program that records itself, alone in its process."""
    wanted = recordings.take(program, DEEP)
    session, told = (os.path.join(recordings.folder, name) for name in ("own.strata", "own.json"))
    environment = {**os.environ, "STRATA_DEEP_API": session, "PYTHONPATH": os.path.join(PROJECT, "capture", "python"),
                   "STRATA_CAPTURE_LIBRARY": os.path.join(arguments.capture, "libstrata_capture.so")}
    done = subprocess.run([arguments.strata_simgpu, "capacity=80000000000", "--", recordings.python, PROGRAM, "none",
                           str(DEEP), told, *program.words], capture_output=True, text=True, env=environment)
    failures.expect(version, f"a program that records itself: {done.stderr[-300:]}", done.returncode, 0)
    own = Run(arguments.strata, session, told, recordings.folder)
    failures.expect(version, "what it tells", [{key: each[key] for key in ("usable", "likeness", "operators", "saved_tensors", "module_calls")}
                                               for each in own.said],
                    [{key: each[key] for key in ("usable", "likeness", "operators", "saved_tensors", "module_calls")} for each in wanted.said])


def stored_bytes(session):
    with open(session, "rb") as file:
        data = file.read()
    at = 0
    while at + 32 <= len(data):
        _, kind, stored, _ = struct.unpack_from("<BHII", data, at + 5)
        at += 32 + stored
        if kind == 25:
            yield stored


def test(arguments, python, failures):
    version = os.path.basename(os.path.dirname(os.path.dirname(python)))
    with tempfile.TemporaryDirectory() as folder:
        ratios, recordings = [], Recordings(arguments, python, folder)
        chosen = [program for program in map(Program, PROGRAMS) if all(word in program.name.split() for word in arguments.program)]
        for some in (chosen[first:first + TOGETHER] for first in range(0, len(chosen), TOGETHER)):
            recordings.make(0, [(program, look) for program in some for look in ("operators", "saved", "held")])
            recordings.make(DEEP, [(program, "none") for program in some])
            for program in some:
                try:
                    ratios.append(run_program(program, recordings, failures, version))
                except (RuntimeError, subprocess.CalledProcessError) as error:
                    failures.expect(f"{version} {program.name}", f"ran: {error}", False)
        if not arguments.program:
            small = Program(("mlp", "adamw", 4, ()))
            test_refused(small, recordings, failures, version)
            test_api(small, recordings, arguments, failures, version)
        ratios = sorted(each for each in ratios if each)
        if ratios:
            print(f"{version}: the step took {statistics.median(ratios):.1f} times the time of later ones (median of {len(ratios)} programs), at most "
                  f"{ratios[-1]:.1f}", flush=True)


def add_options(parser):
    parser.add_argument("--program", action="append", default=[])


if __name__ == "__main__":
    sys.exit(main(test, ("strata", "strata_simgpu", "capture"), add_options=add_options))
