// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "capture/cupti/library.h"

#include <cstring>

namespace strata::test {

/// As the library walks: by the length of the newest layout. Names are what CUPTI alone can give: bytes of a
/// test have none.
inline cupti::Status nextRecord(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record)
{
    constexpr cupti::Status kEnd = 12, kInvalidKind = 21;
    std::uint8_t* next = buffer;
    if (*record) {
        cupti::RecordKind kind{};
        std::memcpy(&kind, *record, sizeof kind);
        const std::size_t bytes = cupti::recordBytes(kind);
        if (bytes == 0)
            return kInvalidKind;
        next = *record + bytes;
    }
    if (next + sizeof(cupti::RecordKind) > buffer + valid)
        return kEnd;
    *record = next;
    return 0;
}

} // namespace strata::test
