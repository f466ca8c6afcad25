// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/spikes.h"

#include "model/base/wrap.h"
#include "model/trace/frames.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <limits>
#include <utility>

namespace strata::model {

namespace {

constexpr EventIndex kShortPart = 20; // of a trace without steps
constexpr EventIndex kSpikeEventsPerLook = 1 << 16; // events from one look at the token to the next

/// Sites as one key: the stack, or the size of blocks without one.
struct Site {
    std::uint32_t stack = StackId::kNone;
    std::int64_t size = 0;

    friend bool operator==(const Site&, const Site&) = default;
    friend std::size_t hash_value(const Site& site)
    {
        return static_cast<std::size_t>(
            (static_cast<std::uint64_t>(site.size) * 31 + site.stack) * 0x9e3779b97f4a7c15ULL >> 7);
    }
};

Site siteOf(const BlockColumns& blocks, BlockId block)
{
    const StackId stack = blocks.stack[block];
    return { stack.value, stack.valid() ? 0 : blocks.requestedBytes[block] };
}

/// How long a block may live to be short-lived: the longest step of training, or a part of the trace.
EventIndex shortLife(const DeviceTrace& trace, const TrainingSteps& steps)
{
    EventIndex longest = 0;
    for (const TrainingStep& step : steps.steps)
        if (step.kind == StepKind::Train)
            longest = std::max(longest, step.last - step.first + 1);
    return longest > 0 ? longest : std::max<EventIndex>(trace.eventCount() / kShortPart, 1);
}

/// The sites with the most bytes at the peak, all of whose blocks there live shortly.
std::vector<Spike> candidates(
    const DeviceTrace& trace, EventIndex peak, EventIndex shortest, std::size_t most)
{
    const BlockColumns& blocks = trace.blocks();
    struct Sum {
        Spike spike;
        bool stays = false;
    };
    boost::unordered_flat_map<Site, Sum> sums;
    for (const BlockId block : blocks.all()) {
        if (!blocks.liveAt(block, peak))
            continue;
        const Site site = siteOf(blocks, block);
        Sum& sum = sums[site];
        const EventIndex death = blocks.death(block);
        const EventIndex life = wrapSub(death, blocks.birth(block));
        sum.stays = sum.stays || block.isOlder() || death == BlockColumns::kNever || life > shortest;
        Spike& spike = sum.spike;
        const std::int64_t bytes = blocks.requestedBytes[block];
        if (!spike.largest.valid() || bytes > blocks.requestedBytes[spike.largest])
            spike.largest = block;
        spike.site = StackId{ site.stack };
        spike.size = site.size;
        spike.bytes = wrapAdd(spike.bytes, bytes);
        spike.blocks += 1;
        spike.longestLife = std::max(spike.longestLife, life);
    }
    std::vector<Spike> found;
    for (const auto& [site, sum] : sums)
        if (!sum.stays && sum.spike.bytes > 0)
            found.push_back(sum.spike);
    std::ranges::sort(found, [](const Spike& a, const Spike& b) {
        return a.bytes != b.bytes ? a.bytes > b.bytes : a.largest < b.largest;
    });
    if (found.size() > most)
        found.resize(most);
    return found;
}

/// The curve of requested bytes, and how much of it each of the candidates has.
class Without {
public:
    Without(const DeviceTrace& trace, std::vector<Spike>& spikes)
        : m_trace(trace)
        , m_spikes(spikes)
        , m_held(spikes.size())
        , m_requested(trace.totals().requestedBytesStart)
    {
        for (std::size_t i = 0; i < spikes.size(); ++i)
            m_numbers.emplace(Site{ spikes[i].site.value, spikes[i].size }, i);
        const BlockColumns& blocks = trace.blocks();
        for (std::size_t row = 0; row < blocks.olderCount(); ++row)
            hold(BlockId::older(row));
        for (Spike& spike : spikes)
            spike.peakWithoutBytes = std::numeric_limits<std::int64_t>::min();
        lookAt(-1);
    }

    void run(const Progress& progress)
    {
        const EventColumns& events = m_trace.events();
        bool rising = false;
        for (EventIndex event = 0; event < m_trace.eventCount(); ++event) {
            if (event % kSpikeEventsPerLook == 0 && progress.cancelled())
                return;
            const auto row = static_cast<std::size_t>(event);
            const Action action = events.action[row];
            if (action == Action::Alloc) {
                if (const BlockId old = m_trace.overwrittenAt(event); old.valid()) {
                    if (rising)
                        lookAt(m_top);
                    drop(old);
                }
                hold(events.block[row]);
                m_requested = wrapAdd(m_requested, m_trace.requestedDelta(event));
                rising = true;
                m_top = event;
            } else if (action == Action::FreeCompleted && events.block[row].valid()) {
                if (std::exchange(rising, false) && m_requested > m_lowest)
                    lookAt(m_top);
                drop(events.block[row]);
                m_requested = wrapAdd(m_requested, m_trace.requestedDelta(event));
            }
        }
        if (rising)
            lookAt(m_top);
    }

private:
    /// What the candidate of a block has; nullptr: it is of none.
    [[nodiscard]] std::int64_t* heldWith(BlockId block)
    {
        if (!block.valid())
            return nullptr;
        const auto found = m_numbers.find(siteOf(m_trace.blocks(), block));
        return found != m_numbers.end() ? &m_held[found->second] : nullptr;
    }
    void hold(BlockId block)
    {
        if (std::int64_t* const held = heldWith(block))
            *held = wrapAdd(*held, m_trace.blocks().requestedBytes[block]);
    }
    void drop(BlockId block)
    {
        if (std::int64_t* const held = heldWith(block))
            *held = wrapSub(*held, m_trace.blocks().requestedBytes[block]);
    }

    void lookAt(EventIndex event)
    {
        m_lowest = std::numeric_limits<std::int64_t>::max();
        for (std::size_t i = 0; i < m_spikes.size(); ++i) {
            Spike& spike = m_spikes[i];
            const std::int64_t bytes = wrapSub(m_requested, m_held[i]);
            if (bytes > spike.peakWithoutBytes) {
                spike.peakWithoutBytes = bytes;
                spike.peakWithoutEvent = event;
            }
            m_lowest = std::min(m_lowest, spike.peakWithoutBytes);
        }
    }

    const DeviceTrace& m_trace;
    std::vector<Spike>& m_spikes;
    boost::unordered_flat_map<Site, std::size_t> m_numbers;
    std::vector<std::int64_t> m_held; // by spike
    std::int64_t m_requested;
    std::int64_t m_lowest = 0; // of the peaks that are left: below it nothing is to be found
    EventIndex m_top = -1;
};

} // namespace

std::string lineOf(const Recording& recording, const Spike& spike)
{
    const FrameId frame = userFrame(recording, spike.site);
    return frame.valid() ? frameLabel(recording, frame) : std::string(kNoStackLabel);
}

std::vector<Spike> findSpikes(
    const DeviceTrace& trace, const TrainingSteps& steps, const Progress& progress, std::size_t most)
{
    const EventIndex peak = trace.totals().requestedPeakEvent;
    std::vector<Spike> spikes = candidates(trace, peak, shortLife(trace, steps), most);
    if (spikes.empty() || progress.cancelled())
        return spikes;
    Without(trace, spikes).run(progress);
    std::ranges::stable_sort(spikes, {}, &Spike::peakWithoutBytes);
    return spikes;
}

} // namespace strata::model
