// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/allocator/oom_next.h"

#include "model/base/shell.h"
#include "model/cards/catalogue.h"
#include "model/session/simulation.h"
#include "model/trace/frames.h"
#include "model/wire/info.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace strata::model {

namespace {

constexpr std::size_t kMostSteps = 3;
constexpr std::int64_t kBytesOfMiB = 1 << 20;

std::string factOf(const Recording& recording, const std::string& key)
{
    const auto found = recording.facts.find(key);
    return found == recording.facts.end() ? std::string() : found->second;
}

/// Of the recording; nullptr: it does not show which.
const Card* recordedCard(const DeviceTrace& trace, const OomVerdict& verdict)
{
    const Recording& recording = trace.recording();
    if (const auto simulation = simulationOf(recording))
        if (const Card* const card = findCard(simulation->device))
            return card;
    return cardOfDevice(
        factOf(recording, wire::deviceKey(wire::info::kDevice, trace.device(), wire::info::kDeviceName)),
        verdict.capacityBytes.value_or(0));
}

/// "--device A100-80GB": with half as much more at least, and kernels of the same compute capability, which
/// need as much. Where the catalogue has none: this card with four times its memory.
std::string roomierCard(const DeviceTrace& trace, const OomVerdict& verdict)
{
    const std::int64_t needs = verdict.parts.availableBytes() + verdict.roundedBytes;
    const Card* const recorded = recordedCard(trace, verdict);
    const std::int64_t least
        = std::max(needs, recorded != nullptr ? recorded->capacityBytes : std::int64_t{ 0 }) / 2 * 3;
    // What dryrun takes by itself, where nothing shows the card.
    const Card* const like = recorded != nullptr ? recorded : findCard("A100-80GB");
    const Card* larger = nullptr;
    for (const Card& card : cards()) {
        if (like != nullptr && card.computeMajor == like->computeMajor
            && card.computeMinor == like->computeMinor && card.capacityBytes >= least
            && (larger == nullptr || card.capacityBytes > larger->capacityBytes))
            larger = &card;
    }
    if (larger != nullptr)
        return "--device " + larger->name;
    return (recorded != nullptr ? "--device " + recorded->name + ' ' : std::string()) + "--capacity "
        + std::to_string(std::max(needs, std::int64_t{ 1 } << 30) / (std::int64_t{ 1 } << 30) * 4) + "GiB";
}

/// As it was started; a snapshot shows the script alone, if that.
std::string commandOf(const DeviceTrace& trace, const OomVerdict& verdict)
{
    const Recording& recording = trace.recording();
    if (const auto simulation = simulationOf(recording); simulation && !simulation->command.empty())
        return simulation->command;
    if (std::string command = factOf(recording, wire::info::kCommand); !command.empty())
        return command;
    if (verdict.request.valid()) {
        const auto frames = recording.stacks.stack(verdict.request);
        for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
            const Frame& code = recording.stacks.frame(*frame);
            const std::string_view file = recording.strings[code.file];
            if (recording.strings[code.function] == "<module>" && file.ends_with(".py"))
                return "python " + shellQuoted(file);
        }
    }
    return "COMMAND";
}

/// The program was given nothing more after the failure.
bool endsInFailure(const DeviceTrace& trace, EventIndex failed)
{
    for (EventIndex event = failed + 1; event < trace.eventCount(); ++event)
        if (trace.events().action[static_cast<std::size_t>(event)] == Action::Alloc)
            return false;
    return true;
}

void addSettings(std::vector<NextStep>& steps, const OomVerdict& verdict)
{
    for (const SettingTried& tried : verdict.advice) {
        NextStep& step = steps.emplace_back();
        step.what = say("Run it again with this setting: the replay serves the request, with %1 to spare.",
            asBytes(std::max<std::int64_t>(0, verdict.parts.availableBytes() - tried.reservedBytesPeak)));
        step.command = tried.settings.empty() ? "unset PYTORCH_CUDA_ALLOC_CONF"
                                              : "PYTORCH_CUDA_ALLOC_CONF=" + shellQuoted(tried.settings);
        step.verified = tried.exact;
        step.isSetting = true;
    }
}

/// What the figures of the failure show to serve the request, without a setting.
void addEdits(std::vector<NextStep>& steps, const DeviceTrace& trace, const OomVerdict& verdict)
{
    const auto add = [&](Sentence what, bool verified, std::string command = {}) {
        steps.push_back({ std::move(what), std::move(command), verified, false });
    };
    const bool poolServes = verdict.onePool && verdict.onePool->servesRequest;
    if (poolServes)
        add(say("Let the %1 graph pools share one pool: the replay serves the request. Pass the same pool= "
                "to each torch.cuda.graph().",
                verdict.onePool->places),
            verdict.onePool->exact);
    if (verdict.cause == OomCause::Fragmented && !verdict.pins.empty()) {
        const Pin& pin = verdict.pins.front();
        const FrameId line = userFrame(trace.recording(), trace.blocks().stack[pin.block]);
        if (!pin.pending && line.valid() && pin.givesBackBytes >= verdict.missingBytes)
            add(say("Free the %1 of %2 before this request: the driver then gets %3 back.",
                    asBytes(pin.bytes), frameLabel(trace.recording(), line), asBytes(pin.givesBackBytes)),
                verdict.exact);
    }
    if (verdict.cause == OomCause::OtherProcess) // which alone would have served it
        add(say("End the other processes on this GPU: they use %1.",
                asBytes(verdict.parts.otherProcessesBytes.value_or(0))),
            true, "nvidia-smi");
    if (verdict.cause == OomCause::PrivatePools && !poolServes)
        add(say("Delete CUDA graphs that are not replayed any more: private pools hold %1 free.",
                asBytes(verdict.parts.freePrivateBytes)),
            false);
    if (verdict.cause == OomCause::PendingFree)
        add(say("Wait for the other stream before this request: torch.cuda.synchronize()."), false);
}

} // namespace

std::vector<NextStep> nextSteps(const DeviceTrace& trace, const OomVerdict& verdict, const std::string& file)
{
    std::vector<NextStep> steps;
    addSettings(steps, verdict);
    addEdits(steps, trace, verdict);
    std::ranges::stable_sort(steps, std::greater{}, &NextStep::verified);
    std::filesystem::path name = std::filesystem::path(file).filename();
    if (name.extension() == ".gz") // of a snapshot
        name = name.stem();
    const std::string stem = name.stem().string();
    const std::string kept = shellQuoted((stem.empty() ? "run" : stem) + "-larger.strata");
    const std::size_t room = endsInFailure(trace, verdict.event) ? kMostSteps - 2 : kMostSteps;
    if (steps.size() > room)
        steps.resize(room);
    if (steps.size() + 2 > kMostSteps)
        return steps;
    steps.push_back(
        { say("Run all of the program on a larger simulated GPU: this recording does not show its "
              "peak."),
            "strata dryrun " + roomierCard(trace, verdict) + " -o " + kept + " -- "
                + commandOf(trace, verdict),
            false, false });
    const std::int64_t fits = std::max(verdict.parts.availableBytes() - verdict.unusableBytes, kBytesOfMiB);
    steps.push_back({ say("Then ask for changes that fit in %1.", asBytes(fits)),
        "strata whatif " + kept + " --plan " + std::to_string(fits / kBytesOfMiB) + "MiB", false, false });
    return steps;
}

} // namespace strata::model
