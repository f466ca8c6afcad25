// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// The blocks that are active (allocated or pending free) after any event.
///
/// Rows of the table stand in the order of birth, so those born up to event e are a prefix. Over it lies a
/// forest of "last death of these blocks", sixteen children a node (a cache line):
///
///     level 1 |  max of 256 deaths  |  ...
///     level 0 | max of 16 | max of 16 | ...
///     blocks  | freeCompleted: 16 a node |
///
/// A query walks down where a death lies after e: O(live blocks), no replay, a quarter of a byte a block.
/// Blocks older than the trace, the table's last rows, are a list of their own, the last to die first.
/// Immutable; safe from any thread. Keeps a pointer to the trace, which must outlive it.
class LiveIndex {
public:
    explicit LiveIndex(const DeviceTrace& trace);

    /// Ordered by address, then by birth.
    [[nodiscard]] std::vector<BlockId> liveAt(EventIndex e) const;

    /// The same in no particular order, cheaper.
    [[nodiscard]] std::vector<BlockId> liveAtUnordered(EventIndex e) const;

    /// The live block that holds `address` after event `e` (any address inside its requested or rounded
    /// bytes); the youngest if blocks overlap; none.
    [[nodiscard]] BlockId blockAt(std::uint64_t address, EventIndex e) const;

    /// How many rows of the table are born up to event `e`, blocks older than the trace (its last rows)
    /// aside.
    [[nodiscard]] std::size_t rowsBornUpTo(EventIndex e) const;

    /// Blocks older than the trace, the last to die first.
    [[nodiscard]] const std::vector<BlockId>& beforeTrace() const { return m_before; }

    [[nodiscard]] std::size_t bytesResident() const;

private:
    template <class Visit> void visit(EventIndex e, Visit&& visit) const;

    const DeviceTrace* m_trace;
    std::vector<BlockId> m_before;
    std::vector<std::vector<std::uint32_t>> m_levels;
};

} // namespace strata::model
