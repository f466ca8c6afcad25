// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/training_run.h"

#include "model/session/cut.h"
#include "tests/support/random_recording.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace strata::bench {

using namespace model;

std::unique_ptr<Recording> trainingRun(std::int64_t events)
{
    auto session = Session::fromRecording(
        test::randomRecording({ .seed = 7, .events = 100'000, .liveBlocks = 3000, .streams = 2 }));
    CutOptions options;
    options.spans[0] = { 10'000, (*session)->devices()[0].eventCount() - 1 };
    auto recording = cut(**session, options).recording;
    recording->cuts.clear();
    auto steps = std::make_unique<Recording>(*recording);
    session = Session::fromRecording(std::move(recording));
    const DeviceTrace& trace = (*session)->devices()[0];
    const BlockColumns& blocks = trace.blocks();
    const EventIndex last = trace.eventCount() - 1;

    // What is born and freed in the trace, where neither a block nor the end of a segment is in the way.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> occupied;
    for (const BlockId block : blocks.all())
        if (blocks.liveAt(block, last))
            occupied.emplace_back(blocks.address[block],
                blocks.address[block] + static_cast<std::uint64_t>(blocks.requestedBytes[block]));
    std::ranges::sort(occupied);
    std::vector<bool> repeats(blocks.bornCount());
    for (std::size_t row = 0; row < repeats.size(); ++row) {
        const BlockId block = BlockId::born(row);
        const std::uint64_t begin = blocks.address[block];
        const std::uint64_t end = begin + static_cast<std::uint64_t>(blocks.requestedBytes[block]);
        const auto next
            = std::ranges::upper_bound(occupied, begin, {}, &std::pair<std::uint64_t, std::uint64_t>::first);
        const SegmentLife* const segment = trace.segmentAt(begin, last);
        repeats[row] = blocks.freeCompleted[block].valid() && segment && segment->end() >= end
            && (next == occupied.end() || next->first >= end)
            && (next == occupied.begin() || std::prev(next)->second <= begin);
    }
    std::vector<std::size_t> repeated;
    for (std::size_t e = 0; e <= static_cast<std::size_t>(last); ++e)
        if (const BlockId block = trace.events().block[e];
            block.valid() && !block.isOlder() && repeats[block.row()])
            repeated.push_back(e);

    EventColumns& to = steps->devices[0].events;
    const EventColumns from = to;
    const auto add = [&](Action action, std::uint64_t address, std::int64_t bytes, std::size_t like) {
        to.action.push_back(action);
        to.address.push_back(address);
        to.bytes.push_back(bytes);
        to.timeNs.push_back(to.timeNs.back() + 1000);
        to.stack.push_back(from.stack[like]);
        to.block.push_back({});
        to.stream.push_back(from.stream[like]);
        to.pool.push_back(from.pool[like]);
    };
    constexpr std::uint64_t kSegment = 0x7fff'0000'0000; // behind all others
    constexpr std::int64_t kSegmentBytes = 20 << 20;
    for (std::size_t i = 0; to.size() < events; ++i) {
        const std::size_t e = repeated[i % repeated.size()];
        add(from.action[e], from.address[e], from.bytes[e], e);
        if (i % 500 == 0)
            add(i % 1000 == 0 ? Action::SegmentAlloc : Action::SegmentFree, kSegment, kSegmentBytes,
                repeated.front());
    }
    return steps;
}

} // namespace strata::bench
