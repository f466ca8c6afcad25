// SPDX-License-Identifier: GPL-3.0-or-later
// Any file in any form, through the exact model: whatever opens must add up, or say where it does not.
#include "model/readers/reader.h"
#include "model/session/session.h"
#include "model/trace/filter/grouping.h"

#include <cstddef>
#include <cstdint>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace strata::model;
    const ReadLimits limits{ .unpackedBytes = 64u << 20, .force = false };
    auto read = readRecording(std::as_bytes(std::span(data, size)), limits, {});
    if (!read)
        return 0;
    const auto session = Session::fromRecording(std::move(*read));
    if (!session)
        return 0;
    for (const DeviceTrace& trace : (*session)->devices()) {
        for (const Grouping grouping : { Grouping::Line, Grouping::Pool, Grouping::Size }) {
            const GroupTable groups(trace, grouping);
            for (const BlockId b : trace.blocks().all())
                if (groups.groupOf(b) >= groups.count())
                    __builtin_trap();
        }
        std::uint64_t requested = static_cast<std::uint64_t>(trace.totals().requestedBytesStart);
        for (EventIndex e = 0; e < trace.eventCount(); ++e)
            requested += static_cast<std::uint64_t>(trace.requestedDelta(e));
        for (const BlockId b : trace.blocks().all())
            if (trace.blocks().liveAt(b, trace.eventCount() - 1))
                requested -= static_cast<std::uint64_t>(trace.blocks().requestedBytes[b]);
        if (requested != 0) // the curve ends at the sum of what is live
            __builtin_trap();
    }
    return 0;
}
