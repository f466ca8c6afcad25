# SPDX-License-Identifier: GPL-3.0-or-later
"""Every example of capture/README.md, as a reader would try them: each box is compiled or run as it stands, and what it
records is looked at.

The reader has a home of his own, a folder with app.cpp, CMakeLists.txt and train.py, and an environment of Python with PyTorch.
What is put in for what the boxes leave open:
  * the build is the one under test: `--preset release` configures nothing, and `build/release` is its folder;
  * `// loss = model(batch)` becomes an allocation, with the header and the list that it needs, where LibTorch is linked;
  * a box of C++ without main() is the body of a function, with `options` declared;
  * recordings are moved away between boxes, except where the box is about a file that is there already.
"""
import glob
import os
import re
import subprocess

import record_tools
from cpp import facts_of
from record_tools import CAPTURE
from running import LONG, PROJECT, strata_json

PROJECT_FILE = """cmake_minimum_required(VERSION 3.25)
project(example LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
add_executable(app app.cpp)
"""
ALLOCATION = "kept.push_back(at::empty({ 1 << 20 }, at::kCUDA));"
ALLOCATED = 4 << 20
#: What app.cpp says, in order.
SAID = [said for number in range(3) for said in (
    ("START", f"step {number}"), ("START", "forward"), ("END", "forward"), ("START", "my part of it"), ("MARK", "half way"),
    ("END", "my part of it"), ("END", f"step {number}"))] + [("MARK", "note: learning rate 0.1")]
#: What train.py says.
TRAINED = [said for number in range(3) for said in (
    ("START", f"step {number}"), ("START", "forward"), ("END", "forward"), ("START", "backward"), ("END", "backward"),
    ("MARK", "half way"), ("END", f"step {number}"))]

OPTIONS = 'strata::capture::Options options;\noptions.file = "run.strata";\n'
DEFAULTS = """if (options.stacks != strata::capture::Stacks::{} || options.existing != strata::capture::Existing::{})
    return 3;
"""
HOST = """#include <dlfcn.h>
int main()
{
    void* const plugin = dlopen("./libplugin.so", RTLD_NOW);
    return plugin ? reinterpret_cast<int (*)()>(dlsym(plugin, "run"))() : 2;
}
"""
PLUGIN = """#include <dlfcn.h>
#include <strata/capture.h>
extern "C" int run()
{
BODY
    return train ? reinterpret_cast<int (*)()>(dlsym(train, "train"))() : 2;
}
"""
TRAIN = """#include <ATen/ops/empty.h>
extern "C" int train()
{
    static const at::Tensor kept = at::empty({ 1 << 20 }, at::kCUDA);
    return 0;
}
"""
LINK_PLUGIN = """g++ -std=c++17 -shared -fPIC plugin.cpp -o libplugin.so -I ~/.local/include -L ~/.local/lib/strata \\
  -lstrata_capture -Wl,-rpath,"$HOME/.local/lib/strata"
"""
TENSORS = """#include <torch/torch.h>
#include <strata/capture.h>
INCLUDE
int main()
{
    strata::capture::Options options;
    options.file = "run.strata";
    const strata::capture::Recording recording(options);
    torch::nn::Sequential model(torch::nn::Linear(256, 512), torch::nn::Linear(512, 10));
    model->to(torch::kCUDA);
    const torch::Tensor batch = torch::ones({ 64, 256 }, torch::kCUDA);
BODY
}
"""
#: Bytes of the model's tensors, of its two states a parameter, and of the batch.
PARAMETERS = 4 * (256 * 512 + 512 + 512 * 10 + 10)
TOLD = {"parameter": PARAMETERS, "gradient": PARAMETERS, "optimizer_state": 2 * PARAMETERS, "input": 4 * 64 * 256}
LINK_TORCH = """g++ host.cpp -o host
torch='TORCH'
g++ -std=c++20 -shared -fPIC -D_GLIBCXX_USE_CXX11_ABI=ABI train.cpp -o libtrain.so -isystem "$torch/include" -L "$torch/lib" \\
  -Wl,-rpath,"$torch/lib" -Wl,--no-as-needed -ltorch_cpu -ltorch_cuda -lc10 -lc10_cuda
"""


