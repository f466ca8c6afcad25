// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/trace_check.h"

#include "model/replay/trace_replay.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>

namespace strata::model {

namespace {

constexpr int kMostOrders = 24;
constexpr int kMostTails = 100;

using Pairs = std::set<std::pair<std::int32_t, std::int32_t>>;

/// Places that keep every pair in order and otherwise those of before; none where pairs contradict each
/// other.
std::optional<std::vector<std::int32_t>> ordered(const Pairs& pairs, const std::vector<std::int32_t>& before)
{
    const std::size_t count = before.size();
    std::vector<std::vector<std::int32_t>> behind(count);
    std::vector<std::int32_t> waitsFor(count, 0);
    for (const auto& [first, second] : pairs) {
        behind[static_cast<std::size_t>(first)].push_back(second);
        ++waitsFor[static_cast<std::size_t>(second)];
    }
    const auto later = [&](std::int32_t a, std::int32_t b) {
        return before[static_cast<std::size_t>(a)] > before[static_cast<std::size_t>(b)];
    };
    std::priority_queue<std::int32_t, std::vector<std::int32_t>, decltype(later)> ready(later);
    for (std::size_t i = 0; i < count; ++i)
        if (waitsFor[i] == 0)
            ready.push(static_cast<std::int32_t>(i));
    std::vector<std::int32_t> rank(count);
    std::int32_t place = 0;
    while (!ready.empty()) {
        const std::int32_t next = ready.top();
        ready.pop();
        rank[static_cast<std::size_t>(next)] = place++;
        for (const std::int32_t other : behind[static_cast<std::size_t>(next)])
            if (--waitsFor[static_cast<std::size_t>(other)] == 0)
                ready.push(other);
    }
    if (static_cast<std::size_t>(place) < count)
        return std::nullopt;
    return rank;
}

/// From when on no size is open, and what the peaks are at most.
void boundPeaks(const DeviceTrace& trace, TraceCheck& check)
{
    check.allocatedBytesPeakMost = check.allocatedBytesPeak;
    check.activeBytesPeakMost = check.activeBytesPeak;
    const BlockColumns& blocks = trace.blocks();
    for (const OpenSize& size : check.open)
        check.determinedFrom = std::max(check.determinedFrom, blocks.death(size.block));
    if (check.open.empty() || check.firstDifference)
        return;
    const auto sizeOf = [&](BlockId block) {
        return blocks.requestedBytes[block] + static_cast<std::int64_t>(check.rounding[block]);
    };
    // With the most, until the last of the open ones is gone.
    std::int64_t allocated = 0, active = 0;
    for (std::size_t row = 0; row < blocks.olderCount(); ++row) {
        const std::int64_t bytes = sizeOf(BlockId::older(row));
        active += bytes;
        allocated += blocks.pendingAtStart[row] != 0 ? 0 : bytes;
    }
    std::map<std::int32_t, std::int64_t> more;
    for (const OpenSize& size : check.open) {
        const std::int64_t tail = size.mostBytes - size.bytes;
        more.emplace(size.block.value, tail);
        active += tail;
        allocated += blocks.pendingAtStart[size.block.row()] != 0 ? 0 : tail;
    }
    const auto mostOf = [&](BlockId block) {
        const auto tail = block.isOlder() ? more.find(block.value) : more.end();
        return sizeOf(block) + (tail == more.end() ? 0 : tail->second);
    };
    const EventColumns& events = trace.events();
    const EventIndex end = std::min(check.determinedFrom, trace.eventCount());
    for (EventIndex event = 0; event <= end; ++event) {
        check.allocatedBytesPeakMost = std::max(check.allocatedBytesPeakMost, allocated);
        check.activeBytesPeakMost = std::max(check.activeBytesPeakMost, active);
        if (event == end)
            break;
        const auto row = static_cast<std::size_t>(event);
        const BlockId block = events.block[row];
        if (!block.valid())
            continue;
        switch (events.action[row]) {
        case Action::Alloc:
            allocated += mostOf(block);
            active += mostOf(block);
            break;
        case Action::FreeRequested:
            if (blocks.pendingSince(block) == event)
                allocated -= mostOf(block);
            break;
        case Action::FreeCompleted:
            active -= mostOf(block);
            if (blocks.pendingSince(block) == BlockColumns::kNever)
                allocated -= mostOf(block);
            break;
        default:
            break;
        }
    }
}

} // namespace

Result<TraceCheck> checkTrace(
    const DeviceTrace& trace, const TraceCheckOptions& options, const Progress& progress)
{
    std::int64_t rangeBytes
        = options.deviceBytes > 0 ? options.settings.rangeBytes(1, options.deviceBytes) : kUnknownRange;
    const ReplayRequests requests = ReplayRequests::of(trace);
    StartState start(requests, options.settings, rangeBytes);
    std::vector<std::int32_t> rank(start.origins());
    std::iota(rank.begin(), rank.end(), 0);
    Pairs pairs;
    int raised = 0;
    // What is learned in one replay is proven by the next, which learns nothing more.
    for (int tried = 0;; ++tried) {
        TraceReplay replay(trace, start, options, rangeBytes, rank);
        if (!replay.run(progress))
            return fail(Error::Kind::Cancelled, say("the check was cancelled"));
        TraceCheck& result = replay.result();
        result.orderLearned = !pairs.empty();
        result.rank = rank;
        if (const auto most = replay.driver().rangeBytesAtMost();
            options.deviceBytes == 0 && most && *most < rangeBytes && tried < kMostOrders) {
            rangeBytes = *most;
            start = StartState(requests, options.settings, rangeBytes);
            continue;
        }
        if (const auto& least = replay.leastOfOlder(); result.firstDifference && least && raised < kMostTails
            && start.raise(least->first, least->second)) {
            ++raised;
            --tried;
            continue;
        }
        const std::size_t known = pairs.size();
        pairs.insert(replay.driver().learned().begin(), replay.driver().learned().end());
        if (pairs.size() == known || result.firstDifference) {
            boundPeaks(trace, result);
            return std::move(result);
        }
        auto next = tried < kMostOrders ? ordered(pairs, rank) : std::nullopt;
        if (!next) {
            result.eventsEqual = 0;
            result.firstDifference = ReplayDifference{ 0, std::nullopt, std::nullopt,
                say("no order of the older segments leads to all that was recorded") };
            return std::move(result);
        }
        rank = std::move(*next);
    }
}

} // namespace strata::model
