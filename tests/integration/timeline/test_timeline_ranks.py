# SPDX-License-Identifier: GPL-3.0-or-later
"""Which rank of a job the others wait for, and why: `strata timeline` of the traces of jobs that are made so that it is known.

usage: test_timeline_ranks.py STRATA

Ranks compute, then reduce together: a collective begins on each as soon as it is ready and ends on all at once. An answer that
says nothing of ranks is "even" throughout: its score stands beside.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

KERNEL, LAUNCH, REDUCE = 400.0, 4.0, 300.0  # us
GRADIENTS = {"Collective name": "allreduce", "In msg nelems": 25_000_000, "Out msg nelems": 25_000_000, "dtype": "BFloat16"}
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


class Rank:
    """A thread and a stream of one rank, on the time of all; its clock shows `offset` more."""

    def __init__(self, number, world, offset=0.0, collective="nccl"):
        self.number, self.world, self.offset, self.collective = number, world, offset, collective
        self.rows, self.now, self.free, self.correlation = [], 1000.0, 0.0, 0

    def add(self, category, name, begin, end, thread=1, **arguments):
        device = category in ("kernel", "gpu_memcpy")
        self.rows.append({"ph": "X", "cat": category, "name": name, "pid": 0 if device else 77 + self.number, "tid": thread,
                          "ts": round(begin + self.offset, 3), "dur": round(end - begin, 3), "args": arguments})

    def host(self, category, name, took):
        begin, self.now = self.now, self.now + took
        self.add(category, name, begin, self.now)

    def launch(self, category, name, took, stream=7):
        self.correlation += 1
        begin, self.now = self.now, self.now + LAUNCH
        self.add("cuda_runtime", "cudaLaunchKernel" if category == "kernel" else "cudaMemcpyAsync", begin, self.now, correlation=self.correlation)
        start = max(self.free, self.now + 3.0)
        self.free = start + took
        self.add(category, name, start, self.free, stream, device=0, stream=stream, correlation=self.correlation)

    def compute(self, work):
        """What this rank does in a step, until it is ready to reduce. Times in us, beside those of all."""
        if "data" in work:
            self.host("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", work["data"])
        if "python" in work:
            self.host("python_function", "train.py(7): prepare", work["python"])
        if "malloc" in work:
            self.host("cuda_runtime", "cudaMalloc", work["malloc"])
        if "copy" in work:
            self.launch("gpu_memcpy", "Memcpy DtoD (Device -> Device)", work["copy"])
        for _ in range(work.get("kernels", 10)):
            self.launch("kernel", "void gemm<float>(int)", work.get("kernel", KERNEL))

    def ready(self):
        if self.collective == "gloo":  # on the host, when the device is done
            begin, self.now = self.now, max(self.now, self.free) + 1.0
            self.add("cuda_runtime", "cudaStreamSynchronize", begin, self.now)
        return max(self.now + LAUNCH + 3.0, self.free)

    def reduce(self, begin, end):
        if self.collective is None:
            self.now = max(self.now, self.free)
        elif self.collective == "gloo":
            self.add("cpu_op", "c10d::allreduce_", self.now, end)
            self.now = end
        else:
            self.correlation += 1
            self.add("cuda_runtime", "cudaLaunchKernelExC", self.now, self.now + LAUNCH, correlation=self.correlation)
            self.add("kernel", NCCL, begin, end, 20, device=0, stream=20, correlation=self.correlation, **GRADIENTS)
            self.add("cuda_runtime", "cudaStreamSynchronize", self.now + LAUNCH, end)
            self.now = end
        self.free = max(self.free, self.now)

    def text(self, rank_known=True):
        document = {"schemaVersion": 1, "traceEvents": self.rows}
        if rank_known:
            document = {"distributedInfo": {"backend": "nccl", "rank": self.number, "world_size": self.world}, **document}
        return json.dumps(document)


def job(ranks, steps, work, offsets=None, collective="nccl", named=True, seed=1):
    """`work(rank, step)`: what compute() takes."""
    draw = random.Random(seed)
    made = [Rank(number, ranks, (offsets or [0.0] * ranks)[number], collective) for number in range(ranks)]
    for step in range(steps):
        begins = [rank.now for rank in made]
        for rank in made:
            this = dict(work(rank.number, step))
            this["kernel"] = this.get("kernel", KERNEL) * draw.uniform(0.997, 1.003)
            rank.compute(this)
        ready = [rank.ready() for rank in made]
        for rank, begin in zip(made, ready):
            rank.reduce(begin, max(ready) + REDUCE)
        for rank, begin in zip(made, begins):
            rank.launch("kernel", "void adam<float>(int)", 50.0)
            rank.now = max(rank.now, rank.free) + 5.0
            if named:
                rank.add("user_annotation", f"ProfilerStep#{step + 3}", begin, rank.now)
    return made


def only(slow, change, steps=None):
    return lambda rank, step: change if rank == slow and (steps is None or step in steps) else {}


def cut(text, share):
    return text[:int(len(text) * share)]


def jobs():
    """(name, texts of the traces, balance, slowest rank, cause)."""
    texts = lambda made: [rank.text() for rank in made]  # noqa: E731
    slow = {"kernel": KERNEL * 1.3}
    yield "even", texts(job(4, 12, lambda rank, step: {})), "even", None, None
    yield "all slow in some steps", texts(job(8, 12, lambda rank, step: slow if step % 3 == 0 else {})), "even", None, None
    yield "first step compiles", texts(job(4, 12, only(2, {"python": 40_000.0}, {0}))), "even", None, None
    yield "computes longer", texts(job(4, 12, only(2, slow))), "straggler", 2, "computation"
    yield "more kernels", texts(job(2, 12, only(1, {"kernels": 14}))), "straggler", 1, "computation"
    yield "waits for data", texts(job(4, 12, only(3, {"data": 1500.0}))), "straggler", 3, "data_loading"
    yield "computes on the CPU", texts(job(4, 12, only(0, {"python": 1200.0}))), "straggler", 0, "launch_overhead"
    yield "asks for memory", texts(job(4, 12, only(1, {"malloc": 900.0}))), "straggler", 1, "cuda_malloc"
    yield "copies", texts(job(4, 12, only(1, {"copy": 1000.0}))), "straggler", 1, "copies"
    yield "one slow step", texts(job(4, 14, only(1, {"data": 9000.0}, {9}))), "few_steps", 1, "data_loading"
    yield ("each in turn", texts(job(4, 17, lambda rank, step: slow if rank == step % 4 else {})), "varying", None, "computation")
    yield ("clocks off", texts(job(4, 12, only(2, slow), offsets=[0.0, 2.5e6, -4e5, 77.0])), "straggler", 2, "computation")
    yield "a rank is missing", texts(job(4, 12, only(2, slow)))[1:], "straggler", 2, "computation"
    made = texts(job(4, 12, only(2, slow)))
    yield "a trace is cut", [made[0], cut(made[1], 0.55), made[2], made[3]], "straggler", 2, "computation"
    yield "files in any order", [made[2], made[0], made[3], made[1]], "straggler", 2, "computation"
    yield ("ranks not named", [rank.text(False) for rank in job(3, 12, only(1, slow))], "straggler", 1, "computation")
    yield "no steps", texts(job(4, 12, only(2, slow), named=False)), "straggler", 2, "computation"
    yield "gloo", texts(job(4, 12, only(3, {"python": 1200.0}), collective="gloo")), "straggler", 3, "launch_overhead"
    yield "no collectives", texts(job(3, 12, only(1, slow), collective=None)), "straggler", 1, "computation"
    yield ("two reasons", texts(job(4, 12, only(2, {"data": 1500.0, "kernel": KERNEL * 1.05}))), "straggler", 2, "data_loading")


def told(strata, files):
    run = subprocess.run([strata, "timeline", *files, "--json"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    plain = subprocess.run([strata, "timeline", *files], capture_output=True, text=True)
    assert plain.returncode == 0, plain.stderr
    return json.loads(run.stdout), plain.stdout


def check_numbers(name, document, failures):
    """What is said of steps holds together, and with what each rank's trace says."""
    for row in document["communication"]:
        if row["bytes"] != row["calls"] * 50_000_000:
            failures.append(f"{name}: bytes of collectives: {row}")
    for step in document["rank_steps"]:
        own = sorted(rank["own_ns"] for rank in step["ranks"])
        slowest = next(rank for rank in step["ranks"] if rank["rank"] == step["slowest_rank"])
        others = own[:-1]
        checks = {"own is the step without waiting": all(r["own_ns"] == r["duration_ns"] - r["waited_ns"] for r in step["ranks"]),
                  "somebody waits for nobody": min(r["waited_ns"] for r in step["ranks"]) == 0,
                  "the slowest has the longest own time": slowest["own_ns"] == own[-1],
                  "lead": step["lead_ns"] == own[-1] - others[(2 * len(others) + 3) // 4 - 1]}
        failures += [f"{name}: {step['name']}: {what}" for what, holds in checks.items() if not holds]
    by_rank = {rank["rank"]: rank for rank in document["ranks"]}
    for step in document["rank_steps"]:
        for rank in step["ranks"]:
            if rank["rank"] in by_rank and step["name"]:
                same = next(each for each in by_rank[rank["rank"]]["steps"] if each["name"] == step["name"])
                if (same["start_ns"], same["duration_ns"]) != (rank["start_ns"], rank["duration_ns"]):
                    failures.append(f"{name}: {step['name']} of rank {rank['rank']} differs from its own trace")


def check_merged(name, strata, files, document, failures):
    """`-o` writes all ranks on the clock of the first: every row is there, moved with its rank, linked within it, and as busy as alone."""
    path = os.path.join(os.path.dirname(files[0]), "all.json")
    run = subprocess.run([strata, "timeline", *files, "-o", path], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    with open(path, encoding="utf-8") as file:
        merged = json.load(file)
    base = merged["baseTimeNanoseconds"] / 1e3
    rows = [row for row in merged["traceEvents"] if row["ph"] == "X"]
    processes = {row["pid"]: row["args"]["name"] for row in merged["traceEvents"] if row["ph"] == "M" and row["name"] == "process_name"}
    clocks = {clock["rank"]: clock["offset_ns"] for clock in document["rank_clocks"]}
    alone = {}
    for rank in document["ranks"]:
        with open(rank["file"], encoding="utf-8") as file:
            text = file.read()
        number = rank["rank"] if rank["rank"] is not None else files.index(rank["file"])
        own = json.loads(text if rank["complete"] else text[:text.rindex(", {")] + "]}")
        alone[number] = [row for row in own["traceEvents"] if row["ph"] == "X"]
    # As steps are no steps any more in ranks that are not the first, so that those of all are those of one.
    first = min(alone)
    moved = sorted((f"rank {number}: {row['name']}" if number != first and row["name"].startswith("ProfilerStep#") else row["name"],
                    row["cat"], round(row["ts"] * 1e3 - clocks.get(number, 0)), round(row["dur"] * 1e3), number) for number, own in alone.items() for row in own)
    shift = min(row[2] for row in moved) if moved and min(row[2] for row in moved) < 0 else 0
    got = sorted((row["name"], row["cat"], round((row["ts"] + base) * 1e3), round(row["dur"] * 1e3), int(processes[row["pid"]].split(":")[0][5:]))
                 for row in rows)
    if got != [(row[0], row[1], row[2] - shift, row[3], row[4]) for row in moved]:
        failures.append(f"{name}: rows of all: {len(got)}, {len(moved)} of the traces; the first that differ: "
                        f"{next(((a, b) for a, b in zip(got, moved) if a != b), None)}")
    calls = {row["args"]["correlation"]: row for row in rows if row["cat"] == "cuda_runtime" and "correlation" in row["args"]}
    device = [row for row in rows if "device" in row["args"]]
    lost = [row for row in device if processes[calls[row["args"]["correlation"]]["pid"]].split(":")[0] != f"rank {row['args']['device']}"]
    if lost or len({row["args"]["correlation"] for row in device}) != len(device):
        failures.append(f"{name}: {len(lost)} launches of all belong to another rank")
    again = json.loads(subprocess.run([strata, "timeline", path, "--json"], capture_output=True, text=True, check=True).stdout)
    busy = {device["device"]: device["busy_ns"] for device in again["ranks"][0]["devices"]}
    expected = {number: rank["devices"][0]["busy_ns"] for number, rank in zip(sorted(alone), document["ranks"])}
    if busy != expected:
        failures.append(f"{name}: busy as one trace {busy}, alone {expected}")
    if len(again["ranks"][0]["steps"]) != len(document["ranks"][0]["steps"]):
        failures.append(f"{name}: {len(again['ranks'][0]['steps'])} steps of all, {len(document['ranks'][0]['steps'])} of the first")


def check_words(strata, failures):
    """What is said where nothing ties the traces, and where one rank is given twice."""
    def said(ranks, twice=False):
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for i, text in enumerate(ranks):
                files.append(os.path.join(folder, f"trace{i}.json"))
                with open(files[-1], "w", encoding="utf-8") as file:
                    file.write(text)
            return " ".join(told(strata, files + files[:1] if twice else files)[1].split())
    slow = job(2, 12, only(1, {"kernel": KERNEL * 1.3}), collective=None)
    strange = said([rank.text(False) for rank in slow])
    for wanted, there in (("2 traces beside each other", True), ("Nothing in these traces shows that they are of one run", True), ("wait for it", False),
                          ("slowest in", False), ("What would help: more workers", False), (" rank 1 ", False)):
        if (wanted in strange) != there:
            failures.append(f"traces that nothing ties: {wanted!r}: {strange[:400]}")
    with tempfile.TemporaryDirectory() as folder:
        files, path = [os.path.join(folder, f"trace{i}.json") for i in range(2)], os.path.join(folder, "all.json")
        for file, rank in zip(files, slow):
            with open(file, "w", encoding="utf-8") as out:
                out.write(rank.text(False))
        run = subprocess.run([strata, "timeline", *files, "-o", path], capture_output=True, text=True, check=True)
        with open(path, encoding="utf-8") as file:
            names = {row["args"]["name"].split(":")[0] for row in json.load(file)["traceEvents"] if row["ph"] == "M" and row["name"] == "process_name"}
    if "all.json: nothing shows that these traces are of one run" not in run.stdout or names != {"trace 0", "trace 1"}:
        failures.append(f"traces that nothing ties, written as one: {names}: {run.stdout[:200]}")
    known = said([rank.text() for rank in slow])
    if "No collective is in these traces" not in known or "2 ranks of one run" not in known:
        failures.append(f"a job without collectives: {known[:400]}")
    twice = said([rank.text() for rank in job(2, 12, only(1, {"kernel": KERNEL * 1.3}))], twice=True)
    if "1 trace is of a rank or a process that one before it is of, too" not in twice:
        failures.append(f"a rank twice: {twice[:400]}")
    same = said([slow[0].text(False)], twice=True)
    if "1 trace is of a rank or a process that one before it is of, too" not in same:
        failures.append(f"a process twice: {same[:400]}")
    alone = said([job(2, 12, lambda rank, step: {})[0].text()], twice=True)
    if "1 rank of a run" not in alone or "All of these traces are of one rank" not in alone:
        failures.append(f"one rank alone, twice: {alone[:400]}")


def main():
    strata = os.path.realpath(sys.argv[1])
    right = even = count = 0
    failures = []
    for name, texts, balance, slowest, cause in jobs():
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for i, text in enumerate(texts):
                files.append(os.path.join(folder, f"trace{i}.json"))
                with open(files[-1], "w", encoding="utf-8") as file:
                    file.write(text)
            document, plain = told(strata, files)
            check_merged(name, strata, files, document, failures)
        verdict = document["ranks_verdict"]
        got = (verdict["balance"], verdict["slowest_rank"] if slowest is not None else None, (verdict["cause"] or {}).get("cause"))
        count += 1
        even += balance == "even"
        right += got == (balance, slowest, cause)
        print(f"  {name:24} {'right' if got == (balance, slowest, cause) else 'WRONG'}  {got[0]}, rank {verdict['slowest_rank']}, {got[2]}; "
              f"lead {verdict['lead_ns'] / 1e3:.0f} of {verdict['step_ns'] / 1e3:.0f} us")
        if got != (balance, slowest, cause):
            failures.append(f"{name}: {got} instead of {(balance, slowest, cause)}")
        check_numbers(name, document, failures)
        if name == "clocks off":
            offsets = [clock["offset_ns"] for clock in document["rank_clocks"]]
            if offsets != [0, 2_500_000_000, -400_000_000, 77_000]:
                failures.append(f"clocks: {offsets}")
        if name == "a rank is missing" and "Of the job's 4 ranks 3 are here" not in " ".join(plain.split()):
            failures.append(f"a missing rank is not said:\n{plain[:600]}")
        if balance == "straggler" and f"Rank {slowest} is the slowest" not in plain:
            failures.append(f"{name}: not said:\n{plain[:600]}")
    check_words(strata, failures)
    print(f"{right} of {count} right; \"even\" for all: {even} of {count}")
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
