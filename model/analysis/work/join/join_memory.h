// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/join/clock_match.h"
#include "model/base/result.h"
#include "model/base/sentence.h"
#include "model/session/session.h"
#include "model/trace/work.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// How a snapshot or a session was put on the clock of a trace of the same run.
struct MemoryJoin {
    enum class By : std::uint8_t {
        Allocations, ///< address by address: `[memory]` events against the allocator's
        Annotations, ///< begins and ends of record_function and of steps, by name
    };
    By by = By::Allocations;
    ClockMatch match; ///< offset: to be added to times of the snapshot
};

[[nodiscard]] std::string_view joinWord(MemoryJoin::By by); ///< "allocations", "annotations"

/// By how much its times are moved, how sure that is, and by what it was found.
[[nodiscard]] Sentence sayJoin(const MemoryJoin& join);

/// What both tell of: allocations, else annotations. Clocks are believed only where these agree, whatever
/// epoch they count from. Error::Kind::NotFound says why they cannot be of one run. `strings` are of `work`.
[[nodiscard]] Result<MemoryJoin> joinMemory(
    const Work& work, const StringTable& strings, const Session& memory);

/// The work with the curves of the snapshot's devices, of requested and reserved bytes, in place of its own
/// readings of them: on the trace's clock, at every event within the trace's time that changes one, and at
/// its begin. Bytes of a reading are those that requested changed by.
[[nodiscard]] std::shared_ptr<const Work> withMemoryOf(
    const Work& work, const Session& memory, const MemoryJoin& join);

/// The highest of a device's curves within [beginNs, endNs] of the trace's clock, what held at the begin
/// included.
struct JoinedPeak {
    int device = 0;
    std::int64_t requestedBytes = 0, reservedBytes = 0;
    std::int64_t requestedTimeNs = 0; ///< on the trace's clock; of the begin where it held then
    EventIndex requestedEvent = -1; ///< after it
};
/// Of each device of the snapshot with an event before `endNs`. O(events).
[[nodiscard]] std::vector<JoinedPeak> joinedPeaks(
    const Session& memory, const MemoryJoin& join, std::int64_t beginNs, std::int64_t endNs);
/// When counts from `startNs` on, the trace's first event.
[[nodiscard]] Sentence sayJoinedPeak(const JoinedPeak& peak, std::int64_t startNs);

/// A snapshot or a session that was put on the clock of a trace.
struct JoinedMemory {
    std::string file;
    std::shared_ptr<const Session> session;
    MemoryJoin join;
    std::vector<JoinedPeak> peaks; ///< within what is shown of the trace
};

} // namespace strata::model