def boxes():
    """(section, language) to the texts of its boxes; taken out as they are tried."""
    found = {}
    with open(os.path.join(CAPTURE, "README.md"), encoding="utf-8") as file:
        for section in re.split(r"^## ", file.read(), flags=re.MULTILINE):
            for language, text in re.findall(r"^```(\w+)\n(.*?)^```", section, re.DOTALL | re.MULTILINE):
                found.setdefault((section.split("\n")[0], language), []).append(text)
    return found


class Reader:
    def __init__(self, strata, build, folder, failures):
        self.strata, self.build, self.failures, self.boxes = strata, build, failures, boxes()
        self.home, self.folder = os.path.join(folder, "home"), os.path.join(folder, "work")
        os.makedirs(self.home)
        os.makedirs(self.folder)
        self.environment = {k: v for k, v in os.environ.items() if k not in ("STRATA_CAPTURE_LIBRARY", "XDG_CACHE_HOME", "PYTHONPATH")}
        self.environment["HOME"] = self.home
        # ./run leaves strata there.
        self.environment["PATH"] += os.pathsep + os.path.dirname(strata)
        self.path(os.path.join(self.home, ".local", "bin"))

    def path(self, first):
        self.environment["PATH"] = first + os.pathsep + self.environment["PATH"]

    def take(self, section, language):
        texts = self.boxes.get((section, language), [""])
        text = texts.pop(0)
        if not texts:
            self.boxes.pop((section, language), None)
        self.failures.expect(section, f"box of {language}", bool(text))
        return text

    def file(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.file(name), "w") as file:
            file.write(text)

    def sh(self, name, text, where=None, wanted=0):
        """Runs a box; later ones have what it exports."""
        kept = self.file("exported")
        run = subprocess.run(["bash", "-ec", text + f"\nenv -0 > '{kept}'"], cwd=where or self.folder, env=self.environment,
                             capture_output=True, text=True)
        self.failures.expect(name, "exit", run.returncode, run.returncode if wanted is None else wanted)
        if wanted is not None and run.returncode != wanted:
            print((run.stdout + run.stderr)[-3000:])
        elif run.returncode == 0:
            with open(kept) as file:
                told = dict(entry.split("=", 1) for entry in file.read().split("\0") if entry)
            self.environment.update({k: v for k, v in told.items() if k.startswith("STRATA_")})
        return run

    def recordings(self):
        return sorted(os.path.basename(path) for path in glob.glob(self.file("*.strata")))

    def clear(self):
        for name in self.recordings():
            os.remove(self.file(name))


def install(reader):
    text = reader.take("Install", "sh")
    for line, instead in (("cmake --preset release", "cmake -N --preset release >/dev/null"),
                          ("--build --preset release", f"--build '{reader.build}'"), ("--install build/release", f"--install '{reader.build}'")):
        reader.failures.expect("install", line, text.count(line), 1)
        text = text.replace(line, instead)
    reader.sh("install", text, PROJECT)
    for file in ("lib/strata/libstrata_capture.so", "include/strata/capture.h", "bin/strata-simgpu"):
        reader.failures.expect("install", file, os.path.exists(os.path.join(reader.home, ".local", file)))


def cpp(reader):
    """Without LibTorch: it is built both ways, runs, and records nothing."""
    source = reader.take("C++", "cpp")
    reader.write("app.cpp", source)
    reader.write("CMakeLists.txt", PROJECT_FILE + reader.take("C++", "cmake"))
    for name, program in (("with CMake", "build/app"), ("without CMake", "app")):
        reader.sh(name, reader.take("C++", "sh"))
        run = reader.sh(name, "./" + program)
        reader.failures.expect(name, "says nothing without LibTorch", run.stderr + run.stdout, "")
        reader.failures.expect(name, "no file", reader.recordings(), [])
    return source


