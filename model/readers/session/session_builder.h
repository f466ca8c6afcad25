// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/chunks/chunk_kinds.h"
#include "model/digest/digest_rows.h"
#include "model/trace/recording.h"
#include "model/wire/chunk.h"
#include "model/wire/digest_codec.h"
#include "model/wire/events_codec.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace strata::model {

/// Numbers what a table of a recording, which others may add to, does not have yet: O(log n), and kNoIndex
/// once 65,535 are known. Whoever makes a file chooses what stands in it, so that nothing is hashed.
template <class T> class TableIndex {
public:
    [[nodiscard]] std::uint16_t of(const T& value, std::vector<T>& table)
    {
        for (; m_seen < table.size(); ++m_seen)
            m_known.emplace(table[m_seen], static_cast<std::uint16_t>(m_seen));
        if (const auto known = m_known.find(value); known != m_known.end())
            return known->second;
        if (table.size() >= kNoIndex)
            return kNoIndex;
        table.push_back(value);
        return static_cast<std::uint16_t>(table.size() - 1);
    }

private:
    std::map<T, std::uint16_t> m_known;
    std::size_t m_seen = 0; // of the table
};

/// The rows of a recording that took the place of another one.
struct RenumberedRows {
    std::span<const StringId> strings;
    std::span<const FrameId> frames;
    std::span<const StackId> stacks;
    std::span<const std::uint16_t> streams, pools;
    std::map<int, std::uint64_t> left; ///< by device
};

/// Fills a recording from the payloads of chunks. Numbers that refer to rows that never came make a chunk
/// damaged, and so do sizes below 0 or above 2^62 together: nothing behind this class has to check one.
class SessionBuilder {
public:
    explicit SessionBuilder(Recording& recording)
        : m_recording(recording)
    {
    }

    /// False: the payload is not what its type says. User data that cannot be read is passed over.
    [[nodiscard]] bool take(wire::ChunkType type, std::span<const std::byte> payload);
    /// Puts what came so far in order; more may come.
    void finish();
    [[nodiscard]] std::int64_t eventCount() const { return m_events; }
    /// Each device has a state behind its last event, or the stream an index: a recorder that was killed
    /// leaves neither.
    [[nodiscard]] bool isEnded() const;
    /// There was an index: what comes behind it was added later.
    [[nodiscard]] bool hasIndex() const { return m_hasIndex; }
    /// The device's digest in terms of the recording; none if a number in it names nothing.
    [[nodiscard]] std::optional<DeviceDigest> digestOf(const wire::Digest& digest) const
    {
        return fromWire(digest, m_tables.strings, m_tables.stacks);
    }
    /// The recording is another one now: the numbers of its rows by those of the one before, and how many
    /// events of each device are not in it any more.
    void renumber(const RenumberedRows& rows);
    /// Events before the last end state of a device; none without one.
    [[nodiscard]] std::optional<std::uint64_t> endsAt(int device) const;

private:
    bool takeInfo(std::span<const std::byte> payload);
    void takeInfoItem(const std::string& key, const std::string& value);
    bool takeHostItem(const std::string& key, const std::string& value);
    bool takeStrings(std::span<const std::byte> payload);
    bool takeFrames(std::span<const std::byte> payload);
    bool takeSymbols(std::span<const std::byte> payload);
    bool takeStacks(std::span<const std::byte> payload);
    bool takeStreams(std::span<const std::byte> payload);
    bool takePools(std::span<const std::byte> payload);
    bool takeEvents(std::span<const std::byte> payload);
    bool joinLate(const DeviceRecording& device, std::uint64_t events);
    bool takeState(wire::ChunkType type, std::span<const std::byte> payload);
    bool addRow(DeviceRecording& device, const wire::EventRow& row, bool hasTimes);
    bool moduleOf(std::uint32_t string, ModuleIndex& module);
    bool addSparse(DeviceRecording& device, const wire::EventChunk& chunk, std::size_t firstRow);

    DeviceRecording& deviceOf(int device);

    Recording& m_recording;
    StreamTables m_tables;
    std::map<int, std::uint64_t> m_stateAt; // device -> events before its last state
    bool m_hasIndex = false;
    std::int64_t m_events = 0;
    std::int64_t m_bytes = 0; // of all events and base states: the sizes of a session fit together
    wire::EventChunk m_chunk; // kept for its memory
    std::unordered_map<std::uint32_t, ModuleIndex> m_modules; // by number of their string
    TableIndex<StringId> m_moduleTable;
    TableIndex<std::uint32_t> m_threadTable;
    TableIndex<std::int64_t> m_streamTable;
    TableIndex<Pool> m_poolTable;
    std::pair<std::uint32_t, ThreadIndex> m_thread{ 0, kNoIndex }; // of the last row
};

} // namespace strata::model
