// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/record/record.h"

#include "app/cli/dryrun/launch.h"
#include "app/cli/record/options.h"
#include "capture/inject/variables.h"
#include "capture/simgpu/launch/environment.h"
#include "model/base/units.h"
#include "model/symbols/symbolize.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

namespace strata::cli {

namespace {

namespace fs = std::filesystem;
using model::Error;

constexpr int kUsage = 2;

/// The file can be made, and what was there is gone.
model::Result<fs::path> makeRoom(const std::string& output)
{
    std::error_code error;
    const fs::path path = fs::absolute(output, error);
    if (path.extension() != ".strata")
        return model::fail(Error::Kind::Usage, output + ": a session's name ends in .strata", "name it so");
    if (fs::exists(path, error) && !fs::is_regular_file(path, error))
        return model::fail(Error::Kind::Usage, output + ": there, and no file", "name another one");
    if (!fs::remove(path, error) && error)
        return model::fail(Error::Kind::Usage, output + ": " + error.message(), "name another file");
    // The recorder makes it later, in the command: whether it can is known by trying alone.
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0)
        return model::fail(Error::Kind::Usage, fmt::format("{}: {}", output, std::strerror(errno)),
            "name a file in a folder that can be written to");
    close(file);
    fs::remove(path, error);
    return path;
}

/// A torch that this build has no hook for is refused before the program runs for an hour.
model::Result<void> checkHook(const simgpu::LibTorch& torch)
{
    if (hasHook(torch))
        return {};
    const std::string wanted
        = torch.version.empty() ? "newest" : torch.version.substr(0, torch.version.find('+'));
    const std::set<std::string> versions = hookVersions();
    if (versions.empty())
        return model::fail(Error::Kind::Usage, "this Strata was built without headers of any torch",
            "build it again after tests/truth/environment.sh " + wanted);
    return model::fail(Error::Kind::Usage,
        fmt::format("torch {}: this Strata records torch {}", torch.version, fmt::join(versions, ", ")),
        "install one of these, or build Strata after tests/truth/environment.sh " + wanted);
}

model::Result<simgpu::Settings> simulatedCard(const RecordOptions& options)
{
    const Card* card = findCard(options.simulated);
    if (!card)
        return model::fail(Error::Kind::Usage, "--simulated " + options.simulated + ": no such card",
            fmt::format("nearest are {}", fmt::join(nearestCards(options.simulated), ", ")));
    return settingsOf(*card, options.capacityBytes, options.devices);
}

/// The library in front of whatever is preloaded already.
model::Result<simgpu::Variables> preload(const RecordOptions& options,
    const tl::expected<simgpu::LibTorch, std::string>& torch, const fs::path& libraries)
{
    const fs::path library = libraries / "libstrata_record.so";
    if (options.simulated.empty()) {
        const char* present = std::getenv("LD_PRELOAD");
        if (library.string().find_first_of(" :;") != std::string::npos)
            return model::fail(Error::Kind::Usage,
                library.string() + ": the loader cannot preload from a folder with spaces or colons",
                "install Strata in another one");
        return simgpu::Variables{ { "LD_PRELOAD",
            library.string() + (present && *present ? std::string(":") + present : "") } };
    }
    const auto settings = simulatedCard(options);
    if (!settings)
        return model::Failure(settings.error());
    if (!torch)
        return model::fail(Error::Kind::Usage, torch.error());
    auto variables = simgpu::deviceEnvironment(*torch, *settings, libraries, { library });
    if (!variables)
        return model::fail(Error::Kind::Usage, variables.error());
    return *std::move(variables);
}

/// Runs the command to its end; its exit status, 128 + signal where one ended it.
model::Result<int> runCommand(
    const RecordOptions& options, const fs::path& executable, const simgpu::Variables& variables)
{
    const pid_t child = fork();
    if (child == 0) {
        for (const auto& [name, value] : variables)
            setenv(name.c_str(), value.c_str(), 1);
        become(executable, options.command);
    }
    if (child < 0)
        return model::fail(Error::Kind::NotFound, std::strerror(errno), "try again with more memory free");
    // An interrupt is the command's to handle: what was recorded until then is still named.
    const auto interrupt = std::signal(SIGINT, SIG_IGN);
    int status = 0;
    pid_t ended = 0;
    do
        ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    std::signal(SIGINT, interrupt);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// A file of its own for the names of what was written.
class NameList {
public:
    NameList()
    {
        std::error_code error;
        std::string name = (fs::temp_directory_path(error) / "strata-record.XXXXXX").string();
        const int file = mkstemp(name.data());
        if (file >= 0) {
            close(file);
            m_path = name;
        }
    }
    ~NameList()
    {
        if (!m_path.empty())
            unlink(m_path.c_str());
    }
    NameList(const NameList&) = delete;
    NameList& operator=(const NameList&) = delete;

    [[nodiscard]] const std::string& path() const { return m_path; }

    void say() const
    {
        std::ifstream file(m_path);
        bool any = false;
        for (std::string name; std::getline(file, name); any = true) {
            std::error_code error;
            // What is not finished or not found stays without: the addresses are in the file.
            (void)model::symbolize(name);
            const auto bytes = fs::file_size(name, error);
            if (error)
                std::fprintf(stderr, "strata: %s: %s\n", name.c_str(), error.message().c_str());
            else
                std::fprintf(stderr, "strata: %s: %s\n", name.c_str(),
                    model::formatBytes(static_cast<std::int64_t>(bytes)).c_str());
        }
        if (!any)
            std::fputs(
                "strata: nothing was recorded: no process of the command allocated device memory through "
                "PyTorch\n",
                stderr);
    }

private:
    std::string m_path;
};

model::Result<int> record(const RecordOptions& options)
{
    const auto program = simgpu::findProgram(options.command.front());
    if (!program)
        return model::fail(Error::Kind::Usage, program.error());
    const fs::path libraries = libraryFolder();
    // A script of the shell starts who knows what: only a Python, or a program of LibTorch, can be asked
    // before.
    const auto torch = simgpu::findLibTorch(*program);
    if (!torch && !program->interpreter.empty())
        return model::fail(Error::Kind::Usage, torch.error());
    if (torch) {
        if (const auto checked = checkHook(*torch); !checked)
            return model::Failure(checked.error());
    }
    auto variables = preload(options, torch, libraries);
    if (!variables)
        return model::Failure(variables.error());
    const auto output = makeRoom(options.output);
    if (!output)
        return model::Failure(output.error());
    const NameList names;
    addRecorder(output->string(), options.stacks, *variables);
    variables->emplace_back(inject::kRingVariable, std::to_string(options.ringEvents));
    variables->emplace_back(inject::kMemoryVariable, std::to_string(options.memoryBytes.value_or(0)));
    variables->emplace_back(inject::kListVariable, names.path());
    auto status = runCommand(options, program->executable, *variables);
    if (status)
        names.say();
    return status;
}

} // namespace

int recordMain(int argc, const char* const* argv)
{
    std::string help;
    const auto options = parseRecord(argc, argv, help);
    if (!help.empty()) {
        std::fputs(help.c_str(), stdout);
        return 0;
    }
    const auto status = options ? record(*options) : model::Result<int>(model::Failure(options.error()));
    if (!status) {
        std::fprintf(stderr, "strata: record: %s\n", status.error().text().c_str());
        return kUsage;
    }
    return *status;
}

} // namespace strata::cli
