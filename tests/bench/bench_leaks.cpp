// SPDX-License-Identifier: GPL-3.0-or-later
// How long it takes to look for leaks, with the steps given:
//
//     bench_leaks [--events 6000000] [--step 2000] [--live 200]
//
// The trace is random, with so many blocks alive, cut into steps of so many events: more outlives a step than
// in any training.
#include "model/analysis/training/leaks/leaks.h"
#include "model/session/session.h"
#include "tests/support/random_recording.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace strata;

int main(int argc, char** argv)
{
    test::RandomTrace options{ .events = 6'000'000, .liveBlocks = 200, .stacks = 400 };
    model::EventIndex stepEvents = 2000;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view name = argv[i];
        const long value = std::atol(argv[i + 1]);
        if (name == "--events")
            options.events = value;
        else if (name == "--step")
            stepEvents = std::max(1L, value);
        else if (name == "--live")
            options.liveBlocks = static_cast<int>(value);
    }
    const auto session = model::Session::fromRecording(test::randomRecording(options)).value();
    const model::DeviceTrace& trace = session->devices().at(0);
    model::TrainingSteps steps{ .evidence = model::StepEvidence::Marks };
    for (model::EventIndex first = 0; first + stepEvents <= trace.eventCount(); first += stepEvents)
        steps.steps.push_back({ .number = std::ssize(steps.steps),
            .warmup = steps.steps.size() < 3,
            .first = first,
            .last = first + stepEvents - 1 });
    const auto before = std::chrono::steady_clock::now();
    const auto report = model::findLeaks(trace, steps);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - before;
    std::printf("%lld events, %zu steps: %.0f ms; %s, %zu sites\n",
        static_cast<long long>(trace.eventCount()), steps.steps.size(), took.count(),
        std::string(model::leakVerdictWord(report->verdict)).c_str(), report->sites.size());
    return 0;
}
