// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/bytes.h"
#include "model/wire/kinds.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace strata::wire {

/// An event of the allocator as it travels.
struct EventRow {
    EventAction action = EventAction::Alloc;
    std::uint64_t address = 0; ///< of block or segment; the device's free bytes of an out-of-memory
    std::int64_t bytes = 0;
    std::int64_t timeNs = 0; ///< since the epoch; 0 in a recording without times
    std::uint32_t stack = kNone; ///< number in the table of stacks, kNone without; likewise the next two
    std::uint32_t stream = kNone;
    std::uint32_t pool = kNone;
    std::uint32_t module = kNone; ///< string: path of the module that allocates; of Alloc alone
    std::uint32_t thread = 0; ///< as the operating system counts; 0: not known
    EventPhase phase = EventPhase::Unknown;

    friend bool operator==(const EventRow&, const EventRow&) = default;
};

/// What few events have: a text by number.
struct SparseText {
    std::uint32_t row = 0; ///< within the chunk, ascending
    std::uint32_t string = 0;

    friend bool operator==(const SparseText&, const SparseText&) = default;
};

/// The payload of an Events chunk: rows of one device. Each chunk can be read by itself.
struct EventChunk {
    std::int32_t device = 0;
    std::uint64_t firstEvent = 0;
    bool hasTimes = true;
    std::vector<EventRow> rows;
    std::vector<SparseText> sparse[kSparseKinds];

    friend bool operator==(const EventChunk&, const EventChunk&) = default;
};

inline constexpr std::size_t kEventsAChunk = 65'536; ///< what a writer aims at
inline constexpr std::size_t kMaxEventsAChunk = std::size_t{ 1 } << 20; ///< what a reader takes

/// Appends the payload. O(rows).
void encodeEvents(const EventChunk& chunk, Bytes& out);

/// Reads a payload; false if it is damaged. At most kMaxEventsAChunk rows.
[[nodiscard]] bool decodeEvents(std::span<const std::byte> payload, EventChunk& chunk);

} // namespace strata::wire
