# SPDX-License-Identifier: GPL-3.0-or-later
"""Traces that are made so that why their GPU is idle is known: strata timeline says just that, and how full its queue is.

usage: test_timeline_made.py STRATA
       test_timeline_made.py --keep FOLDER   # writes them there, cut short
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

from made_trace import Program, Rows, idle

#: Families of programs: (name, what they do, how full the queue is, causes in their order as far as they are known).
FAMILIES = []


def family(queue, *causes):
    def add(make):
        FAMILIES.append((make.__name__, make, queue, list(causes)))
        return make
    return add


def layers(program, count, took, kernel, name="aten::addmm", stream=7):
    for _ in range(count):
        program.operator(name, took, kernel, stream)


@family("dense")
def runs_ahead(program, scale):
    for number in range(4):
        program.step(number, lambda: layers(program, 30, 12 * scale, 90 * scale))


@family("sparse", "launch_overhead")
def tiny_kernels(program, scale):
    for number in range(4):
        program.step(number, lambda: layers(program, 60, 25 * scale, 4))


@family("gaps", "launch_overhead")
def kernels_a_bit_too_small(program, scale):
    for number in range(4):
        program.step(number, lambda: layers(program, 60, 40 * scale, 28 * scale))


@family("sparse", "unknown")
def own_code_unseen(program, scale):
    for _ in range(20):
        layers(program, 3, 15, 60 * scale)
        program.own_code(700 * scale)


@family("sparse", "launch_overhead")
def own_code_seen(program, scale):
    for _ in range(20):
        layers(program, 3, 15, 60 * scale)
        program.own_code(700 * scale, "train.py(31): augment")


@family("sparse", "data_loading")
def waits_for_data(program, scale):
    for number in range(4):
        program.step(number, lambda: (program.load_data(9000 * scale), layers(program, 40, 12, 70 * scale)))


@family("gaps", "data_loading")
def waits_for_some_data(program, scale):
    for number in range(4):
        program.step(number, lambda: (program.load_data(4200 * scale, with_stack=True), layers(program, 40, 12, 85 * scale)))


@family("gaps", "synchronisation")
def asks_for_each_loss(program, scale):
    for _ in range(30):
        layers(program, 10, 15, 60 * scale)
        program.item(pageable=False)
        program.own_code(150 * scale)


@family("gaps", "synchronisation")
def asks_through_pageable_memory(program, scale):
    for _ in range(30):
        layers(program, 10, 15, 60 * scale)
        program.item(pageable=True)
        program.operator("aten::is_nonzero", 150 * scale)


@family("gaps", "synchronisation")
def synchronizes(program, scale):
    for _ in range(12):
        layers(program, 20, 15, 60 * scale)
        program.synchronize()
        program.own_code(300 * scale)


@family("sparse", "launch_overhead")
def synchronizes_though_it_is_idle(program, scale):
    for _ in range(12):
        layers(program, 30, 25 * scale, 4)
        program.synchronize()


@family("gaps", "pageable_copy")
def copies_batches_from_pageable_memory(program, scale):
    for _ in range(12):
        program.copy_from_pageable(staged=500 * scale, copied=300 * scale)
        layers(program, 4, 12, 70 * scale)


@family("gaps", "cuda_malloc")
def asks_the_driver_for_memory(program, scale):
    for _ in range(20):
        layers(program, 6, 12, 60 * scale)
        program.memory_call("Malloc", 600 * scale)


@family("gaps", "cuda_malloc")
def gives_memory_back(program, scale):
    for _ in range(20):
        layers(program, 6, 12, 60 * scale)
        program.memory_call("Free", 250 * scale)


@family("sparse", "communication")
def reduces_on_the_host(program, scale):
    for _ in range(10):
        layers(program, 20, 12, 60 * scale)
        program.collective_on_host(4000 * scale)


@family("dense")
def reduces_on_the_device(program, scale):
    for _ in range(10):
        layers(program, 20, 12, 60 * scale)
        program.all_reduce(900 * scale)


@family("sparse", "data_loading", "synchronisation")
def loads_and_asks(program, scale):
    for _ in range(10):
        program.load_data(5000 * scale)
        for _ in range(3):
            layers(program, 10, 12, 50 * scale)
            program.item(pageable=False)
            program.own_code(200 * scale)


@family("sparse", "launch_overhead", "cuda_malloc")
def tiny_kernels_and_memory(program, scale):
    for _ in range(10):
        layers(program, 60, 25 * scale, 4)
        program.memory_call("Malloc", 200 * scale)


@family("dense")
def a_side_stream_fills_the_gaps(program, scale):
    for _ in range(20):
        program.operator("aten::side", 12, 400 * scale, stream=13)
        layers(program, 6, 12, 60 * scale)
        program.own_code(60 * scale)


@family("sparse", "graph_capture")
def captures_a_graph(program, scale):
    layers(program, 20, 12, 60 * scale)
    program.synchronize()
    program.call("StreamBeginCapture", 3.0)
    for _ in range(200):
        program.operator("aten::addmm", 60 * scale, kernel=0, captured=True)
    program.call("StreamEndCapture", 5.0)
    program.call("GraphInstantiateWithFlags", 2000 * scale)
    program.graph(200, 20 * scale)


@family("none")
def no_work_of_a_device(program, scale):
    for _ in range(20):
        program.operator("aten::add", 12 * scale)


def both_devices(rows, seed, rocm):
    """The busier one counts, which loads data; the other is hardly used."""
    busy = Program(rows, seed, rocm)
    for _ in range(4):
        busy.load_data(4200)
        layers(busy, 40, 12, 85)
    idler = Program(rows, seed + 1, rocm, device=1, thread=2)
    layers(idler, 200, 25, 4)


def timeline(strata, rows, folder):
    path = os.path.join(folder, "made.json")
    rows.write(path)
    run = subprocess.run([strata, "timeline", path, "--json"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


#: Who waits for the GPU in them.
WAITERS = ("aten::item", "cudaDeviceSynchronize", "hipDeviceSynchronize")


def where_faults(verdict):
    """What causes are in all, and what holds most of one, fits what is told of its parts."""
    faults, sums, stretches = [], collections.Counter(), collections.Counter()
    for cause in verdict["causes"] + verdict["causes_around"]:
        sums[cause["cause"]] += cause["ns"]
        stretches[cause["cause"]] += cause["stretches"]
    if sums != {cause["cause"]: cause["ns"] for cause in verdict["causes_of_range"]}:
        faults.append(f"causes of the range are not those between and around: {dict(sums)}")
    for cause in verdict["causes_of_range"]:
        most = cause["most"]
        if cause["stretches"] != stretches[cause["cause"]] or not 0 < cause["longest_ns"] <= cause["ns"]:
            faults.append(f"stretches of {cause['cause']}")
        if most and not (0 < most["ns"] <= cause["ns"] and 0 < most["stretches"] <= cause["stretches"]):
            faults.append(f"most of {cause['cause']}")
        if most and cause["cause"] == "synchronisation" and (most["place"] != "behind" or most["name"] not in WAITERS):
            faults.append(f"it waits behind {most['name']}")
    return faults


def launches(rows):
    """How many calls launch kernels, of how many no work is told, and how many of these were captured, counted slowly."""
    working = {row["args"]["correlation"] for row in rows if row["cat"] in ("kernel", "gpu_memcpy", "gpu_memset")}
    captured, told, capturing = 0, [], False
    for row in sorted((row for row in rows if row["cat"] == "cuda_runtime"), key=lambda row: row["ts"]):
        if "Capture" in row["name"]:
            capturing = "Begin" in row["name"]
        elif "Launch" in row["name"]:
            told.append(row["args"]["correlation"] in working)
            captured += capturing and not told[-1]
    return {"calls": len(told), "without_work": told.count(False), "captured": captured, "lost": told.count(False) - captured}


def check(strata, name, rows, queue, wanted, folder):
    told = timeline(strata, rows, folder)
    verdict, devices = told["verdict"], told["ranks"][0]["devices"]
    causes = [cause["cause"] for cause in verdict["causes"]]
    faults = []
    if verdict["queue"] != queue:
        faults.append(f"queue {verdict['queue']}, not {queue}")
    if causes[:len(wanted)] != wanted:
        faults.append(f"causes {causes}, not {wanted}")
    seen, there = sum(cause["ns"] for cause in verdict["causes"]), idle(rows.rows, 0)
    if seen != there or (devices and devices[0]["idle_ns"] != there):
        faults.append(f"causes add up to {seen} ns of {there}")
    around = sum(cause["ns"] for cause in verdict["causes_around"])
    if devices and around != verdict["range_ns"] - devices[0]["span_ns"]:
        faults.append(f"causes around add up to {around} ns of {verdict['range_ns']} - {devices[0]['span_ns']}")
    faults += where_faults(verdict)
    if name.startswith("waits_for_") and verdict["causes_around"][0]["cause"] != "data_loading":
        faults.append("it begins by loading data")
    if told["ranks"][0]["launches"] != launches(rows.rows):
        faults.append(f"launches {told['ranks'][0]['launches']}, not {launches(rows.rows)}")
    if wanted and verdict["causes"][0]["ns"] < 0.8 * there and len(wanted) == 1:
        faults.append(f"{causes[0]} is but {verdict['causes'][0]['ns']} of {there} ns")
    for fault in faults:
        print(f"{name}: {fault}: {json.dumps(verdict)}")
    return not faults


def traces():
    """(name, rows, queue, causes) of all."""
    for seed, (scale, rocm) in enumerate(((1.0, False), (1.7, True))):
        for name, make, queue, causes in FAMILIES:
            rows = Rows()
            make(Program(rows, seed, rocm), scale)
            yield f"{name} {seed}", rows, queue, causes
        rows = Rows()
        both_devices(rows, seed, rocm)
        yield f"both devices {seed}", rows, "gaps", ["data_loading"]


def keep(folder):
    """As seeds for those who try what else could stand in a trace: small."""
    for name, rows, _, _ in traces():
        rows.rows = rows.rows[:100]
        rows.write(os.path.join(folder, name.replace(" ", "-") + ".json"))
    return 0


def check_written(strata, rows, folder):
    """What is written as a trace says what its source says, but for the rows by which the form names things."""
    told = timeline(strata, rows, folder)
    run = subprocess.run([strata, "timeline", os.path.join(folder, "made.json"), "-o", os.path.join(folder, "again.json")], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    with open(os.path.join(folder, "again.json"), encoding="utf-8") as file:
        written = json.load(file)["traceEvents"]
    arrows = [row for row in written if row["ph"] in "sf"]
    launched = sum("correlation" in row["args"] for row in rows.rows)
    run = subprocess.run([strata, "timeline", os.path.join(folder, "again.json"), "--json"], capture_output=True, text=True)
    again = json.loads(run.stdout)
    for each in (told, again):
        each["ranks"][0].pop("file")
    return len(arrows) == launched and all(told[key] == again[key] for key in ("memory", "ranks", "verdict", "operators", "kernels", "copies", "roofline"))


def check_roofline(strata, folder):
    """A product of 2048 by 1024 with 1024 by 512 that takes 10 us on an H100, and its sum with a row that takes 5."""
    sizes = {"Input type": ["c10::BFloat16", "c10::BFloat16"], "Concrete Inputs": ["", ""], "Input Strides": [[1024, 1], [512, 1]]}
    rows = Rows()
    for number, (name, dims, took) in enumerate((("aten::mm", [[2048, 1024], [1024, 512]], 10.0), ("aten::add", [[2048, 512], [512]], 5.0),
                                                 ("mine::op", [[1], [1]], 5.0))):
        begin = 100.0 * (number + 1)
        strides = {"Input Strides": [[512, 1], [1]]} if number == 1 else {}
        rows.add("cpu_op", name, begin, begin + 50, 1, 1, **{**sizes, "Input Dims": dims, **strides})
        rows.add("cuda_runtime", "cudaLaunchKernel", begin + 10, begin + 14, 1, 1, correlation=number + 1)
        rows.add("kernel", f"kernel_{number}", begin + 20, begin + 20 + took, 0, 7, device=0, stream=7, correlation=number + 1)
    path = os.path.join(folder, "roofline.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": rows.rows}, file)
    run = subprocess.run([strata, "timeline", path, "--json"], capture_output=True, text=True)
    told = json.loads(run.stdout)["roofline"]
    product, added, unknown = told["rows"] if len(told["rows"]) == 3 else ({},) * 3
    flops, moved = 2 * 2048 * 1024 * 512, 2 * (2048 * 1024 + 1024 * 512 + 2048 * 512)
    wanted = [(told["lack"], "none"), (told["card"]["name"], "H100-80GB"), (told["work_ns"], 20000), (told["known_ns"], 15000),
              (told["unknown_ns"], 5000), (told["mfu"], float(f"{flops / 989.5e12 / 205e-6:.6g}")), (product.get("flops"), flops),
              (product.get("bytes"), moved), (product.get("flops_per_second"), round(flops / 10e-6)), (product.get("bound"), "memory"),  # 293 FLOPs a byte; the ridge is at 295
              (product.get("shapes"), "[2048,1024] [1024,512]"), (added.get("flops"), 0), (added.get("bytes"), 2 * (2 * 2048 * 512 + 512)),
              (added.get("bound"), "memory"), (unknown.get("kind", ""), None)]
    for got, right in wanted:
        if got != right:
            print(f"roofline: {got}, not {right}: {json.dumps(told)}")
    text = subprocess.run([strata, "timeline", path], capture_output=True, text=True).stdout
    said = all(part in text for part in ("what operators make of the GPU", "aten::mm [2048,1024] [1024,512]", "not known"))
    if not said:
        print(f"roofline: the text lacks it: {text}")
    return said and all(got == right for got, right in wanted)


def check_refused(strata, folder):
    """What is no trace is refused by what it is: a directory cannot be read, and a range of nothing is bad usage."""
    path, right = os.path.join(folder, "made.json"), True
    for arguments, status, said in (((folder,), 3, "this is a directory: name the files in it"), ((os.path.join(folder, "none.json"),), 3, "no such file"),
                                    ((path, "--from", "soon"), 2, "is no time"), ((path, "--step", "7777"), 1, "there is no step 7777")):
        run = subprocess.run([strata, "timeline", *arguments], capture_output=True, text=True)
        if run.returncode != status or said not in run.stderr:
            print(f"timeline {arguments}: status {run.returncode}, {run.stderr}")
            right = False
    return right


def main(strata):
    right = total = nothing = launches = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, rows, queue, causes in traces():
            holds = check(strata, name, rows, queue, causes, folder)
            if not check_written(strata, rows, folder):
                print(f"{name}: what is written as a trace says something else")
                holds = False
            right += holds
            total += 1
            nothing += queue == "none"
            launches += causes[:1] == ["launch_overhead"]
        right += check_roofline(strata, folder)
        right += check_refused(strata, folder)
        total += 2
    print(f"{right} of {total} traces; one who sees nothing is right in {nothing}, one who always says \"launch_overhead\" in {launches}")
    return 0 if right == total else 1


if __name__ == "__main__":
    sys.exit(keep(sys.argv[2]) if sys.argv[1] == "--keep" else main(*sys.argv[1:]))
