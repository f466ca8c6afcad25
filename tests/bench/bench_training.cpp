// SPDX-License-Identifier: GPL-3.0-or-later
// Time of finding the steps of a training that goes on for long, by each evidence, one line each:
//
//     bench_training FILE [EVENTS]     one step of a recording, again and again (6 million events)
#include "model/analysis/training/steps/training_steps.h"
#include "model/base/words.h"
#include "model/session/opener.h"
#include "model/session/session.h"
#include "model/trace/program/roles.h"
#include "tests/bench/cpu_time.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

using namespace strata;
using namespace strata::model;

namespace {

struct What {
    const char* name;
    bool bits, ranges, stacks;
};

/// The events of a step `times` times, with what was told of them.
std::unique_ptr<Recording> repeated(const Recording& recording, const DeviceTrace& trace,
    const TrainingStep& step, std::int64_t times, What what)
{
    auto made = std::make_unique<Recording>(recording);
    made->annotations = {};
    made->devices.resize(1);
    DeviceRecording& device = made->devices.front();
    const EventColumns& from = trace.events();
    device = { trace.device(), {}, {}, {}, {} };
    EventColumns& to = device.events;
    const auto first = static_cast<std::size_t>(step.first), last = static_cast<std::size_t>(step.last);
    const std::int64_t begin = from.timeNs[first], length = from.timeNs[last] - begin + 1000;
    auto& rows = made->parts.get<RoleListings>().byDevice;
    rows.clear();
    for (std::int64_t i = 0; i < times; ++i) {
        for (std::size_t e = first; e <= last; ++e) {
            to.action.push_back(from.action[e]);
            to.address.push_back(from.address[e]);
            to.bytes.push_back(from.bytes[e]);
            to.timeNs.push_back(from.timeNs[e] + i * length);
            to.stack.push_back(what.stacks ? from.stack[e] : StackId{});
            to.stream.push_back(from.stream[e]);
            to.pool.push_back(kNoIndex);
            if (what.bits)
                to.tell(from.phaseOf(e), from.threadOf(e), from.moduleOf(e));
        }
        if (!what.ranges)
            continue;
        for (Annotation row : recording.annotations)
            if (row.timeNs > begin && row.timeNs <= begin + length - 1000) {
                row.timeNs += i * length;
                made->annotations.push_back(row);
            }
        for (RoleListing row : RoleListings::of(recording, trace.device()))
            if (row.event > step.first && row.event <= step.last + 1) {
                row.event += i * (step.last - step.first + 1) - step.first;
                rows[trace.device()].push_back(row);
            }
    }
    return made;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2) {
        std::fprintf(stderr, "usage: bench_training FILE [EVENTS]\n");
        return 2;
    }
    const std::int64_t events = argc > 2 ? std::atoll(argv[2]) : 6'000'000;
    const auto session = Opener::openAll(argv[1], {});
    if (!session) {
        std::fprintf(stderr, "%s\n", session.error().text().c_str());
        return 3;
    }
    const DeviceTrace& trace = (*session)->devices().at(0);
    const auto found = findTrainingSteps(trace, Clock(trace)).value();
    std::vector<const TrainingStep*> steady;
    for (const TrainingStep& each : found.steps)
        if (each.kind == StepKind::Train && !each.warmup)
            steady.push_back(&each);
    if (steady.empty()) {
        std::fprintf(stderr, "no steps to repeat\n");
        return 1;
    }
    const TrainingStep& step = *steady[steady.size() / 2];
    const std::int64_t times = std::max<std::int64_t>(3, events / (step.last - step.first + 1));
    for (const What what : { What{ "ranges", true, true, true }, What{ "bits", true, false, true },
             What{ "frames", false, false, true }, What{ "rhythm", false, false, false } }) {
        const auto long_
            = Session::fromRecording(repeated((*session)->recording(), trace, step, times, what)).value();
        const DeviceTrace& device = long_->devices().at(0);
        const Clock clock(device);
        const double start = bench::cpuMilliseconds();
        const auto steps = findTrainingSteps(device, clock).value();
        std::printf("%-8s %10.1f ms  %zu steps in %lld events, by %s\n", what.name,
            bench::cpuMilliseconds() - start, steps.steps.size(), static_cast<long long>(device.eventCount()),
            std::string(evidenceWord(steps.evidence)).c_str());
    }
    return 0;
}
