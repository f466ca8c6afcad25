# SPDX-License-Identifier: GPL-3.0-or-later
"""What CUPTI tells of a LibTorch program on this machine and what that costs: the facts that a timeline of kernels rests on.

usage: cupti.py records | pinned | cost | clash | unprivileged

  records       kinds of records, their sizes, whether each kernel belongs to a call, on which clock, and what the card pays for it
  pinned        the same with CUPTI's own buffers in pinned memory of the host
  cost          seconds of a training step without records and with those of more and more kinds
  clash         what torch.profiler and this each still get when the other was first
  unprivileged  the first as nobody

Prints JSON. Offsets are those of cupti_activity.h; later versions of a record only append to it.
"""
import collections
import ctypes
import json
import os
import re
import struct
import sys
import time

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/truth/programs")
import torch  # noqa: E402

MEMCPY, MEMSET, DRIVER, RUNTIME, KERNEL, OVERHEAD, SYNCHRONIZATION, MEMORY = 1, 2, 4, 5, 10, 17, 38, 49
NAMES = {MEMCPY: "memcpy", MEMSET: "memset", DRIVER: "driver", RUNTIME: "runtime", KERNEL: "kernel", OVERHEAD: "overhead",
         SYNCHRONIZATION: "synchronization", MEMORY: "memory"}
HOST_PINNED = 8  # an attribute: where CUPTI keeps its buffers
BUFFER_BYTES = 1 << 20

Requested = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t),
                             ctypes.POINTER(ctypes.c_size_t))
Completed = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)


def library():
    """The one that LibTorch has loaded."""
    with open("/proc/self/maps") as maps:
        paths = sorted({line.split()[-1] for line in maps if "libcupti.so" in line})
    return paths[0]


class Cupti:
    def __init__(self):
        self.path = library()
        self.calls = ctypes.CDLL(self.path)
        self.buffers, self.filled = {}, []
        self.request, self.complete = Requested(self.requested), Completed(self.completed)

    def requested(self, buffer, size, records):
        memory = ctypes.create_string_buffer(BUFFER_BYTES + 8)
        at = (ctypes.addressof(memory) + 7) // 8 * 8
        self.buffers[at] = memory
        buffer[0], size[0], records[0] = at, BUFFER_BYTES, 0

    def completed(self, context, stream, buffer, size, valid):
        self.filled.append((self.buffers.pop(buffer), buffer, valid))

    def version(self):
        number = ctypes.c_uint32()
        self.calls.cuptiGetVersion(ctypes.byref(number))
        return number.value

    def register(self):
        return self.calls.cuptiActivityRegisterCallbacks(self.request, self.complete)

    def enable(self, kinds):
        return {NAMES[kind]: self.calls.cuptiActivityEnable(kind) for kind in kinds}

    def disable(self, kinds):
        return {NAMES[kind]: self.calls.cuptiActivityDisable(kind) for kind in kinds}

    def now(self):
        stamp = ctypes.c_uint64()
        self.calls.cuptiGetTimestamp(ctypes.byref(stamp))
        return stamp.value

    def records(self):
        """(kind, bytes) of all records so far; their names are copied, since they belong to CUPTI."""
        self.calls.cuptiActivityFlushAll(1)
        filled, self.filled = self.filled, []
        rows, sizes = [], {}
        for _, begin, valid in filled:
            at, last = ctypes.c_void_p(0), None
            places = []
            while self.calls.cuptiActivityGetNextRecord(ctypes.c_void_p(begin), ctypes.c_size_t(valid), ctypes.byref(at)) == 0:
                places.append(at.value)
            for place, end in zip(places, places[1:] + [begin + valid]):
                row = ctypes.string_at(place, end - place)
                kind = struct.unpack_from("I", row)[0]
                sizes.setdefault(kind, set()).add(end - place)
                rows.append((kind, row))
        return rows, {NAMES.get(kind, str(kind)): sorted(found) for kind, found in sizes.items()}


def used():
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    return total - free


def work(steps=5):
    """Training, copies of all ways, a second stream and a graph."""
    model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    pinned, side = torch.ones(1 << 20).pin_memory(), torch.cuda.Stream()
    x = torch.ones(256, 512, device="cuda")
    for _ in range(steps):
        model(x).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        with torch.cuda.stream(side):
            pinned.to("cuda", non_blocking=True).clone().cpu()
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = model(x)
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    return y


