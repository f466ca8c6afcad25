// SPDX-License-Identifier: GPL-3.0-or-later
// Events a second of a replay, against reading the same file, and the state of the allocator at random
// events:
//
//     bench_replay FILE [SETTINGS]     SETTINGS: what is asked with what-if (expandable_segments:True)
#include "model/analysis/allocator/fragmentation.h"
#include "model/analysis/allocator/replay.h"
#include "model/base/words.h"
#include "model/replay/other_settings.h"
#include "model/session/opener.h"
#include "model/session/session.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <random>
#include <string>
#include <vector>

using namespace strata;
using namespace strata::model;

namespace {

double seconds()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// Runs `work` a few times and prints the median of its processor time.
template <class Work> void measure(const char* name, std::int64_t events, Work&& work)
{
    constexpr int kRuns = 5;
    std::vector<double> took;
    for (int i = 0; i < kRuns; ++i) {
        const double start = seconds();
        work();
        took.push_back(seconds() - start);
    }
    std::ranges::sort(took);
    const double median = took[kRuns / 2];
    std::printf("%-40s %9.1f ms  %8.2f million events/s\n", name, median * 1e3,
        static_cast<double>(events) / median / 1e6);
}

/// As the window and `strata state` ask, once the file is open and the replay is done.
void measureStates(const DeviceTrace& trace, const ReplayReport& report)
{
    constexpr int kStates = 1000;
    const DeviceTimeline timeline(trace);
    std::mt19937_64 random(3);
    std::vector<double> took;
    std::size_t blocks = 0;
    for (int i = 0; i < kStates; ++i) {
        const auto event = static_cast<EventIndex>(random() % static_cast<std::uint64_t>(trace.eventCount()));
        const double start = seconds();
        const AllocatorMap map
            = allocatorMapAt(trace, event, timeline.live().liveAtUnordered(event), &report);
        (void)fragmentationOf(trace, map, report.settings);
        took.push_back(seconds() - start);
        blocks = std::max(blocks, map.blocks.size());
    }
    std::ranges::sort(took);
    std::printf("%-40s %9.2f ms  %8.2f ms p99, at most %zu stretches\n",
        "state and its fragmentation, median", took[kStates / 2] * 1e3, took[kStates * 99 / 100] * 1e3,
        blocks);
}

} // namespace

int main(int count, char** arguments)
{
    if (count < 2) {
        std::fprintf(stderr, "usage: bench_replay FILE [SETTINGS]\n");
        return 2;
    }
    const std::string settings = count > 2 ? arguments[2] : "expandable_segments:True";
    const auto session = Opener::openAll(arguments[1]);
    if (!session) {
        std::fprintf(stderr, "bench_replay: %s\n", session.error().text().c_str());
        return 1;
    }
    std::int64_t events = 0;
    for (const DeviceTrace& trace : (*session)->devices())
        events += trace.eventCount();
    std::printf("%s: %lld events\n", arguments[1], static_cast<long long>(events));
    // In one thread, as all that follows; a window reads with several.
    measure("open the file (this thread's part)", events, [&] { (void)Opener::openAll(arguments[1]); });
    for (const DeviceTrace& trace : (*session)->devices()) {
        const auto report = checkReplay(trace);
        if (!report) {
            std::fprintf(stderr, "bench_replay: %s\n", report.error().text().c_str());
            return 1;
        }
        std::printf("GPU %d: %s, %d other guesses\n", trace.device(),
            report->exact() ? "exact" : report->reason().text().c_str(), report->check.hypothesesTried);
        TraceCheckOptions options{ report->settings, 0 };
        if (report->capacitySource == ReplayReport::CapacitySource::Session)
            options.deviceBytes = *report->capacityBytes;
        measure("checkTrace", trace.eventCount(), [&] { (void)checkTrace(trace, options); });
        if (trace.eventCount() > 0)
            measureStates(trace, *report);
        ReplayQuestion question;
        question.deviceBytes = options.deviceBytes;
        question.capacityBytes = report->capacityBytes;
        question.emptyCaches = report->check.emptyCaches;
        question.poolEnds = report->check.poolEnds;
        question.rank = report->check.rank;
        for (const std::string& text : { std::string(), settings }) {
            const auto parsed = AllocatorSettings::parse(text, report->version);
            if (!parsed) {
                std::fprintf(stderr, "bench_replay: %s\n", parsed.error().text().c_str());
                return 1;
            }
            question.settings = *parsed;
            const std::string name = "replayUnder " + (text.empty() ? std::string("defaults") : text);
            measure(name.c_str(), trace.eventCount(),
                [&] { (void)replayUnder(ReplayRequests::of(trace), question); });
        }
    }
    return 0;
}
