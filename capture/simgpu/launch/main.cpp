// SPDX-License-Identifier: Apache-2.0
// strata-simgpu [SETTINGS] -- COMMAND...: runs a command on the simulated device and nothing else, for tests
// and for programs that record themselves. With --again it becomes a program that another one started.
#include "capture/simgpu/launch/again.h"
#include "capture/simgpu/launch/environment.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unistd.h>

namespace {

constexpr const char* kUsage = "usage: strata-simgpu [SETTINGS] -- COMMAND...\n";
constexpr const char* kHelp = R"(
Runs a command on a simulated device: no GPU and none of NVIDIA's libraries are needed, and nothing is recorded.

SETTINGS is one word, KEY=VALUE;KEY=VALUE, each with a value of its own unless said:
  devices=1                 0 to 64, all alike
  capacity=85899345920      bytes of each
  others=0                  bytes of each that other processes hold
  cc=8.0  sms=108           compute capability, multiprocessors
  name=...                  of the device
  l2=41943040  bus=5120     bytes of its cache, bits of its memory bus
  cupti=on                  what profilers get of the GPU: on, denied
  addresses=top-down        what cudaMalloc gives: top-down, ascending, random:SEED

Examples:
  strata-simgpu -- python train.py
  strata-simgpu "devices=2;capacity=17179869184;cc=7.5" -- ./train

Exit status: that of the command; 2: it was not started
)";

int fail(const std::string& what, int status)
{
    std::fprintf(stderr, "strata-simgpu: %s\n", what.c_str());
    return status;
}

} // namespace

int main(int argc, char** argv)
{
    using namespace strata::simgpu;
    if (argc > 1 && std::string_view(argv[1]) == "--again")
        return becomeAgain(argc - 2, argv + 2);
    if (argc > 1 && (std::string_view(argv[1]) == "--help" || std::string_view(argv[1]) == "-h")) {
        std::fputs(kUsage, stdout);
        return std::fputs(kHelp, stdout) < 0 ? 2 : 0;
    }
    int first = 1;
    std::string text;
    if (argc > 1 && std::string_view(argv[1]) != "--")
        text = argv[first++];
    if (first >= argc || std::string_view(argv[first]) != "--" || first + 1 >= argc)
        return fail("no command: put it behind --, as in strata-simgpu -- python train.py: see --help", 2);
    char** const command = argv + first + 1;

    std::vector<std::string> problems;
    const Settings settings = parseSettings(text, problems);
    if (!problems.empty())
        return fail("cannot read the setting \"" + problems.front() + "\": see --help", 2);
    const auto program = findProgram(command[0]);
    if (!program)
        return fail(program.error(), 2);
    const auto torch = findLibTorch(*program);
    if (!torch)
        return fail(torch.error().what, 2);
    std::error_code error;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
    const auto core = self.parent_path() / ".." / "lib" / "strata";
    const auto variables
        = deviceEnvironment(*torch, settings, std::filesystem::weakly_canonical(core, error));
    if (!variables)
        return fail(variables.error(), 2);
    for (const auto& [name, value] : *variables)
        setenv(name.c_str(), value.c_str(), 1);
    execv(program->executable.c_str(), command);
    return fail(program->executable.string() + ": " + std::strerror(errno), 2);
}