def joined(rows):
    """How kernels and copies belong to calls, and whether what they say can be true."""
    calls = {}
    for kind, row in rows:
        if kind in (RUNTIME, DRIVER):
            begin, end, _, thread, correlation = struct.unpack_from("QQIII", row, 8)
            calls.setdefault(correlation, []).append((kind, begin, end, thread))
    found, streams = collections.Counter(), {}
    for kind, row in rows:
        if kind == KERNEL:
            begin, end = struct.unpack_from("QQ", row, 16)
            stream, = struct.unpack_from("I", row, 48)
            correlation, = struct.unpack_from("I", row, 92)
            name, = struct.unpack_from("Q", row, 104)
            node, = struct.unpack_from("Q", row, 144)
            found["kernels of graphs"] += node != 0
            found["kernels without a name"] += name == 0
        elif kind in (MEMCPY, MEMSET):
            begin, end = struct.unpack_from("QQ", row, 16)
            stream, correlation = struct.unpack_from("II", row, 40)
        else:
            continue
        found["on the device"] += 1
        found["end before they begin"] += end < begin
        found["without times"] += begin == 0
        owners = calls.get(correlation, [])
        found["of a call of the runtime"] += any(owner[0] == RUNTIME for owner in owners)
        found["of a call of the driver alone"] += bool(owners) and all(owner[0] == DRIVER for owner in owners)
        found["of no call"] += not owners
        found["begin before their call"] += any(begin < owner[1] for owner in owners)
        streams.setdefault(stream, []).append((begin, end))
    for spans in streams.values():
        spans.sort()
        found["overlap in their stream"] += sum(1 for (_, a), (b, _) in zip(spans, spans[1:]) if b < a)
    found["streams"] = len(streams)
    return dict(found)


def records(pinned):
    torch.cuda.init()
    work(1)
    cupti, out = Cupti(), {}
    out["library"], out["version"] = os.path.basename(cupti.path), cupti.version()
    if pinned:
        value, size = ctypes.c_uint8(1), ctypes.c_size_t(1)
        out["buffers in pinned memory"] = cupti.calls.cuptiActivitySetAttribute(HOST_PINNED, ctypes.byref(size),
                                                                                ctypes.byref(value))
    before = used()
    out["register"] = cupti.register()
    out["enable"] = cupti.enable(NAMES)
    work()
    out["bytes on the card while it records"] = used() - before
    wall, stamp, monotonic = time.time_ns(), cupti.now(), time.monotonic_ns()
    out["clock"] = {"minus the time of day, ns": stamp - wall, "minus monotonic, ns": stamp - monotonic}
    rows, out["sizes"] = cupti.records()
    out["disable"] = cupti.disable(NAMES)
    out["rows"] = dict(collections.Counter(NAMES.get(kind, str(kind)) for kind, _ in rows))
    out["joined"] = joined(rows)
    dropped = ctypes.c_size_t()
    cupti.calls.cuptiActivityGetNumDroppedRecords(None, 0, ctypes.byref(dropped))
    out["dropped"] = dropped.value
    return out


def cost():
    """In turns, so that a card that warms up harms all."""
    import steps
    cupti, out, training = Cupti(), {}, steps.Training("gpt")
    cupti.register()
    kinds = {"none": (), "kernels": (KERNEL, MEMCPY, MEMSET), "and calls of the runtime": (KERNEL, MEMCPY, MEMSET, RUNTIME),
             "and of the driver": (KERNEL, MEMCPY, MEMSET, RUNTIME, DRIVER)}
    times, counts = {name: [] for name in kinds}, {}
    for turn in range(12):
        for name in list(kinds)[::1 if turn % 2 else -1]:
            cupti.enable(kinds[name])
            times[name].append(steps.quartile(training.steps(30)))
            cupti.disable(kinds[name])
            rows, _ = cupti.records()
            counts[name] = len(rows) / 32
    base = steps.statistics.median(times["none"])
    for name, seconds in times.items():
        step = base * steps.statistics.median(one / none for one, none in zip(seconds, times["none"]))
        out[name] = {"ms of a step": round(step * 1e3, 4), "percent": round((step / base - 1) * 100, 2),
                     "records of a step": round(counts[name], 1),
                     "ns a record": round((step - base) * 1e9 / counts[name]) if counts[name] else None}
    return out


def profiled():
    """How many rows of the device torch.profiler has of some work."""
    with torch.profiler.profile() as profiler:
        work(2)
    return sum(1 for event in profiler.events() if event.device_type == torch.autograd.DeviceType.CUDA)


def clash():
    torch.cuda.init()
    work(1)
    out = {"profiler alone": profiled()}
    cupti, some = Cupti(), (KERNEL, MEMCPY, MEMSET)
    handle = ctypes.c_void_p()
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p)(lambda *words: None)
    out["subscribe after a profiler"] = cupti.calls.cuptiSubscribe(ctypes.byref(handle), callback, None)
    if handle:
        cupti.calls.cuptiUnsubscribe(handle)
    out["register"], out["enable"] = cupti.register(), cupti.enable(some)
    work(2)
    out["records before the profiler"] = len(cupti.records()[0])
    out["profiler after this"] = profiled()
    work(2)
    out["records after the profiler"] = len(cupti.records()[0])
    out["enable again"] = cupti.enable(some)
    work(2)
    out["records enabled again"] = len(cupti.records()[0])
    out["register again"], out["enable a third time"] = cupti.register(), cupti.enable(some)
    work(2)
    out["records registered again"] = len(cupti.records()[0])
    return out


def unprivileged():
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    out = {"user": os.getuid()}
    for path in ("/proc/driver/nvidia/params",):
        if os.path.exists(path):
            with open(path) as file:
                out[path] = re.findall("(?m)^.*(?:Profil|Admin).*$", file.read())
    return {**out, **records(False)}


if __name__ == "__main__":
    parts = {"records": lambda: records(False), "pinned": lambda: records(True), "cost": cost, "clash": clash,
             "unprivileged": unprivileged}
    print(json.dumps(parts[sys.argv[1]]()))
