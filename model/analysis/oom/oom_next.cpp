// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/oom/oom_next.h"

#include "model/base/shell.h"
#include "model/base/wrap.h"
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
            asBytes(verdict.spareBytes(tried)));
        step.command = tried.settings.empty() ? "unset PYTORCH_CUDA_ALLOC_CONF"
                                              : "PYTORCH_CUDA_ALLOC_CONF=" + shellQuoted(tried.settings);
        step.verified = tried.exact;
        step.isSetting = true;
    }
}

/// Edits and commands that end one cause.
class NextEdits {
public:
    NextEdits(std::vector<NextStep>& steps, const DeviceTrace& trace, const OomVerdict& verdict,
        const OomEvidence& evidence)
        : m_steps(steps)
        , m_trace(trace)
        , m_verdict(verdict)
        , m_evidence(evidence)
    {
    }

    void add()
    {
        switch (m_verdict.cause) {
        case OomCause::TooBig:
            return addForTooBig();
        case OomCause::Leak:
            return addLeak(true);
        case OomCause::MemoryFraction:
            return addLimit();
        case OomCause::Fragmented:
            return needsMore(m_verdict, m_evidence) ? addForTooBig() : addPin();
        case OomCause::PrivatePools:
            return addPools();
        case OomCause::PendingFree:
            return put(
                say("Wait for the other stream before this request: torch.cuda.synchronize()."), false);
        case OomCause::OtherProcess: // which alone would have served it
            return put(say("End the other processes on this GPU: they use %1.",
                           asBytes(m_verdict.parts.otherProcessesBytes.value_or(0))),
                true, "nvidia-smi");
        case OomCause::OutsidePyTorch:
            return put(
                say("Find the library that holds %1 beside PyTorch: NCCL, a second framework, a custom "
                    "kernel.",
                    asBytes(m_verdict.parts.outsideBytes.value_or(0))),
                false);
        case OomCause::Unknown:
            return put(say("See whether other processes or libraries hold memory of this GPU. This recording "
                           "does not show it."),
                false, "nvidia-smi");
        }
    }

private:
    void put(Sentence what, bool verified, std::string command = {})
    {
        m_steps.push_back({ std::move(what), std::move(command), verified, false });
    }

    /// Whether the request would be served without so many bytes, wherever they lie; of fragments, which
    /// leave room for one such request, whether another one would be.
    [[nodiscard]] bool wouldServe(std::int64_t bytes) const
    {
        const std::int64_t spare = m_verdict.cause == OomCause::Fragmented
            ? m_verdict.roundedBytes
            : static_cast<std::int64_t>(kNearlyFull * static_cast<double>(m_verdict.limitBytes));
        return bytes > 0 && wrapAdd(m_verdict.packedSpareBytes, bytes) >= spare;
    }

    [[nodiscard]] Sentence lineOf(StackId stack) const
    {
        const FrameId line = stack.valid() ? userFrame(m_trace.recording(), stack) : FrameId{};
        return line.valid() ? say("%1", frameLabel(m_trace.recording(), line)) : say("no stack recorded");
    }

    void addLeak(bool verified)
    {
        const auto& sites = m_evidence.leaks.sites;
        const auto site = std::ranges::find(sites, LeakKind::Leak, &LeakSite::kind);
        if (m_evidence.leaks.verdict != LeakReport::Verdict::Found || site == sites.end())
            return;
        put(say("%1: %2; %3.", lineOf(site->stack), site->pattern, site->change), verified);
    }

    /// What a stack shows comes first, then what holds most.
    void addForTooBig()
    {
        const OomEvidence& found = m_evidence;
        if (m_verdict.roundedBytes > m_verdict.limitBytes / 2)
            return put(say("Compute this request in smaller parts: it takes %1 of %2 alone.",
                           asBytes(m_verdict.roundedBytes), asBytes(m_verdict.limitBytes)),
                false);
        const std::size_t before = m_steps.size();
        addLeak(false);
        if (m_steps.size() > before)
            return;
        if (wouldServe(found.graphsKept.bytes))
            return put(say("Probably a loss or output is kept with its graph: keep loss.detach() or loss.item(). "
                           "%1 seem to be activations of earlier steps.",
                           asBytes(found.graphsKept.bytes)),
                false);
        if (wouldServe(found.loaded.bytes))
            return put(say("%1 loads tensors to the GPU, of which %2 have the sizes of others there: load to "
                           "the CPU with map_location=\"cpu\".",
                           lineOf(found.loaded.stack), asBytes(found.loaded.bytes)),
                true);
        if (wouldServe(found.copied.bytes))
            return put(
                say("Keep fewer copies of the model: copy.deepcopy() holds %1.", asBytes(found.copied.bytes)),
                true);
        const bool ofLoss = found.inLoss || found.loss.largestBytes >= m_verdict.roundedBytes / 2;
        if (ofLoss
            && wouldServe(found.loss.bytes + (found.inLoss ? m_verdict.roundedBytes : std::int64_t{ 0 })))
            return put(say("Compute the logits and the loss in chunks, each in a checkpoint: the loss alone "
                           "holds %1.",
                           asBytes(found.loss.bytes)),
                false);
        if (found.inOptimizer
            || (wouldServe(found.states.bytes) && found.states.bytes > found.activations.bytes))
            return put(found.states.bytes > 0
                    ? say("Use an optimizer with less state, such as SGD or an 8-bit Adam: states hold %1 so "
                          "far.",
                        asBytes(found.states.bytes))
                    : say("Use an optimizer with less state, such as SGD or an 8-bit Adam."),
                false);
        if (2 * found.others.bytes > found.liveBytes)
            return put(say("Keep on the CPU what the GPU does not need yet: %1 are inputs or of unknown purpose, "
                           "the largest from %2.",
                           asBytes(found.others.bytes), lineOf(found.others.stack)),
                false);
        if (2 * found.activations.bytes > found.liveBytes)
            return put(found.gradientsOff
                    ? say("Make the batch size smaller: activations hold %1 so far.",
                        asBytes(found.activations.bytes))
                    : found.trainingSeen
                    ? say("Make the batch size smaller, or checkpoint modules: activations hold %1 so far.",
                        asBytes(found.activations.bytes))
                    : say("Use torch.no_grad() if no backward follows. Else make the batch size smaller, or "
                          "checkpoint modules: activations hold %1 so far.",
                        asBytes(found.activations.bytes)),
                false);
        if (2 * found.parameters.bytes > found.liveBytes)
            put(say("Keep the weights in half precision if they are in float32: parameters hold %1.",
                    asBytes(found.parameters.bytes)),
                false);
    }

