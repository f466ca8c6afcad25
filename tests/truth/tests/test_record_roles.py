# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recording says of tensors, modules and phases, against what the program itself says of them.

Python's programs say after each step where their parameters, gradients and states are, and allocate sizes of their own in each
place; one of C++ lists its tensors itself. They run one after the other in forks of one Python.
"""
import collections
import json
import os
import subprocess

import pytest

import forks
import record_tools
import running
from cpp import compiled

SOURCE = os.path.join(running.PROGRAMS, "roles.cpp")
#: Says as JSON, a line a step: {optimizer: {role: {name: address}}}.
SAYS = """
import json, torch, torch.nn as nn
def say(**optimizers):
    told = {}
    for title, (optimizer, named) in optimizers.items():
        names = {id(p): n for n, p in named}
        mine = told[title] = {"parameter": {}, "gradient": {}, "optimizer_state": {}}
        for group in optimizer.param_groups:
            for p in group["params"]:
                name = names[id(p)]
                mine["parameter"][name] = p.data_ptr()
                if p.grad is not None and not p.grad.is_sparse:
                    mine["gradient"][name] = p.grad.data_ptr()
                for key, value in optimizer.state.get(p, {}).items():
                    if torch.is_tensor(value) and value.is_cuda:
                        mine["optimizer_state"][f"{name} {key}"] = value.data_ptr()
    print(json.dumps(told), flush=True)
"""
TIED = "tied weights and buffers"
PROGRAMS = {
    TIED: """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.norm, self.head = nn.Embedding(50, 64), nn.BatchNorm1d(64), nn.Linear(64, 50, bias=False)
        self.head.weight = self.embed.weight
    def forward(self, x):
        return self.head(self.norm(self.embed(x)))
net = Net().cuda()
o = torch.optim.AdamW(net.parameters())
for step in range(4):
    net(torch.zeros(8, dtype=torch.long, device="cuda")).sum().backward()
    o.step()
    say(AdamW=(o, net.named_parameters()))
    o.zero_grad()
    if step == 1:
        kept = torch.empty(1 << 20, device="cuda")  # gradients lie elsewhere from now on
print(json.dumps({"buffer": {n: b.data_ptr() for n, b in net.named_buffers()}}))
""",
    "two optimizers of modules with the same names": """
g, d = nn.Sequential(nn.Linear(8, 64), nn.Linear(64, 8)).cuda(), nn.Sequential(nn.Linear(8, 32), nn.Linear(32, 1)).cuda()
og, od = torch.optim.Adam(g.parameters()), torch.optim.SGD(d.parameters(), lr=0.1, momentum=0.9)
for step in range(3):
    d(g(torch.ones(4, 8, device="cuda"))).sum().backward()
    og.step()
    od.step()
    say(Adam=(og, g.named_parameters()), SGD=(od, [("Sequential." + n, p) for n, p in d.named_parameters()]))
    og.zero_grad()
    od.zero_grad(set_to_none=False)
""",
    "a closure and a parameter without a gradient": """
net = nn.Sequential(nn.Linear(8, 32), nn.Linear(32, 4)).cuda()
net[0].bias.requires_grad_(False)
o = torch.optim.LBFGS([p for p in net.parameters() if p.requires_grad], max_iter=2)
def closure():
    o.zero_grad()
    loss = net(torch.ones(4, 8, device="cuda")).sum()
    loss.backward()
    return loss
for step in range(2):
    o.step(closure)
    say(LBFGS=(o, net.named_parameters()))
print(json.dumps({"parameter": {"0.bias": net[0].bias.data_ptr()}}))
""",
    "sparse gradients": """
net = nn.Embedding(1000, 16, sparse=True).cuda()
o = torch.optim.SparseAdam(list(net.parameters()))
for step in range(2):
    net(torch.zeros(8, dtype=torch.long, device="cuda")).sum().backward()
    o.step()
    say(SparseAdam=(o, net.named_parameters()))
""",
    "what nobody expects": """
