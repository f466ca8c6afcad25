// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace strata::model {

/// What requests reserve at most. Bytes.
struct NeededBytes {
    std::int64_t bytes
        = 0; ///< with the memory that there is; where a request is refused: with endless memory
    std::int64_t endlessBytes = 0; ///< with endless memory
    bool isRefused = false; ///< a request, with the memory that there is
};

/// The needs of two runs with the same end of memory: there is none where either is refused a request.
struct ComparedNeed {
    std::int64_t beforeBytes = 0; ///< as recorded, or with what is asked
    std::int64_t afterBytes = 0; ///< with other settings, or another change

    /// Below 0: it needs more.
    [[nodiscard]] std::int64_t savedBytes() const { return beforeBytes - afterBytes; }
};

[[nodiscard]] constexpr ComparedNeed compareNeeds(const NeededBytes& before, const NeededBytes& after)
{
    return before.isRefused || after.isRefused ? ComparedNeed{ before.endlessBytes, after.endlessBytes }
                                               : ComparedNeed{ before.bytes, after.bytes };
}

} // namespace strata::model
