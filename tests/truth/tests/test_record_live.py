# SPDX-License-Identifier: GPL-3.0-or-later
"""A real training that is watched while it is recorded: what a viewer has is what the recording has."""
import json
import os
import signal
import subprocess
import tempfile
import time

import pytest

from record_tools import with_package
from running import strata_json

pytestmark = pytest.mark.torch("newest")

#: Trains until it is told to end, and says when it has begun.
TRAIN = """
import os, sys, time, torch
model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(4)]).cuda()
optimizer = torch.optim.Adam(model.parameters())
print("ready", flush=True)
for number in range(100_000):
    with torch.profiler.record_function(f"step {number}"):
        optimizer.zero_grad(set_to_none=True)
        model(torch.randn(64, 256, device="cuda")).sum().backward()
        optimizer.step()
    if number > 200:
        time.sleep(0.01)  # while others look on, the processor is theirs
        if os.path.exists(sys.argv[1]):
            break
"""
SELF = "import strata_capture\nstrata_capture.start(FILE, live=True)\n" + TRAIN + "\nstrata_capture.stop()\n"
#: As one rank of several.
RANK = TRAIN.replace("import os, sys, time, torch\n", "import os, sys, time, torch\ntorch.cuda.set_device(int(os.environ['LOCAL_RANK']))\n")
SIMULATED = ["--simulated", "T4-16GB"]