import warnings
warnings.simplefilter("ignore")
plain = nn.Linear(8, 8)  # named first, and in no other
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line, self.script, self.lazy = nn.Linear(8, 8), torch.jit.script(plain), nn.LazyLinear(4)
        self.register_buffer("seen", torch.zeros(8))
    def forward(self, x):
        self.seen = x.detach().sum(0)
        return self.script(self.line(x))
net = Net().cuda()
o = torch.optim.Adam([*net.line.parameters(), *net.script.parameters()])
o.state["k"] = torch.zeros(1)  # as MADGRAD has it
for step in range(4):
    net(torch.ones(4, 8, device="cuda")).sum().backward()
    o.step()
    say(Adam=(o, [(n.replace("script", "Linear"), p) for n, p in net.named_parameters() if "lazy" not in n]))
    o.zero_grad()
    if step == 1:  # past all hooks, as FSDP does it, and as anybody may
        net.line._parameters["weight"] = nn.Parameter(net.line.weight.detach().clone())
        net.line.bias = nn.Parameter(net.line.bias.detach().clone())
        o.param_groups[0]["params"][:2] = [net.line.weight, net.line.bias]
print(json.dumps({"buffer": {"seen": net.seen.data_ptr()}}))
""",
    "parameters whose type changes": """
net = nn.Linear(8, 8).cuda()
o = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    net(torch.ones(4, 8, device="cuda", dtype=net.weight.dtype)).sum().backward()
    o.step()
    say(SGD=(o, net.named_parameters()))
    o.zero_grad()
    if step == 1:
        net.half()
print(json.dumps({"dtype": {"weight": "float16", "bias": "float16"}}))
""",
    "a step that is compiled": """
net = nn.Sequential(nn.Linear(8, 32), nn.Linear(32, 4)).cuda()
o = torch.optim.AdamW(net.parameters())
compiled = torch.compile(o.step, backend="eager")
for step in range(4):
    net(torch.ones(4, 8, device="cuda")).sum().backward()
    compiled()
    say(AdamW=(o, net.named_parameters()))
    o.zero_grad()
    if step == 1:
        kept = torch.empty(1 << 20, device="cuda")
frames = torch._dynamo.utils.counters["frames"]["total"]
assert frames < 30, f"{frames} frames compiled"
""",
    "modules that are copies": """
import copy
net = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2).cuda()
mean = copy.deepcopy(net)
o = torch.optim.AdamW(net.parameters())
for step in range(2):
    net(torch.ones(2, 4, 16, device="cuda")).sum().backward()
    o.step()
    say(AdamW=(o, net.named_parameters()))
print(json.dumps({"parameter": {"TransformerEncoder." + n: p.data_ptr() for n, p in mean.named_parameters()}}))
""",
}

LATE = """
net = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32)).cuda()
o = torch.optim.AdamW(net.parameters())
def step():
    net(torch.ones(4, 8, device="cuda")).sum().backward()
    o.step()
step()
import os, strata_capture
assert strata_capture.start("run.strata") == "recording"
step()
say(AdamW=(o, net.named_parameters()))
print(json.dumps({"buffer": {n: b.data_ptr() for n, b in net.named_buffers()}}))
strata_capture.stop()
"""

#: Forks while other threads build modules; optimizers of several threads step at once and end.
THREADS = """
import gc, json, os, signal, threading, time, torch, torch.nn as nn
def train(steps):
    net = nn.Sequential(nn.Linear(8, 32), nn.Linear(32, 4)).cuda()
    o = torch.optim.AdamW(net.parameters())
    for _ in range(steps):
        net(torch.ones(4, 8, device="cuda")).sum().backward()
        o.step()
        o.zero_grad()
train(1)
def build():
    while building:
        nn.Sequential(*[nn.ReLU() for _ in range(20)])
def ends(child):
    for _ in range(2000):
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False
building, builders = True, [threading.Thread(target=build) for _ in range(2)]
for each in builders:
    each.start()
hung = 0
for _ in range(FORKS):
    child = os.fork()
    if child == 0:
        nn.Sequential(nn.ReLU())
        os._exit(0)
    if not ends(child):
        hung += 1
        break
