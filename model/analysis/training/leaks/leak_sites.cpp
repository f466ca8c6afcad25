// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/leaks/leak_sites.h"

#include "model/trace/filter/frame_origin.h"
#include "model/trace/filter/grouping.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <iterator>
#include <limits>

namespace strata::model {

namespace {

constexpr std::size_t kManySites = 2000, kSiteLooks = 1024;
constexpr std::uint16_t kPassingStream = kNoIndex - 1; ///< one that is used in one step alone

struct Staying {
    BlockId block;
    BlockStay stay;
};

/// What blocks of one site have in common. Of those with a stack the first two count.
struct SiteKey {
    std::uint32_t stack = StackId::kNone; // or line
    std::int64_t bytes = 0, ordinal = 0;
    std::uint32_t stream = 0, kind = 0;

    friend bool operator==(const SiteKey&, const SiteKey&) = default;
    friend std::size_t hash_value(const SiteKey& key)
    {
        const auto mix = [](std::uint64_t hash, std::uint64_t value) {
            hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
            return hash ^ (hash >> 32);
        };
        std::uint64_t hash = mix(key.stack, static_cast<std::uint64_t>(key.bytes));
        hash = mix(hash, static_cast<std::uint64_t>(key.ordinal));
        return static_cast<std::size_t>(mix(hash, std::uint64_t{ key.stream } << 32 | key.kind));
    }
};

enum class Level : std::uint8_t { Site, LineOrPlace, Stream };

class Sites {
public:
    Sites(const DeviceTrace& trace, const TrainingSteps& steps, const LeakBoundaries& boundaries,
        const AllocatorSettings& settings)
        : m_trace(trace)
        , m_steps(steps)
        , m_boundaries(boundaries)
        , m_settings(settings)
    {
    }

    Result<std::vector<StayingSite>> find(const Progress& progress)
    {
        if (!collect(m_all, progress))
            return fail(Error::Kind::Cancelled, say("cancelled"));
        findPassingStreams(m_all);
        findAlikeStacks(m_all);
        std::vector<StayingSite> found = grouped(m_all, Level::Site, progress);
        refine(found, Level::LineOrPlace, progress);
        refine(found, Level::Stream, progress);
        if (progress.cancelled())
            return fail(Error::Kind::Cancelled, say("cancelled"));
        std::ranges::sort(found, {}, [](const StayingSite& site) { return site.blocks.front().row(); });
        return found;
    }

private:
    bool collect(std::vector<Staying>& out, const Progress& progress)
    {
        const BlockColumns& blocks = m_trace.blocks();
        std::uint32_t born = 0;
        for (std::size_t row = 0; row < blocks.bornCount(); ++row) {
            if ((row & 0xffffu) == 0 && progress.cancelled())
                return false;
            const BlockId block = BlockId::born(row);
            const EventIndex birth = blocks.birth(block);
            while (born < m_boundaries.count() && m_boundaries.events[born] < birth)
                ++born;
            if (born == m_boundaries.count())
                break;
            const EventIndex death = blocks.death(block);
            if (death <= m_boundaries.events[born])
                continue;
            BlockStay stay{ .born = born };
            if (death <= m_boundaries.events.back()) // most go in the next step
                stay.gone = death <= m_boundaries.events[born + 1] ? born + 1 : m_boundaries.from(death);
            if (const EventIndex waits = blocks.pendingSince(block); waits <= m_boundaries.events.back())
                stay.waits = std::max(born, m_boundaries.from(waits));
            stay.requestedBytes = blocks.requestedBytes[block];
            // The same for all of them: a tail that was not split off at the end is no growth.
            stay.allocatedBytes = m_settings.roundedBytes(stay.requestedBytes);
            out.push_back({ block, stay });
        }
        return true;
    }

    /// A stream that is made anew in each step would make a site of each block.
    void findPassingStreams(const std::vector<Staying>& all)
    {
        constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
        const std::size_t streams = m_trace.recording().streams.size();
        std::vector<std::uint32_t> first(streams, kNone);
        m_passing.assign(streams, true);
        for (const Staying& staying : all) {
            const StreamIndex stream = m_trace.blocks().stream[staying.block];
            if (stream >= streams)
                continue;
            if (first[stream] == kNone)
                first[stream] = staying.stay.born;
            else if (first[stream] != staying.stay.born)
                m_passing[stream] = false;
        }
    }

