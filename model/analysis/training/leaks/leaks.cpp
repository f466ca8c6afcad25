// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/leaks/leaks.h"

#include "model/analysis/allocator/replay.h"
#include "model/analysis/training/leaks/leak_patterns.h"
#include "model/analysis/training/leaks/leak_steps.h"
#include "model/analysis/training/steps/python/loop_rounds.h"
#include "model/base/nearest.h"
#include "model/base/wrap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace strata::model {

namespace {

constexpr std::uint32_t kFewestLeakSteps = 6; ///< after the warm-up
constexpr std::size_t kExamples = 5;
constexpr std::ptrdiff_t kMostHarmless = 40; ///< sites that do not leak, which are told of
constexpr std::uint32_t kLongestGrowth = 2000, kPointsOfAll = 2'000'000;
constexpr double kMayDrop = 0.34; ///< of the highest, of what is the whole device's

class LeakFinder {
public:
    LeakFinder(const DeviceTrace& trace, const TrainingSteps& steps, const LeakOptions& options)
        : m_trace(trace)
        , m_rounds(roundsInPlaceOf(trace, steps))
        , m_steps(m_rounds ? *m_rounds : steps)
        , m_options(options)
        , m_boundaries(leakBoundaries(m_steps))
    {
        m_report.rounds = m_rounds;
        m_report.evidence = m_steps.evidence;
        m_report.certainty = m_steps.endsAreShown ? m_steps.certainty() : Certainty::Likely;
        if (m_boundaries.count() == 0)
            m_report.certainty = Certainty::Unknown;
        m_report.areGuess = m_boundaries.count() > 0 && !m_steps.endsAreShown;
        m_report.device = trace.device();
        m_report.steps = m_boundaries.count();
        m_report.warmup = m_boundaries.warmup;
        m_report.noneComplete = m_report.steps == 0 && m_steps.evidence != StepEvidence::Rhythm
            && std::ranges::find(m_steps.steps, StepKind::Incomplete, &TrainingStep::kind)
                != m_steps.steps.end();
    }

    Result<LeakReport> find(const Progress& progress)
    {
        if (const Sentence missing = tooLittle(); !missing.empty()) {
            m_report.why = missing;
            return std::move(m_report);
        }
        m_report.compared = true;
        ReplayAsked asked;
        asked.capacityBytes = m_options.capacityBytes;
        const RecordedAllocator allocator = recordedAllocator(m_trace, asked);
        m_report.capacityBytes = allocator.capacityBytes;
        auto sites = stayingSites(m_trace, m_steps, m_boundaries, allocator.settings, progress);
        if (!sites)
            return Failure(sites.error());
        m_use = leakStepUse(m_trace, m_boundaries, growingBlocks(*sites));
        judge(*sites, progress);
        if (progress.cancelled())
            return fail(Error::Kind::Cancelled, say("cancelled"));
        addOfDevice();
        decide();
        return std::move(m_report);
    }

private:
    [[nodiscard]] Sentence tooLittle() const
    {
        if (m_trace.eventCount() == 0)
            return say("the recording has no events: nothing tells what grows");
        if (m_report.noneComplete)
            return say("the recording has no complete step: finding leaks needs %1 steps after the warm-up, "
                       "30 steps are better",
                kFewestLeakSteps);
        if (m_boundaries.count() == 0)
            return say("no steps are known: name them with record_function, or record with strata record");
        if (m_report.areGuess) // which a recording of strata record is, too, where autograd shows no steps
            return m_steps.evidence == StepEvidence::Bits
                ? say("the steps are a guess: name them with record_function(\"step 3\")")
                : say("the steps are a guess: record with strata record, or name them with "
                      "record_function(\"step 3\")");
        if (m_boundaries.steady() < kFewestLeakSteps)
            return say("%1 after the warm-up: finding leaks needs %2 steps, 30 steps are better",
                sayCounted("%1 step", "%1 steps", m_boundaries.steady()), kFewestLeakSteps);
        return {};
    }

    /// Rounds of the program's loop, where no step of training is sure and they are fewer than other steps:
    /// a request of a server makes many forwards.
    [[nodiscard]] static std::shared_ptr<const TrainingSteps> roundsInPlaceOf(
        const DeviceTrace& trace, const TrainingSteps& steps)
    {
        const LeakBoundaries known = leakBoundaries(steps);
        if (steps.endsAreShown && known.kind == StepKind::Train && known.count() > 0)
            return nullptr;
        auto rounds = std::make_shared<TrainingSteps>(findRounds(trace, Clock(trace)));
        const std::size_t count = leakBoundaries(*rounds).count();
        const bool isBetter
            = !steps.endsAreShown || known.steady() < kFewestLeakSteps || 2 * count < known.count();
        return count > 0 && isBetter ? rounds : nullptr;
    }