building = False
threads = [threading.Thread(target=train, args=(30,)) for _ in range(4)]
for each in threads:
    each.start()
for each in builders + threads:
    each.join()
gc.collect()
print(json.dumps({"hung": hung}))
"""
#: Allocates a number of 4-byte elements of its own at each place, and says which module and phase that is.
PLACES = """
import json, torch, torch.nn as nn
from torch.utils.checkpoint import checkpoint
wanted, kept, keeps = {}, [], False
def phase():
    if torch.is_inference_mode_enabled():
        return "inference"
    grad = torch.is_grad_enabled()
    if torch._C._current_graph_task_id() == -1:
        return "grad" if grad else "no_grad"
    return ("backward_grad_keep" if keeps else "backward_grad") if grad else "backward"
def at(module):
    size = 100_000 + 1000 * len(wanted)
    wanted[size * 4] = (module, phase())
    kept.append(torch.empty(size, device="cuda"))
class Noisy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        at("h.0.inner")
        return x * 1
    @staticmethod
    def backward(ctx, grad):
        at("h.0.inner")
        return grad * 1
class Inner(nn.Module):
    def forward(self, x):
        at("h.0.inner")
        return Noisy.apply(x)
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.line = Inner(), nn.Linear(16, 16)
    def forward(self, x):
        x = self.line(self.inner(x))
        at("h.0")
        if x.requires_grad:
            x.register_hook(lambda grad: at("h.0.line"))
        return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.h = nn.ModuleList([Layer()])
    def forward(self, x, **how):
        at("Net")
        return checkpoint(self.h[0], x, **how) if how else self.h[0](x)
class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        at(None)
        return x * 1
    @staticmethod
    def backward(ctx, grad):
        at(None)
        return grad * 1
net, x = Net().cuda(), torch.ones(4, 16, device="cuda", requires_grad=True)
loss = net(x).exp()
loss.register_hook(lambda grad: at(None))
loss.sum().backward()
Loss.apply(net(x)).sum().backward()
for reentrant in (False, True):
    net(x, use_reentrant=reentrant).sum().backward()
with torch.no_grad():
    net(x)
    at(None)
with torch.inference_mode():
    net(x)
loss, keeps = net(x).sum(), True
torch.autograd.grad(loss, x, create_graph=True)[0].sum().backward()
keeps = False
at(None)
print(json.dumps(wanted))
"""


#: Says what is to be listed, and what is not, as [role, name, address]; and addresses where nothing may be listed.
WITHOUT_OPTIMIZER = """
import json, torch, torch.nn as nn
from torch.func import functional_call, grad, vmap
listed, others, kept = [], [], []
def say(to, role, name, tensor):
    to.append([role, name, tensor.data_ptr()])
def of(role, tensors):
    for name, tensor in tensors.items():
        say(listed, role, name, tensor)
x = torch.ones(4, 8, device="cuda")
assigned = nn.Linear(8, 16).cuda()
net = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32)).cuda().eval()
for step in range(3):
    for name, p in assigned.named_parameters():
        p.data = torch.randn_like(p)
    of("parameter", dict(assigned.named_parameters()))
    assigned(x).sum().backward()
weights, buffers = ({name: each.detach().clone() for name, each in found} for found in (net.named_parameters(), net.named_buffers()))
for step in range(3):
    weights = {name: each.requires_grad_() for name, each in weights.items()}
    loss = functional_call(net, (weights, buffers), (x,)).sum()
    slopes = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
    for role, tensors in ("parameter", weights.values()), ("buffer", buffers.values()), ("gradient", slopes):
        of(role, {"Sequential." + name: each for name, each in zip(buffers if role == "buffer" else weights, tensors)})
    made = {name: each - 0.1 * slope for (name, each), slope in zip(weights.items(), slopes)}
    functional_call(net, (made, buffers), (x,))
    for name, each in made.items():  # it hangs in a graph
        say(others, "parameter", "Sequential." + name, each)
    weights = {name: each.detach().clone() for name, each in made.items()}
