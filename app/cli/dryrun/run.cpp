// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/run.h"

#include "capture/simgpu/launch/environment.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

namespace strata::cli {

namespace {

namespace fs = std::filesystem;
using hook::ProcessPeaks;
using model::Error;

/// What is preloaded lies in lib/strata beside the folder of this program, built and installed alike.
fs::path libraryFolder()
{
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    for (const char* lib : { "lib", "lib64", "lib/x86_64-linux-gnu" }) {
        const fs::path folder = self.parent_path().parent_path() / lib / "strata";
        if (fs::exists(folder / "libstrata_hook.so", error))
            return folder;
    }
    return self.parent_path().parent_path() / "lib" / "strata";
}

simgpu::Settings settingsOf(
    const DryRunOptions& options, const Card& card, std::vector<std::string>& problems)
{
    simgpu::Settings settings = simgpu::parseSettings("addresses=" + options.addresses, problems);
    settings.devices = options.devices;
    settings.name = card.product;
    settings.capacityBytes = static_cast<std::uint64_t>(options.capacityBytes.value_or(card.capacityBytes));
    settings.computeMajor = card.computeMajor;
    settings.computeMinor = card.computeMinor;
    settings.multiprocessors = card.multiprocessors;
    settings.l2Bytes = static_cast<std::uint64_t>(card.l2Bytes);
    settings.memoryBusBits = card.memoryBusBits;
    return settings;
}

/// What torchrun would set for one rank of many; torchrun inside the command sets its own.
void addRank(int rank, int worldSize, int devices, simgpu::Variables& variables)
{
    const int local = std::min(devices, worldSize);
    const std::pair<const char*, int> numbers[] = { { "RANK", rank }, { "WORLD_SIZE", worldSize },
        { "LOCAL_RANK", rank % local }, { "LOCAL_WORLD_SIZE", local }, { "GROUP_RANK", rank / local } };
    for (const auto& [name, value] : numbers)
        variables.emplace_back(name, std::to_string(value));
    variables.emplace_back("MASTER_ADDR", "127.0.0.1");
    variables.emplace_back("MASTER_PORT", "29500");
    variables.emplace_back("STRATA_DRYRUN_RANK", std::to_string(rank));
}

/// In the child, between fork and exec.
[[noreturn]] void become(
    const DryRunOptions& options, const fs::path& executable, const simgpu::Variables& variables)
{
    for (const auto& [name, value] : variables)
        setenv(name.c_str(), value.c_str(), 1);
    if (options.allocatorSettings) {
        for (const char* name : { "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF" }) {
            if (options.allocatorSettings->empty())
                unsetenv(name);
            else
                setenv(name, options.allocatorSettings->c_str(), 1);
        }
    }
    if (options.json)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    std::vector<char*> arguments;
    for (const std::string& word : options.command)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(executable.c_str(), arguments.data());
    _exit(127);
}

int waitFor(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) { }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::optional<ProcessPeaks> readPeaks(const fs::path& path)
{
    ProcessPeaks peaks{};
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(&peaks), sizeof peaks);
    if (!file || std::memcmp(peaks.magic, ProcessPeaks::kMagic, sizeof peaks.magic) != 0
        || peaks.version != ProcessPeaks::kVersion)
        return std::nullopt;
    return peaks;
}

std::vector<ProcessPeaks> collectPeaks(const fs::path& folder)
{
    std::vector<ProcessPeaks> all;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (!entry.path().filename().string().starts_with("peaks."))
            continue;
        if (const auto peaks = readPeaks(entry.path()))
            all.push_back(*peaks);
    }
    std::sort(all.begin(), all.end(), [](const ProcessPeaks& a, const ProcessPeaks& b) {
        return std::pair(a.rank, a.process) < std::pair(b.rank, b.process);
    });
    return all;
}

} // namespace

bool DryRun::fits() const
{
    return std::all_of(processes.begin(), processes.end(), [](const ProcessPeaks& process) {
        return std::all_of(process.device, process.device + process.devices,
            [](const hook::DevicePeaks& each) { return each.outOfMemories == 0; });
    });
}

std::int64_t DryRun::reservedPeak() const
{
    std::int64_t peak = 0;
    for (const ProcessPeaks& process : processes) {
        for (int i = 0; i < process.devices; ++i)
            peak = std::max(peak, process.device[i].reservedPeak);
    }
    return peak;
}

int DryRun::steps() const
{
    int steps = 0;
    for (const ProcessPeaks& process : processes)
        steps = std::max(steps, process.steps);
    return steps;
}

ScratchFolder::ScratchFolder()
{
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "strata-dryrun.XXXXXX").string();
    if (mkdtemp(name.data()))
        m_path = name;
}

ScratchFolder::~ScratchFolder()
{
    std::error_code error;
    if (!m_path.empty())
        fs::remove_all(m_path, error);
}

model::Result<DryRun> runDry(const DryRunOptions& options, const ScratchFolder& scratch)
{
    const Card* card = findCard(options.device);
    if (!card) {
        const auto nearest = nearestCards(options.device);
        return model::fail(Error::Kind::Usage, "--device " + options.device + ": no such card",
            fmt::format("nearest are {}", fmt::join(nearest, ", ")));
    }
    std::vector<std::string> problems;
    const simgpu::Settings settings = settingsOf(options, *card, problems);
    if (!problems.empty())
        return model::fail(Error::Kind::Usage, problems.front() + ": not understood", "strata dryrun --help");
    if (scratch.path().empty())
        return model::fail(
            Error::Kind::NotFound, "no folder for temporary files", "set TMPDIR to one that is writable");
    const auto program = simgpu::findProgram(options.command.front());
    if (!program)
        return model::fail(Error::Kind::Usage, program.error());
    const auto torch = simgpu::findLibTorch(*program);
    if (!torch)
        return model::fail(Error::Kind::Usage, torch.error());
    const fs::path libraries = libraryFolder();
    auto variables
        = simgpu::deviceEnvironment(*torch, settings, libraries, { libraries / "libstrata_hook.so" });
    if (!variables)
        return model::fail(Error::Kind::Usage, variables.error());
    variables->emplace_back(hook::kFolderVariable, scratch.path().string());
    variables->emplace_back(hook::kScriptVariable, (libraries / "dryrun_start.py").string());
    variables->emplace_back("STRATA_DRYRUN_STEPS", std::to_string(options.steps));
    variables->emplace_back("STRATA_DRYRUN_SKIP_INIT", options.skipInit ? "1" : "0");
    if (options.rank)
        addRank(*options.rank, options.worldSize, options.devices, *variables);

    DryRun result;
    result.device = card->name;
    result.capacityBytes = static_cast<std::int64_t>(settings.capacityBytes);
    result.torchVersion = torch->version;
    const pid_t child = fork();
    if (child == 0)
        become(options, program->executable, *variables);
    if (child < 0)
        return model::fail(Error::Kind::NotFound, std::strerror(errno), "try again with more memory free");
    // An interrupt is the command's to handle: what was counted until then is still shown.
    const auto before = std::signal(SIGINT, SIG_IGN);
    result.exitStatus = waitFor(child);
    std::signal(SIGINT, before);
    result.processes = collectPeaks(scratch.path());
    std::error_code error;
    for (const ProcessPeaks& process : result.processes) {
        const fs::path snapshot = scratch.path() / fmt::format("snapshot.{}.pickle", process.process);
        if (fs::exists(snapshot, error)) {
            result.snapshot = snapshot;
            break;
        }
    }
    return result;
}

} // namespace strata::cli
