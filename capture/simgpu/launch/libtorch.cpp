// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/launch/libtorch.h"

#include "capture/simgpu/launch/python_advice.h"
#include "capture/simgpu/standins/elf_file.h"
#include "capture/simgpu/standins/rules.h"
#include "capture/simgpu/standins/standins.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace strata::simgpu {

namespace {

namespace fs = std::filesystem;

constexpr const char* kNotFound = ": command not found: give its path, as in ~/venv/bin/python train.py";

bool isExecutable(const fs::path& path)
{
    std::error_code error;
    return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::optional<fs::path> findInPath(const std::string& name)
{
    const char* path = std::getenv("PATH");
    std::istringstream parts(path ? path : "/usr/local/bin:/usr/bin:/bin");
    for (std::string part; std::getline(parts, part, ':');) {
        const fs::path candidate = fs::path(part.empty() ? "." : part) / name;
        if (isExecutable(candidate))
            return candidate;
    }
    return std::nullopt;
}

bool isPythonName(const fs::path& path)
{
    const std::string name = path.filename().string();
    return name.starts_with("python") || name.starts_with("pypy");
}

/// The words behind "#!", empty when the file is no script.
std::vector<std::string> readShebang(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    std::array<char, 512> head{};
    file.read(head.data(), head.size() - 1);
    const std::string_view text(head.data(), static_cast<std::size_t>(file.gcount()));
    if (!text.starts_with("#!"))
        return {};
    std::istringstream line{ std::string(text.substr(2, text.find('\n') - 2)) };
    std::vector<std::string> words;
    for (std::string word; line >> word;)
        words.push_back(word);
    return words;
}

fs::path interpreterOf(const fs::path& executable)
{
    if (isPythonName(executable))
        return executable;
    const std::vector<std::string> words = readShebang(executable);
    if (words.empty())
        return {};
    if (fs::path(words[0]).filename() != "env")
        return isPythonName(words[0]) ? fs::path(words[0]) : fs::path{};
    const auto word
        = std::find_if(words.begin() + 1, words.end(), [](const std::string& w) { return w[0] != '-'; });
    if (word == words.end() || !isPythonName(*word))
        return {};
    return findInPath(*word).value_or(fs::path{});
}

/// Output of a program, nothing when it fails. No shell: arguments are passed as they are.
std::optional<std::string> outputOf(const std::vector<std::string>& words)
{
    int ends[2];
    if (pipe(ends) != 0)
        return std::nullopt;
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        std::vector<char*> arguments;
        for (const std::string& word : words)
            arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        execv(arguments[0], arguments.data());
        _exit(127);
    }
    close(ends[1]);
    std::string output;
    std::array<char, 4096> buffer;
    for (ssize_t count; child > 0 && (count = read(ends[0], buffer.data(), buffer.size())) > 0;)
        output.append(buffer.data(), static_cast<std::size_t>(count));
    close(ends[0]);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return std::nullopt;
    return output;
}

bool asksForCuda(const fs::path& library)
{
    const auto file = readElf(library.string(), ElfSymbols::LeaveOut);
    return file && std::any_of(file->needed.begin(), file->needed.end(), isStoodIn);
}

bool isSharedLibrary(const fs::path& path)
{
    return path.filename().string().find(".so") != std::string::npos;
}

void addAsking(const fs::path& folder, std::vector<fs::path>& out)
{
    std::error_code error;
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (entry.is_regular_file(error) && isSharedLibrary(entry.path()) && asksForCuda(entry.path()))
            found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    out.insert(out.end(), found.begin(), found.end());
}

/// Of the CUDA runtime that they ask for; 0: they ask for none.
int runtimeMajorOf(const std::vector<fs::path>& libraries)
{
    std::vector<ElfFile> files;
    for (const fs::path& library : libraries)
        if (auto file = readElf(library.string(), ElfSymbols::LeaveOut))
            files.push_back(std::move(*file));
    return cudaMajorOf(files);
}

/// One line for each: whether it is managed by the distribution, has pip, can make environments; then of
/// torch folder, version, HIP's version, cuDNN's; then folders of packages beside it.
constexpr const char* kFindTorch
    = "import importlib.util as u, importlib.metadata as m, os, re, sys, sysconfig\n"
      "own = sys.prefix != sys.base_prefix or os.path.exists(os.path.join(sys.prefix, 'conda-meta'))\n"
      "print(int(not own and os.path.exists(os.path.join(sysconfig.get_path('stdlib'), "
      "'EXTERNALLY-MANAGED'))))\n"
      "print(int(u.find_spec('pip') is not None))\n"
      "print(int(u.find_spec('venv') is not None and u.find_spec('ensurepip') is not None))\n"
      "s = u.find_spec('torch')\n"
      "print(os.path.dirname(s.origin) if s and s.origin else '')\n"
      "v = os.path.join(os.path.dirname(s.origin), 'version.py') if s and s.origin else ''\n"
      "d = {}\n"
      "exec(open(v).read(), d) if os.path.exists(v) else None\n"
      "print(d.get('__version__', ''))\n"
      "print(d.get('hip') or '')\n"
      "try:\n"
      "    r = ' '.join(m.requires('torch') or [])\n"
      "except Exception:\n"
      "    r = ''\n"
      "c = re.search(r'nvidia-cudnn[^=;]*==([0-9]+)[.]([0-9]+)[.]([0-9]+)', r)\n"
      "c = [int(x) for x in c.groups()] if c else [0, 0, 0]\n"
      "print(c[0] * (10000 if c[0] > 8 else 1000) + c[1] * 100 + c[2])\n"
      "for n in ('torchvision', 'torchaudio', 'bitsandbytes'):\n"
      "    s = u.find_spec(n)\n"
      "    print(os.path.dirname(s.origin)) if s and s.origin else None\n";

using Found = tl::expected<LibTorch, MissingLibTorch>;

Found none(std::string what, bool isInstalled)
{
    return tl::unexpected(MissingLibTorch{ std::move(what), isInstalled });
}

/// The allocator and the driver calls of 2.3 and before are others: a dry run would have no figures.
bool isTooOld(const std::string& version)
{
    int major = 0, minor = 0;
    return std::sscanf(version.c_str(), "%d.%d", &major, &minor) == 2
        && (major < 2 || (major == 2 && minor < 4));
}

Found findInPython(const fs::path& python)
{
    const auto output = outputOf({ python.string(), "-c", kFindTorch });
    if (!output)
        return none(python.string() + ": does not run: name a Python that does", false);
    std::istringstream lines(*output);
    const auto next = [&lines] {
        std::string line;
        std::getline(lines, line);
        return line;
    };
    PythonFacts facts{ .path = python.string(), .torchVersion = {} };
    facts.isManaged = next() == "1";
    facts.hasPip = next() == "1";
    facts.hasVenv = next() == "1";
    const fs::path package = next();
    facts.torchVersion = next();
    const std::string hip = next();
    const int cudnnVersion = std::atoi(next().c_str());
    std::error_code error;
    if (package.empty())
        return none(python.string()
                + ": has no PyTorch: install the CUDA build of PyTorch: " + howToInstallTorch(facts),
            false);
    const std::string which
        = ": this LibTorch" + (facts.torchVersion.empty() ? "" : " (" + facts.torchVersion + ")");
    if (!hip.empty())
        return none(python.string() + which
                + " is for AMD's devices: install the CUDA build of PyTorch: " + howToInstallTorch(facts),
            true);
    if (isTooOld(facts.torchVersion))
        return none(python.string() + which
                + " is too old: Strata works with torch 2.4 and newer: install one of these",
            true);
    if (!fs::exists(package / "lib" / "libtorch_cuda.so", error))
        return none(python.string() + which
                + " is for the CPU alone: install the CUDA build of PyTorch: " + howToInstallTorch(facts),
            true);
    auto torch = readLibTorch(package / "lib");
    if (!torch)
        return none(torch.error(), true);
    torch->version = facts.torchVersion;
    torch->cudnnVersion = cudnnVersion;
    // These packages bring their own kernels, and with them names that LibTorch does not ask for.
    std::vector<fs::path> beside;
    addAsking(package.parent_path(), beside);
    for (std::string folder; std::getline(lines >> std::ws, folder);) {
        addAsking(folder, beside);
        addAsking(fs::path(folder) / "lib", beside);
    }
    // Some bring a library for each CUDA, of which they load the one for LibTorch's.
    const int major = runtimeMajorOf(torch->libraries);
    std::erase_if(beside, [major](const fs::path& each) {
        const int other = runtimeMajorOf({ each });
        return other != 0 && other != major;
    });
    torch->libraries.insert(torch->libraries.end(), beside.begin(), beside.end());
    return *std::move(torch);
}

fs::path expand(std::string text, const fs::path& origin)
{
    for (const std::string_view word : { "${ORIGIN}", "$ORIGIN" }) {
        if (const auto at = text.find(word); at != text.npos)
            text.replace(at, word.size(), origin.string());
    }
    return text;
}

/// Follows what a program links, by search paths and LD_LIBRARY_PATH, until a library of LibTorch's CUDA
/// part.
std::optional<fs::path> findLinked(const fs::path& executable)
{
    const char* libraryPath = std::getenv("LD_LIBRARY_PATH");
    std::vector<fs::path> waiting{ executable };
    std::vector<std::string> seen;
    while (!waiting.empty() && seen.size() < 4096) {
        const fs::path current = waiting.back();
        waiting.pop_back();
        const auto file = readElf(current.string(), ElfSymbols::LeaveOut);
        if (!file)
            continue;
        std::vector<fs::path> folders;
        for (const std::string& part : file->searchPath)
            folders.push_back(expand(part, current.parent_path()));
        std::istringstream parts(libraryPath ? libraryPath : "");
        for (std::string part; std::getline(parts, part, ':');)
            folders.emplace_back(part);
        folders.push_back(current.parent_path());
        for (const std::string& needed : file->needed) {
            if (std::find(seen.begin(), seen.end(), needed) != seen.end())
                continue;
            seen.push_back(needed);
            for (const fs::path& folder : folders) {
                std::error_code error;
                if (!fs::exists(folder / needed, error))
                    continue;
                if (needed.starts_with("libtorch") || needed.starts_with("libc10"))
                    return folder;
                waiting.push_back(folder / needed);
                break;
            }
        }
    }
    return std::nullopt;
}

/// Why a path is not a program, and what to do.
std::string whyNotAProgram(const fs::path& path)
{
    std::error_code error;
    if (fs::is_directory(path, error))
        return path.string() + ": no such program: it is a folder";
    if (!fs::exists(path, error))
        return path.string() + ": no such program: check its path";
    if (path.extension() == ".py")
        return path.string() + ": no such program: it may not be executed, put python before it";
    return path.string() + ": no such program: it may not be executed, chmod +x allows it";
}

} // namespace