    void addLimit()
    {
        const std::int64_t needed = m_verdict.parts.reservedBytes() + m_verdict.missingBytes
            + (m_verdict.allowedBytes
                    ? std::max<std::int64_t>(0, *m_verdict.allowedBytes - m_verdict.parts.reservedBytes())
                    : std::int64_t{ 0 });
        put(say("Raise the memory fraction of this process, to at least %1: "
                "torch.cuda.set_per_process_memory_fraction().",
                asBytes(needed)),
            isSure(m_verdict.certainty));
    }

    void addPin()
    {
        if (m_verdict.pins.empty() || m_verdict.missingBytes <= 0)
            return;
        const Pin& pin = m_verdict.pins.front();
        const FrameId line = userFrame(m_trace.recording(), m_trace.blocks().stack[pin.block]);
        if (!pin.pending && line.valid() && pin.givesBackBytes >= m_verdict.missingBytes)
            put(say("Free the %1 of %2 before this request: the driver then gets %3 back.",
                    asBytes(pin.bytes), frameLabel(m_trace.recording(), line), asBytes(pin.givesBackBytes)),
                m_verdict.exact);
    }

    void addPools()
    {
        if (m_verdict.onePool && m_verdict.onePool->servesRequest)
            put(say("Let the %1 graph pools share one pool: the replay serves the request. Pass the same "
                    "pool= "
                    "to each torch.cuda.graph().",
                    m_verdict.onePool->places),
                m_verdict.onePool->exact);
        else
            put(say("Delete CUDA graphs that are not replayed any more: private pools hold %1 free.",
                    asBytes(m_verdict.parts.freePrivateBytes)),
                false);
    }

    std::vector<NextStep>& m_steps;
    const DeviceTrace& m_trace;
    const OomVerdict& m_verdict;
    const OomEvidence& m_evidence;
};

} // namespace

std::vector<NextStep> nextSteps(
    const DeviceTrace& trace, const OomVerdict& verdict, const OomEvidence& evidence, const std::string& file)
{
    std::vector<NextStep> steps;
    const bool settingsFirst = verdict.cause == OomCause::Fragmented && !needsMore(verdict, evidence);
    if (settingsFirst)
        addSettings(steps, verdict);
    NextEdits(steps, trace, verdict, evidence).add();
    if (!settingsFirst)
        addSettings(steps, verdict);
    std::filesystem::path name = std::filesystem::path(file).filename();
    if (name.extension() == ".gz") // of a snapshot
        name = name.stem();
    const std::string stem = name.stem().string();
    const std::string kept = shellQuoted((stem.empty() ? "run" : stem) + "-larger.strata");
    const std::int64_t fits = std::max(verdict.parts.availableBytes() - verdict.unusableBytes, kBytesOfMiB);
    // Where others fill the GPU, no plan has room.
    const bool canPlan = steps.empty() || fits >= verdict.roundedBytes;
    const std::size_t room = canPlan && endsInFailure(trace, verdict.event) ? kMostSteps - 2 : kMostSteps;
    if (steps.size() > room)
        steps.resize(room);
    if (!canPlan || steps.size() + 2 > kMostSteps)
        return steps;
    steps.push_back(
        { say("Run all of the program on a larger simulated GPU: this recording does not show its "
              "peak."),
            "strata dryrun " + roomierCard(trace, verdict) + " -o " + kept + " -- "
                + commandOf(trace, verdict),
            false, false });
    steps.push_back({ say("Then ask for changes that fit in %1.", asBytes(fits)),
        "strata whatif " + kept + " --plan " + std::to_string(fits / kBytesOfMiB) + "MiB", false, false });
    return steps;
}

} // namespace strata::model
