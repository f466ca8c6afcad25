// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/oom/oom_evidence.h"

#include "model/analysis/training/roles/categories.h"
#include "model/analysis/training/roles/stack_origins.h"
#include "model/base/wrap.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace strata::model {

namespace {

class EvidenceFinder {
public:
    EvidenceFinder(const DeviceTrace& trace, const TrainingSteps& steps, const Categories& categories,
        OomEvidence& found)
        : m_trace(trace)
        , m_steps(steps)
        , m_categories(categories)
        , m_origins(trace.recording())
        , m_found(found)
    {
    }

    void lookAt(const AllocatorMap& map, StackId request)
    {
        m_failedIn = m_steps.at(map.event);
        std::vector<BlockId> loaded, copied;
        std::unordered_map<std::int64_t, std::int64_t> sizes; // of what is neither
        for (const MapBlock& block : map.blocks) {
            if (block.isFree() || block.pending)
                continue;
            m_found.liveBytes = wrapAdd(m_found.liveBytes, block.requestedBytes);
            const StackOrigin& origin = m_origins.of(m_trace.blocks().stack[block.block]);
            if (origin.has(StackOrigin::ReadsTensors))
                loaded.push_back(block.block);
            else if (origin.has(StackOrigin::Copies))
                copied.push_back(block.block);
            else
                ++sizes[block.requestedBytes];
            count(block.block, origin);
        }
        m_found.loaded = twinsOf(loaded, sizes);
        m_found.copied = twinsOf(copied, sizes);
        const StackOrigin& origin = m_origins.of(request);
        if (origin.has(StackOrigin::State))
            m_found.stateLines = countStateLines();
        m_found.inOptimizer = origin.has(StackOrigin::Optimizer);
        m_found.inSetup = origin.has(StackOrigin::Setup) || origin.has(StackOrigin::Load)
            || origin.has(StackOrigin::Init);
        m_found.inLoss = origin.has(StackOrigin::CrossEntropy);
        const EventPhase phase = m_trace.events().phaseOf(static_cast<std::size_t>(map.event));
        m_found.gradientsOff = phase == EventPhase::NoGrad || phase == EventPhase::Inference;
        lookAtSteps(map.event, origin);
    }

private:
    void add(OomEvidence::Held& held, BlockId block) const
    {
        const std::int64_t bytes = m_trace.blocks().requestedBytes[block];
        held.bytes = wrapAdd(held.bytes, bytes);
        ++held.blocks;
        if (bytes > held.largestBytes) {
            held.largestBytes = bytes;
            held.stack = m_trace.blocks().stack[block];
        }
    }

    void lookAtSteps(EventIndex event, const StackOrigin& request)
    {
        m_found.trainingSeen
            = m_steps.optimizerSeen || std::ranges::any_of(m_steps.steps, [](const TrainingStep& step) {
                  return std::ranges::find(step.phases, Phase::Backward, &PhaseSpan::phase)
                      != step.phases.end();
              });
        const bool inPass = request.has(StackOrigin::Module) || request.has(StackOrigin::Backward)
            || m_steps.phaseAt(event) == Phase::Backward;
        const auto isComplete = [&](const TrainingStep& step) {
            return step.last < event
                && (m_found.trainingSeen ? step.kind == StepKind::Train
                                         : step.kind != StepKind::Setup && step.kind != StepKind::Incomplete);
        };
        m_found.inFirstStep = inPass && std::ranges::none_of(m_steps.steps, isComplete);
    }

    /// Born in a step of training that was over when the one that failed began.
    [[nodiscard]] bool isOfEarlierStep(BlockId block) const
    {
        const EventIndex birth = m_trace.blocks().birth(block);
        const TrainingStep* const step = birth >= 0 ? m_steps.at(birth) : nullptr;
        return step != nullptr && m_failedIn != nullptr && step->kind == StepKind::Train
            && step->last < m_failedIn->first;
    }

    void count(BlockId block, const StackOrigin& origin)
    {
        const Category category = m_categories.of(block).category;
        const std::int64_t bytes = m_trace.blocks().requestedBytes[block];
        if (category == Category::Gradient)
            m_found.gradientBytes = wrapAdd(m_found.gradientBytes, bytes);
        if (origin.has(StackOrigin::State))
            m_stateBytes[m_trace.blocks().stack[block]] += bytes;
        if (origin.has(StackOrigin::CrossEntropy))
            add(m_found.loss, block);
        if (category == Category::Activation && isOfEarlierStep(block))
            add(m_found.graphsKept, block);
        if (category == Category::OptimizerState || origin.has(StackOrigin::Optimizer))
            add(m_found.states, block);
        else if (category == Category::Parameter)
            add(m_found.parameters, block);
        else if (category == Category::Activation
            || (origin.has(StackOrigin::Module) && !origin.has(StackOrigin::Backward)
                && !origin.has(StackOrigin::Setup) && category != Category::Gradient
                && category != Category::Buffer && category != Category::Workspace))
            add(m_found.activations, block);
        else if (category == Category::Input || category == Category::Unknown)
            add(m_found.others, block);
    }