def python_at(reader, python, folder):
    """An environment that the reader may install into, with the PyTorch of another."""
    own = os.path.join(folder, "venv")
    subprocess.run([python, "-m", "venv", own], check=True)
    [site] = glob.glob(os.path.join(own, "lib", "python3*", "site-packages"))
    [torchs] = glob.glob(os.path.join(os.path.dirname(os.path.dirname(python)), "lib", "python3*", "site-packages"))
    with open(os.path.join(site, "torch.pth"), "w") as file:
        file.write(torchs + "\n")
    reader.path(os.path.join(own, "bin"))


def look(reader, name, allocs=None, said=None, peak=None, through=None):
    """A recording that lacks nothing, and says that its device was simulated; `through`: a file that all stacks lead through."""
    failures, path = reader.failures, reader.file("run.strata")
    _, summary = strata_json(reader.strata, ["summary", "--json", path])
    device = summary["devices"][0] if summary and summary["devices"] else None
    if device is None:
        failures.expect(name, "recording", summary, "one with a device")
        return
    failures.expect(name, "exact", device["integrity"]["exact"], True)
    failures.expect(name, "alive at the start", device["requested_bytes_start"], 0)
    made = device["actions"].get("alloc", 0)
    failures.expect(name, "allocations", made, max(made, 1) if allocs is None else allocs)
    if peak:
        failures.expect(name, "peak", device["requested_bytes_peak"], peak)
    text = subprocess.run([reader.strata, "summary", path], capture_output=True, text=True).stdout
    failures.expect(name, "says that it was simulated",
                    (summary["simulated"], "Recorded on a simulated device" in " ".join(text.split())), (True, True))
    snapshot = record_tools.as_snapshot(reader.strata, path, reader.folder)
    if said:
        failures.expect(name, "said", [(a.get("stage", "MARK"), a["name"]) for a in snapshot["external_annotations"]], said)
    if through:
        stacks = [[f["filename"] for f in e["frames"]] for e in snapshot["device_traces"][0] if e["action"] == "alloc"]
        failures.expect(name, f"stacks without {through}", [s for s in stacks if not any(f.endswith(through) for f in s)], [])


def listing():
    """The source of the package; other tests may run it there, which leaves what Python compiled."""
    return sorted(os.path.join(folder, name) for folder, folders, files in os.walk(os.path.join(CAPTURE, "python"))
                  for name in folders + files if "__pycache__" not in os.path.join(folder, name))


def package(reader):
    """Whether it could be installed: pip loads what builds it from PyPI."""
    failures, before = reader.failures, listing()
    text = reader.take("Python", "sh")
    reader.write("train.py", reader.take("Python", "python"))
    probe = reader.sh("package", "pip download -q --no-deps --retries 1 -d '" + reader.file("probe") + "' flit_core", wanted=None)
    if probe.returncode != 0:
        failures.skip("PyPI does not answer: what pip makes of the package is not tested")
        text = text.replace("pip install capture/python", f"export PYTHONPATH='{os.path.join(CAPTURE, 'python')}'")
    reader.sh("package", text, PROJECT)
    failures.expect("package", "left beside its source", [each for each in listing() if each not in before], [])
    failures.expect("package", "where the recorder is", reader.environment.get("STRATA_CAPTURE_LIBRARY"),
                    os.path.join(reader.home, ".local", "lib", "strata", "libstrata_capture.so"))


def linked(reader, source):
    """LibTorch without CUDA's libraries, and a program that allocates."""
    for line, instead in (("// loss = model(batch)", ALLOCATION),
                          ("#include <strata/capture.h>\n", "#include <strata/capture.h>\n#include <ATen/ops/empty.h>\n"),
                          ("int main()\n{\n", "int main()\n{\n    std::vector<at::Tensor> kept;\n")):
        reader.failures.expect("app.cpp", line, source.count(line), 1)
        source = source.replace(line, instead)
    reader.write("app.cpp", source)
    os.remove(reader.file("app"))
    section = "LibTorch where CUDA's libraries are absent"
    link = reader.take(section, "sh")
    reader.sh(section, link)
    look(reader, section, 3, SAID, 3 * ALLOCATED, "app.cpp")
    return link


