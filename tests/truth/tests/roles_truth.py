# SPDX-License-Identifier: GPL-3.0-or-later
"""What each block of a program was for: what roles_watch.py saw, joined by the number of the allocation with the lives of a run that
nothing watched.

The categories are those of Strata's contract, the first that holds. None stands where nobody can say, and is not scored: batches in
the making, what a forward without gradients left to autograd, what a gradient of a gradient keeps.
"""
import bisect
import itertools
import re

ROLES = ("parameter", "buffer", "optimizer_state", "gradient")
CATEGORIES = ("parameter", "buffer", "optimizer_state", "gradient", "activation", "temporary", "workspace", "communication", "input", "unknown")
NEVER = 1 << 60

#: Functions of PyTorch that ask for workspaces of CUDA's libraries; those that do so beside what they make, without a tensor; and
#: those whose workspaces are tensors like any other.
WORKSPACES = re.compile(r"allocateCUDABlasWorkspace|getCurrentCUDABlas|CUDABlasLtWorkspace|cusolver|CuFFT")
BESIDE = re.compile(r"at::native::(raw_)?(cudnn_convolution|convolution_backward|_?cudnn_)")
TENSORS = re.compile(r"at::native::_cudnn_rnn")
RECORDING = re.compile(r"^(\?\?$|torch::unwind|torch::CapturedTraceback|c10::)")


def asked_by(frames):
    """"workspace", "either" where frames do not tell, else None."""
    names = [frame["name"] for frame in frames]
    first = next((name for name in names if not RECORDING.match(name)), "")
    if any(WORKSPACES.search(name) for name in names[:12]) or BESIDE.match(first):
        return "workspace"
    return "either" if any(TENSORS.search(name) for name in names) else None


class Trace:
    """Allocations of one device in the order of their numbers: sizes, and for each free the number of the allocation that came next."""

    def __init__(self, events):
        self.sizes, self.frees, self.events, self.free_events, self.asked_by = [], [], [], [], {}
        self.segments = []  # (allocations before, bytes taken from the device, negative where given back)
        self.out_of_memory = None  # allocations before the first request that was refused
        live = {}
        for index, event in enumerate(events):
            action = event["action"]
            if action == "alloc":
                number = live[event["addr"]] = len(self.sizes)
                self.sizes.append(event["size"])
                self.events.append(index)
                self.frees.append(NEVER)
                self.free_events.append(NEVER)
                who = asked_by(event.get("frames") or ())
                if who is not None:
                    self.asked_by[number] = who
            elif action == "free_requested" and event["addr"] in live:
                number = live.pop(event["addr"])
                self.frees[number], self.free_events[number] = len(self.sizes), index
            elif action in ("segment_alloc", "segment_free"):
                self.segments.append((len(self.sizes), event["size"] if action == "segment_alloc" else -event["size"]))
            elif action == "oom" and self.out_of_memory is None:
                self.out_of_memory = len(self.sizes)

    def live_at(self, number):
        """Just after the allocation of that number."""
        return [each for each in range(number + 1) if self.frees[each] > number]

    def peak(self):
        """The number of the allocation that makes the highest sum of requested bytes, the first of them."""
        freed = {}
        for number, gap in enumerate(self.frees):
            freed[gap] = freed.get(gap, 0) + self.sizes[number]
        total, best, found = 0, -1, None
        for number, size in enumerate(self.sizes):
            total += size - freed.get(number, 0)
            if total > best:
                best, found = total, number
        return found


