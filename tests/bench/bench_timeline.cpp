// SPDX-License-Identifier: GPL-3.0-or-later
// Time and memory of every question that a picture asks, one line each:
//
//     bench_timeline               a synthetic trace of 6.3 million events
//     bench_timeline EVENTS        one of another length
//     bench_timeline FILE          a recording
#include "model/base/words.h"
#include "model/session/opener.h"
#include "model/session/session.h"
#include "model/tables/search.h"
#include "model/timeline/blocks_picture.h"
#include "model/timeline/device_timeline.h"
#include "model/timeline/layer_order.h"
#include "model/timeline/pictures.h"
#include "tests/support/random_recording.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace strata;
using namespace strata::model;

namespace {

constexpr int kColumns = 1900;
constexpr int kRows = 800;

double milliseconds(clockid_t clock)
{
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// Runs `work` a few times and prints the medians of its processor and wall time: on a busy machine the first
/// tells what the work costs.
template <class Work> void measure(const std::string& name, int runs, Work&& work, double perRun = 1)
{
    std::vector<double> processor;
    std::vector<double> wall;
    for (int i = 0; i < runs; ++i) {
        const double processorStart = milliseconds(CLOCK_THREAD_CPUTIME_ID);
        const double wallStart = milliseconds(CLOCK_MONOTONIC);
        work();
        processor.push_back((milliseconds(CLOCK_THREAD_CPUTIME_ID) - processorStart) / perRun);
        wall.push_back((milliseconds(CLOCK_MONOTONIC) - wallStart) / perRun);
    }
    std::sort(processor.begin(), processor.end());
    std::sort(wall.begin(), wall.end());
    std::printf("%-52s %10.3f ms  (wall %.3f)\n", name.c_str(), processor[processor.size() / 2],
        wall[wall.size() / 2]);
}

void report(const std::string& name, std::size_t bytes, double per, const char* of)
{
    std::printf("%-52s %10.2f MB  %.2f B/%s\n", name.c_str(), static_cast<double>(bytes) / 1e6,
        static_cast<double>(bytes) / per, of);
}

std::shared_ptr<const Session> load(const char* argument)
{
    std::int64_t events = 6'300'000;
    if (argument) {
        const auto [end, error] = std::from_chars(argument, argument + std::strlen(argument), events);
        if (error != std::errc{} || *end != '\0') {
            auto session = Opener::openAll(argument);
            if (!session) {
                std::fprintf(stderr, "bench_timeline: %s\n", session.error().text().c_str());
                return nullptr;
            }
            return *session;
        }
    }
    test::RandomTrace options;
    options.events = events;
    options.liveBlocks = 900;
    options.streams = 2;
    options.stacks = 300;
    options.before = 0.01;
    options.deferredFrees = 0.05;
    auto session = Session::fromRecording(test::randomRecording(options));
    return session ? *session : nullptr;
}

/// Windows of the axis from all to one event around the middle.
std::vector<ColumnWindow> zooms(Axis axis, const DeviceTimeline& timeline)
{
    std::vector<ColumnWindow> windows;
    const ColumnWindow whole = wholeTrace(axis, timeline.clock(), kColumns);
    const double middle = axisPosition(axis, timeline.clock(), timeline.clock().eventCount() / 2)
        + (axis == Axis::Events ? 0.5 : 500);
    for (double share = 1; (whole.end - whole.begin) * share >= 1; share /= 8) {
        const double half = (whole.end - whole.begin) * share / 2;
        windows.push_back({ axis, middle - half, middle + half, kColumns });
    }
    windows.front() = whole;
    return windows;
}

std::string name(const char* what, Axis axis, const ColumnWindow& window)
{
    char text[80];
    std::snprintf(text, sizeof text, "%s, %s, %.3g wide", what, axis == Axis::Events ? "events" : "time",
        window.end - window.begin);
    return text;
}

void benchSearch(const DeviceTimeline& timeline)
{
    const GroupTable byLine(timeline.trace(), Grouping::Line);
    const EventIndex peak = timeline.trace().totals().requestedPeakEvent;
    for (const char* text : { "e", "forward", "model.py:1", "forward > 1 MiB", "> 1 MiB", "0x7f0000000000" })
        measure(std::string("search ") + text, 5, [&] { (void)search(timeline, byLine, text, peak); });
}

void benchCurves(const DeviceTimeline& timeline)
{
    for (const Axis axis : { Axis::Events, Axis::Time }) {
        for (const ColumnWindow& window : zooms(axis, timeline)) {
            measure(name("curveColumns requested", axis, window), 7,
                [&] { (void)curveColumns(timeline.requested(), timeline.clock(), window); });
        }
        const ColumnWindow whole = wholeTrace(axis, timeline.clock(), kColumns);
        measure(name("curveColumns pending", axis, whole), 7,
            [&] { (void)curveColumns(timeline.pendingFree(), timeline.clock(), whole); });
        measure(name("curveColumns reserved", axis, whole), 7,
            [&] { (void)curveColumns(timeline.reserved(), timeline.clock(), whole); });
    }
}

void benchLive(const DeviceTimeline& timeline)
{
    std::mt19937_64 random(1);
    const auto randomEvent = [&] {
        return static_cast<EventIndex>(random() % static_cast<std::uint64_t>(timeline.clock().eventCount()));
    };
    std::size_t live = 0;
    measure(
        "liveAt (mean of 100)", 7,
        [&] {
            for (int i = 0; i < 100; ++i)
                live += timeline.live().liveAt(randomEvent()).size();
        },
        100);
    std::printf("    %zu blocks live on average\n", live / 700);
    const BlockColumns& blocks = timeline.trace().blocks();
    measure(
        "blockAt (mean of 100)", 7,
        [&] {
            for (int i = 0; i < 100; ++i)
                (void)timeline.live().blockAt(
                    blocks.address[blocks.at(random() % blocks.size())] + 5, randomEvent());
        },
        100);
    measure(
        "Clock::eventAt (mean of 1000)", 7,
        [&] {
            for (int i = 0; i < 1000; ++i)
                (void)timeline.clock().eventAt(timeline.clock().timeNs(randomEvent()));
        },
        1000);
}

void benchPictures(const DeviceTimeline& timeline, const GroupTable& groups)
{
    const DeviceTrace& trace = timeline.trace();
    std::vector<std::uint32_t> order;
    measure("LayerOrder", 3, [&] { order = LayerOrder(trace, timeline.live(), groups).groups(); });
    for (const Axis axis : { Axis::Events, Axis::Time })
        for (const ColumnWindow& window : zooms(axis, timeline))
            measure(name("stackedPicture", axis, window), 5, [&] {
                (void)stackedPicture(trace, timeline.clock(), timeline.requested(), timeline.live(), groups,
                    order, nullptr, window, {});
            });

    std::optional<StripLayout> strips;
    measure("StripLayout", 3, [&] { strips.emplace(trace); });
    std::printf(
        "    %zu strips, %.3g bytes high\n", strips->strips().size(), static_cast<double>(strips->height()));
    std::unique_ptr<BlocksIndex> index;
    measure("BlocksIndex", 3, [&] { index = std::make_unique<BlocksIndex>(timeline, *strips, groups); });
    report("BlocksIndex", index->bytesResident(), static_cast<double>(trace.blocks().size()), "block");

    const auto height = static_cast<double>(strips->height());
    const double middle = height * 0.37;
    for (const Axis axis : { Axis::Events, Axis::Time })
        for (const ColumnWindow& x : zooms(axis, timeline))
            for (const double share : { 1.0, 0.05, 0.001 }) {
                const double begin = share == 1 ? 0 : middle - height * share / 2;
                const BlocksWindow window{ x, begin, begin + height * share, kRows };
                BlocksPicture picture;
                char y[32];
                std::snprintf(y, sizeof y, ", y %g", share);
                measure(name("blocks picture", axis, x) + y, 3,
                    [&] { picture = index->picture(window, nullptr, {}); });
                std::printf("    %zu rectangles%s\n", picture.rects.size(),
                    picture.complete ? "" : ", limit reached");
            }
    BlockFilter filter;
    filter.minBytes = 1 << 20;
    const BlockMatcher matcher(trace, filter);
    const BlocksWindow whole{ wholeTrace(Axis::Events, timeline.clock(), kColumns), 0, height, kRows };
    measure("blocks picture, all, filtered", 3, [&] { (void)index->picture(whole, &matcher, {}); });
    measure("pick", 7, [&] { (void)index->pick(trace.eventCount() / 2, middle, middle + height / kRows); });
}

} // namespace

int main(int argc, char** argv)
{
    const double start = milliseconds(CLOCK_MONOTONIC);
    const std::shared_ptr<const Session> session = load(argc > 1 ? argv[1] : nullptr);
    if (!session || !session->defaultDevice())
        return 3;
    const DeviceTrace& trace = *session->defaultDevice();
    std::printf("%s events, %s blocks, %zu segment lives, ready after %.0f ms\n",
        std::to_string(trace.eventCount()).c_str(), std::to_string(trace.blocks().size()).c_str(),
        trace.segmentLives().size(), milliseconds(CLOCK_MONOTONIC) - start);

    std::unique_ptr<DeviceTimeline> timeline;
    measure("DeviceTimeline", 3, [&] { timeline = std::make_unique<DeviceTimeline>(trace); });
    const auto events = static_cast<double>(trace.eventCount());
    report("events", trace.events().bytesResident(), events, "event");
    report("blocks", trace.blocks().bytesResident(), events, "event");
    report("curves",
        timeline->requested().bytesResident() + timeline->pendingFree().bytesResident()
            + timeline->reserved().bytesResident(),
        events, "event");
    report("clock", timeline->clock().bytesResident(), events, "event");
    report("live index", timeline->live().bytesResident(), events, "event");

    benchSearch(*timeline);
    benchCurves(*timeline);
    benchLive(*timeline);
    const GroupTable byLine(trace, Grouping::Line);
    benchPictures(*timeline, byLine);
    return 0;
}