def simulated(reader):
    section = "Without a GPU"
    lines = reader.take(section, "sh").splitlines()
    reader.failures.expect(section, "lines", len(lines), 2)
    for line, program, said in zip(lines, ("train.py", "app.cpp"), (TRAINED, SAID)):
        reader.clear()
        reader.sh(section, line + f"\ncd /\nstrata symbolize '{reader.folder}/run.strata'")
        look(reader, f"{section}: {program}", 3 if said is SAID else None, said, through=program if said is SAID else None)
    if not LONG:
        return
    tell = "import torch; print(torch.cuda.device_count(), torch.cuda.get_device_properties(1).total_memory)"
    run = reader.sh(section, lines[1].replace("./app", f"python -c '{tell}'"))
    reader.failures.expect(section, "devices and bytes", run.stdout.split()[:2], ["2", "17179869184"])


def has_begun(reader, python):
    """A plugin with the recorder, in a program without; then another plugin, which brings LibTorch."""
    section, failures = "Has it begun?", reader.failures
    body = reader.take(section, "cpp")
    options = reader.take("Stacks, and files that are there already", "cpp")
    reader.write("host.cpp", HOST)
    reader.write("train.cpp", TRAIN)
    torch, _, abi, _ = facts_of(python)
    reader.sh(section, LINK_TORCH.replace("TORCH", torch).replace("=ABI", f"={abi}"))
    start = OPTIONS + DEFAULTS.format("Native", "Refuse")
    number = start + options + DEFAULTS.format("Auto", "Number")
    reader.clear()
    for name, text, status, files in (
            ("as it stands", start + body, 0, ["run.strata"]), ("refuse", start + body, 1, ["run.strata"]),
            ("number", number + body, 0, ["run.2.strata", "run.strata"]),
            ("without poll()", number + body.replace("strata::capture::poll();", ""), 0, ["run.2.strata", "run.strata"])):
        reader.write("plugin.cpp", PLUGIN.replace("BODY", text))
        reader.sh(section, LINK_PLUGIN)
        run = reader.sh(f"{section} {name}", "LD_LIBRARY_PATH=. strata-simgpu -- ./host", wanted=status)
        failures.expect(f"{section} {name}", "files", reader.recordings(), files)
        failures.expect(f"{section} {name}", "said", run.stderr.count("run.strata: is there already: nothing is recorded"), status)
        if name == "as it stands":
            look(reader, section, 1, peak=ALLOCATED)


def tensors(reader, link):
    """What a program in C++ tells of its tensors: all of it is alive at the peak, and has the roles that it was given."""
    section, failures = "What tensors are", reader.failures
    include, body = reader.take(section, "cpp").split("\n", 1)
    for line, instead in (("for (...) {", "for (int step = 0; step < 2; ++step) {\n    const auto loss = model->forward(batch).sum();"),):
        failures.expect(section, line, body.count(line), 1)
        body = body.replace(line, instead)
    reader.write("app.cpp", TENSORS.replace("INCLUDE", include).replace("BODY", body))
    reader.clear()
    reader.sh(section, link)
    _, groups = strata_json(reader.strata, ["at", reader.file("run.strata"), "peak", "--by", "category", "--json"])
    found = {each["key"]: each["bytes"] for each in (groups or {}).get("groups", [])}
    failures.expect(section, "bytes by category", {role: found.get(role) for role in TOLD}, TOLD)


def test_boxes(strata, build, python, tmp_path, failures):
    reader = Reader(strata, build, str(tmp_path), failures)
    install(reader)
    source = cpp(reader)
    python_at(reader, python, str(tmp_path))
    package(reader)
    link = linked(reader, source)
    simulated(reader)
    has_begun(reader, python)
    if LONG:
        tensors(reader, link)
    else:  # LibTorch's C++ frontend takes a minute to compile; test_record_roles.py tells of the tensors of a C++ program too
        reader.take("What tensors are", "cpp")
    failures.expect("README", "boxes that nobody tried", sorted(reader.boxes), [])
