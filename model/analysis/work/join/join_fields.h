// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/join/join_memory.h"
#include "model/analysis/work/join/outside_memory.h"
#include "model/base/answer_fields.h"

namespace strata::model {

template <> struct Fields<JoinedPeak> {
    static constexpr std::tuple all{
        field("device", Unit::None, "number of the GPU", &JoinedPeak::device),
        field("requested_bytes_peak", Unit::Bytes, "most requested bytes within what is shown",
            &JoinedPeak::requestedBytes),
        field("requested_peak_ns", Unit::Nanoseconds, "when, on the trace's clock",
            &JoinedPeak::requestedTimeNs),
        field("requested_peak_event", Unit::Event, "after which event of the snapshot",
            &JoinedPeak::requestedEvent),
        field("reserved_bytes_peak", Unit::Bytes, "most reserved bytes within what is shown",
            &JoinedPeak::reservedBytes),
    };
};

template <> struct Fields<JoinedMemory> {
    static constexpr std::tuple all{
        field("file", Unit::None, "the snapshot or session", &JoinedMemory::file),
        field("by", Unit::None,
            "`allocations`: by allocations and frees of the same addresses; `annotations`: by annotations of "
            "the same names",
            [](const JoinedMemory& joined) { return joinWord(joined.join.by); }),
        field("matches", Unit::Count, "allocations or annotations that both files have",
            [](const JoinedMemory& joined) { return joined.join.match.matches; }),
        field("among", Unit::Count, "allocations or annotations that were compared",
            [](const JoinedMemory& joined) { return joined.join.match.among; }),
        field("offset_ns", Unit::Nanoseconds, "added to times of the file",
            [](const JoinedMemory& joined) { return joined.join.match.offsetNs; }),
        field("error_ns", Unit::Nanoseconds, "95 % of the matches lie no further from the offset",
            [](const JoinedMemory& joined) { return joined.join.match.errorNs; }),
        field("devices", Unit::None, "peaks of each GPU", &JoinedMemory::peaks),
    };
};

template <> struct Fields<OutsideMemory> {
    static constexpr std::tuple all{
        field("device", Unit::None, "number of the GPU", &OutsideMemory::device),
        field("allocations", Unit::Count, "allocations that the driver made, segments included",
            &OutsideMemory::allocations),
        field("releases", Unit::Count, "allocations that the driver released", &OutsideMemory::releases),
        field("segments", Unit::Count,
            "allocations that are segments of PyTorch's allocator, by address and time",
            &OutsideMemory::segments),
        field("outside", Unit::Count, "the other allocations, outside of PyTorch's allocator",
            &OutsideMemory::outside),
        field("outside_released", Unit::Count, "releases of allocations outside",
            &OutsideMemory::releasedOutside),
        field("outside_peak_bytes", Unit::Bytes, "most bytes outside at once", &OutsideMemory::peakBytes),
        field("outside_peak_ns", Unit::Nanoseconds, "when that was first reached", &OutsideMemory::peakNs),
        field("outside_end_bytes", Unit::Bytes, "bytes outside at the end", &OutsideMemory::endBytes),
        field("older_released_bytes", Unit::Bytes, "released bytes that were allocated before recording",
            &OutsideMemory::olderBytes),
        field("may_be_segments", Unit::None,
            "true: events of PyTorch's allocator are missing, so some `outside` may be PyTorch's",
            &OutsideMemory::mayBeSegments),
    };
};

} // namespace strata::model