    /// Stacks that differ only in how Module calls a forward: a deep step has hooks, other steps have none.
    void findAlikeStacks(const std::vector<Staying>& all)
    {
        const Recording& recording = m_trace.recording();
        boost::unordered_flat_map<std::uint32_t, bool> calls;
        const auto callsModule = [&](FrameId id) {
            const auto [known, isNew] = calls.try_emplace(id.value);
            if (isNew) {
                const Frame& frame = recording.stacks.frame(id);
                known->second
                    = isModuleCall(recording.strings[frame.file], recording.strings[frame.function]);
            }
            return known->second;
        };
        boost::unordered_flat_map<std::vector<std::uint32_t>, std::uint32_t> firsts;
        std::vector<std::uint32_t> rest;
        for (const Staying& staying : all) {
            const StackId stack = m_trace.blocks().stack[staying.block];
            if (!stack.valid() || m_alike.contains(stack.value))
                continue;
            rest.clear();
            for (const FrameId frame : recording.stacks.stack(stack))
                if (!callsModule(frame))
                    rest.push_back(frame.value);
            m_alike.emplace(stack.value, firsts.try_emplace(rest, stack.value).first->second);
        }
    }

    [[nodiscard]] SiteKey keyOf(const Staying& staying, Level level, const GroupTable* lines) const
    {
        const BlockColumns& blocks = m_trace.blocks();
        const StackId stack = blocks.stack[staying.block];
        SiteKey key;
        if (stack.valid()) {
            key.stack = level == Level::Site ? m_alike.at(stack.value) : lines->groupOfStack(stack);
            return key;
        }
        const StreamIndex stream = blocks.stream[staying.block];
        key.stream = stream < m_passing.size() && m_passing[stream] ? kPassingStream : stream;
        if (level == Level::Site)
            key.bytes = staying.stay.requestedBytes;
        if (level == Level::LineOrPlace) {
            key.ordinal = ordinalInStep(m_trace, m_steps, staying.block);
            const TrainingStep* step = m_steps.at(blocks.birth(staying.block));
            key.kind = step != nullptr ? static_cast<std::uint32_t>(step->kind) : 0;
        }
        return key;
    }

    /// Cancelled, without some of their shapes.
    [[nodiscard]] std::vector<StayingSite> grouped(
        const std::vector<Staying>& all, Level level, const Progress& progress) const
    {
        std::optional<GroupTable> lines;
        if (level != Level::Site) {
            std::vector<StackId> stacks{ StackId{} };
            for (const Staying& staying : all)
                if (const StackId stack = m_trace.blocks().stack[staying.block]; stack.valid())
                    stacks.push_back(stack);
            std::ranges::sort(stacks);
            stacks.erase(std::unique(stacks.begin(), stacks.end()), stacks.end());
            lines.emplace(m_trace.recording(), stacks);
        }
        boost::unordered_flat_map<SiteKey, std::size_t> known;
        std::vector<StayingSite> sites;
        for (const Staying& staying : all) {
            const auto [site, isNew]
                = known.try_emplace(keyOf(staying, level, lines ? &*lines : nullptr), sites.size());
            if (isNew)
                sites.push_back({ .stack = m_trace.blocks().stack[staying.block] });
            sites[site->second].blocks.push_back(staying.block);
            sites[site->second].stays.push_back(staying.stay);
        }
        const std::size_t points = sites.size() > kManySites ? kFewerPoints : kMostPoints;
        for (std::size_t i = 0; i < sites.size(); ++i) {
            if (i % kSiteLooks == 0 && progress.cancelled())
                break;
            sites[i].shape = shapeOf(sites[i].stays, m_boundaries.warmup, m_boundaries.count(), points);
        }
        return sites;
    }

    /// Puts the blocks of sites without a clear answer together in another way, and takes what is clear then.
    void refine(std::vector<StayingSite>& sites, Level level, const Progress& progress) const
    {
        std::vector<bool> isIn(m_trace.blocks().bornCount(), false);
        for (const StayingSite& site : sites)
            if (isOpen(site.shape) && (level != Level::Stream || !site.stack.valid()))
                for (const BlockId block : site.blocks)
                    isIn[block.row()] = true;
        std::vector<Staying> open;
        std::ranges::copy_if(
            m_all, std::back_inserter(open), [&](const Staying& each) { return isIn[each.block.row()]; });
        std::vector<bool> taken(m_trace.blocks().bornCount(), false);
        std::vector<StayingSite> better;
        for (StayingSite& site : grouped(open, level, progress)) {
            if (isOpen(site.shape) || site.shape.kind == LeakShape::Kind::Window
                || site.shape.kind == LeakShape::Kind::Sawtooth || site.shape.kind == LeakShape::Kind::Stopped
                || isPart(site))
                continue;
            for (const BlockId block : site.blocks)
                taken[block.row()] = true;
            site.stack = commonestStack(site);
            better.push_back(std::move(site));
        }
        if (better.empty())
            return;
        std::erase_if(sites,
            [&](const StayingSite& site) { return isOpen(site.shape) && taken[site.blocks.front().row()]; });
        std::ranges::move(better, std::back_inserter(sites));
    }

