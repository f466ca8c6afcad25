// SPDX-License-Identifier: Apache-2.0
// strata-simgpu [SETTINGS] -- COMMAND...: runs a command on the simulated device and nothing else, for tests
// and for people who bring their own recorder. With --again it becomes a program that another one started.
#include "capture/simgpu/launch/again.h"
#include "capture/simgpu/launch/environment.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unistd.h>

namespace {

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
    int first = 1;
    std::string text;
    if (argc > 1 && std::string_view(argv[1]) != "--")
        text = argv[first++];
    if (first >= argc || std::string_view(argv[first]) != "--" || first + 1 >= argc)
        return fail(
            "usage: strata-simgpu [\"devices=2;capacity=BYTES;cc=9.0;sms=132;...\"] -- COMMAND...", 2);
    char** const command = argv + first + 1;

    std::vector<std::string> problems;
    const Settings settings = parseSettings(text, problems);
    if (!problems.empty())
        return fail("cannot read setting \"" + problems.front() + "\"", 2);
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
