// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/clock.h"
#include "model/trace/device_trace.h"
#include "model/whatif/run/put_optimizers.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::model {

/// How a recording tells of the events of optimizers that were put in the place of recorded ones: as it told
/// of those of the recorded ones in the same step; where these asked for nothing, within the range that the
/// step was annotated with, without gradients. Keeps pointers to what it is given.
class PutEvents {
public:
    PutEvents(const PutOptimizers& put, const DeviceTrace& recorded);

    struct Told {
        EventPhase phase = EventPhase::Unknown;
        StackId stack;
        ThreadIndex thread = kNoIndex;
        std::int64_t timeNs = 0;
    };
    [[nodiscard]] bool owns(std::uint32_t block) const { return block >= m_put.firstBlock; }
    /// Of a block that is one of theirs; `behind` is the recorded event that came before.
    [[nodiscard]] Told of(std::uint32_t block, EventIndex behind) const;

private:
    using Times = std::vector<std::optional<std::int64_t>>;
    void findTimes();

    const PutOptimizers& m_put;
    const DeviceTrace& m_recorded;
    Clock m_clock;
    std::vector<Times> m_times; // of each step of each optimizer, when it began, where that is known
};

} // namespace strata::model