class Run:
    """A program that trains in a folder of its own, with the sockets of its processes in another."""

    def __init__(self, strata, build, folder):
        self.strata, self.folder, self.end = strata, folder, os.path.join(folder, "end")
        self.environment = with_package(build, XDG_RUNTIME_DIR=folder)
        self.viewers = []

    def start(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder, env=self.environment)
        return self.process.stdout.readline() == "ready\n"

    def attach(self, number, *options):
        self.viewers.append(subprocess.Popen([self.strata, "attach", str(number), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                             text=True, cwd=self.folder, env=self.environment))
        return self.viewers[-1]

    def list(self):
        """Of those that are live: who else runs PyTorch on this machine is told of, too."""
        listed = strata_json(self.strata, ["list", "--json"], env=self.environment)[1]
        return {**listed, "processes": [process for process in listed["processes"] if process["state"] == "live"]}

    def finish(self):
        open(self.end, "w").close()
        out, said = self.process.communicate(timeout=120)
        return said, [(viewer.wait(timeout=30), *viewer.communicate()) for viewer in self.viewers]


def content(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


@pytest.fixture
def run(strata, build):
    with tempfile.TemporaryDirectory() as folder:  # a short name: sockets have one of a hundred bytes at most
        yield Run(strata, build, folder)


def test_to_a_file(run, python, failures):
    """Viewers that join at other times, one of which is stopped for a while: each file is the recorded one."""
    failures.expect("to a file", "trains", run.start([run.strata, "record", "--live", "-o", "run.strata", *SIMULATED, "--", python, "-c", TRAIN, run.end]))
    listed = run.list()
    failures.expect("to a file", "processes", len(listed["processes"]), 1)
    process = listed["processes"][0]
    failures.expect("to a file", "keys", list(process), ["pid", "name", "job", "rank", "world_size", "address", "state", "devices", "events_per_second", "file"])
    failures.expect("to a file", "keys of a device", list(process["devices"][0]), ["device", "used_bytes", "reserved_bytes", "requested_bytes"])
    failures.expect("to a file", "has memory", process["devices"][0]["requested_bytes"] > 1 << 20)
    for number in range(3):
        run.attach(process["pid"] if number else process["address"], "-o", f"seen{number}.strata", *(["--json"] if number == 0 else []))
        time.sleep(0.2)
    run.viewers[1].send_signal(signal.SIGSTOP)
    time.sleep(1.5)
    run.viewers[1].send_signal(signal.SIGCONT)
    said, viewers = run.finish()
    failures.expect("to a file", "exit", run.process.returncode, 0)
    for number, (code, out, err) in enumerate(viewers):
        failures.expect("to a file", f"viewer {number}", (code, "attached to process" in err), (0, True))
        failures.expect("to a file", f"file of viewer {number}", content(run.folder, f"seen{number}.strata") == content(run.folder, "run.strata"))
    lines = [json.loads(line) for line in viewers[0][1].splitlines()]
    failures.expect("to a file", "a line a second", len(lines) >= 2 and list(lines[0])[:2] == ["time_ns", "pid"])
    failures.expect("to a file", "nothing is left", (run.list()["processes"], os.listdir(os.path.join(run.folder, "strata"))), ([], []))
    _, summary = strata_json(run.strata, ["summary", "--json", os.path.join(run.folder, "seen1.strata")])
    failures.expect("to a file", "exact", summary["devices"][0]["integrity"]["exact"])


def test_without_a_file(run, simgpu, python, failures):
    """A program that records itself, for those who look on alone: who joins late begins with the state there."""
    program = SELF.replace("live=True", "live=True, live_memory=60_000").replace("FILE", "None")
    failures.expect("without a file", "trains", run.start([simgpu, "--", python, "-c", program, run.end]))
    time.sleep(1.5)
    run.attach(run.list()["processes"][0]["pid"], "-o", "late.strata")
    time.sleep(0.5)
    said, [(code, _, err)] = run.finish()
    failures.expect("without a file", "exit and complaints", (run.process.returncode, said), (0, ""))
    failures.expect("without a file", "viewer", (code, "joined late" in err), (0, True))
    _, summary = strata_json(run.strata, ["summary", "--json", os.path.join(run.folder, "late.strata")])
    device = summary["devices"][0]
    failures.expect("without a file", "exact", device["integrity"]["exact"])
    failures.expect("without a file", "begins with the model", device["requested_bytes_start"] > 4 * 256 * 256 * 4)
    failures.expect("without a file", "is complete", "interrupted" not in json.dumps(device["integrity"]["notes"]))


@pytest.mark.parametrize("how", [["record", *SIMULATED], pytest.param(["dryrun"], marks=pytest.mark.long)], ids=lambda how: how[0])
def test_ranks(run, python, how, failures):
    """A job of torchrun: every rank is there, and known as one of that job; who starts them is not."""
    name = "ranks"
    program = os.path.join(run.folder, "train.py")
    with open(program, "w", encoding="utf-8") as file:
        file.write(RANK)
    failures.expect(name, "trains", run.start([run.strata, *how, "--live", "--devices", "2", "--", python, "-m", "torch.distributed.run",
                                               "--nproc_per_node=2", program, run.end]))
    job = []
    for _ in range(300):
        job = [process for process in run.list()["processes"] if process["job"]]
        if len(job) == 2 and all(process["devices"] for process in job):
            break
        time.sleep(0.1)
    failures.expect(name, "states", [process["state"] for process in job], ["live", "live"])
    failures.expect(name, "ranks", [(process["rank"], process["world_size"]) for process in job], [(0, 2), (1, 2)])
    failures.expect(name, "one job", len({process["job"] for process in job}), 1)
    failures.expect(name, "devices", [[device["device"] for device in process["devices"]] for process in job], [[0], [1]])
    failures.expect(name, "names", {process["name"] for process in job}, {"train.py"})
    text = subprocess.run([run.strata, "list"], env=run.environment, capture_output=True, text=True).stdout
    failures.expect(name, "text", f"job {job[0]['job'] if job else None}: 2 of 2 ranks" in text and " 1/2 " in text)
    run.attach(job[-1]["pid"] if job else 0, "--json")
    time.sleep(1.5)
    _, [(code, out, _)] = run.finish()
    lines = [json.loads(line) for line in out.splitlines()]
    failures.expect(name, "attached to the second", (code, {(line["rank"], line["job"]) for line in lines}), (0, {(1, job[-1]["job"] if job else None)}))
    failures.expect(name, "exit", run.process.returncode, 0)


@pytest.mark.long  # test_live has a killed process with a fake allocator
def test_killed(run, simgpu, python, failures):
    failures.expect("killed", "trains", run.start([simgpu, "--", python, "-c", SELF.replace("FILE", "'run.strata'"), run.end]))
    number = run.list()["processes"][0]["pid"]
    viewer = run.attach(number, "-o", "seen.strata")
    time.sleep(1)
    os.kill(number, signal.SIGKILL)
    run.process.communicate()
    failures.expect("killed", "viewer", (viewer.wait(timeout=30), "did not end its recording" in viewer.communicate()[1]), (0, True))
    seen, recorded = content(run.folder, "seen.strata"), content(run.folder, "run.strata")
    same = len(os.path.commonprefix([seen, recorded]))
    # Behind what was received there are but the symbols that were looked up then.
    failures.expect("killed", "all to the last chunk", same > 1000 and seen[same:same + 8] in (b"", b"STRC\1\1\x10\0", b"STRC\1\0\x10\0"))
    failures.expect("killed", "list", run.list()["processes"], [])
