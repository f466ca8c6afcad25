// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"

#include <vector>

namespace strata::test {

/// The figures of one device once more, slowly and simply, from the definitions alone: maps and plain loops
/// over the events. What DeviceTrace is compared with.
struct NaiveTrace {
    struct Block {
        std::uint64_t address = 0;
        std::int64_t bytes = 0;
        model::EventIndex alloc = -1; ///< -1: older than the trace
        model::EventIndex freeRequested = -1; ///< -1: no event
        model::EventIndex freeCompleted = -1; ///< -1: live at the end
    };
    model::Totals totals; ///< all but pendingBytesStart
    std::vector<Block> blocks; ///< by address, alloc, freeCompleted
    std::vector<std::int64_t> requested, reserved; ///< after every event
    model::EventIndex requestedAboveReserved = 0; ///< states, the one before the first event included
};

[[nodiscard]] NaiveTrace naiveTrace(const model::Recording& recording, const model::DeviceRecording& device);

/// The blocks of a trace in the same form and order.
[[nodiscard]] std::vector<NaiveTrace::Block> blocksOf(const model::DeviceTrace& trace);

/// All of Totals as text, one figure a line: for comparing two.
[[nodiscard]] std::string totalsText(const model::Totals& totals);

} // namespace strata::test