    /// Births of the blocks of sites that grow: they are no inputs.
    [[nodiscard]] std::vector<EventIndex> growingBlocks(const std::vector<StayingSite>& sites) const
    {
        std::vector<EventIndex> births;
        for (const StayingSite& site : sites)
            if (site.shape.kind == LeakShape::Kind::Grows)
                for (const BlockId block : site.blocks)
                    births.push_back(m_trace.blocks().birth(block));
        std::ranges::sort(births);
        return births;
    }

    [[nodiscard]] std::int64_t stepNumber(std::uint32_t boundary) const
    {
        return m_boundaries.steps[std::min(boundary, m_boundaries.count() - 1)]->number;
    }

    /// What the shape means where it comes from; none: nothing to be told of.
    [[nodiscard]] std::optional<LeakKind> kindOf(const LeakShape& shape, const LeakOrigin& origin) const
    {
        using Kind = LeakShape::Kind;
        // Layers that are thawed one after the other come more slowly.
        const bool always = 5 * shape.cohorts >= 2 * (m_boundaries.steady() - shape.window);
        const bool state = origin.inHistory || (origin.inOptimizer && !always);
        switch (shape.kind) {
        case Kind::Steady:
            return state && shape.cohorts > 0 ? std::optional(LeakKind::OptimizerState) : std::nullopt;
        case Kind::Leak:
            return state ? LeakKind::OptimizerState : LeakKind::Leak;
        case Kind::Grows:
            return m_use.inputsGrow ? LeakKind::LongerInputs : LeakKind::Leak;
        case Kind::Waits:
            return LeakKind::PendingStream;
        case Kind::Unclear:
            return state ? LeakKind::OptimizerState : LeakKind::Undecided;
        case Kind::Window:
        case Kind::Stopped:
            return state ? LeakKind::OptimizerState : LeakKind::Saturating;
        case Kind::Sawtooth:
            return LeakKind::FreedLate;
        }
        return std::nullopt;
    }

    struct Judged {
        const StayingSite* site;
        LeakKind kind;
        LeakOrigin origin;

        [[nodiscard]] bool harmless() const { return kind != LeakKind::Leak && kind != LeakKind::Undecided; }
        [[nodiscard]] std::int64_t bytesLeft() const
        {
            std::int64_t bytes = 0;
            for (const BlockStay& stay : site->stays)
                bytes = wrapAdd(bytes, stay.gone == BlockStay::kNever ? stay.requestedBytes : 0);
            return bytes;
        }
    };

    static void dropSmall(std::vector<Judged>& judged)
    {
        const auto harmless
            = std::ranges::stable_partition(judged, [](const Judged& each) { return !each.harmless(); });
        if (std::ranges::ssize(harmless) <= kMostHarmless)
            return;
        std::vector<std::pair<std::int64_t, Judged>> order;
        for (const Judged& each : harmless)
            order.emplace_back(wrapSub(0, each.bytesLeft()), each);
        std::ranges::stable_sort(order, {}, &std::pair<std::int64_t, Judged>::first);
        judged.erase(harmless.begin(), judged.end());
        for (std::ptrdiff_t i = 0; i < kMostHarmless; ++i)
            judged.push_back(order[static_cast<std::size_t>(i)].second);
    }

    void judge(const std::vector<StayingSite>& sites, const Progress& progress)
    {
        constexpr std::size_t kLooks = 1024;
        std::vector<Judged> judged;
        LeakOrigins origins(m_trace, m_steps);
        LeakSurroundings around{ .steps = m_boundaries.steady() };
        for (std::size_t i = 0; i < sites.size(); ++i) {
            if (i % kLooks == 0 && progress.cancelled())
                return;
            const StayingSite& site = sites[i];
            if (site.shape.kind == LeakShape::Kind::Steady && site.shape.cohorts == 0)
                continue;
            const LeakOrigin origin = origins.of(site);
            const auto kind = kindOf(site.shape, origin);
            if (!kind)
                continue;
            judged.push_back({ &site, *kind, origin });
            if (site.shape.kind == LeakShape::Kind::Leak || site.shape.kind == LeakShape::Kind::Grows
                || site.shape.kind == LeakShape::Kind::Waits)
                m_grows[static_cast<std::size_t>(*kind)] = true;
            if (*kind == LeakKind::Leak && origin.phase == Phase::Forward
                && (origin.inModule || !site.stack.valid()))
                around.forwardLeaks += std::max(1.0, site.shape.blocksPerStep);
        }
        dropSmall(judged);
        const std::size_t few = kPointsOfAll / std::max<std::size_t>(1, judged.size());
        m_mostPoints = static_cast<std::uint32_t>(std::clamp<std::size_t>(few, 2, kLongestGrowth));
        for (const auto& [site, kind, origin] : judged) {
            LeakSite& found = m_report.sites.emplace_back(rowOf(*site, kind));
            around.framesKnown = site->stack.valid();
            around.someSteps = 5 * site->shape.cohorts < 4 * m_boundaries.steady();
            describe(found, site->shape, origin, around);
        }
    }

