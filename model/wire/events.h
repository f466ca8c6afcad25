// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/bytes.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace strata::wire {

/// Codes of actions in the stream; they never change. kFirstUnknown and above carry a name of their own.
enum class EventAction : std::uint8_t {
    Alloc = 0,
    FreeRequested = 1,
    FreeCompleted = 2,
    SegmentAlloc = 3,
    SegmentFree = 4,
    SegmentMap = 5,
    SegmentUnmap = 6,
    Snapshot = 7,
    Oom = 8,
    UserDefined = 9,
    Annotate = 10,
    Other = 11, ///< its name is in SparseKind::ActionName
};
inline constexpr std::uint8_t kActionCount = 12;

/// An event of the allocator as it travels.
struct EventRow {
    EventAction action = EventAction::Alloc;
    std::uint64_t address = 0; ///< of block or segment; the device's free bytes of an out-of-memory
    std::int64_t bytes = 0;
    std::int64_t timeNs = 0; ///< since the epoch; 0 in a recording without times
    std::uint32_t stack = kNone; ///< number in the table of stacks, kNone without; likewise the next two
    std::uint32_t stream = kNone;
    std::uint32_t pool = kNone;

    friend bool operator==(const EventRow&, const EventRow&) = default;
};

/// What few events have: a text by number.
enum class SparseKind : std::uint8_t { CompileContext = 0, UserMetadata = 1, ActionName = 2, Extras = 3 };
inline constexpr std::size_t kSparseKinds = 4;

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
