// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/run.h"

#include "app/cli/dryrun/about.h"
#include "app/cli/dryrun/launch.h"
#include "capture/inject/variables.h"
#include "capture/simgpu/launch/environment.h"
#include "model/base/units.h"
#include "model/symbols/symbolize.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace strata::cli {

namespace {

namespace fs = std::filesystem;
using hook::ProcessPeaks;
using model::Error;

simgpu::Settings settingsOf(
    const DryRunOptions& options, const Card& card, std::vector<std::string>& problems)
{
    simgpu::Settings settings = settingsOf(card, options.capacityBytes, options.devices);
    const simgpu::Settings order = simgpu::parseSettings("addresses=" + options.addresses, problems);
    settings.order = order.order;
    settings.seed = order.seed;
    settings.ranges = order.ranges;
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
[[noreturn]] void start(
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
    if (!options.log.empty()) {
        const int log = open(options.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(log, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
    } else if (options.json)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    become(executable, options.command);
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

std::int64_t highest(const std::vector<ProcessPeaks>& processes, std::int64_t hook::DevicePeaks::*figure)
{
    std::int64_t peak = 0;
    for (const ProcessPeaks& process : processes) {
        for (int i = 0; i < process.devices; ++i)
            peak = std::max(peak, process.device[i].*figure);
    }
    return peak;
}

/// Torch's own snapshot, else our session of the last program that the process became; empty without either.
fs::path recordingOf(const ProcessPeaks& process, const fs::path& folder)
{
    std::error_code error;
    if (fs::path snapshot = folder / fmt::format("snapshot.{}.pickle", process.process);
        fs::exists(snapshot, error))
        return snapshot;
    fs::path last;
    fs::path session = folder / fmt::format("recording.{}.strata", process.process);
    for (int image = 2; fs::exists(session, error); ++image) {
        last = session;
        session = folder / fmt::format("recording.{}.{}.strata", process.process, image);
    }
    return last;
}

/// One line whenever there is something new, at most every two seconds.
void sayProgress(const fs::path& folder, std::string& said)
{
    const std::vector<ProcessPeaks> peaks = collectPeaks(folder);
    if (peaks.empty())
        return;
    int steps = 0;
    for (const ProcessPeaks& process : peaks)
        steps = std::max(steps, process.steps);
    const std::string text = fmt::format("strata: {} optimizer steps, {} reserved so far\n", steps,
        model::formatBytes(highest(peaks, &hook::DevicePeaks::reservedPeak)));
    if (text != std::exchange(said, text))
        std::fputs(text.c_str(), stderr);
}

int waitFor(pid_t child, const fs::path& folder, bool aloud)
{
    using namespace std::chrono_literals;
    constexpr auto kPatience = 2s;
    auto next = std::chrono::steady_clock::now() + kPatience;
    std::string said;
    for (auto pause = 1ms;; pause = std::min(2 * pause, 20ms)) {
        int status = 0;
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (ended < 0 && errno != EINTR)
            return 127;
        std::this_thread::sleep_for(pause);
        if (aloud && std::chrono::steady_clock::now() >= next) {
            sayProgress(folder, said);
            next += kPatience;
        }
    }
}

/// The command to which a signal handler passes a request to end.
volatile std::sig_atomic_t g_command = 0;

void passOn(int signal)
{
    kill(g_command, signal);
}

/// While the command runs, an interrupt is the command's to handle, and who asks this program to end asks the
/// command: neither it nor temporary files are left, and what was counted until then is still shown.
class CommandSignals {
public:
    explicit CommandSignals(pid_t command)
    {
        g_command = command;
        m_interrupt = std::signal(SIGINT, SIG_IGN);
        m_terminate = std::signal(SIGTERM, passOn);
    }
    ~CommandSignals()
    {
        std::signal(SIGINT, m_interrupt);
        std::signal(SIGTERM, m_terminate);
    }
    CommandSignals(const CommandSignals&) = delete;
    CommandSignals& operator=(const CommandSignals&) = delete;

private:
    void (*m_interrupt)(int) = SIG_DFL;
    void (*m_terminate)(int) = SIG_DFL;
};

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
    return highest(processes, &hook::DevicePeaks::reservedPeak);
}

std::int64_t DryRun::requestedPeak() const
{
    return highest(processes, &hook::DevicePeaks::requestedPeak);
}

std::int64_t DryRun::allocations() const
{
    std::int64_t sum = 0;
    for (const ProcessPeaks& process : processes) {
        for (int i = 0; i < process.devices; ++i)
            sum += process.device[i].allocations;
    }
    return sum;
}

std::int64_t DryRun::firstRefused() const
{
    for (const ProcessPeaks& process : processes) {
        for (int i = 0; i < process.devices; ++i) {
            if (process.device[i].outOfMemories > 0)
                return process.device[i].firstRefused;
        }
    }
    return 0;
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
    // Python's side of the recorder comes first: that of the dry run asks it whether it can read this
    // Python's frames.
    std::vector<fs::path> preloaded;
    if (const bool recorder = options.record && hasHook(*torch); recorder)
        preloaded.push_back(libraries / "libstrata_record.so");
    preloaded.push_back(libraries / "libstrata_hook.so");
    auto variables = simgpu::deviceEnvironment(*torch, settings, libraries, preloaded);
    if (!variables)
        return model::fail(Error::Kind::Usage, variables.error());
    if (preloaded.size() > 1)
        addRecorder((scratch.path() / "recording.{process}.strata").string(), "auto", *variables);
    variables->emplace_back(hook::kFolderVariable, scratch.path().string());
    variables->emplace_back(hook::kScriptVariable, (libraries / "dryrun_start.py").string());
    variables->emplace_back("STRATA_DRYRUN_STEPS", std::to_string(options.steps));
    variables->emplace_back("STRATA_DRYRUN_SKIP_INIT", options.skipInit ? "1" : "0");
    variables->emplace_back("STRATA_DRYRUN_RECORD", options.record ? "1" : "0");
    variables->emplace_back("STRATA_DRYRUN_CHANGES", fmt::format("{}", fmt::join(options.changes, "\n")));
    variables->emplace_back(
        inject::kSimulatedVariable, aboutJson(options, card->name, settings.capacityBytes));
    if (options.rank)
        addRank(*options.rank, options.worldSize, options.devices, *variables);

    DryRun result;
    result.device = card->name;
    result.capacityBytes = static_cast<std::int64_t>(settings.capacityBytes);
    result.torchVersion = torch->version;
    if (options.log.empty())
        std::fprintf(stderr, "strata: running on a simulated %s%s\n", card->name.c_str(),
            torch->version.empty() ? "" : (" with torch " + torch->version).c_str());
    const pid_t child = fork();
    if (child == 0)
        start(options, program->executable, *variables);
    if (child < 0)
        return model::fail(Error::Kind::NotFound, std::strerror(errno), "try again with more memory free");
    {
        const CommandSignals signals(child);
        result.exitStatus = waitFor(child, scratch.path(), options.log.empty());
    }
    result.processes = collectPeaks(scratch.path());
    result.failure = readFailure(scratch.path());
    // The process with most has the recording that is looked into.
    std::int64_t most = -1;
    for (const ProcessPeaks& process : result.processes) {
        fs::path recording = recordingOf(process, scratch.path());
        if (recording.extension() == ".strata")
            (void)model::symbolize(recording); // what is not found stays without
        const std::int64_t reserved = highest({ process }, &hook::DevicePeaks::reservedPeak);
        if (reserved > most && !recording.empty()) {
            most = reserved;
            result.recording = recording;
        }
        result.recordings.push_back(std::move(recording));
    }
    return result;
}

} // namespace strata::cli
