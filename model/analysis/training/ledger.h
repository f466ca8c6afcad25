// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/replay.h"
#include "model/analysis/training/categories.h"
#include "model/analysis/training/tensor_sums.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strata::model {

struct LedgerRow {
    Category category = Category::Unknown;
    std::int64_t bytes = 0; ///< requested
    std::int64_t blocks = 0;
    std::int64_t recordedBytes = 0; ///< of blocks whose category was recorded
    std::optional<double> bytesPerParameter;
    /// What the textbook says: parameters and gradients of their own types, and the states that the optimizer
    /// keeps, of the types of their parameters.
    std::optional<double> expectedBytesPerParameter;
    Sentence note; ///< what is surprising about it

    [[nodiscard]] std::int64_t inferredBytes() const { return bytes - recordedBytes; }
};

/// What the memory of a device is used for at one instant.
///
///     reserved = requested (the rows) + rounding + fragmentation + cached free
///
/// Pending free is a part of requested; outside of PyTorch comes on top.
struct Ledger {
    EventIndex event = -1;
    std::int64_t requestedBytes = 0;
    std::int64_t reservedBytes = 0; ///< of the segments at that instant
    std::optional<std::int64_t> parameters; ///< elements of parameters that the program told of
    std::vector<LedgerRow> rows; ///< those with blocks and Unknown, the largest first
    std::optional<std::int64_t> roundingBytes; ///< of requests and what was not split off; none: not known
    std::int64_t pendingFreeBytes = 0;
    std::int64_t fragmentationBytes = 0; ///< free in segments that hold live blocks, too
    std::int64_t cachedFreeBytes = 0; ///< segments that are free as a whole
    std::optional<std::int64_t> outsideBytes; ///< CUDA's own, as the driver said last; none: it did not
    std::vector<Sentence> surprises; ///< the one about most bytes first

    /// What of reserved is in none of the other figures: 0 where rounding is known, else what is surely that.
    [[nodiscard]] std::int64_t unaccountedBytes() const
    {
        return reservedBytes - requestedBytes - roundingBytes.value_or(0) - fragmentationBytes
            - cachedFreeBytes;
    }
};

/// `active`: the blocks that are active after the event. O(active log + segments).
[[nodiscard]] Ledger ledgerAt(const DeviceTrace& trace, const Categories& categories, EventIndex event,
    std::span<const BlockId> active, const ReplayReport* report);

/// The surprises of a ledger whose rows and parameters are made: fills in their notes.
void tellSurprises(const Recording& recording, const TensorSums& sums, Ledger& ledger);

} // namespace strata::model
