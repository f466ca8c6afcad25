// SPDX-License-Identifier: Apache-2.0
// strata-hook FOLDER [FILE]: makes the hook for the LibTorch in FOLDER where there is none yet, and prints
// its path; with FILE compiles it there, whatever else there is. What goes wrong is printed the same way,
// with exit status 1. The recorder starts it from inside of programs: it holds nothing of theirs.
#include "capture/hook_maker/compile.h"
#include "capture/hook_maker/make_hook.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <unistd.h>

namespace {

using namespace strata::hook;

int answer(const std::string& text, int status)
{
    std::puts(text.c_str());
    return status;
}

int make(const TorchFiles& torch, const std::filesystem::path& libraries, const char* target)
{
    if (target) {
        const auto compiled = compileHook(torch, libraries, target);
        return compiled ? answer(target, 0) : answer(compiled.error(), 1);
    }
    const auto made = makeHook(torch, libraries);
    return made ? answer(std::string(kHookMade) + made->string(), 0) : answer(made.error(), 1);
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2 || argc > 3)
        return answer("usage: strata-hook FOLDER_OF_LIBC10_CUDA [FILE]", 2);
    closefrom(STDERR_FILENO + 1);
    std::signal(SIGPIPE, SIG_IGN); // who asked may be gone: the next one finds what was made
    try {
        std::error_code error;
        const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
        return make(readTorchFiles(argv[1]), self.parent_path(), argc == 3 ? argv[2] : nullptr);
    } catch (const std::exception& problem) {
        return answer(std::string(problem.what()) + ": try again with more memory and disk free", 1);
    }
}