    [[nodiscard]] StackId commonestStack(const StayingSite& site) const
    {
        std::vector<StackId> stacks;
        for (const BlockId block : site.blocks)
            stacks.push_back(m_trace.blocks().stack[block]);
        std::ranges::sort(stacks);
        StackId best;
        std::size_t most = 0;
        for (std::size_t i = 0, next = 0; i < stacks.size(); i = next) {
            while (next < stacks.size() && stacks[next] == stacks[i])
                ++next;
            if (next - i > most) {
                most = next - i;
                best = stacks[i];
            }
        }
        return best;
    }

    /// What stays of it is of one size: a part of a site of before, whose answer holds.
    [[nodiscard]] bool isPart(const StayingSite& site) const
    {
        if (m_trace.blocks().stack[site.blocks.front()].valid() || site.shape.kind == LeakShape::Kind::Grows)
            return false;
        std::optional<std::int64_t> bytes;
        for (const BlockStay& stay : site.stays)
            if (stay.gone == BlockStay::kNever && stay.born >= site.shape.firstBoundary
                && stay.born + site.shape.window < m_boundaries.count()) {
                if (bytes && *bytes != stay.requestedBytes)
                    return false;
                bytes = stay.requestedBytes;
            }
        return true;
    }

    static bool isOpen(const LeakShape& shape)
    {
        return shape.kind == LeakShape::Kind::Steady || shape.kind == LeakShape::Kind::Unclear;
    }

    const DeviceTrace& m_trace;
    const TrainingSteps& m_steps;
    const LeakBoundaries& m_boundaries;
    const AllocatorSettings& m_settings;
    std::vector<Staying> m_all; // in the order of births
    std::vector<bool> m_passing; // by stream
    boost::unordered_flat_map<std::uint32_t, std::uint32_t> m_alike; // the first stack that is like a stack
};

constexpr std::size_t kFewestSiteSteps = 6; ///< of a kind, to be looked at

} // namespace

std::uint32_t LeakBoundaries::from(EventIndex e) const
{
    return static_cast<std::uint32_t>(std::ranges::lower_bound(events, e) - events.begin());
}

LeakBoundaries leakBoundaries(const TrainingSteps& steps)
{
    LeakBoundaries found;
    std::size_t most = 0;
    for (const StepKind kind : { StepKind::Train, StepKind::Forward, StepKind::Eval, StepKind::Loop }) {
        const auto count
            = static_cast<std::size_t>(std::ranges::count(steps.steps, kind, &TrainingStep::kind));
        if (count > most && (most == 0 || most < kFewestSiteSteps)) {
            most = count;
            found.kind = kind;
        }
    }
    std::uint32_t flagged = 0;
    for (const TrainingStep& step : steps.steps) {
        if (step.kind != found.kind)
            continue;
        flagged += step.warmup && flagged == found.count();
        found.events.push_back(step.last);
        found.steps.push_back(&step);
    }
    // What a leak keeps may look like what is still being made: a third is warm-up at most.
    const std::uint32_t count = found.count();
    found.warmup = std::min(count, std::clamp(flagged, std::min(3u, count / 6 + 1), std::max(3u, count / 3)));
    return found;
}

Result<std::vector<StayingSite>> stayingSites(const DeviceTrace& trace, const TrainingSteps& steps,
    const LeakBoundaries& boundaries, const AllocatorSettings& settings, const Progress& progress)
{
    return Sites(trace, steps, boundaries, settings).find(progress);
}

std::int64_t ordinalInStep(const DeviceTrace& trace, const TrainingSteps& steps, BlockId block)
{
    const BlockColumns& blocks = trace.blocks();
    const TrainingStep* step = steps.at(blocks.birth(block));
    const EventIndex first = step != nullptr ? step->first : 0;
    std::size_t low = 0, high = block.row();
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (blocks.birth(BlockId::born(middle)) < first)
            low = middle + 1;
        else
            high = middle;
    }
    return static_cast<std::int64_t>(block.row() - low);
}

} // namespace strata::model
