// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/leaks/leak_steps.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace strata::model {

namespace {

constexpr std::size_t kCompared = 3; ///< steps at the beginning and at the end

/// Sizes of what is allocated after event `from`, up to and with `to`, the smallest first.
void addSizes(const DeviceTrace& trace, EventIndex from, EventIndex to, std::span<const EventIndex> leftOut,
    std::vector<std::int64_t>& sizes)
{
    for (EventIndex e = from + 1; e <= to; ++e)
        if (trace.events().action[static_cast<std::size_t>(e)] == Action::Alloc
            && !std::ranges::binary_search(leftOut, e))
            sizes.push_back(trace.events().bytes[static_cast<std::size_t>(e)]);
}

bool inputsGrow(
    const DeviceTrace& trace, const LeakBoundaries& boundaries, std::span<const EventIndex> leftOut)
{
    constexpr double kNewShare = 0.2, kLarger = 1.05;
    if (boundaries.steady() < 2 * kCompared || boundaries.warmup == 0)
        return false;
    std::vector<std::int64_t> first, last;
    const std::size_t begin = boundaries.warmup, end = boundaries.count();
    for (std::size_t i = 0; i < kCompared; ++i) {
        const std::size_t late = end - kCompared + i;
        addSizes(trace, boundaries.events[begin + i - 1], boundaries.events[begin + i], leftOut, first);
        addSizes(trace, boundaries.events[late - 1], boundaries.events[late], leftOut, last);
    }
    std::ranges::sort(first);
    std::ranges::sort(last);
    std::vector<std::int64_t> fresh, gone;
    std::ranges::set_difference(last, first, std::back_inserter(fresh));
    std::ranges::set_difference(first, last, std::back_inserter(gone));
    const auto mean = [](const std::vector<std::int64_t>& sizes) {
        return std::accumulate(sizes.begin(), sizes.end(), 0.0)
            / std::max<double>(1, static_cast<double>(sizes.size()));
    };
    return static_cast<double>(std::min(fresh.size(), gone.size()))
        >= kNewShare * static_cast<double>(std::min(first.size(), last.size()))
        && !gone.empty() && mean(fresh) >= kLarger * mean(gone);
}

} // namespace

LeakStepUse leakStepUse(
    const DeviceTrace& trace, const LeakBoundaries& boundaries, std::span<const EventIndex> leftOut)
{
    LeakStepUse use;
    if (boundaries.count() == 0)
        return use;
    const auto count = [](std::int64_t bytes) { return static_cast<double>(bytes); };
    const EventIndex start = boundaries.warmup == 0 ? -1 : boundaries.events[boundaries.warmup - 1];
    std::int64_t requested = trace.totals().requestedBytesStart, reserved = trace.totals().reservedBytesStart;
    std::int64_t peak = requested;
    std::map<StackId, std::int64_t> segments; // bytes
    std::size_t step = boundaries.warmup;
    const EventColumns& events = trace.events();
    for (EventIndex e = 0; e <= boundaries.events.back(); ++e) {
        const auto row = static_cast<std::size_t>(e);
        switch (events.action[row]) {
        case Action::Alloc:
        case Action::FreeCompleted:
            requested = wrapAdd(requested, trace.requestedDelta(e));
            peak = std::max(peak, requested);
            break;
        case Action::SegmentAlloc:
        case Action::SegmentMap:
        case Action::SegmentFree:
        case Action::SegmentUnmap: {
            const std::int64_t more = trace.reservedDelta(e);
            reserved = wrapAdd(reserved, more);
            if (more > 0 && e > start) {
                std::int64_t& bytes = segments[events.stack[row]];
                bytes = wrapAdd(bytes, more);
            }
            break;
        }
        default:
            break;
        }
        if (e <= start) {
            peak = requested;
        } else if (e == boundaries.events[step]) {
            use.requestedPeak.push_back(count(peak));
            use.requestedEnd.push_back(count(requested));
            use.reservedEnd.push_back(count(reserved));
            peak = requested;
            ++step;
        }
    }
    std::int64_t most = 0;
    for (const auto& [stack, grown] : segments)
        if (grown > most) {
            most = grown;
            use.segmentStack = stack;
        }
    use.inputsGrow = inputsGrow(trace, boundaries, leftOut);
    return use;
}

} // namespace strata::model
