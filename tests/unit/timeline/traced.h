// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"
#include "tests/support/make_recording.h"
#include "tests/support/random_recording.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::test {

/// A recording and the trace of its first device.
struct Traced {
    explicit Traced(std::unique_ptr<model::Recording> made)
        : recording(std::move(made))
        , trace(model::DeviceTrace::build(*recording, recording->devices.at(0), {}).value())
    {
    }
    explicit Traced(std::string_view text)
        : Traced(makeRecording(text))
    {
    }

    std::unique_ptr<model::Recording> recording;
    model::DeviceTrace trace;
};

struct RandomCase {
    std::string name;
    RandomTrace options;
    bool backwards = false; ///< times go backwards and stand still here and there
};

/// Every kind of trace that an index meets, a few thousand events each.
inline std::vector<RandomCase> randomCases()
{
    std::vector<RandomCase> cases;
    const auto add = [&](std::string name, auto change) -> RandomCase& {
        RandomCase made{ std::move(name), {}, false };
        made.options.seed = static_cast<std::uint32_t>(cases.size()) + 1;
        made.options.events = 1500;
        change(made.options);
        cases.push_back(made);
        return cases.back();
    };
    add("plain", [](RandomTrace&) {});
    add("pending", [](RandomTrace& o) {
        o.streams = 3;
        o.deferredFrees = 0.4;
    });
    add("anomalies", [](RandomTrace& o) {
        o.anomalies = 0.03;
        o.deferredFrees = 0.2;
    });
    add("expandable", [](RandomTrace& o) {
        o.expandable = true;
        o.privatePools = 0.2;
        o.streams = 2;
    });
    add("older", [](RandomTrace& o) {
        o.before = 3;
        o.liveBlocks = 300;
        o.events = 700;
    });
    add("crowded", [](RandomTrace& o) {
        o.liveBlocks = 500;
        o.events = 2500;
        o.outOfMemory = 0.01;
    });
    add("backwards", [](RandomTrace& o) { o.deferredFrees = 0.1; }).backwards = true;
    add("timeless", [](RandomTrace& o) { o.times = false; });
    add("short", [](RandomTrace& o) { o.events = 5; });
    return cases;
}

inline Traced traced(const RandomCase& of)
{
    auto recording = randomRecording(of.options);
    if (of.backwards) {
        model::Column<std::int64_t>& times = recording->devices.at(0).events.timeNs;
        for (std::size_t i = 0; i < times.size(); ++i) {
            if (i % 97 < 5 && i > 200)
                times.edit(i) -= 1'000'000;
            else if (i % 11 < 4 && i > 0)
                times.edit(i) = times[i - 1];
        }
    }
    return Traced(std::move(recording));
}

} // namespace strata::test
