// SPDX-License-Identifier: Apache-2.0
#include "capture/hook_maker/compile.h"

#include "capture/hook_maker/hook_cache.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace strata::hook {

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

std::optional<fs::path> inPath(const std::string& name)
{
    if (name.find('/') != name.npos)
        return access(name.c_str(), X_OK) == 0 ? std::optional<fs::path>(name) : std::nullopt;
    const char* path = std::getenv("PATH");
    std::istringstream parts(path && *path ? path : "/usr/local/bin:/usr/bin:/bin");
    for (std::string part; std::getline(parts, part, ':');) {
        const fs::path candidate = fs::path(part.empty() ? "." : part) / name;
        std::error_code error;
        if (fs::is_regular_file(candidate, error) && access(candidate.c_str(), X_OK) == 0)
            return candidate;
    }
    return std::nullopt;
}

/// In the child: becomes the tool, whose output goes to `end`.
[[noreturn]] void become(const Words& words, int end)
{
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(end, STDOUT_FILENO);
    dup2(end, STDERR_FILENO);
    setenv("LC_ALL", "C", 1); // the first error is looked for in English
    std::vector<char*> arguments;
    for (const std::string& word : words)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
}

/// Whether the header declares what asks for pinned memory: a name that is not there cannot be asked for in
/// C++.
bool hasHostAllocator(const fs::path& headers)
{
    std::ifstream file(headers / "ATen" / "core" / "CachingHostAllocator.h");
    for (std::string line; std::getline(file, line);) {
        if (line.find("getHostAllocator(") != line.npos)
            return true;
    }
    return false;
}

/// The line that says best why a compiler gave up, without the names of folders that everybody knows.
std::string firstError(const std::string& output)
{
    std::string first;
    for (const std::string_view sign : { "error: ", "undefined reference", "" }) {
        std::istringstream lines(output);
        for (std::string line; first.empty() && std::getline(lines, line);) {
            if (!line.empty() && line.find(sign) != line.npos)
                first = line;
        }
    }
    constexpr std::size_t kLongest = 400;
    return first.empty() ? "it ended without a word" : first.substr(0, kLongest);
}

/// 2.3 and before have another allocator.
bool isTooOld(const TorchFiles& torch)
{
    int major = 0, minor = 0;
    return std::sscanf(torch.version.c_str(), "%d.%d", &major, &minor) == 2
        && (major < 2 || (major == 2 && minor < 4));
}

} // namespace

fs::path compiledFile(const fs::path& libraries)
{
    return hookSource(libraries) / "capture" / "hook" / "torch_hook.cpp";
}

std::vector<fs::path> includeFolders(const fs::path& libraries, const fs::path& torchHeaders)
{
    const fs::path source = hookSource(libraries);
    return { source / "capture" / "hook" / "cuda", source, torchHeaders };
}

ToolRun runTool(const Words& words)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return {};
    const pid_t child = fork();
    if (child == 0)
        become(words, ends[1]);
    close(ends[1]);
    ToolRun run;
    std::array<char, 4096> buffer;
    for (;;) {
        const ssize_t count = child > 0 ? read(ends[0], buffer.data(), buffer.size()) : 0;
        if (count > 0)
            run.output.append(buffer.data(), static_cast<std::size_t>(count));
        else if (count == 0 || errno != EINTR)
            break;
    }
    close(ends[0]);
    int status = 0;
    pid_t ended = 0;
    do
        ended = child > 0 ? waitpid(child, &status, 0) : -1;
    while (ended < 0 && child > 0 && errno == EINTR);
    run.done = ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return run;
}

std::vector<Words> compilers()
{
    const char* named = std::getenv("CXX");
    std::vector<Words> all;
    Words seen;
    for (const std::string& text :
        { std::string(named ? named : ""), std::string("c++"), std::string("g++"), std::string("clang++") }) {
        std::istringstream stream(text);
        Words words;
        for (std::string word; stream >> word;)
            words.push_back(word);
        const auto program = words.empty() ? std::nullopt : inPath(words.front());
        if (!program)
            continue;
        words.front() = program->string();
        std::error_code error;
        // c++ is mostly another name of the next.
        std::string identity = fs::canonical(*program, error).string();
        for (std::size_t i = 1; i < words.size(); ++i)
            identity += ' ' + words[i];
        if (std::find(seen.begin(), seen.end(), identity) != seen.end())
            continue;
        seen.push_back(identity);
        all.push_back(words);
    }
    return all;
}

tl::expected<void, std::string> compileHook(
    const TorchFiles& torch, const fs::path& libraries, const fs::path& target)
{
    const std::vector<Words> found = compilers();
    if (found.empty())
        return tl::unexpected(std::string(kNoCompiler));
    // At least -O1: inline functions that nobody calls would ask for LibTorch.
    Words compiling{ "-std=c++20", "-O2", "-w", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden",
        "-D_GLIBCXX_USE_CXX11_ABI=" + std::string(torch.newStrings ? "1" : "0"),
        "-DSTRATA_TORCH_VERSION=\"" + torch.version + "\"" };
    if (hasHostAllocator(torch.headers))
        compiling.emplace_back("-DSTRATA_TORCH_HOST_ALLOCATOR");
    for (const fs::path& folder : includeFolders(libraries, torch.headers))
        compiling.push_back("-I" + folder.string());
    // Two commands: a compiler cache (CXX="ccache g++") keeps what is compiled, not what is linked.
    const fs::path object = target.string() + ".o" + target.extension().string(); // goes as the target if this is killed
    compiling.insert(compiling.end(), { "-c", compiledFile(libraries).string(), "-o", object.string() });
    const Words linking{ "-shared", "-Wl,-z,defs", object.string(), "-o", target.string() };
    std::string first;
    for (const Words& compiler : found) {
        const auto with = [&](Words words) {
            words.insert(words.begin(), compiler.begin(), compiler.end());
            return runTool(words);
        };
        ToolRun run = with(compiling);
        if (run.done)
            run = with(linking);
        std::error_code error;
        fs::remove(object, error);
        if (run.done)
            return {};
        if (first.empty())
            first = compiler.front() + ": " + firstError(run.output);
    }
    return tl::unexpected(first
        + (isTooOld(torch)
                ? ": Strata follows torch 2.4 and newer: install one of these"
                : ": a hook needs a compiler that knows C++20, as g++ 10 or clang++ 12 and newer do: "
                  "install one, or set CXX to it"));
}

} // namespace strata::hook
