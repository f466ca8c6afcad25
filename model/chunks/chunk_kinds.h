// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/chunks/kept_rows.h"
#include "model/trace/recording.h"
#include "model/wire/chunk_writer.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace strata::model {

/// The rows of a recording by their numbers in the stream that is read: those that came so far.
struct StreamTables {
    std::vector<StringId> strings;
    std::vector<FrameId> frames;
    std::vector<StackId> stacks;
    std::vector<StreamIndex> streams;
    std::vector<PoolIndex> pools;
    /// Events of a device that are not in the stream, which was joined late: ours begin behind them.
    std::map<int, std::uint64_t> joinedAt;

    /// How many events of ours come before a place that has so many of the device before it.
    [[nodiscard]] std::uint64_t since(int device, std::uint64_t event) const
    {
        const auto joined = joinedAt.find(device);
        return joined == joinedAt.end() ? event : event - std::min(event, joined->second);
    }

    /// The row of ours for one of the stream's; `id` as it is for kNone. False: there is none of that number.
    template <class Id>
    [[nodiscard]] static bool find(const std::vector<Id>& table, std::uint32_t number, Id& id)
    {
        if (number == wire::kNone)
            return true;
        if (number >= table.size())
            return false;
        id = table[number];
        return true;
    }
};

/// A kind of chunk that stands for itself: it may refer to tables and events, and nothing refers to it.
struct ChunkKind {
    enum class Place : std::uint8_t {
        Front, ///< before any table
        BehindEvents, ///< behind tables, events and states
        BehindIndex, ///< added by a person: an unreadable one is passed over
    };

    wire::ChunkType type{};
    Place place = Place::BehindEvents;
    /// Adds what a payload says to the recording. False: it is damaged, or names rows that never came.
    bool (*take)(std::span<const std::byte> payload, const StreamTables& tables, Recording& recording)
        = nullptr;
    /// Writes what the recording has of this kind, if it has anything. Numbers of rows are those of the
    /// recording.
    void (*write)(const Recording& recording, wire::ChunkWriter& writer) = nullptr;
    /// Adds to `to` what `from` has of this kind within what is kept of it, in terms of `to`. None for what a
    /// person added (BehindIndex), of which cut() says what became of it.
    void (*keep)(const Recording& from, const KeptRows& kept, Recording& to) = nullptr;
};

/// All of them, in the order in which they are written. To add one: HACKING.md.
[[nodiscard]] std::span<const ChunkKind* const> chunkKinds();
/// nullptr: not one of them.
[[nodiscard]] const ChunkKind* chunkKindOf(wire::ChunkType type);

/// Writes all kinds that belong there.
void writeChunks(const Recording& recording, ChunkKind::Place place, wire::ChunkWriter& writer);

inline constexpr std::size_t kRowsAChunk = 65'536; ///< what a writer aims at

/// The number that a row of the recording has in a stream that is written of it.
template <class Id> [[nodiscard]] std::uint32_t numberOf(Id id)
{
    return id.valid() ? static_cast<std::uint32_t>(id.value) : wire::kNone;
}

} // namespace strata::model
