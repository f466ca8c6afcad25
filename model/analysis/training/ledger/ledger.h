// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/replay.h"
#include "model/analysis/training/ledger/tensor_sums.h"
#include "model/analysis/training/roles/categories.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strata::model {

struct LedgerRow {
    Category category = Category::Unknown;
    std::int64_t bytes = 0; ///< requested
    std::int64_t blocks = 0;
    CertaintyBytes certain; ///< how sure it is that these blocks are of the category
    std::optional<double> bytesPerParameter;
    /// What the textbook says: parameters and gradients of their own types, and the states that the optimizer
    /// keeps, of the types of their parameters.
    std::optional<double> expectedBytesPerParameter;
    Sentence note; ///< what is surprising about it

    [[nodiscard]] std::int64_t recordedBytes() const { return certain.of(Certainty::Recorded); }
    [[nodiscard]] std::int64_t inferredBytes() const { return bytes - recordedBytes(); }
};

/// "recorded", "93 % recorded", "shown by stack traces", "probably"; empty: the category is not known.
[[nodiscard]] Sentence sourceOf(const LedgerRow& row);

/// What is surprising about the bytes of a category.
struct LedgerSurprise {
    Category category = Category::Unknown;
    std::int64_t bytes = 0;
    Sentence said;
};

/// What the memory of a device is used for at one instant.
///
///     reserved = requested (the rows) + rounding + fragmentation + cached free
///
/// Pending free is a part of requested; outside of PyTorch comes on top.
struct Ledger {
    EventIndex event = -1;
    std::int64_t requestedBytes = 0;
    /// Of the segments at that instant; none: nothing tells it, nor what is free in them.
    std::optional<std::int64_t> reservedBytes;
    std::optional<std::int64_t> parameters; ///< elements of parameters that the program told of
    std::vector<LedgerRow> rows; ///< those with blocks and Unknown, the largest first
    std::optional<std::int64_t> roundingBytes; ///< of requests and what was not split off; none: not known
    std::int64_t pendingFreeBytes = 0;
    /// Free in segments that hold live blocks, too; none: a profiler tells of no segments. So is the next.
    std::optional<std::int64_t> fragmentationBytes;
    std::optional<std::int64_t> cachedFreeBytes; ///< segments that are free as a whole
    std::int64_t cachedPrivateBytes = 0; ///< of these: of private pools, which empty_cache() leaves alone
    std::optional<std::int64_t> outsideBytes; ///< CUDA's own, as the driver said last; none: it did not
    std::vector<LedgerSurprise> surprises; ///< the one about most bytes first

    /// What of reserved is in none of the other figures: 0 where rounding is known, else what is surely that,
    /// and where segments are not known all that is free.
    [[nodiscard]] std::int64_t unaccountedBytes() const
    {
        return reservedBytes.value_or(requestedBytes) - requestedBytes - roundingBytes.value_or(0)
            - fragmentationBytes.value_or(0) - cachedFreeBytes.value_or(0);
    }
};

/// `active`: the blocks that are active after the event. `steps` show what is held of the step before;
/// nullptr: not known. O(active log + segments + events of a step).
[[nodiscard]] Ledger ledgerAt(const DeviceTrace& trace, const Categories& categories, EventIndex event,
    std::span<const BlockId> active, const ReplayReport* report, const TrainingSteps* steps = nullptr);

/// The surprises of a ledger whose rows and parameters are made: fills in their notes.
void tellSurprises(const DeviceTrace& trace, const Categories& categories, std::span<const BlockId> active,
    const TrainingSteps* steps, const TensorSums& sums, Ledger& ledger);

} // namespace strata::model
