// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/sentence.h"
#include "model/cards/fits.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::model {

struct DeviceSummary;
struct Recording;

/// What a run needs of a device, and the cards that have as much.
struct Needs {
    std::int64_t bytes = 0; ///< reserved at most
    /// It may need more: a part of it was not recorded, or it died for want of memory. Then what does not fit
    /// is certain, and nothing else.
    bool atLeast = false;
    /// Of `bytes` what the allocator had cached when recording began: requested before, or not needed at all.
    std::int64_t cachedBeforeBytes = 0;
    std::vector<CardFit> cards; ///< the smallest first; none of another accelerator than CUDA's
    const Card* ranOn = nullptr; ///< that of the recording; nullptr: not known, its kernels are assumed
    std::vector<Sentence> line; ///< "Fits on A10-24GB, L4-24GB and 9 larger. Not on ..."
    /// The command that says of cards with other kernels whether the program fits; empty: none is needed.
    std::string dryRun;

    [[nodiscard]] Sentence dryRunLine() const; ///< empty: none is needed
    [[nodiscard]] std::vector<Sentence> text() const; ///< the line, and the command behind it
};

/// None where nothing was reserved, or nothing is known of that. `summary` must be complete but for this and
/// its verdict. O(cards).
[[nodiscard]] std::optional<Needs> needsOf(const Recording& recording, const DeviceSummary& summary);

} // namespace strata::model
