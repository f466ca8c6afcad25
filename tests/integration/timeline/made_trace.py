# SPDX-License-Identifier: GPL-3.0-or-later
"""A program and its GPU, simulated as far as a trace of torch.profiler shows them: a thread that launches work runs ahead of a
stream that does it. Why the GPU is idle is known then, since it is made so."""
import json
import random


class Rows:
    """Rows of a trace, as kineto writes them."""

    def __init__(self):
        self.rows, self.correlation = [], 0

    def add(self, category, name, begin, end, process, thread, **arguments):
        self.rows.append({"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": round(begin, 3),
                          "dur": round(end - begin, 3), "args": arguments})

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "traceEvents": self.rows}, file)


class Program:
    """A thread, its device and streams. Times in microseconds."""

    def __init__(self, rows, seed=0, rocm=False, device=0, thread=1, process=4242, now=1000.0):
        self.rows, self.draw, self.rocm = rows, random.Random(seed), rocm
        self.device, self.thread, self.process, self.now = device, thread, process, now
        self.free = {}  # by stream, from when on it has nothing to do

    def call(self, name, took, correlation=0):
        begin = self.now
        self.now += took
        self.rows.add("cuda_runtime", ("hip" if self.rocm else "cuda") + name, begin, self.now, self.process, self.thread,
                      **({"correlation": correlation} if correlation else {}))

    def device_work(self, category, name, took, stream, correlation, arrives=3.0):
        begin = max(self.free.get(stream, 0.0), self.now + arrives)
        self.free[stream] = begin + took
        self.rows.add(category, name, begin, self.free[stream], self.device, stream, device=self.device, stream=stream, correlation=correlation)

    def next(self):
        self.rows.correlation += 1
        return self.rows.correlation

    def jitter(self, value):
        return value * self.draw.uniform(0.9, 1.1)

    # What programs do.

    def operator(self, name, took, kernel=None, stream=7, captured=False):
        """`took`: on the thread, of which the launch is the last 4 us; `kernel`: how long that is, unless it is captured."""
        begin, correlation = self.now, self.next()
        self.now += max(0.0, self.jitter(took) - 4.0)
        if kernel is not None:
            self.call("LaunchKernel", 4.0, correlation)
        if kernel is not None and not captured:
            self.device_work("kernel", f"void {name.replace('::', '_')}_kernel<float>(int)", self.jitter(kernel), stream, correlation)
        self.rows.add("cpu_op", name, begin, self.now, self.process, self.thread)

    def graph(self, kernels, took, stream=7):
        """Launched at once: all its kernels name the one call."""
        correlation = self.next()
        self.call("GraphLaunch", 8.0, correlation)
        for _ in range(kernels):
            self.device_work("kernel", "void captured_kernel<float>(int)", self.jitter(took), stream, correlation)

    def own_code(self, took, name=None):
        """Outside of any operator; by name where Python's functions are recorded."""
        begin = self.now
        self.now += self.jitter(took)
        if name:
            self.rows.add("python_function", name, begin, self.now, self.process, self.thread)

    def synchronize(self):
        self.call("DeviceSynchronize", max(2.0, max(self.free.values(), default=0.0) - self.now + 1.0))

    def item(self, pageable):
        """A small copy to the host, and waiting for it."""
        begin, correlation = self.now, self.next()
        self.device_work("gpu_memcpy", f"Memcpy DtoH (Device -> {'Pageable' if pageable else 'Pinned'})", 2.0, 7, correlation)
        if pageable:  # such a copy returns when it is done
            self.call("MemcpyAsync", self.free[7] - self.now + 1.0, correlation)
            self.call("StreamSynchronize", 2.0)
        else:
            self.call("MemcpyAsync", 5.0, correlation)
            self.call("StreamSynchronize", max(2.0, self.free[7] - self.now + 1.0))
        self.rows.add("cpu_op", "aten::item", begin, self.now, self.process, self.thread)

    def copy_from_pageable(self, staged, copied):
        """The call copies to memory of its own first; PyTorch waits for the rest."""
        begin, correlation = self.now, self.next()
        started = self.now
        self.now += staged
        self.device_work("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", copied, 7, correlation, arrives=0.0)
        self.rows.add("cuda_runtime", "cudaMemcpyAsync", started, self.now, self.process, self.thread, correlation=correlation)
        self.call("StreamSynchronize", self.free[7] - self.now + 1.0)
        self.rows.add("cpu_op", "aten::copy_", begin, self.now, self.process, self.thread)

    def memory_call(self, name, took):
        begin = self.now
        if name == "Free":  # waits for the device first
            self.now = max(self.now, max(self.free.values(), default=0.0))
        self.now += self.jitter(took)
        self.rows.add("cuda_runtime", ("hip" if self.rocm else "cuda") + name, begin, self.now, self.process, self.thread)

    def load_data(self, took, with_stack=False):
        begin = self.now
        self.now += self.jitter(took)
        if with_stack:
            self.rows.add("python_function", "torch/utils/data/dataloader.py(701): __next__", begin, self.now, self.process, self.thread)
        else:
            self.rows.add("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", begin, self.now, self.process,
                          self.thread)

    def collective_on_host(self, took):
        """As gloo's, or one that waits for others before it launches."""
        begin = self.now
        self.now += self.jitter(took)
        self.rows.add("cpu_op", "c10d::allreduce_", begin, self.now, self.process, self.thread)

    def all_reduce(self, took, stream=20):
        begin, correlation = self.now, self.next()
        self.now += 10.0
        self.call("LaunchKernelExC", 5.0, correlation)
        self.device_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", took, stream, correlation)
        self.rows.add("cpu_op", "record_param_comms", begin, self.now, self.process, self.thread)

    def step(self, number, body):
        begin = self.now
        body()
        self.rows.add("user_annotation", f"ProfilerStep#{number}", begin, self.now, self.process, self.thread)


def idle(rows, device):
    """Nanoseconds between the first and the last piece of work of a device in which there is none, counted slowly."""
    pieces = sorted((round(row["ts"] * 1000), round((row["ts"]) * 1000) + round(row["dur"] * 1000)) for row in rows
                    if row["cat"] in ("kernel", "gpu_memcpy", "gpu_memset") and row["pid"] == device)
    total, until = 0, pieces[0][0] if pieces else 0
    for begin, end in pieces:
        total += max(0, begin - until)
        until = max(until, end)
    return total
