// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/readers/values/known.h"
#include "model/readers/values/value.h"
#include "model/trace/recording.h"

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <memory>
#include <span>
#include <vector>

namespace strata::model {

class Heap;

/// The members of an event by known key, and the rest.
struct EventFields {
    static constexpr std::size_t kKeys = static_cast<std::size_t>(Known::InternalMetadata) + 1;

    std::array<Value, kKeys> values; ///< Unset where there is none
    std::vector<std::pair<Value, Value>> others;

    void clear()
    {
        values.fill(Value::unset());
        others.clear();
    }
    [[nodiscard]] bool has(Known key) const { return !(*this)[key].is(Value::Tag::Unset); }
    [[nodiscard]] Value operator[](Known key) const { return values[static_cast<std::size_t>(key)]; }
    [[nodiscard]] Value& operator[](Known key) { return values[static_cast<std::size_t>(key)]; }
};

/// A list of events while it is read. Rows are made when an event's dict is filled, which is before its list
/// takes it; `taken` says how many the list has taken.
struct Trace {
    EventColumns columns;
    std::uint64_t taken = 0;

    [[nodiscard]] std::uint64_t rows() const { return columns.action.size(); }
};

/// Turns event dicts into rows. Guarantees to everyone after it: sizes are not negative and all sizes of a
/// file add up to less than 2^62, so sums of them cannot overflow.
class Traces {
public:
    explicit Traces(Heap& heap, Recording& recording);

    /// More lists of events than any machine has devices; each costs some pages.
    static constexpr std::size_t kMostTraces = 1024;

    [[nodiscard]] std::size_t size() const { return m_traces.size(); }
    [[nodiscard]] Trace& operator[](std::size_t row) { return *m_traces[row]; }
    [[nodiscard]] bool start(std::size_t& row);

    /// Appends an event; false with Heap::error() set if a value is not what it must be.
    [[nodiscard]] bool add(Trace& trace, std::span<const Value> pairs);
    [[nodiscard]] bool add(Trace& trace, EventFields& fields);
    /// Appends row `row` of `from` again.
    [[nodiscard]] bool addCopy(Trace& trace, const Trace& from, std::uint64_t row);

    /// Every list has taken the events that were made for it.
    [[nodiscard]] bool allTaken() const;
    void takeAll();

    [[nodiscard]] std::int64_t eventCount() const { return m_eventCount; }
    [[nodiscard]] std::uint64_t bytesUsed() const;

    [[nodiscard]] bool addBytes(std::int64_t bytes) ///< to the sum of all sizes; false when it overflows
    {
        if (bytes > kMostBytesTogether - m_bytesSum) [[unlikely]]
            return tooManyBytes();
        m_bytesSum += bytes;
        return true;
    }
    [[nodiscard]] bool streamOf(Value value, StreamIndex& index); ///< false: too many
    [[nodiscard]] bool poolOf(const Pool& pool, PoolIndex& index); ///< false: too many
    /// Both numbers of a pool id, tuple or list.
    [[nodiscard]] bool poolIdOf(Value value, Pool& pool) const;
    /// C++ frames before Python frames, as torch 2.0 kept them apart.
    [[nodiscard]] bool joined(StackId native, StackId python, StackId& both);
    /// A JSON text of a value, or none when all texts of the file have grown too long.
    [[nodiscard]] StringId jsonText(std::span<const std::pair<Value, Value>> members);

private:
    static constexpr std::int64_t kMostBytesTogether = std::int64_t{ 1 } << 62;

    struct PoolHash {
        std::size_t operator()(const Pool& pool) const;
    };

    [[nodiscard]] bool tooManyBytes();
    [[nodiscard]] bool poolOfEvent(const Trace& trace, Value owner, PoolIndex& pool);
    void setTexts(EventColumns& columns, std::uint32_t row, EventFields& fields);
    [[nodiscard]] bool wrong(const Trace& trace, const char* key, Value value, Sentence expected);

    Heap& m_heap;
    Recording& m_recording;
    std::vector<std::unique_ptr<Trace>> m_traces;
    std::int64_t m_eventCount = 0;
    std::int64_t m_bytesSum = 0;
    Value m_lastStream = Value::unset();
    StreamIndex m_lastStreamIndex = kNoIndex;
    Value m_lastPool = Value::unset();
    PoolIndex m_lastPoolIndex = kNoIndex;
    boost::unordered_flat_map<std::int64_t, StreamIndex> m_streams;
    boost::unordered_flat_map<Pool, PoolIndex, PoolHash> m_pools;
    boost::unordered_flat_map<std::uint64_t, StackId> m_joined;
    std::uint64_t m_joinedFrames = 0;
    std::uint64_t m_jsonBytes = 0;
    EventFields m_fields; // of the event at hand
};

} // namespace strata::model