stacked = [{name: torch.stack([each.detach()] * 3) for name, each in tensors.items()} for tensors in (weights, buffers)]
vmap(lambda *each: functional_call(net, each, (x,)))(*stacked)
grad(lambda each: functional_call(net, each, (x,)).sum())(weights)
for tensors, role in (stacked[0], "parameter"), (stacked[1], "buffer"), (weights, "parameter"):
    of(role, {"Sequential." + name: each for name, each in tensors.items()})
compiled = torch.compile(lambda each: functional_call(net, each, (x,)).sum(), fullgraph=True, backend="eager")
compiled(weights)
with torch.no_grad():  # nobody asks for gradients of generated weights
    large = nn.Linear(8, 65536, device="meta")  # too large to lie where small ones lay
    generated = {name: torch.ones(each.shape, device="cuda") for name, each in large.named_parameters()}
    functional_call(large, generated, (x,))
kept += generated.values()
attacked = [torch.ones(65536, 8, device="cuda", requires_grad=True) for _ in range(2)]
for step in range(3):  # a pair that an attack changes, as of positions and a cell
    slopes = torch.autograd.grad((net(attacked[0]) * net(attacked[1])).sum(), attacked)
    with torch.no_grad():
        for each, slope in zip(attacked, slopes):
            each.add_(slope.sign(), alpha=0.1)
kept += [*attacked, *slopes]
print(json.dumps({"listed": listed, "others": others, "kept": [each.data_ptr() for each in kept]}))
"""


#: Weights that no module has, and an input alike, which the program leaves as it is.
WITHOUT_MODULES = """
import json, torch
listed, others, kept = [], [], []
weight, bias, data = (torch.ones(*shape, device="cuda", requires_grad=True) for shape in ((8, 24), (24,), (65536, 8)))
for step in range(3):
    slopes = torch.autograd.grad((data @ weight + bias).sum(), (weight, bias, data))
    if step:
        listed += [["gradient", f"parameter {number}", each.data_ptr()] for number, each in enumerate(slopes[:2])]
    with torch.no_grad():
        for each, slope in zip((weight, bias), slopes):
            each.sub_(slope, alpha=0.1)
listed += [["parameter", f"parameter {number}", each.data_ptr()] for number, each in enumerate((weight, bias))]
attacked = torch.ones(65536, 8, device="cuda", requires_grad=True)
for step in range(3):
    slope, = torch.autograd.grad((attacked @ weight).sum(), attacked)
    with torch.no_grad():
        attacked.add_(slope.sign(), alpha=0.1)
kept += [data, slopes[2], attacked, slope]
print(json.dumps({"listed": listed, "kept": [each.data_ptr() for each in kept]}))
"""


#: torch.compile runs backwards of its own, and backends of Python.
COMPILED = """
net = nn.Sequential(nn.Linear(8, 32), nn.Linear(32, 8)).cuda()
def penalty(x):
    y = net(x).sum()
    slope, = torch.autograd.grad(y, x, create_graph=True)
    return y + slope.norm()
compiled = torch.compile(penalty, backend="eager")
def step(x):
    loss = net(x).square().mean()
    loss.backward()
    return loss.detach()
once = torch.compile(step, backend="eager")
for _ in range(2):
    compiled(torch.ones(4, 8, device="cuda", requires_grad=True)).backward()
    once(torch.ones(4, 8, device="cuda"))
o = torch.optim.AdamW(net.parameters())
for _ in range(3):
    compiled(torch.ones(4, 8, device="cuda", requires_grad=True)).backward()
    o.step()
    say(AdamW=(o, net.named_parameters()))
    o.zero_grad()
