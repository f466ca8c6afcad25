// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/run.h"

#include "app/cli/dryrun/about.h"
#include "app/launch/child.h"
#include "app/launch/command.h"
#include "app/launch/hook_at_hand.h"
#include "app/launch/libraries.h"
#include "app/launch/recorder.h"
#include "app/launch/simulated_card.h"
#include "capture/dryrun/work_bounds.h"
#include "capture/inject/variables.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/cards/catalogue.h"
#include "model/session/symbolize.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <unistd.h>
#include <utility>

namespace strata::cli {

namespace {

namespace fs = std::filesystem;
using dryrun::ProcessPeaks;
using model::Error;

simgpu::Settings settingsOf(
    const DryRunOptions& options, const model::Card& card, std::vector<std::string>& problems)
{
    simgpu::Settings settings = launch::settingsOf(card, options.capacityBytes, options.devices);
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

/// The hook of the LibTorch that the command names, if it is needed; what a launcher starts has its own made
/// there. What cannot be without one is said.
std::optional<fs::path> hookOf(const DryRunOptions& options, const launch::Command& command)
{
    if (!command.isCertain() || (!options.record && !options.time))
        return std::nullopt;
    auto hook = launch::hookFor(*command.torch);
    if (hook)
        return *std::move(hook);
    if (options.record)
        std::fprintf(stderr, "strata: %s; %s\n", hook.error().text().c_str(),
            command.torch->isLinked ? "the peaks are told without a recording"
                                    : "torch's own recorder is used instead");
    if (options.time)
        std::fprintf(stderr, "strata: %s; --time has nothing to tell\n", hook.error().text().c_str());
    return std::nullopt;
}

/// What is launched takes the simulated device as long as it takes the card at least, where somebody listens.
/// Whether it does.
bool addBounds(const std::string& card, simgpu::Variables& variables)
{
    const auto library = launch::libraryAt("libstrata_bounds.so");
    if (!library) {
        std::fprintf(stderr, "strata: %s; durations of kernels are round figures of no card\n",
            library.error().text().c_str());
        return false;
    }
    variables.emplace_back(dryrun::kBoundsVariable, library->string());
    variables.emplace_back(dryrun::kCardVariable, card);
    return true;
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

std::vector<model::LaunchedStep> collectLaunched(const fs::path& folder)
{
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("work.") && !name.ends_with(".partial"))
            files.push_back(entry.path());
    }
    std::ranges::sort(files);
    std::vector<model::LaunchedStep> all;
    for (const fs::path& path : files) {
        std::ifstream file(path, std::ios::binary);
        const std::string text{ std::istreambuf_iterator<char>(file), {} };
        if (auto step = model::readLaunchedStep(text))
            all.push_back(*std::move(step));
        else
            std::fprintf(stderr, "strata: %s\n", step.error().text().c_str());
    }
    return all;
}

std::int64_t highest(const std::vector<ProcessPeaks>& processes, std::int64_t dryrun::DevicePeaks::*figure)
{
    std::int64_t peak = 0;
    for (const ProcessPeaks& process : processes) {
        for (int i = 0; i < process.devices; ++i)
            peak = std::max(peak, process.device[i].*figure);
    }
    return peak;
}

template <class Is> bool anyProcess(const std::vector<ProcessPeaks>& processes, Is&& is)
{
    return std::any_of(processes.begin(), processes.end(), is);
}

dryrun::StepSource stepSourceOf(const std::vector<ProcessPeaks>& processes)
{
    auto source = dryrun::StepSource::None;
    for (const ProcessPeaks& process : processes)
        source = std::max(source, static_cast<dryrun::StepSource>(process.stepSource));
    return source;
}

std::string versionOf(const ProcessPeaks& process)
{
    if (process.torchVersion[0] || !process.torchFolder[0])
        return process.torchVersion;
    return launch::versionIn(process.torchFolder);
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
    // One that records itself has its own.
    std::ifstream list(folder / fmt::format("list.{}", process.process));
    for (std::string name; last.empty() && std::getline(list, name);)
        if (fs::exists(name, error))
            last = name;
    return last;
}

/// What processes that touched a device say of changes that met nothing there, where all of them do.
std::string readUnapplied(const std::vector<ProcessPeaks>& processes, const fs::path& folder)
{
    std::string first;
    for (const ProcessPeaks& process : processes) {
        std::ifstream file(folder / fmt::format("unapplied.{}", process.process));
        const std::string text{ std::istreambuf_iterator<char>(file), {} };
        if (text.empty())
            return {};
        if (first.empty())
            first = text;
    }
    return first;
}

/// Whether all that touched a device were done, their own handlers of exit too, when one was aborted: a
/// thread of PyTorch's that ends while Python takes itself down calls std::terminate now and then.
bool wereDone(const DryRun& run, const fs::path& folder)
{
    constexpr int kAborted = 128 + SIGABRT;
    std::error_code error;
    return run.exitStatus == kAborted && !run.failure && !run.processes.empty()
        && std::ranges::all_of(run.processes, [&](const ProcessPeaks& process) {
               return fs::exists(folder / fmt::format("done.{}", process.process), error);
           });
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
    const std::string text = fmt::format("strata: {}{} reserved so far\n",
        steps > 0 ? stepsText(steps, stepSourceOf(peaks)) + ", " : std::string(),
        model::formatBytes(highest(peaks, &dryrun::DevicePeaks::reservedPeak)));
    if (text != std::exchange(said, text))
        std::fputs(text.c_str(), stderr);
}

/// What differs from a command that is started as it is.
launch::ChildOptions childOptions(
    const DryRunOptions& options, simgpu::Variables variables, const fs::path& folder, std::string& said)
{
    launch::ChildOptions child{ .set = std::move(variables),
        .unset = {},
        .log = options.log,
        .outputToErrors = options.json,
        .everyTwoSeconds = [] {} };
    if (options.log.empty())
        child.everyTwoSeconds = [&folder, &said] { sayProgress(folder, said); };
    if (options.allocatorSettings) {
        for (const char* name : { "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF" }) {
            if (options.allocatorSettings->empty())
                child.unset.emplace_back(name);
            else
                child.set.emplace_back(name, *options.allocatorSettings);
        }
    }
    return child;
}

} // namespace

bool DryRun::fits() const
{
    return std::all_of(processes.begin(), processes.end(), [](const ProcessPeaks& process) {
        return std::all_of(process.device, process.device + process.devices,
            [](const dryrun::DevicePeaks& each) { return each.outOfMemories == 0; });
    });
}

model::Fit DryRun::fit() const
{
    if (!fits())
        return model::Fit::No;
    const model::Card* const simulated = card();
    return simulated != nullptr && simulated->capacityBytes == capacityBytes
        ? model::fitOf(capacityBytes, reservedPeak())
        : model::Fit::Yes;
}

std::int64_t DryRun::reservedPeak() const
{
    return highest(processes, &dryrun::DevicePeaks::reservedPeak);
}

std::int64_t DryRun::requestedPeak() const
{
    return highest(processes, &dryrun::DevicePeaks::requestedPeak);
}

std::int64_t DryRun::neededAtLeast() const
{
    return highest(processes, &dryrun::DevicePeaks::neededAtLeast);
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

int DryRun::allSteps() const
{
    const auto most = std::ranges::max_element(processes, {}, &ProcessPeaks::steps);
    return most == processes.end() ? 0 : most->allSteps;
}

dryrun::StepSource DryRun::stepSource() const
{
    return stepSourceOf(processes);
}

bool DryRun::endedBySteps() const
{
    return anyProcess(processes, [](const ProcessPeaks& process) { return process.ended != 0; });
}

bool DryRun::hasUnseenSteps() const
{
    return anyProcess(processes, [](const ProcessPeaks& process) { return process.unseen != 0; });
}

bool DryRun::hasUnservedCalls() const
{
    return anyProcess(processes, [](const ProcessPeaks& process) { return process.unserved != 0; });
}

bool DryRun::ranPython() const
{
    return anyProcess(processes, [](const ProcessPeaks& process) { return process.torchVersion[0] != '\0'; });
}

bool DryRun::skippedWeights() const
{
    return anyProcess(processes, [](const ProcessPeaks& process) { return process.weightsSkipped != 0; });
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
    const auto chosen = launch::cardNamed("--device", options.device);
    if (!chosen)
        return model::Failure(chosen.error());
    const model::Card* const card = *chosen;
    std::vector<std::string> problems;
    const simgpu::Settings settings = settingsOf(options, *card, problems);
    if (!problems.empty())
        return model::fail(Error::Kind::Usage, model::say("%1: not understood", problems.front()),
            model::say("strata dryrun --help"));
    if (scratch.path().empty())
        return model::fail(Error::Kind::NotFound, model::say("no folder for temporary files"),
            model::say("set TMPDIR to one that is writable"));
    const auto command = launch::findCommand(options.command);
    if (!command)
        return model::Failure(command.error());
    if (!command->torch && command->isCertain())
        return model::fail(Error::Kind::Usage, model::verbatim(command->whyNoTorch));
    const auto library = launch::preloadable(launch::kPreloaded);
    if (!library)
        return model::Failure(library.error());
    auto variables = launch::deviceFor(*command, settings, *library);
    if (!variables)
        return model::Failure(variables.error());
    const auto hook = hookOf(options, *command);
    // Without a hook torch's own recorder is used.
    const bool records = options.record && (hook || !command->isCertain());
    if (records)
        launch::addRecorder((scratch.path() / "recording.{process}.strata").string(), "auto", *variables);
    if (records)
        launch::addLive(options.live, *variables);
    if (records && options.kernels)
        variables->emplace_back(inject::kKernelsVariable, "aside");
    if (records && options.operators)
        variables->emplace_back(inject::kOperatorsVariable, "1");
    if (records && options.deepStep != 0 && (!options.output.empty() || options.live.isOn))
        variables->emplace_back(inject::kDeepVariable, std::to_string(options.deepStep));
    variables->emplace_back(inject::kListVariable, (scratch.path() / "list.{process}").string());
    variables->emplace_back(dryrun::kFolderVariable, scratch.path().string());
    variables->emplace_back(dryrun::kScriptVariable, (launch::libraryFolder() / "dryrun_start.py").string());
    variables->emplace_back(dryrun::kStepsVariable, std::to_string(options.steps));
    variables->emplace_back("STRATA_DRYRUN_SKIP_INIT", options.skipInit ? "1" : "0");
    variables->emplace_back("STRATA_DRYRUN_RECORD", options.record ? "1" : "0");
    variables->emplace_back("STRATA_DRYRUN_CHANGES", fmt::format("{}", fmt::join(options.changes, "\n")));
    if (options.time)
        variables->emplace_back(dryrun::kTimeVariable, "1");
    if (hook) { // operators are seen through it
        variables->emplace_back(dryrun::kHookVariable, hook->string());
        variables->emplace_back(dryrun::kHookTorchVariable, command->torch->folder.string());
    }
    const bool isBounded = records && addBounds(card->name, *variables);
    variables->emplace_back(
        inject::kSimulatedVariable, aboutJson(options, card->name, settings.capacityBytes, isBounded));
    if (options.rank)
        addRank(*options.rank, options.worldSize, options.devices, *variables);

    DryRun result;
    result.device = card->name;
    result.capacityBytes = static_cast<std::int64_t>(settings.capacityBytes);
    result.knewTorch = command->isCertain();
    if (result.knewTorch)
        result.torchVersion = launch::versionOf(*command->torch);
    if (options.log.empty())
        std::fprintf(stderr, "strata: running on a simulated %s%s\n", card->name.c_str(),
            result.torchVersion.empty() ? "" : (" with torch " + result.torchVersion).c_str());
    std::string said;
    const auto ended
        = launch::runChild(*command, childOptions(options, *std::move(variables), scratch.path(), said));
    if (!ended)
        return model::Failure(ended.error());
    result.exitStatus = *ended;
    result.processes = collectPeaks(scratch.path());
    result.launched = collectLaunched(scratch.path());
    result.failure = readFailure(scratch.path());
    result.unapplied = readUnapplied(result.processes, scratch.path());
    if (wereDone(result, scratch.path())) {
        std::fputs(
            "strata: the program was done when PyTorch aborted its process: what it did counts\n", stderr);
        result.exitStatus = 0;
    }
    // The process with most has the recording that is looked into.
    std::int64_t most = -1;
    for (const ProcessPeaks& process : result.processes) {
        fs::path recording = recordingOf(process, scratch.path());
        if (recording.extension() == ".strata")
            (void)model::symbolize(recording); // what is not found stays without
        const std::int64_t reserved = highest({ process }, &dryrun::DevicePeaks::reservedPeak);
        if (reserved > most && !recording.empty()) {
            most = reserved;
            result.recording = recording;
        }
        result.recordings.push_back(std::move(recording));
        if (result.torchVersion.empty())
            result.torchVersion = versionOf(process);
    }
    return result;
}

} // namespace strata::cli