class Truth:
    """What is known of every allocation of one program, by number; see the names of the members."""

    def __init__(self, watched, trace):
        self.sizes, self.frees = watched["sizes"], trace.frees
        count = len(self.sizes)
        self.marks = watched["marks"]
        starts = [mark[0] for mark in self.marks]
        rows = [self.marks[bisect.bisect_right(starts, number) - 1] for number in range(count)]
        self.phase, self.module = [row[1] for row in rows], [row[2] for row in rows]
        self.collective = [row[3] for row in rows]
        self.role = {role: {int(number): name for number, name in listed.items()} for role, listed in watched["roles"].items()}
        self.saved = set(watched["saved"])
        self.backwards = [row for row in watched["backwards"] if row[1] is not None]
        self.optimizers = [row for row in watched["optimizers"] if row[1] is not None]
        self.steps = watched["steps"]
        self.asked_by = trace.asked_by
        self.ends = self.ends_of_phases()
        self.category = [self.category_of(number) for number in range(count)]
        self.momentary = {number for number in range(count) if self.category[number] == "gradient" and self.is_momentary(number)}

    def is_momentary(self, number):
        """A gradient that no step sees: a copy that DDP puts into its bucket, while the backward goes on."""
        free = self.frees[number]
        return free <= self.ends[number] and not any(number < first < free for first, _ in self.optimizers)

    def ends_of_phases(self):
        """For each allocation the number at which the phase of its birth is over: that of the whole backward for what it makes,
        whatever is computed again within, and of the whole step of an optimizer, whatever its closures do."""
        ends, at = [0] * len(self.sizes), 0
        for _, run in itertools.groupby(range(len(self.sizes)), key=lambda number: self.phase[number]):
            at += sum(1 for _ in run)
            first = next((n for n in range(at - 1, -1, -1) if self.phase[n] != self.phase[at - 1]), -1) + 1
            ends[first:at] = [at] * (at - first)
        whole = [("backward", first, end) for first, end, depth in self.backwards if depth == 0]
        whole += [("optimizer", first, end) for first, end in self.optimizers]
        for phase, first, end in whole:
            for number in range(first, min(end, len(ends))):
                if self.phase[number] == phase:
                    ends[number] = end
        return ends

    def begins_backward(self, number):
        """Of the first backward after a birth in a forward: the allocation of the loss's gradient."""
        return next((first for first, _, _ in self.backwards if first > number), None)

    def category_of(self, number):
        for role in ROLES:
            if number in self.role.get(role, ()):
                return role
        if self.collective[number]:
            return "communication"
        if self.asked_by.get(number) == "workspace":
            return "workspace"
        if number in self.role.get("input", ()):
            return "input"
        phase, free = self.phase[number], self.frees[number]
        if phase is None:
            return None
        if phase == "forward":
            begin = self.begins_backward(number)
            if begin is not None and free > begin:
                return "activation"
        if phase == "recompute" and free > self.ends[number]:
            return "activation"
        if free <= self.ends[number]:
            return "temporary"
        if number in self.saved or (phase == "backward" and self.graph_of_gradients(number)):
            return None
        return "unknown"

    def graph_of_gradients(self, number):
        """Whether a gradient of a gradient may need it: born in a backward within a forward."""
        inner = [(first, end) for first, end, _ in self.backwards if first <= number < end]
        return any(self.phase[first - 1] == "forward" and end < len(self.phase) and self.phase[end] == "forward" for first, end in inner)

    def boundaries(self):
        """Of each step of training, the numbers between which its end lies, both allowed."""
        return [(step["optimizer_end"], step["next_forward"] if step.get("next_forward") is not None else NEVER)
                for step in self.steps if step["kind"] == "train"]

    def ends_of_backward(self):
        """The last allocation of each step's last backward."""
        return [step["backward_end"] - 1 for step in self.steps if step["kind"] == "train" and step["backward_end"] > step["begin"]]

    def module_at(self, number):
        """(class of the root, path) of the module whose forward runs; None: none does."""
        found = self.module[number]
        return None if found is None else tuple(found.split(":", 1))

    def accepts(self, number, told):
        """Whether that may be said of it; a tensor that a library works in is a workspace, too, and what is a gradient for a moment
        a temporary."""
        return told == self.category[number] or (
            told == "workspace" and self.category[number] == "temporary" and self.asked_by.get(number) == "either") or (
            told == "temporary" and number in self.momentary)

    def as_json(self, name):
        return {"name": name, "sizes": self.sizes, "frees": [None if free == NEVER else free for free in self.frees],
                "category": self.category, "phase": self.phase, "module": self.module, "role_names": self.role,
                "saved": sorted(self.saved), "momentary": sorted(self.momentary), "steps": self.steps}


class KeptTruth(Truth):
    """What as_json() wrote, and the trace that it is of: enough to score answers again."""

    def __init__(self, kept, trace):  # pylint: disable=super-init-not-called
        self.sizes, self.frees, self.asked_by = kept["sizes"], trace.frees, trace.asked_by
        self.category, self.phase, self.module, self.steps = (kept[key] for key in ("category", "phase", "module", "steps"))
        self.saved, self.momentary, self.role = set(kept["saved"]), set(kept["momentary"]), kept["role_names"]


def joined(watched, trace):
    """The truth, or what keeps the two runs from being the same program."""
    if watched["sizes"] != trace.sizes:
        pairs = itertools.zip_longest(watched["sizes"], trace.sizes)
        at = next(index for index, (a, b) in enumerate(pairs) if a != b)
        return None, f"allocations differ from number {at} of {len(trace.sizes)} on: {watched['sizes'][at:at + 3]}, {trace.sizes[at:at + 3]}"
    return Truth(watched, trace), None