"""


def look_at_tensors(name, session, said, failures):
    rows = record_tools.roles(session)
    standing, titles = collections.defaultdict(dict), {}
    steps = iter([each for each in said if not {"buffer", "parameter", "dtype"} & each.keys()])
    waiting = {}
    for row in rows:
        place = standing[row["optimizer"]]
        if row["role"] != "stepped":
            key = (row["role"], f"{row['name']} {row['part']}".strip())
            place.pop(key, None)
            if row["address"]:
                place[key] = row["address"]
            continue
        titles[row["optimizer"]] = row["name"]
        if not waiting:
            waiting = dict(next(steps, {}))
        wanted = waiting.pop(row["name"], None)
        got = {role: {n: a for (r, n), a in place.items() if r == role and "." not in n.partition(" ")[2] and " values" not in n and " indices" not in n}
               for role in ("parameter", "gradient", "optimizer_state")}
        failures.expect(name, f"step of {row['name']}", got, wanted)
    failures.expect(name, "steps told", next(steps, None), None)
    failures.expect(name, "an optimizer each", len(titles), len(set(titles.values())))
    for each in said:
        if "dtype" in each:
            types = {row["name"]: row["dtype"] for row in rows if row["role"] == "gradient" and row["address"]}
            failures.expect(name, "types of gradients", types, each["dtype"])
        for role in ("buffer", "parameter"):
            if role in each:
                of_modules = {n: a for (r, n), a in standing[None].items() if r == role}
                failures.expect(name, role + "s of modules", {n: of_modules.get(n) for n in each[role]}, each[role])


class Recorded:
    """Programs in the order of their names: how each ended, what it said, and its session."""

    def __init__(self, start, python, programs, folder, is_own=False, **more):
        ended, _ = forks.apart(start, python, list(programs.values()), folder, **more)
        self.ended = dict(zip(programs, ended))
        self.sessions = {name: os.path.join(each.folder, "run.strata") if is_own else os.path.join(folder, f"{each.process}.strata")
                         for name, each in self.ended.items()}

    def look(self, name, failures):
        """The session, and the lines that the program said."""
        each = self.ended[name]
        failures.expect(name, "status", (each.status, each.stderr[-500:] if each.status else ""), (0, ""))
        return self.sessions[name], [json.loads(line) for line in each.stdout.splitlines() if line.startswith("{")]


def record(strata, python, programs, folder):
    return Recorded([strata, "record", "--simulated", "A100-80GB", "-o", os.path.join(folder, "{process}.strata"), "--"], python, programs, folder)


@pytest.fixture(scope="module")
def recorded(strata, python, tmp_path_factory):
    """What `strata record` recorded."""
    programs = {name: SAYS + text for name, text in PROGRAMS.items() if name != TIED}
    programs |= {"without an optimizer": WITHOUT_OPTIMIZER, "without modules": WITHOUT_MODULES, "compiled": SAYS + COMPILED}
    return record(strata, python, {**programs, "threads": THREADS.replace("FORKS", "100" if running.LONG else "30")}, str(tmp_path_factory.mktemp("roles")))


@pytest.fixture(scope="module")
def own(simgpu, build, python, tmp_path_factory):
    """Programs that begin their recordings themselves."""
    starts = "import strata_capture\nstrata_capture.start('run.strata')\n"
    return Recorded([simgpu, "--"], python, {"late": SAYS + LATE, "places": starts + PLACES + "strata_capture.stop()\n"},
                    str(tmp_path_factory.mktemp("own")), is_own=True, env=record_tools.with_package(build))


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != TIED])
def test_tensors(recorded, name, failures):
    look_at_tensors(name, *recorded.look(name, failures), failures)


@pytest.mark.parametrize("program, kept", [("without an optimizer", 6), ("without modules", 4)])
def test_tensors_without_an_optimizer(recorded, failures, program, kept):
    session, said = recorded.look(program, failures)
    failures.expect("listing", "still told", "not recorded any more" in recorded.ended[program].stderr, False)
    rows = {(row["role"], row["name"], row["address"]) for row in record_tools.roles(session)}
    found = said[-1] if said else {}
    for name, is_listed in ("listed", True), ("others", False):
        failures.expect(name, "tensors", bool(found.get(name)), name == "listed" or program == "without an optimizer")
        failures.expect(name, "of them in the recording", [each for each in found.get(name, []) if (tuple(each) in rows) != is_listed], [])
    failures.expect("inputs", "kept", len(found.get("kept", [])), kept)
    failures.expect("inputs", "listed", [row for row in rows if row[2] in found.get("kept", [])], [])


def test_tensors_of_a_compiled_program(recorded, failures):
    look_at_tensors("compiled", *recorded.look("compiled", failures), failures)
    stderr = recorded.ended["compiled"].stderr
    failures.expect("compiled", "warnings", [line for line in stderr.splitlines() if "strata" in line or "UserWarning" in line], [])


def test_tensors_of_a_recording_that_begins_late(own, failures):
    look_at_tensors("late", *own.look("late", failures), failures)


def look_at_places(strata, session, said, failures):
    events = subprocess.run([strata, "events", "--json", session], capture_output=True, text=True)
    wanted = {int(size): tuple(place) for size, place in said[-1].items()} if said else {}
    got = {}
    for line in events.stdout.splitlines()[1:]:
        event = json.loads(line)
        if event["action"] == "alloc" and event["bytes"] in wanted:
            got[event["bytes"]] = (event["module"], event["autograd"])
    failures.expect("places", "module and phase", got, wanted)
    failures.expect("places", "places", len(wanted) >= 20, True)


@pytest.mark.torch("older")
def test_tensors_and_places(strata, python, tmp_path, failures):
    found = record(strata, python, {TIED: SAYS + PROGRAMS[TIED], "places": PLACES}, str(tmp_path))
    look_at_tensors(TIED, *found.look(TIED, failures), failures)
    look_at_places(strata, *found.look("places", failures), failures)


def test_places_of_a_program_that_records_itself(strata, own, failures):
    look_at_places(strata, *own.look("places", failures), failures)


def test_threads(recorded, failures):
    session, said = recorded.look("threads", failures)
    failures.expect("threads", "still told", "not recorded any more" in recorded.ended["threads"].stderr, False)
    rows = record_tools.roles(session)
    failures.expect("threads", "children that hung", said, [{"hung": 0}])
    failures.expect("threads", "optimizers", len({row["optimizer"] for row in rows if row["role"] == "stepped"}), 5)
    standing = {(row["role"], row["name"], row["part"], row["optimizer"]): row["address"] for row in rows}
    failures.expect("threads", "what stands of them at the end", [key for key, address in standing.items() if address], [])


def test_cpp(strata, build, python, tmp_path, failures):
    name, session = "C++", str(tmp_path / "run.strata")
    program = compiled(python, failures, SOURCE, ("-O0", *record_tools.linked(build)))
    if program is None:
        return
    done = record_tools.record(strata, ["--simulated", "A100-80GB", "-o", session], [program])
    failures.expect(name, "exit", (done.returncode, done.stderr[-500:] if done.returncode else ""), (0, ""))
    rows = record_tools.roles(session)
    parameters = {"0.weight": 256 * 512, "0.bias": 512, "1.weight": 512, "1.bias": 512, "2.weight": 5120, "2.bias": 10}
    told = collections.defaultdict(dict)
    for row in rows:
        if row["address"]:
            told[row["role"]][f"{row['name']} {row['part']}".strip()] = row["elements"]
    for role in ("parameter", "gradient"):
        failures.expect(name, role, told[role], parameters)
    failures.expect(name, "states", told["optimizer_state"],
                    {**{f"{each} {part}": count for each, count in parameters.items() for part in ("exp_avg", "exp_avg_sq")},
                     "0.weight old_dirs.0": 4, "0.weight old_dirs.1": 4})
    last = {row["part"]: row["address"] for row in rows}
    failures.expect(name, "state that became shorter", (last.get("old_dirs.0") != 0, last.get("old_dirs.1")), (True, 0))
    failures.expect(name, "buffers", told["buffer"], {"1.running_mean": 512, "1.running_var": 512, "1.num_batches_tracked": 1})
    failures.expect(name, "input", told["input"], {"batch": 64 * 256})
    failures.expect(name, "steps", [row["name"] for row in rows if row["role"] == "stepped"], ["AdamW"] * 2 + ["LBFGS"] * 2)