    [[nodiscard]] LeakSite rowOf(const StayingSite& from, LeakKind kind) const
    {
        LeakSite site;
        site.kind = kind;
        site.stack = from.stack;
        const LeakShape& shape = from.shape;
        if (kind == LeakKind::Leak || kind == LeakKind::Undecided || kind == LeakKind::PendingStream
            || kind == LeakKind::LongerInputs) {
            site.requestedBytesPerStep = nearestWhole(shape.requestedPerStep);
            site.allocatedBytesPerStep = nearestWhole(shape.allocatedPerStep);
            site.blocksPerStep = shape.blocksPerStep;
        }
        std::uint32_t first = shape.firstBoundary;
        if (kind == LeakKind::Leak)
            first = beganAt(from, first);
        site.firstStep = stepNumber(first);
        addHistory(from, site);
        const EventIndex birth = from.blocks.empty() ? -1 : m_trace.blocks().birth(from.blocks.back());
        if (const ModuleIndex module
            = birth < 0 ? kNoIndex : m_trace.events().moduleOf(static_cast<std::size_t>(birth));
            module != kNoIndex)
            site.module = m_trace.recording().modules[module];
        if (!from.stack.valid())
            site.place = placeOf(from);
        return site;
    }

    /// A leak may have begun within the warm-up.
    [[nodiscard]] std::uint32_t beganAt(const StayingSite& from, std::uint32_t first) const
    {
        const bool grows = from.shape.kind == LeakShape::Kind::Grows;
        const std::uint32_t gap = from.shape.blocksPerStep > 0 && from.shape.cohorts > 1
            ? std::max(1u, (m_boundaries.count() - first) / from.shape.cohorts)
            : 1;
        for (std::size_t i = from.stays.size(); i-- > 0;) {
            const BlockStay& stay = from.stays[i];
            if (stay.born < first && first - stay.born <= gap && (grows || stay.gone >= m_boundaries.count()))
                first = stay.born;
        }
        return first;
    }

    /// What is alive at some of the boundaries, all of them if they are few, and what stays to the end.
    void addHistory(const StayingSite& from, LeakSite& site) const
    {
        const std::uint32_t first = m_boundaries.warmup, end = m_boundaries.count();
        const std::uint32_t apart = (end - first + m_mostPoints - 1) / m_mostPoints;
        const auto add = [](LeakGrowth& to, const BlockStay& stay) {
            to.requestedBytes = wrapAdd(to.requestedBytes, stay.requestedBytes);
            to.allocatedBytes = wrapAdd(to.allocatedBytes, stay.allocatedBytes);
            to.blocks += 1;
        };
        const auto take = [](LeakGrowth& of, const BlockStay& stay) {
            of.requestedBytes = wrapSub(of.requestedBytes, stay.requestedBytes);
            of.allocatedBytes = wrapSub(of.allocatedBytes, stay.allocatedBytes);
            of.blocks -= 1;
        };
        const auto at = [&](LeakGrowth growth, std::uint32_t boundary) {
            growth.step = stepNumber(boundary);
            growth.event = m_boundaries.events[boundary];
            return growth;
        };
        std::vector<std::pair<std::uint32_t, std::size_t>> gone; // boundaries and rows of stays
        std::vector<LeakGrowth>& stayed = site.survivors;
        std::optional<std::uint32_t> last; // the boundary of the last of them
        for (std::size_t i = 0; i < from.stays.size() && from.stays[i].born < end; ++i) {
            const BlockStay& stay = from.stays[i];
            if (stay.gone < end) {
                gone.emplace_back(stay.gone, i);
                continue;
            }
            if (last != stay.born)
                stayed.push_back(at({}, stay.born));
            last = stay.born;
            add(stayed.back(), stay);
            site.examples.push_back(from.blocks[i]);
        }
        // The last step may hold what the next one frees: those of earlier steps are surer.
        if (const std::size_t all = site.examples.size(); all > kExamples) {
            for (std::size_t i = 0; i < kExamples; ++i)
                site.examples[i] = site.examples[i * (all - 1) / (kExamples - 1)];
            site.examples.resize(kExamples);
        }
        std::ranges::sort(gone);
        LeakGrowth live;
        std::size_t born = 0, died = 0;
        for (std::uint32_t boundary = end - 1 - (end - 1 - first) / apart * apart; boundary < end;
             boundary += apart) {
            for (; born < from.stays.size() && from.stays[born].born <= boundary; ++born)
                add(live, from.stays[born]);
            for (; died < gone.size() && gone[died].first <= boundary; ++died)
                take(live, from.stays[gone[died].second]);
            site.growth.push_back(at(live, boundary));
        }
    }

