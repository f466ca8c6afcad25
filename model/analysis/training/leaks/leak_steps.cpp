// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/leaks/leak_steps.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace strata::model {

namespace {

constexpr std::size_t kCompared = 3; ///< steps at the beginning and at the end

/// What a step allocates, in order, without births that are left out; and how many come before the first of
/// those.
struct StepSizes {
    std::vector<std::int64_t> bytes;
    std::size_t before = 0;
};

StepSizes sizesOf(const DeviceTrace& trace, const LeakBoundaries& boundaries, std::size_t index,
    std::span<const EventIndex> leftOut)
{
    StepSizes sizes;
    bool met = false;
    for (EventIndex e = boundaries.events[index - 1] + 1; e <= boundaries.events[index]; ++e) {
        if (trace.events().action[static_cast<std::size_t>(e)] != Action::Alloc)
            continue;
        if (!std::ranges::binary_search(leftOut, e)) {
            sizes.bytes.push_back(trace.events().bytes[static_cast<std::size_t>(e)]);
        } else if (!met) {
            met = true;
            sizes.before = sizes.bytes.size();
        }
    }
    if (!met)
        sizes.before = sizes.bytes.size();
    return sizes;
}

/// Of each step after the warm-up the same share of its allocations: what comes behind a block that is left
/// out may be larger because of it. All of them where such a block is among the first of a step: then it is
/// what the step works on.
std::vector<std::vector<std::int64_t>> comparedSizes(
    const DeviceTrace& trace, const LeakBoundaries& boundaries, std::span<const EventIndex> leftOut)
{
    constexpr double kFirst = 0.05; // of a step's allocations: a guess, tried in test_leaks.py
    double share = 1;
    std::vector<std::vector<std::int64_t>> all;
    for (std::size_t i = boundaries.warmup; i < boundaries.count(); ++i) {
        StepSizes sizes = sizesOf(trace, boundaries, i, leftOut);
        if (!sizes.bytes.empty())
            share = std::min(
                share, static_cast<double>(sizes.before) / static_cast<double>(sizes.bytes.size()));
        all.push_back(std::move(sizes.bytes));
    }
    if (share > kFirst)
        for (std::vector<std::int64_t>& sizes : all)
            sizes.resize(static_cast<std::size_t>(std::llround(share * static_cast<double>(sizes.size()))));
    return all;
}

bool inputsGrow(
    const DeviceTrace& trace, const LeakBoundaries& boundaries, std::span<const EventIndex> leftOut)
{
    constexpr double kNewShare = 0.2, kLarger = 1.05;
    if (boundaries.steady() < 2 * kCompared || boundaries.warmup == 0)
        return false;
    std::vector<std::int64_t> first, last;
    std::vector<double> sums;
    const auto steps = comparedSizes(trace, boundaries, leftOut);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        sums.push_back(std::accumulate(steps[i].begin(), steps[i].end(), 0.0));
        if (i < kCompared)
            first.insert(first.end(), steps[i].begin(), steps[i].end());
        if (i + kCompared >= steps.size())
            last.insert(last.end(), steps[i].begin(), steps[i].end());
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
        && !gone.empty() && mean(fresh) >= kLarger * mean(gone) && trendOf(sums) >= kTrend;
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
