// SPDX-License-Identifier: GPL-3.0-or-later
// A session that grows: what an append costs against building the session anew, and peak memory against
// reading it at once.
//
// usage: bench_grow [--events N] [--append N] [--at-once | --grown]
//        --at-once / --grown  only that, for its peak memory
#include "model/analysis/summary/summary.h"
#include "model/timeline/blocks_picture.h"
#include "model/timeline/device_timeline.h"
#include "model/timeline/layer_order.h"
#include "model/trace/filter/grouping.h"
#include "tests/bench/training_run.h"
#include "tests/support/grow.h"

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

/// What the window derives of a generation before it can show it, from that of the one before where that
/// goes.
struct Indexes {
    Indexes(const DeviceTrace& of, const Indexes* earlier)
        : trace(&of)
        , timeline(DeviceTimeline::of(of, earlier ? earlier->timeline.get() : nullptr))
        , keepsRows(earlier && of.keepsRowsOf(*earlier->trace))
        , groups(keepsRows ? std::make_shared<const GroupTable>(of, *earlier->groups)
                           : std::make_shared<const GroupTable>(of, Grouping::Line))
        , order(keepsRows ? std::make_shared<const LayerOrder>(of, timeline->live(), *groups, *earlier->order)
                          : std::make_shared<const LayerOrder>(of, timeline->live(), *groups))
        , summary(summarize(*timeline, *groups))
        , strips(keepsRows ? StripLayout::of(of, *earlier->trace, earlier->strips)
                           : std::make_shared<const StripLayout>(of))
        , blocks(keepsRows && strips == earlier->strips
                  ? std::make_shared<const BlocksIndex>(*timeline, *strips, *groups, *earlier->blocks)
                  : std::make_shared<const BlocksIndex>(*timeline, *strips, *groups))
    {
    }

    const DeviceTrace* trace;
    std::shared_ptr<const DeviceTimeline> timeline;
    bool keepsRows;
    std::shared_ptr<const GroupTable> groups;
    std::shared_ptr<const LayerOrder> order;
    DeviceSummary summary;
    std::shared_ptr<const StripLayout> strips;
    std::shared_ptr<const BlocksIndex> blocks;
};

/// A session that grows, and what is derived of its last generation.
class Growing {
public:
    explicit Growing(const Recording& whole)
        : m_feeder(whole)
    {
        m_feeder.addBase(0);
    }

    /// What `times` appends of `count` events cost together, with the release of what they replace.
    void append(std::int64_t count, int times)
    {
        trace = indexes = 0;
        for (int i = 0; i < times; ++i) {
            m_feeder.addEvents(0, count);
            double start = cpuMs();
            auto session = m_feeder.append();
            trace += cpuMs() - start;
            start = cpuMs();
            auto derived = std::make_unique<Indexes>(session->devices()[0], m_derived.get());
            anew = !derived->keepsRows || !m_derived || derived->strips != m_derived->strips;
            m_derived = std::move(derived);
            m_session = std::move(session);
            indexes += cpuMs() - start;
        }
    }

    double trace = 0, indexes = 0; // CPU time in ms
    bool anew = false;

private:
    test::Feeder m_feeder;
    std::shared_ptr<const Session> m_session;
    std::unique_ptr<Indexes> m_derived;
};

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
    constexpr int kSmall = 100; // appends of a hundredth
    // The whole recording stays in memory in either case: what is compared is what comes on top of it.
    const std::unique_ptr<Recording> whole = bench::trainingRun(events + 3 * more);
    std::printf("%lld events, then %lld more; the recording alone: %.0f MiB\n",
        static_cast<long long>(events), static_cast<long long>(more), peakMib());
    double all = 0;
    if (atOnce) {
        Growing once(*whole);
        once.append(events + more, 1);
        all = once.trace + once.indexes;
        std::printf(
            "anew:   trace %8.1f ms, indexes %8.1f ms; peak %.0f MiB\n", once.trace, once.indexes, peakMib());
    }
    if (!grown)
        return 0;
    Growing growing(*whole);
    growing.append(events, 1);
    for (const auto& [count, times] :
        { std::pair{ more, 1 }, std::pair{ more / 10, 10 }, std::pair{ more / kSmall, kSmall } }) {
        growing.append(count, times);
        std::printf(
            "append %lld: trace %6.3f ms, indexes %6.3f ms (%d of them on average)%s; peak %.0f MiB\n",
            static_cast<long long>(count), growing.trace / times, growing.indexes / times, times,
            growing.anew ? ", strips anew" : "", peakMib());
        if (all > 0)
            std::printf("        1/%.0f of anew each\n", all / ((growing.trace + growing.indexes) / times));
    }
    return 0;
}