    [[nodiscard]] LeakPlace placeOf(const StayingSite& from) const
    {
        const auto common = [&](auto&& valueOf) {
            std::optional<std::int64_t> value;
            for (std::size_t i = 0; i < from.blocks.size(); ++i) {
                if (from.stays[i].born < from.shape.firstBoundary)
                    continue;
                const std::int64_t its = valueOf(from.blocks[i]);
                if (value && *value != its)
                    return std::optional<std::int64_t>();
                value = its;
            }
            return value;
        };
        const BlockColumns& blocks = m_trace.blocks();
        LeakPlace place;
        place.ordinal = common([&](BlockId block) { return ordinalInStep(m_trace, m_steps, block); });
        place.requestedBytes = common([&](BlockId block) { return blocks.requestedBytes[block]; });
        const std::vector<std::int64_t>& streams = m_trace.recording().streams;
        place.stream = common([&](BlockId block) {
            const StreamIndex stream = blocks.stream[block];
            return stream < streams.size() ? streams[stream] : -1;
        }).value_or(-1);
        return place;
    }

    /// Most segments that stay since the warm-up are each of a stream of its own.
    [[nodiscard]] bool segmentsAreOfFreshStreams() const
    {
        std::vector<StreamIndex> streams;
        const EventIndex from = m_boundaries.events[m_boundaries.warmup];
        for (const SegmentLife& life : m_trace.segmentLives())
            if (life.alloc.valid() && static_cast<EventIndex>(life.alloc.value) > from && !life.free.valid())
                streams.push_back(life.stream);
        std::ranges::sort(streams);
        const auto count = std::ssize(streams);
        const auto distinct = std::unique(streams.begin(), streams.end()) - streams.begin();
        return count >= 3 && 2 * distinct > count;
    }

    /// What is no site's: steps that take more and more, segments that pile up.
    void addOfDevice()
    {
        const bool leaks = std::ranges::any_of(m_report.sites, [](const LeakSite& site) {
            return site.kind == LeakKind::Leak || site.kind == LeakKind::LongerInputs
                || site.kind == LeakKind::PendingStream;
        });
        const LeakSurroundings around{ .steps = m_boundaries.steady() };
        const auto row = [&](LeakKind kind, const LeakOrigin& origin = {}) -> LeakSite& {
            LeakSite& site = m_report.sites.emplace_back();
            site.kind = kind;
            m_grows[static_cast<std::size_t>(kind)] = true;
            site.firstStep = stepNumber(m_boundaries.warmup);
            describe(site, {}, origin, around);
            return site;
        };
        if (!leaks && m_use.inputsGrow && growsThroughout(m_use.requestedPeak, kMayDrop))
            row(LeakKind::LongerInputs).requestedBytesPerStep
                = nearestWhole(medianSlope(m_use.requestedPeak));
        const auto& reserved = m_use.reservedEnd;
        const double grown = reserved.back() - reserved.front();
        const double requested = m_use.requestedEnd.back() - m_use.requestedEnd.front();
        if (growsThroughout(reserved, kMayDrop) && 4 * requested < grown) {
            LeakSite& site = row(LeakKind::ReservedOnly, { .freshStreams = segmentsAreOfFreshStreams() });
            site.reservedBytesPerStep = nearestWhole(grown / static_cast<double>(reserved.size() - 1));
            site.stack = m_use.segmentStack;
        }
    }

