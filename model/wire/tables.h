// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/bytes.h"
#include "model/wire/info.h"
#include "model/wire/kinds.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::wire {

// The tables that events refer to by number. A table grows over the stream: each of its chunks says the
// number of its first row, and every row is sent once, before anything refers to it. Numbers are checked by
// whoever holds the tables: decoding here only guarantees well-formed rows.

/// Info and Settings chunks.
void encodeKeyValues(std::span<const KeyValue> items, Bytes& out);
[[nodiscard]] bool decodeKeyValues(std::span<const std::byte> payload, std::vector<KeyValue>& items);

void encodeStrings(std::uint32_t first, std::span<const std::string_view> strings, Bytes& out);
/// The views point into the payload.
[[nodiscard]] bool decodeStrings(
    std::span<const std::byte> payload, std::uint32_t& first, std::vector<std::string_view>& strings);

struct FrameRow {
    std::uint32_t file = kNone, function = kNone; ///< strings
    std::int64_t line = 0;
    std::uint32_t extras = kNone;

    friend bool operator==(const FrameRow&, const FrameRow&) = default;
};
void encodeFrames(std::uint32_t first, std::span<const FrameRow> frames, Bytes& out);
[[nodiscard]] bool decodeFrames(
    std::span<const std::byte> payload, std::uint32_t& first, std::vector<FrameRow>& frames);

/// Stacks, innermost frame first, one behind the other: stack i ends at ends[i].
struct StackRows {
    std::vector<std::uint32_t> frames;
    std::vector<std::uint32_t> ends;

    void add(std::span<const std::uint32_t> stack)
    {
        frames.insert(frames.end(), stack.begin(), stack.end());
        ends.push_back(static_cast<std::uint32_t>(frames.size()));
    }
    [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t i) const
    {
        const std::uint32_t begin = i == 0 ? 0 : ends[i - 1];
        return std::span(frames).subspan(begin, ends[i] - begin);
    }
};
inline constexpr std::size_t kMaxFramesAChunk = std::size_t{ 1 } << 24;
/// A stack is written as what differs from the one before it: most share their outermost frames.
void encodeStacks(std::uint32_t first, const StackRows& stacks, Bytes& out);
[[nodiscard]] bool decodeStacks(std::span<const std::byte> payload, std::uint32_t& first, StackRows& stacks);

void encodeStreams(std::uint32_t first, std::span<const std::int64_t> streams, Bytes& out);
[[nodiscard]] bool decodeStreams(
    std::span<const std::byte> payload, std::uint32_t& first, std::vector<std::int64_t>& streams);

struct PoolRow {
    std::int64_t owner = 0, id = 0;
    PoolKind kind = PoolKind::Unknown;

    friend bool operator==(const PoolRow&, const PoolRow&) = default;
};
void encodePools(std::uint32_t first, std::span<const PoolRow> pools, Bytes& out);
[[nodiscard]] bool decodePools(
    std::span<const std::byte> payload, std::uint32_t& first, std::vector<PoolRow>& pools);

struct AnnotationRow {
    AnnotationKind kind = AnnotationKind::Mark;
    std::int32_t device = -1;
    std::uint32_t name = kNone;
    std::int64_t timeNs = 0;
    std::uint32_t thread = 0; ///< as the operating system counts; 0: not known

    friend bool operator==(const AnnotationRow&, const AnnotationRow&) = default;
};
void encodeAnnotations(std::span<const AnnotationRow> rows, Bytes& out);
/// Rows of kinds that this Strata does not know are passed over.
[[nodiscard]] bool decodeAnnotations(std::span<const std::byte> payload, std::vector<AnnotationRow>& rows);

/// What the driver said of a device at one moment, at which the recorder knew what LibTorch had reserved.
struct DriverRow {
    std::int32_t device = 0;
    std::uint64_t event = 0; ///< how many events of the device came before
    std::int64_t timeNs = 0;
    std::int64_t usedBytes = 0; ///< by all processes
    std::int64_t processBytes = -1; ///< by this process; -1: not known
    std::int64_t reservedBytes = -1; ///< by LibTorch; -1: not known

    friend bool operator==(const DriverRow&, const DriverRow&) = default;
};
void encodeDriver(std::span<const DriverRow> rows, Bytes& out);
[[nodiscard]] bool decodeDriver(std::span<const std::byte> payload, std::vector<DriverRow>& rows);

/// Events that the recorder could not keep: `count` of them are missing before the event `event` of a device.
struct LostRow {
    std::int32_t device = 0;
    std::uint64_t event = 0;
    std::uint64_t count = 0;

    friend bool operator==(const LostRow&, const LostRow&) = default;
};
void encodeLost(std::span<const LostRow> rows, Bytes& out);
[[nodiscard]] bool decodeLost(std::span<const std::byte> payload, std::vector<LostRow>& rows);

/// A stretch of events that were not kept, oldest first within a device: numbered as they were recorded, with
/// the least and the most bytes after any of them.
struct EarlierRow {
    std::int32_t device = 0;
    std::uint64_t firstEvent = 0, events = 0;
    std::int64_t firstNs = 0; ///< of its first event, since the epoch; 0: without times, as the next
    std::uint64_t durationNs = 0;
    std::uint64_t requestedMin = 0, requestedMax = 0, reservedMin = 0, reservedMax = 0;

    friend bool operator==(const EarlierRow&, const EarlierRow&) = default;
};
void encodeEarlier(std::span<const EarlierRow> rows, Bytes& out);
[[nodiscard]] bool decodeEarlier(std::span<const std::byte> payload, std::vector<EarlierRow>& rows);

} // namespace strata::wire
