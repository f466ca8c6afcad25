# SPDX-License-Identifier: GPL-3.0-or-later
"""Out-of-memories whose cause is known by how they are made: what is held, by whom, and the request that is refused at the end.

A plan is {"name", "cause", "capacity", "others", "steps", "request"}. Its cause follows from contracts of `strata oom`: too_big where
what is in use and the request exceed the device; else whoever withholds enough to have served the request, the most bytes first.
"""
import random

MIB = 1 << 20
GIB = 1 << 30
CAUSES = ("too_big", "fragmented", "private_pools", "pending_free", "outside_pytorch", "other_process")


class Device:
    """Keeps account while a plan is made: how much of the device is left to the driver."""

    def __init__(self, capacity, others=0):
        self.capacity, self.others, self.left, self.steps, self.live = capacity, others, capacity - others, [], 0
        self.withheld = dict.fromkeys(CAUSES, 0)
        self.withheld["other_process"] = others
        self.names = 0
        self.hole = 0  # the largest that a request would be put into

    def take(self, size):
        # The driver hands out 2 MiB pages, requests of 10 MiB and more get segments of a multiple of that.
        if size % (2 * MIB) or size < 10 * MIB or size > self.left:
            raise ValueError(f"{size} of {self.left}")
        self.left -= size

    def hold(self, size):
        if size <= self.hole:
            raise ValueError("it would fill a hole")
        self.take(size)
        self.names += 1
        self.steps.append(["hold", f"t{self.names}", size])
        self.live += size

    def split(self, count, parts, keep):
        if min(parts) <= self.hole:
            raise ValueError("it would fill a hole")
        for _ in range(count):
            self.take(sum(parts))
        self.names += 1
        self.steps.append(["split", f"s{self.names}", count, parts, keep])
        kept = sum(size for size, stays in zip(parts, keep) if stays)
        self.live += count * kept
        self.withheld["fragmented"] += count * (sum(parts) - kept)
        self.hole = max(size for size, stays in zip(parts, keep) if not stays)

    def pool(self, size, parts=1):
        for _ in range(parts):
            self.take(size // parts)
        self.steps.append(["pool", size, parts])
        self.withheld["private_pools"] += size if parts == 1 else size // parts
        if parts > 1:  # each goes into the block that the one before has left
            self.left += size - size // parts

    def outside(self, size):
        self.take(size)
        self.steps.append(["take", size])
        self.withheld["outside_pytorch"] += size

    def pend(self, size):
        if size <= self.hole:
            raise ValueError("it would fill a hole")
        self.take(size)
        self.steps.append(["pend", size])
        self.withheld["pending_free"] += size

    def plan(self, name, cause, request):
        """Refuses to make a plan whose cause is another, or nearly so."""
        if request <= self.left:
            raise ValueError("it would be served")
        if cause == "too_big":
            if self.live + request <= self.capacity:
                raise ValueError("it would fit")
        else:
            serving = {each: size for each, size in self.withheld.items() if self.left + size >= request}
            if self.live + request > self.capacity or not serving or max(serving, key=serving.get) != cause:
                raise ValueError(f"another cause: {serving}")
        steps = self.steps + [["capture"]] * (self.withheld["pending_free"] > 0)
        return {"name": name, "cause": cause, "capacity": self.capacity, "others": self.others, "steps": steps, "request": request}


def fragments(device, total, segment, request):
    """Segments of which every second half is free, in pieces that the request does not fit into."""
    piece = segment // 2
    if piece >= request:
        raise ValueError("a piece would do")
    device.split(total // piece, [piece, piece], [False, True])


def hand_made():
    plans = []

    def made(name, cause, request, fill, capacity=2 * GIB, others=0):
        device = Device(capacity, others)
        fill(device)
        plans.append(device.plan(name, cause, request))

    made("one tensor larger than the card", "too_big", 3 * GIB, lambda d: None)
    made("a full card", "too_big", 400 * MIB, lambda d: [d.hold(300 * MIB) for _ in range(6)])
    made("a full card in many pieces", "too_big", 64 * MIB, lambda d: [d.hold(50 * MIB) for _ in range(40)])
    made("too big though other processes have some", "too_big", 600 * MIB, lambda d: d.hold(1500 * MIB), others=300 * MIB)
    made("halves of 100 MiB", "fragmented", 200 * MIB, lambda d: (fragments(d, 900 * MIB, 100 * MIB, 200 * MIB), d.hold(180 * MIB)))
    made("halves of 20 MiB", "fragmented", 120 * MIB, lambda d: (fragments(d, 500 * MIB, 20 * MIB, 120 * MIB), d.hold(1000 * MIB)))
    made("thirds", "fragmented", 300 * MIB, lambda d: d.split(10, [60 * MIB] * 3, [False, True, False]))
    made("one segment, pinned in its middle", "fragmented", 500 * MIB, lambda d: (d.split(1, [400 * MIB, 20 * MIB, 400 * MIB], [False, True, False]),
                                                                              d.hold(1000 * MIB)))
    made("a MemPool", "private_pools", 600 * MIB, lambda d: (d.pool(900 * MIB), d.hold(800 * MIB)))
    made("two MemPools", "private_pools", 700 * MIB, lambda d: (d.pool(400 * MIB), d.pool(400 * MIB), d.hold(900 * MIB)))
    made("a MemPool used again and again", "private_pools", 500 * MIB, lambda d: (d.pool(1200 * MIB, 2), d.hold(1000 * MIB)))
    made("freed on another stream, in a capture", "pending_free", 600 * MIB, lambda d: (d.hold(700 * MIB), d.pend(900 * MIB)))
    made("many small ones pend", "pending_free", 300 * MIB, lambda d: (d.hold(1200 * MIB), [d.pend(100 * MIB) for _ in range(7)]))
    made("one library has half of it", "outside_pytorch", 800 * MIB, lambda d: (d.outside(1000 * MIB), d.hold(500 * MIB)))
    made("buffers of a library", "outside_pytorch", 300 * MIB, lambda d: ([d.outside(64 * MIB) for _ in range(12)], d.hold(1100 * MIB)))
    made("another process has most of it", "other_process", 600 * MIB, lambda d: d.hold(300 * MIB), others=1400 * MIB)
    made("another process has a little more than is missing", "other_process", 500 * MIB, lambda d: d.hold(1200 * MIB), others=600 * MIB)
    made("fragments and a library, which has more", "outside_pytorch", 400 * MIB,
         lambda d: (d.outside(700 * MIB), fragments(d, 400 * MIB, 80 * MIB, 400 * MIB), d.hold(400 * MIB)))
    made("a library and fragments, which have more", "fragmented", 400 * MIB,
         lambda d: (d.outside(200 * MIB), fragments(d, 700 * MIB, 80 * MIB, 400 * MIB), d.hold(300 * MIB)))
    made("a pool that is large enough, and fragments that are not", "private_pools", 600 * MIB,
         lambda d: (d.pool(700 * MIB), fragments(d, 200 * MIB, 80 * MIB, 600 * MIB), d.hold(700 * MIB)))
    made("another process, a pool and fragments", "other_process", 400 * MIB,
         lambda d: (d.pool(100 * MIB), fragments(d, 120 * MIB, 40 * MIB, 400 * MIB), d.hold(700 * MIB)), others=800 * MIB)
    made("pending, beside a library", "pending_free", 500 * MIB, lambda d: (d.outside(200 * MIB), d.hold(900 * MIB), d.pend(700 * MIB)))
    return plans


def drawn(seed):
    """One of any cause, with others beside it that withhold less."""
    draw = random.Random(f"oom {seed}")

    def size(least, most):
        return draw.randrange(least // (4 * MIB), most // (4 * MIB) + 1) * 4 * MIB

    while True:
        cause = CAUSES[seed % len(CAUSES)] if seed < 2 * len(CAUSES) else draw.choice(CAUSES)
        capacity = draw.choice((1, 2, 4)) * GIB
        request = size(capacity // 16, capacity // 3)
        beside = [each for each in CAUSES[1:] if each != cause and draw.random() < 0.3]
        wanted = {each: size(20 * MIB, request // 2) for each in beside}
        if cause != "too_big":
            wanted[cause] = size(request, min(2 * request, capacity // 2))
        device = Device(capacity, wanted.get("other_process", 0) // (2 * MIB) * (2 * MIB))
        try:
            for each in draw.sample(sorted(wanted), len(wanted)):
                if each == "outside_pytorch":
                    device.outside(wanted[each])
                elif each == "private_pools":
                    device.pool(wanted[each])
                elif each == "fragmented":
                    fragments(device, wanted[each], 2 * size(12 * MIB, max(16 * MIB, request // 3)), request)
            room = size(0, request - 8 * MIB)  # what the driver keeps
            hold = device.left - room - wanted.get("pending_free", 0)
            while hold >= 64 * MIB:
                part = min(hold // (4 * MIB) * 4 * MIB, size(16 * MIB, 256 * MIB))
                device.hold(part)
                hold -= part
            if "pending_free" in wanted:
                device.pend(wanted["pending_free"])
            return device.plan(f"drawn {seed}", cause, request)
        except ValueError:
            continue  # drawn again
