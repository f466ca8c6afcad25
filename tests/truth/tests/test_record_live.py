# SPDX-License-Identifier: GPL-3.0-or-later
"""A real training that is watched while it is recorded: what a viewer has is what the recording has.

usage: test_record_live.py STRATA STRATA_SIMGPU BUILD_FOLDER [--python PYTHON]...

Skipped (exit 77) without a Python with PyTorch.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from running import LONG, PROJECT, main, strata_json

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

    def __init__(self, arguments, folder):
        self.strata, self.folder, self.end = arguments.strata, folder, os.path.join(folder, "end")
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": folder, "PYTHONPATH": os.path.join(PROJECT, "capture", "python"),
                            "STRATA_CAPTURE_LIBRARY": os.path.join(arguments.build, "lib", "strata", "libstrata_capture.so")}
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


def to_a_file(arguments, python, failures):
    """Viewers that join at other times, one of which is stopped for a while: each file is the recorded one."""
    name = f"{python}: to a file"
    with tempfile.TemporaryDirectory() as folder:
        run = Run(arguments, folder)
        failures.expect(name, "trains", run.start([arguments.strata, "record", "--live", "-o", "run.strata", *SIMULATED, "--", python, "-c", TRAIN, run.end]))
        listed = run.list()
        failures.expect(name, "processes", len(listed["processes"]), 1)
        process = listed["processes"][0]
        failures.expect(name, "keys", list(process), ["pid", "name", "job", "rank", "world_size", "address", "state", "devices", "events_per_second", "file"])
        failures.expect(name, "keys of a device", list(process["devices"][0]), ["device", "used_bytes", "reserved_bytes", "requested_bytes"])
        failures.expect(name, "has memory", process["devices"][0]["requested_bytes"] > 1 << 20)
        for number in range(3):
            run.attach(process["pid"] if number else process["address"], "-o", f"seen{number}.strata", *(["--json"] if number == 0 else []))
            time.sleep(0.2)
        run.viewers[1].send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        run.viewers[1].send_signal(signal.SIGCONT)
        said, viewers = run.finish()
        failures.expect(name, "exit", run.process.returncode, 0)
        for number, (code, out, err) in enumerate(viewers):
            failures.expect(name, f"viewer {number}", (code, "attached to process" in err), (0, True))
            failures.expect(name, f"file of viewer {number}", content(folder, f"seen{number}.strata") == content(folder, "run.strata"))
        lines = [json.loads(line) for line in viewers[0][1].splitlines()]
        failures.expect(name, "a line a second", len(lines) >= 2 and list(lines[0])[:2] == ["time_ns", "pid"])
        failures.expect(name, "nothing is left", (run.list()["processes"], os.listdir(os.path.join(folder, "strata"))), ([], []))
        _, summary = strata_json(arguments.strata, ["summary", "--json", os.path.join(folder, "seen1.strata")])
        failures.expect(name, "exact", summary["devices"][0]["integrity"]["exact"])


def without_a_file(arguments, python, failures):
    """A program that records itself, for those who look on alone: who joins late begins with the state there."""
    name = f"{python}: without a file"
    with tempfile.TemporaryDirectory() as folder:
        run = Run(arguments, folder)
        program = SELF.replace("live=True", "live=True, live_memory=60_000").replace("FILE", "None")
        failures.expect(name, "trains", run.start([arguments.simgpu, "--", python, "-c", program, run.end]))
        time.sleep(1.5)
        run.attach(run.list()["processes"][0]["pid"], "-o", "late.strata")
        time.sleep(0.5)
        said, [(code, _, err)] = run.finish()
        failures.expect(name, "exit and complaints", (run.process.returncode, said), (0, ""))
        failures.expect(name, "viewer", (code, "joined late" in err), (0, True))
        _, summary = strata_json(arguments.strata, ["summary", "--json", os.path.join(folder, "late.strata")])
        device = summary["devices"][0]
        failures.expect(name, "exact", device["integrity"]["exact"])
        failures.expect(name, "begins with the model", device["requested_bytes_start"] > 4 * 256 * 256 * 4)
        failures.expect(name, "is complete", "interrupted" not in json.dumps(device["integrity"]["notes"]))


def ranks(arguments, python, failures, how):
    """A job of torchrun: every rank is there, and known as one of that job; who starts them is not."""
    name = f"{python}: ranks of {how[0]}"
    with tempfile.TemporaryDirectory() as folder:
        run = Run(arguments, folder)
        program = os.path.join(folder, "train.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(RANK)
        failures.expect(name, "trains", run.start([arguments.strata, *how, "--live", "--devices", "2", "--", python, "-m", "torch.distributed.run",
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


def killed(arguments, python, failures):
    name = f"{python}: killed"
    with tempfile.TemporaryDirectory() as folder:
        run = Run(arguments, folder)
        failures.expect(name, "trains", run.start([arguments.simgpu, "--", python, "-c", SELF.replace("FILE", "'run.strata'"), run.end]))
        number = run.list()["processes"][0]["pid"]
        viewer = run.attach(number, "-o", "seen.strata")
        time.sleep(1)
        os.kill(number, signal.SIGKILL)
        run.process.communicate()
        failures.expect(name, "viewer", (viewer.wait(timeout=30), "did not end its recording" in viewer.communicate()[1]), (0, True))
        seen, recorded = content(folder, "seen.strata"), content(folder, "run.strata")
        same = len(os.path.commonprefix([seen, recorded]))
        # Behind what was received there are but the symbols that were looked up then.
        failures.expect(name, "all to the last chunk", same > 1000 and seen[same:same + 8] in (b"", b"STRC\1\1\x10\0", b"STRC\1\0\x10\0"))
        failures.expect(name, "list", run.list()["processes"], [])


def test(arguments, python, failures):
    for program in ("strata", "simgpu", "build"):
        setattr(arguments, program, os.path.abspath(getattr(arguments, program)))
    to_a_file(arguments, python, failures)


def once(arguments, python, failures):
    without_a_file(arguments, python, failures)
    ranks(arguments, python, failures, ["record", *SIMULATED])
    if LONG:  # test_live has a killed process with a fake allocator
        ranks(arguments, python, failures, ["dryrun"])
        killed(arguments, python, failures)


if __name__ == "__main__":
    sys.exit(main(test, ("strata", "simgpu", "build"), once=once, every_python=False))
