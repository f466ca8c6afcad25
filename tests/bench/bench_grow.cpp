// SPDX-License-Identifier: GPL-3.0-or-later
// A session that grows: what an append costs against building the session anew, and peak memory against
// reading it at once.
//
// usage: bench_grow [--events N] [--append N] [--at-once | --grown]
//        --at-once / --grown  only that, for its peak memory
#include "model/session/cut.h"
#include "model/timeline/blocks_picture.h"
#include "model/timeline/device_timeline.h"
#include "model/trace/grouping.h"
#include "tests/support/grow.h"
#include "tests/support/random_recording.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <sys/resource.h>
#include <utility>
#include <vector>

namespace {

using namespace strata;
using namespace strata::model;

double cpuMs()
{
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double peakMib()
{
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// A program that trains, recorded with the state that it began with: `events` events of the same steps.
std::unique_ptr<Recording> training(std::int64_t events)
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
    for (std::size_t i = 0; to.size() < events; ++i) {
        const std::size_t e = repeated[i % repeated.size()];
        to.action.push_back(from.action[e]);
        to.address.push_back(from.address[e]);
        to.bytes.push_back(from.bytes[e]);
        to.timeNs.push_back(to.timeNs.back() + 1000);
        to.stack.push_back(from.stack[e]);
        to.block.push_back({});
        to.stream.push_back(from.stream[e]);
        to.pool.push_back(from.pool[e]);
    }
    return steps;
}

} // namespace

int main(int argc, char** argv)
{
    std::int64_t events = 6'000'000, more = 100'000;
    bool atOnce = true, grown = true;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--events") == 0 && i + 1 < argc)
            events = std::atoll(argv[++i]);
        else if (std::strcmp(argv[i], "--append") == 0 && i + 1 < argc)
            more = std::atoll(argv[++i]);
        else if (std::strcmp(argv[i], "--at-once") == 0)
            grown = false;
        else if (std::strcmp(argv[i], "--grown") == 0)
            atOnce = false;
    }
    // The whole recording stays in memory in either case: what is compared is what comes on top of it.
    const std::unique_ptr<Recording> whole = training(events + 2 * more);
    std::printf("%lld events, then %lld more; the recording alone: %.0f MiB\n",
        static_cast<long long>(events), static_cast<long long>(more), peakMib());
    double anew = 0;
    if (atOnce) {
        test::Feeder feeder(*whole);
        feeder.addBase(0);
        feeder.addEvents(0, events + more);
        double start = cpuMs();
        const auto session = feeder.append();
        const double trace = cpuMs() - start;
        start = cpuMs();
        const DeviceTimeline timeline(session->devices()[0]);
        const GroupTable groups(session->devices()[0], Grouping::Line);
        const StripLayout strips(session->devices()[0]);
        const BlocksIndex index(session->devices()[0], timeline.clock(), strips, groups);
        anew = trace + cpuMs() - start;
        std::printf(
            "anew:   trace %8.1f ms, indexes %8.1f ms; peak %.0f MiB\n", trace, anew - trace, peakMib());
    }
    if (!grown)
        return 0;
    test::Feeder feeder(*whole);
    feeder.addBase(0);
    auto session = feeder.append();
    feeder.addEvents(0, events);
    session = feeder.append();
    const DeviceTrace* trace = &session->devices()[0];
    auto timeline = DeviceTimeline::of(*trace, nullptr);
    auto groups = std::make_shared<const GroupTable>(*trace, Grouping::Line);
    std::shared_ptr<const StripLayout> strips = std::make_shared<const StripLayout>(*trace);
    auto index = std::make_shared<const BlocksIndex>(*trace, timeline->clock(), *strips, *groups);
    double first = 0;
    for (const std::int64_t count : { more, more / 10, more / 100, more / 100 }) {
        feeder.addEvents(0, count);
        double start = cpuMs();
        const auto next = feeder.append();
        const double grow = cpuMs() - start;
        const DeviceTrace* const grew = &next->devices()[0];
        start = cpuMs();
        const auto nextTimeline = DeviceTimeline::of(*grew, timeline.get());
        const bool keeps = grew->keepsRowsOf(*trace);
        const auto nextGroups = keeps ? std::make_shared<const GroupTable>(*grew, *groups)
                                      : std::make_shared<const GroupTable>(*grew, Grouping::Line);
        const auto nextStrips = StripLayout::of(*grew, *trace, strips);
        const bool same = keeps && nextStrips == strips;
        const auto nextIndex = same
            ? std::make_shared<const BlocksIndex>(
                *grew, nextTimeline->clock(), *nextStrips, *nextGroups, *index)
            : std::make_shared<const BlocksIndex>(*grew, nextTimeline->clock(), *nextStrips, *nextGroups);
        const double indexes = cpuMs() - start;
        if (first == 0)
            first = grow + indexes;
        std::printf("append %lld: trace %6.2f ms, indexes %6.2f ms%s; peak %.0f MiB\n",
            static_cast<long long>(count), grow, indexes, same ? "" : ", strips anew", peakMib());
        session = next;
        trace = grew;
        timeline = nextTimeline;
        groups = nextGroups;
        strips = nextStrips;
        index = nextIndex;
    }
    if (anew > 0)
        std::printf("the first append: 1/%.0f of anew\n", anew / first);
    return 0;
}