tl::expected<Program, std::string> findProgram(const std::string& command)
{
    Program program;
    if (command.find('/') != command.npos) {
        if (!isExecutable(command))
            return tl::unexpected(whyNotAProgram(command));
        program.executable = command;
    } else if (const auto found = findInPath(command))
        program.executable = *found;
    else
        return tl::unexpected(command + kNotFound);
    program.interpreter = interpreterOf(program.executable);
    return program;
}

tl::expected<LibTorch, std::string> readLibTorch(const fs::path& folder)
{
    LibTorch torch{ .version = {}, .cudnnVersion = 0, .folder = folder, .libraries = {} };
    std::error_code error;
    if (!fs::exists(folder / "libtorch_cpu.so", error))
        return tl::unexpected(folder.string() + ": no LibTorch there: install PyTorch again");
    if (!fs::exists(folder / "libtorch_cuda.so", error))
        return tl::unexpected(folder.string()
            + ": this LibTorch is for the CPU alone: link the program with that of the CUDA build of "
              "PyTorch");
    addAsking(folder, torch.libraries);
    return torch;
}

tl::expected<LibTorch, MissingLibTorch> findLibTorch(const Program& program)
{
    if (!program.interpreter.empty())
        return findInPython(program.interpreter);
    if (const auto folder = findLinked(program.executable)) {
        auto torch = readLibTorch(*folder);
        if (!torch)
            return none(torch.error(), true);
        torch->isLinked = true;
        return *std::move(torch);
    }
    for (const char* name : { "python3", "python" }) {
        if (const auto python = findInPath(name)) {
            if (auto torch = findInPython(*python))
                return torch;
        }
    }
    return none(program.executable.string()
            + ": neither Python nor linked with LibTorch, and no Python in PATH has PyTorch: start the "
              "program itself, or put the folder of its Python into PATH",
        false);
}

} // namespace strata::simgpu
