// SPDX-License-Identifier: GPL-3.0-or-later
// bench_whatif FILE [ITEMS]: how long answers take while somebody looks for a batch: 65 of them from half the
// recorded one to eight times as many, at a first look and with their bounds, and one for each setting of the
// allocator that is worth trying.
#include "model/analysis/allocator/settings_advice.h"
#include "model/base/words.h"
#include "model/session/opener.h"
#include "model/timeline/clock.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/run/run_replay.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace strata::model;

namespace {

double millisecondsOf(const auto& work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void print(const char* what, std::vector<double> times)
{
    if (times.empty())
        return;
    std::ranges::sort(times);
    std::printf("%-10s %3zu answers: median %8.1f ms, longest %8.1f ms\n", what, times.size(),
        times[times.size() / 2], times.back());
}

int measure(const DeviceTrace& trace, std::int64_t items)
{
    const auto report = checkReplay(trace);
    const Clock clock(trace);
    const auto steps = findTrainingSteps(trace, clock);
    if (!report || !steps)
        return 1;
    const auto categories = Categories::of(trace, clock, *steps);
    if (!categories)
        return 1;
    std::printf("GPU %d: %lld events\n", trace.device(), static_cast<long long>(trace.eventCount()));
    RecordedRun run{ &trace, &*report, &*steps, &*categories, items, {} };
    const auto order = addressOrderOf(run);
    if (!order)
        return 1;
    run.order = *order;
    run.peaks = recordedPeaks(run);
    std::vector<double> looks, batches, settings;
    constexpr int kPlaces = 64, kOctave = 16;
    for (int place = 0; place <= kPlaces; ++place) {
        const double factor = std::exp2(static_cast<double>(place) / kOctave - 1);
        const auto asked = Change::parse(
            "batch=" + std::to_string(std::max<long>(1, std::lround(static_cast<double>(items) * factor))));
        looks.push_back(millisecondsOf([&] { (void)predict({ run }, { { *asked }, {}, {}, true }); }));
        batches.push_back(millisecondsOf([&] { (void)predict({ run }, { { *asked }, {}, {} }); }));
    }
    if (const auto answer = predict({ run }, { { *Change::parse("batch=x2") }, {}, {} }); !answer)
        std::printf("no batches: %s\n", answer.error().text().c_str());
    print("first look", looks);
    print("batches", batches);
    for (const std::string& setting : settingsWorthTrying(*report))
        settings.push_back(millisecondsOf([&] { (void)predict({ run }, { {}, setting, {} }); }));
    print("settings", settings);
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2)
        return std::fprintf(stderr, "usage: bench_whatif FILE [ITEMS]\n"), 2;
    auto opener = Opener::open(argv[1], {});
    if (!opener)
        return std::fprintf(stderr, "%s\n", opener.error().text().c_str()), 3;
    const auto session = opener->all({});
    if (!session)
        return std::fprintf(stderr, "%s\n", session.error().text().c_str()), 3;
    const std::int64_t items = argc > 2 ? std::atoll(argv[2]) : 8;
    for (const auto& trace : (*session)->devices())
        if (measure(trace, items) != 0)
            return 1;
    return 0;
}