    /// Without those of small ones, such as counts of steps.
    [[nodiscard]] std::int64_t countStateLines() const
    {
        constexpr std::int64_t kShare = 10;
        return std::ranges::count_if(
            m_stateBytes, [&](const auto& line) { return line.second > m_found.states.bytes / kShare; });
    }

    /// Those that have the size of a block which is not among them, each of such a block of its own.
    OomEvidence::Held twinsOf(
        const std::vector<BlockId>& blocks, std::unordered_map<std::int64_t, std::int64_t> sizes) const
    {
        OomEvidence::Held held;
        for (const BlockId block : blocks) {
            const auto twin = sizes.find(m_trace.blocks().requestedBytes[block]);
            if (twin == sizes.end() || twin->second == 0)
                continue;
            --twin->second;
            add(held, block);
        }
        return held;
    }

    const DeviceTrace& m_trace;
    const TrainingSteps& m_steps;
    const TrainingStep* m_failedIn = nullptr;
    const Categories& m_categories;
    StackOrigins m_origins;
    std::map<StackId, std::int64_t> m_stateBytes;
    OomEvidence& m_found;
};

} // namespace

void takeLeak(OomVerdict& verdict, const LeakReport& leaks)
{
    constexpr std::int64_t kPart = 4; // of the steps that ran
    if (leaks.verdict != LeakReport::Verdict::Found)
        return;
    std::int64_t kept = 0, perStep = 0;
    for (const LeakSite& site : leaks.sites) {
        if (site.kind != LeakKind::Leak
            || site.blocksPerStep <= 0) // else one block that is made anew, larger
            continue;
        perStep = wrapAdd(perStep, site.allocatedBytesPerStep);
        for (const LeakGrowth& stayed : site.survivors)
            if (stayed.event <= verdict.event)
                kept = wrapAdd(kept, stayed.allocatedBytes);
    }
    const bool served = verdict.packedSpareBytes + kept
        >= static_cast<std::int64_t>(kNearlyFull * static_cast<double>(verdict.limitBytes));
    const bool lasts = perStep > 0 && verdict.packedSpareBytes / perStep * kPart >= leaks.steps;
    const bool mayBe = verdict.cause == OomCause::TooBig
        || ((verdict.cause == OomCause::Fragmented || verdict.cause == OomCause::Unknown) && !lasts);
    if (perStep <= 0 || !served || !mayBe)
        return;
    verdict.cause = OomCause::Leak;
    // Only steps whose ends are shown are compared: growth is no guess then, whatever the kind of the steps.
    verdict.certainty = std::min(leaks.certainty, Certainty::ShownByStack);
    verdict.leakedBytes = kept;
    verdict.leakedBytesPerStep = perStep;
    verdict.capacityDoubtful = false;
    verdict.advice.clear(); // each serves this request, and not those of the next steps
}

void takeStates(OomVerdict& verdict, const OomEvidence& evidence)
{
    const std::int64_t stepped = std::min(evidence.parameters.bytes, evidence.gradientBytes);
    if (verdict.cause != OomCause::Fragmented || evidence.stateLines == 0
        || stepped > verdict.limitBytes / evidence.stateLines)
        return;
    const std::int64_t toCome = stepped * evidence.stateLines - evidence.states.bytes;
    if (toCome <= verdict.packedSpareBytes + verdict.roundedBytes)
        return;
    verdict.cause = OomCause::TooBig;
    verdict.certainty = Certainty::ShownByStack;
    verdict.statesToComeBytes = toCome;
}

bool needsMore(const OomVerdict& verdict, const OomEvidence& evidence)
{
    return evidence.inFirstStep && verdict.packedSpareBytes < verdict.roundedBytes;
}

void takeFirstStep(OomVerdict& verdict, const OomEvidence& evidence)
{
    if (verdict.cause == OomCause::Fragmented && needsMore(verdict, evidence))
        verdict.certainty = Certainty::Likely;
}

Result<OomExplained> explainOom(const DeviceTrace& trace, const Clock& clock, const AllocatorMap& map,
    const ReplayReport& report, const Progress& progress)
{
    auto verdict = oomVerdictOf(trace, map, report, progress);
    if (!verdict)
        return Failure(verdict.error());
    OomExplained explained{ std::move(*verdict), {} };
    const auto steps = findTrainingSteps(trace, clock, progress);
    if (!steps)
        return Failure(steps.error());
    auto leaks = findLeaks(trace, *steps, { .capacityBytes = explained.verdict.capacityBytes }, progress);
    if (!leaks)
        return Failure(leaks.error());
    const auto categories = Categories::of(trace, clock, *steps, {}, progress);
    if (!categories)
        return Failure(categories.error());
    EvidenceFinder(trace, *steps, *categories, explained.evidence).lookAt(map, explained.verdict.request);
    takeFirstStep(explained.verdict, explained.evidence);
    takeStates(explained.verdict, explained.evidence);
    takeLeak(explained.verdict, *leaks);
    explained.evidence.leaks = std::move(*leaks);
    return explained;
}

} // namespace strata::model
