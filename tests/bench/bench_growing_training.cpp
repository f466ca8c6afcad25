// SPDX-License-Identifier: GPL-3.0-or-later
// What the analyses of a training cost while its session grows: CPU time of the last generations of a
// recording, of so many new events each, looked at anew and going on from the generation before:
//
//     bench_growing_training FILE [--new 20000] [--generations 5] [--no-roles]
#include "model/analysis/training/leaks/leaks.h"
#include "model/analysis/training/ledger/block_modules.h"
#include "model/analysis/training/steps/spikes.h"
#include "model/session/opener.h"
#include "model/trace/filter/grouping.h"
#include "model/trace/program/roles.h"
#include "tests/bench/cpu_time.h"
#include "tests/support/grow.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

using namespace strata;
using namespace strata::model;

namespace {

/// What was found of a generation, as the window keeps it.
struct Found {
    std::shared_ptr<const Session> session;
    const DeviceTrace* trace = nullptr;
    std::optional<Categories> categories;
};

class Laps {
public:
    void lap(int number, const char* name)
    {
        const double now = bench::cpuMilliseconds();
        m_sums[{ number, name }] += now - m_start;
        m_start = bench::cpuMilliseconds();
    }
    void start() { m_start = bench::cpuMilliseconds(); }
    void print(int generations) const
    {
        double sum = 0;
        for (const auto& [key, ms] : m_sums) {
            std::printf("  %-16s %8.1f ms\n", key.second, ms / generations);
            sum += ms / generations;
        }
        std::printf("  %-16s %8.1f ms\n", "all", sum);
    }

private:
    double m_start = 0;
    std::map<std::pair<int, const char*>, double> m_sums;
};

Found look(const std::shared_ptr<const Session>& session, const Found* earlier, Laps& laps)
{
    Found found{ session, &session->devices().at(0), {} };
    const DeviceTrace& trace = *found.trace;
    const Clock clock(trace);
    laps.start();
    const TrainingSteps steps = findTrainingSteps(trace, clock).value();
    laps.lap(0, "steps");
    CategoryOptions options;
    if (earlier != nullptr) {
        options.earlier = &*earlier->categories;
        options.earlierTrace = earlier->trace;
    }
    found.categories = Categories::of(trace, clock, steps, options).value();
    laps.lap(1, "categories");
    const DeviceLabels labels = deviceLabels(trace, *found.categories);
    laps.lap(2, "labels");
    (void)findLeaks(trace, steps).value();
    laps.lap(3, "leaks");
    (void)findSpikes(trace, steps);
    laps.lap(4, "spikes");
    return found;
}

} // namespace

int main(int argc, char** argv)
{
    std::int64_t more = 20'000;
    int generations = 5;
    bool roles = true;
    for (int i = 2; i < argc; ++i) {
        if (std::strcmp(argv[i], "--new") == 0 && i + 1 < argc)
            more = std::atoll(argv[++i]);
        else if (std::strcmp(argv[i], "--generations") == 0 && i + 1 < argc)
            generations = std::max(1, std::atoi(argv[++i]));
        else if (std::strcmp(argv[i], "--no-roles") == 0)
            roles = false;
    }
    const auto session = argc > 1 ? Opener::openAll(argv[1], {}) : Result<std::shared_ptr<const Session>>();
    if (argc < 2 || !session) {
        std::fprintf(stderr, "usage: bench_growing_training FILE [--new N] [--generations N] [--no-roles]\n");
        return 2;
    }
    Recording whole = (*session)->recording();
    if (!roles && whole.parts.find<RoleListings>())
        whole.parts.get<RoleListings>() = {};
    const std::int64_t before = whole.devices.at(0).events.size() - generations * more;
    if (before <= 0) {
        std::fprintf(stderr,
            "bench_growing_training: %s has %lld events, fewer than those that come later: try --new 1000\n",
            argv[1], static_cast<long long>(whole.devices.at(0).events.size()));
        return 2;
    }
    test::Feeder feeder(whole);
    feeder.addBase(0);
    feeder.addEvents(0, before);
    Laps first, anew, goingOn;
    Found found = look(feeder.append(), nullptr, first);
    for (int i = 0; i < generations; ++i) {
        feeder.addEvents(0, more);
        const auto next = feeder.append();
        (void)look(next, nullptr, anew);
        found = look(next, &found, goingOn);
    }
    std::printf("%lld events, %lld new ones each; anew\n", static_cast<long long>(found.trace->eventCount()),
        static_cast<long long>(more));
    anew.print(generations);
    std::printf("going on\n");
    goingOn.print(generations);
    return 0;
}
