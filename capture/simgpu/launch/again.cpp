// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/launch/again.h"

#include "capture/hook_maker/make_hook.h"
#include "capture/simgpu/launch/environment.h"
#include "capture/simgpu/launch/late_device.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unistd.h>

namespace strata::simgpu {

namespace {

namespace fs = std::filesystem;

const char* variable(const char* name)
{
    const char* text = std::getenv(name);
    return text ? text : "";
}

void say(const std::string& what)
{
    std::fprintf(stderr, "strata: %s\n", what.c_str());
}

/// Without one a dry run has torch's own recorder.
void makeHook(const LibTorch& torch, const fs::path& libraries)
{
    if (!*variable("STRATA_RECORD_AGENT"))
        return;
    hook::TorchFiles files = hook::readTorchFiles(torch.folder);
    if (files.version.empty())
        files.version = torch.version;
    const auto made = hook::makeHook(files, libraries,
        [&] { say("torch " + files.version + ": compiling its hook, once, in about ten seconds"); });
    if (made)
        return;
    say("torch " + files.version + ": no hook for it: " + made.error() + "; "
        + (*variable("STRATA_DRYRUN_FOLDER") ? "torch's own recorder is used instead"
                                             : "the program runs, and nothing is recorded"));
    unsetenv("STRATA_RECORD_FILE");
    unsetenv("STRATA_RECORD_AGENT");
}

void preload(const fs::path& library)
{
    const std::string beside = variable("LD_PRELOAD");
    setenv("LD_PRELOAD", (library.string() + (beside.empty() ? "" : ":") + beside).c_str(), 1);
}

/// Nothing that keeps the program from running.
void giveDevice(const Program& program)
{
    setenv("LD_PRELOAD", variable(kBesideVariable), 1);
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error).parent_path();
    const fs::path libraries = fs::weakly_canonical(self / ".." / "lib" / "strata", error);
    const fs::path ours = libraries / "libstrata_preload.so";
    const auto torch = findLibTorch(program);
    if (!torch) {
        if (torch.error().isInstalled)
            say(torch.error().what);
        return preload(ours);
    }
    makeHook(*torch, libraries);
    std::vector<std::string> problems; // none: who asked has looked
    const auto variables
        = deviceEnvironment(*torch, parseSettings(variable(kAskedVariable), problems), libraries, { ours });
    if (!variables) {
        say(variables.error());
        return preload(ours);
    }
    for (const auto& [name, value] : *variables)
        setenv(name.c_str(), value.c_str(), 1);
}

} // namespace

int becomeAgain(int count, char** words)
{
    if (count < 4 || std::string_view(words[2]) != "--") {
        std::fputs("usage: strata-simgpu --again EXECUTABLE PYTHON -- ARGUMENTS...\n", stderr);
        return 2;
    }
    const Program program{ words[0], words[1] };
    try {
        giveDevice(program);
    } catch (const std::exception& error) {
        say(program.executable.string() + ": " + error.what() + ": it runs without a simulated device");
    }
    execv(words[0], words + 3);
    say(program.executable.string() + ": " + std::strerror(errno));
    return 127;
}

} // namespace strata::simgpu
