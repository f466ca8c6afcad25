// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// The blocks that are active (allocated or pending free) after any event.
///
/// Blocks of the trace stand in the order of birth, so those born up to event e are a prefix. Over it lies a
/// forest of "last death of these blocks", sixteen children a node (a cache line):
///
///     level 1 |  max of 256 deaths  |  ...
///     level 0 | max of 16 | max of 16 | ...
///     blocks  | freeCompleted: 16 a node |
///
/// A query walks down where a death lies after e: O(live blocks), no replay, a quarter of a byte a block.
/// Blocks older than the trace have a forest of their own.
/// Immutable; safe from any thread. Keeps a pointer to the trace, which must outlive it.
class LiveIndex {
public:
    explicit LiveIndex(const DeviceTrace& trace);
    /// Of a trace that continues the one of `earlier`, for what the new events and the blocks older than the
    /// trace cost. One thread at a time goes on from an index.
    LiveIndex(const DeviceTrace& trace, const LiveIndex& earlier);

    /// Ordered by address, then by birth.
    [[nodiscard]] std::vector<BlockId> liveAt(EventIndex e) const;

    /// The same in no particular order, cheaper.
    [[nodiscard]] std::vector<BlockId> liveAtUnordered(EventIndex e) const;

    /// The live block that holds `address` after event `e` (any address inside its requested or rounded
    /// bytes); the youngest if blocks overlap; none.
    [[nodiscard]] BlockId blockAt(std::uint64_t address, EventIndex e) const;

    /// How many blocks of the trace are born up to event `e`: a prefix of their rows.
    [[nodiscard]] std::size_t rowsBornUpTo(EventIndex e) const;

    [[nodiscard]] std::size_t bytesResident() const;

private:
    /// Over the deaths of one part of the blocks.
    class Forest {
    public:
        /// Nodes over rows behind those that it had.
        void append(const Column<EventId>& deaths);
        /// The death of a row that it had is another.
        void update(const Column<EventId>& deaths, std::size_t row);
        /// Calls visit(row) for those of the first `rows` that die after `event`.
        template <class Visit>
        void visit(const Column<EventId>& deaths, std::size_t rows, std::uint32_t event, Visit&& visit) const;
        [[nodiscard]] std::size_t bytesResident() const;

    private:
        [[nodiscard]] std::uint32_t leafMax(const Column<EventId>& deaths, std::size_t leaf) const;
        [[nodiscard]] std::uint32_t nodeMax(std::size_t level, std::size_t node) const;
        [[nodiscard]] std::size_t levels() const { return 1 + m_upper.size(); }
        [[nodiscard]] std::size_t nodes(std::size_t level) const
        {
            return level == 0 ? m_leaves.size() : m_upper[level - 1].size();
        }
        [[nodiscard]] std::uint32_t at(std::size_t level, std::size_t node) const
        {
            return level == 0 ? m_leaves[node] : m_upper[level - 1][node];
        }
        void set(std::size_t level, std::size_t node, std::uint32_t max);

        std::size_t m_rows = 0;
        using Level = Column<std::uint32_t, 8>; // small chunks: those with a new death are copied
        Level m_leaves;
        std::vector<Level> m_upper;
    };
    template <class Visit> void visit(EventIndex e, Visit&& visit) const;

    const DeviceTrace* m_trace;
    Forest m_born, m_older;
};

} // namespace strata::model
