// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/events_codec.h"

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace strata::wire {

inline constexpr std::uint32_t kDigestVersion = 3; ///< a reader passes over others
inline constexpr std::size_t kDetailedOoms = 16; ///< of more, the last ones have their stacks

/// Requested bytes of the blocks of one stack that are active at an instant.
struct StackSum {
    std::uint32_t stack = kNone;
    std::int64_t bytes = 0;
    std::int64_t blocks = 0;

    friend bool operator==(const StackSum&, const StackSum&) = default;
};

/// The payload of a Digest chunk: what a summary says of one device, so that it can be had without its
/// events. A writer that finds the trace in contradiction with itself or with the end state writes none.
/// Events are -1 where there is none, for peaks: before the first event.
struct Digest {
    std::uint64_t chunks = 0; ///< before this one
    std::uint64_t chain = 0; ///< chainHash() over them
    std::int32_t device = 0;
    std::uint64_t events = 0;
    std::array<std::uint64_t, kActionCount> actions{}; ///< how many, by EventAction
    std::vector<std::pair<std::uint32_t, std::uint64_t>> otherActions; ///< string, how many

    bool hasTimes = false;
    std::int64_t firstTimeNs = 0, peakTimeNs = 0; ///< of event 0 and of the peak of requested
    std::int64_t latestTimeNs = 0; ///< the highest of any event
    std::int64_t backwards = 0, firstBackwards = -1; ///< events whose time is before their predecessor's

    std::int64_t requestedStart = 0, requestedPeak = 0, requestedPeakEvent = -1;
    std::int64_t pendingStart = 0; ///< the part of requestedStart that waits for another stream
    std::int64_t reservedStart = 0, reservedPeak = 0, reservedPeakEvent = -1;
    std::int64_t olderFrees = 0, olderFreedBytes = 0, firstOlderFree = -1; ///< of blocks older than the trace

    std::int64_t olderBytes = 0; ///< active at the peak of requested and older than the trace
    std::int64_t peakReserved = 0; ///< at the peak of requested
    std::int64_t peakLeast = 0; ///< rounded bytes that the active blocks took there, at least
    std::int64_t peakPending = 0; ///< requested bytes that waited for another stream there
    bool peakIsExact = false; ///< peakLeast is what they took: the end state is that of the peak
    std::vector<StackSum> peak; ///< at the peak of requested, each stack once

    struct OutOfMemory {
        std::int64_t event = 0, asked = 0, deviceFree = 0;
        std::int64_t reserved = 0, requested = 0; ///< after the event
        std::int64_t freeInSegments = 0;
        bool freeIsExact = false; ///< else it is at most that
        std::int64_t pending = 0; ///< as peakPending
        std::uint32_t stack = kNone; ///< who asked
        std::vector<StackSum> stacks; ///< of the last kDetailedOoms

        friend bool operator==(const OutOfMemory&, const OutOfMemory&) = default;
    };
    std::vector<OutOfMemory> outOfMemory; ///< in order

    friend bool operator==(const Digest&, const Digest&) = default;
};

void encodeDigest(const Digest& digest, Bytes& out);

/// False if it is damaged or of another version.
[[nodiscard]] bool decodeDigest(std::span<const std::byte> payload, Digest& digest);

} // namespace strata::wire
