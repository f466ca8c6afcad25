// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/column.h"
#include "model/base/ids.h"
#include "model/trace/events.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace strata::model {

/// The life of one segment, or of one mapped piece of an expandable one. A piece of which a part is unmapped
/// falls into several lives with the same `alloc`.
struct SegmentLife {
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    EventId alloc; ///< segment_alloc or segment_map; none: older than the trace
    EventId free; ///< segment_free or segment_unmap; none: there at the end
    StackId stack;
    StreamIndex stream = kNoIndex;
    PoolIndex pool = kNoIndex; ///< of the final segment that holds it, else by its event
    bool expandable = false;

    [[nodiscard]] std::uint64_t end() const { return address + static_cast<std::uint64_t>(bytes); }
    [[nodiscard]] bool liveAt(EventIndex e) const
    {
        return (!alloc.valid() || static_cast<EventIndex>(alloc.value) <= e)
            && (!free.valid() || e < static_cast<EventIndex>(free.value));
    }
};

/// By address, then birth, then end.
[[nodiscard]] bool isBefore(const SegmentLife& a, const SegmentLife& b);

/// All lives of the segments of a device, in the order in which its recording tells of them, and which of
/// them holds an address at an instant. A value; a copy is a snapshot, as of a Column.
///
/// Lives that have ended never change, so their indexes are kept: one for each of a few batches, of which
/// those of like size are joined (the logarithmic method of Bentley and Saxe). Those that live are disjoint:
///
///     ended    | index of thousands | index of hundreds | of tens |    a new batch joins what is not larger
///     live     | rows by address |                                     made anew
///
/// Where a life that only the end state tells of lies over one that has ended, which a sound recording does
/// not have, an address has two.
class SegmentLives {
public:
    using Rows = Column<SegmentLife, 8>;
    using Numbers = Column<std::uint32_t, 8>;

    [[nodiscard]] const Rows& rows() const { return m_rows; }
    /// Rows of those that have ended, in that order: what is behind those of an earlier snapshot has ended
    /// since, or was cut then.
    [[nodiscard]] const Numbers& ended() const { return m_ended; }

    /// A life whose range holds `address` after event `at`; nullptr if none does. O(log³ n) at most, O(log²
    /// n) where all were indexed at once.
    [[nodiscard]] const SegmentLife* find(std::uint64_t address, EventIndex at) const;
    /// All of them, as isBefore() says. O(n log n).
    [[nodiscard]] std::vector<const SegmentLife*> byAddress() const;

    [[nodiscard]] std::size_t bytesResident() const;

    // For who follows the trace; find() knows of it after index().
    std::uint32_t add(const SegmentLife& life); ///< its row
    [[nodiscard]] SegmentLife& edit(std::uint32_t row) { return m_rows.edit(row); } ///< of one that lives
    void end(std::uint32_t row) { m_ended.push_back(row); } ///< once edited; nothing of it changes any more
    /// `live`: rows of those that live, by address. O(live + ended since the last call x log² n), on average.
    void index(std::vector<std::uint32_t> live);

private:
    struct Batch;

    Rows m_rows;
    Numbers m_ended;
    std::size_t m_indexed = 0; // of m_ended
    std::vector<std::shared_ptr<const Batch>> m_batches; // each at most half as large as the one before
    std::shared_ptr<const std::vector<std::uint32_t>> m_live = noRows(); // by address

    [[nodiscard]] static const std::shared_ptr<const std::vector<std::uint32_t>>& noRows();
};

} // namespace strata::model
