// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/bytes.h"
#include "model/wire/chunk.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace strata::wire {

inline constexpr std::size_t kMaxUserRows = std::size_t{ 1 } << 18; ///< of a chunk, that a reader takes

/// What a person added to a recording: a row of a Note, Range, Filter, Rules or View chunk. A later row with
/// the same key replaces an earlier one, or takes it away.
struct UserRow {
    std::uint64_t key = 0; ///< drawn at random when the item was made
    bool removed = false; ///< then only key and changedNs count
    std::int64_t changedNs = 0; ///< since the epoch
    std::int32_t device = 0;
    std::int64_t first = -1, last = -1; ///< events, both kept; the same: an instant
    std::uint64_t address = 0; ///< of the block that a note is about; 0: none
    std::string text; ///< of a note; the name of a range or a filter
    std::string conditions; ///< of a filter, of rules, of a view: a JSON object

    friend bool operator==(const UserRow&, const UserRow&) = default;
};

[[nodiscard]] constexpr bool isUserData(ChunkType type)
{
    return type == ChunkType::Note || type == ChunkType::Range || type == ChunkType::Filter
        || type == ChunkType::Rules || type == ChunkType::View;
}

void encodeUserRows(std::span<const UserRow> rows, Bytes& out);
[[nodiscard]] bool decodeUserRows(std::span<const std::byte> payload, std::vector<UserRow>& rows);

} // namespace strata::wire
