// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"
#include "model/trace/program/deep_step.h"
#include "model/whatif/run/step_edits.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace strata::model {

/// The requested bytes of a deep step with edits, without a replay: never more than what is reserved.
class StepCurve {
public:
    struct Peak {
        std::int64_t requestedBytes = 0;
        /// What lies above a limit, summed over the requests: falls where the peak alone would not, as long
        /// as there are several as high.
        double bytesAbove = 0;
    };

    /// `bytes`: of each block of the trace that was born in it. All must outlive it. O(events).
    StepCurve(const DeviceTrace& trace, const DeepStep& step, const std::vector<std::int64_t>& bytes);

    /// O(events of the step + edits log edits).
    [[nodiscard]] Peak peak(const StepEdits& edits, std::int64_t limitBytes) const;

private:
    struct Event {
        EventIndex event = 0;
        std::uint32_t block = 0;
        std::int64_t delta = 0;
    };

    const std::vector<std::int64_t>& m_bytes;
    std::int64_t m_before = 0; // live before the step
    std::vector<Event> m_events; // that ask for a block, or give one back
};

} // namespace strata::model
