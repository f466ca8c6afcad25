// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/bytes.h"
#include "model/wire/kinds.h"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::wire {

/// What a program asked of the allocator besides memory, of one device, between two of its events.
struct AllocatorCallRow {
    std::int32_t device = 0;
    std::uint64_t event = 0; ///< how many events of the device came before
    AllocatorCallKind kind = AllocatorCallKind::EmptyCache;
    std::uint32_t value = kNone; ///< string; what it says: AllocatorCallKind
    std::int64_t timeNs = 0;

    friend bool operator==(const AllocatorCallRow&, const AllocatorCallRow&) = default;
};

/// Rows of a device in its order.
void encodeAllocatorCalls(std::span<const AllocatorCallRow> rows, Bytes& out);
/// Rows of kinds that this Strata does not know are passed over.
[[nodiscard]] bool decodeAllocatorCalls(
    std::span<const std::byte> payload, std::vector<AllocatorCallRow>& rows);

} // namespace strata::wire