    void decide()
    {
        std::int64_t perStep = 0;
        const auto fits = [&](std::int64_t bytes) -> std::optional<std::int64_t> {
            if (!m_report.capacityBytes || bytes <= 0)
                return std::nullopt;
            const auto& refused = m_trace.outOfMemories();
            if (!refused.empty() && static_cast<EventIndex>(refused.back()) > m_boundaries.events.back())
                return 0;
            const auto peak = nearestWhole(m_use.requestedPeak.back());
            return std::max<std::int64_t>(0, wrapSub(*m_report.capacityBytes, peak)) / bytes;
        };
        for (LeakSite& site : m_report.sites) {
            if (site.kind != LeakKind::ReservedOnly)
                site.stepsToOom = fits(site.allocatedBytesPerStep);
            perStep = wrapAdd(perStep, site.kind == LeakKind::Leak ? site.allocatedBytesPerStep : 0);
        }
        m_report.stepsToOom = fits(perStep);
        const auto order = [](const LeakSite& site) {
            return std::tuple(site.kind, -site.allocatedBytesPerStep, -site.requestedBytesPerStep,
                site.growth.empty() ? 0 : wrapSub(0, site.growth.back().requestedBytes));
        };
        std::ranges::stable_sort(m_report.sites, {}, order);
        const auto count
            = [&](LeakKind kind) { return std::ranges::count(m_report.sites, kind, &LeakSite::kind); };
        if (const auto leaks = count(LeakKind::Leak); leaks > 0) {
            m_report.verdict = LeakReport::Verdict::Found;
            m_report.why = say("*%1 of allocated memory per step* is kept by *%2* and never freed",
                asBytes(perStep), sayCounted("%1 site", "%1 sites", leaks));
            if (leaks > 1) // a graph holds what many lines made
                m_report.why = say("%1; one reference may keep all of them", m_report.why);
        } else if (count(LeakKind::Undecided) > 0) {
            m_report.verdict = LeakReport::Verdict::Undecided;
            m_report.why = m_report.sites.front().why;
        } else {
            m_report.verdict = LeakReport::Verdict::None;
            m_report.why = whyNone();
        }
    }

    [[nodiscard]] Sentence whyNone() const
    {
        Sentence all;
        const auto add = [&](LeakKind kind, Sentence what) {
            if (m_grows[static_cast<std::size_t>(kind)])
                all = all.empty() ? std::move(what) : say("%1; %2", std::move(all), std::move(what));
        };
        add(LeakKind::PendingStream, say("memory that is freed and waits for another stream"));
        add(LeakKind::LongerInputs, say("memory that grows with what each step works on"));
        add(LeakKind::ReservedOnly, say("what is reserved, not what is in it"));
        add(LeakKind::OptimizerState, say("state that an optimizer makes"));
        return all.empty() ? say("nothing grows from step to step throughout the %1 steps after the warm-up",
                   m_boundaries.steady())
                           : say("what grows from step to step is %1", std::move(all));
    }

    const DeviceTrace& m_trace;
    std::shared_ptr<const TrainingSteps> m_rounds; // none: the steps themselves serve
    const TrainingSteps& m_steps;
    const LeakOptions& m_options;
    LeakBoundaries m_boundaries;
    LeakStepUse m_use;
    LeakReport m_report;
    std::array<bool, kLeakKinds> m_grows{}; // of which something grows throughout
    std::uint32_t m_mostPoints = kLongestGrowth;
};

} // namespace

std::int64_t LeakReport::allocatedBytesPerStep() const
{
    std::int64_t sum = 0;
    for (const LeakSite& site : sites)
        sum = wrapAdd(sum, site.kind == LeakKind::Leak ? site.allocatedBytesPerStep : 0);
    return sum;
}

Result<LeakReport> findLeaks(const DeviceTrace& trace, const TrainingSteps& steps, const LeakOptions& options,
    const Progress& progress)
{
    return LeakFinder(trace, steps, options).find(progress);
}

std::string_view leakKindWord(LeakKind kind)
{
    switch (kind) {
    case LeakKind::Leak:
        return "leak";
    case LeakKind::Undecided:
        return "undecided";
    case LeakKind::PendingStream:
        return "pending_stream";
    case LeakKind::LongerInputs:
        return "longer_inputs";
    case LeakKind::ReservedOnly:
        return "reserved_only";
    case LeakKind::FreedLate:
        return "freed_late";
    case LeakKind::Saturating:
        return "saturating";
    case LeakKind::OptimizerState:
        return "optimizer_state";
    }
    return "";
}

std::string_view leakVerdictWord(LeakReport::Verdict verdict)
{
    switch (verdict) {
    case LeakReport::Verdict::None:
        return "none";
    case LeakReport::Verdict::Found:
        return "found";
    case LeakReport::Verdict::Undecided:
        return "undecided";
    }
    return "";
}

} // namespace strata::model
