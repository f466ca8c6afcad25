// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/readers/pickle/frame_runs.h"
#include "model/readers/pickle/pickle_memo.h"
#include "model/readers/source/byte_stream.h"
#include "model/readers/values/heap.h"

#include <array>
#include <cstdint>

namespace strata::model {

/// A short cut for what fills a snapshot: the dict of an event, as Python's pickler writes it. What it is
/// handed outlives it. One thread.
class EventDict {
public:
    EventDict(const ByteStream& stream, Heap& heap, PickleMemo& memo, pickle::FrameRuns& frameRuns)
        : m_stream(stream)
        , m_heap(heap)
        , m_memo(memo)
        , m_frameRuns(frameRuns)
    {
    }

    enum class Outcome : std::uint8_t { Read, Left, Failed }; ///< Failed: Heap::error() says why
    /// Reads the members of an event whose dict is open, up to and with SETITEMS, and makes its row. What it
    /// cannot take it leaves: `at` stands before that member, and pushMembers() has those before it.
    [[nodiscard]] Outcome read(const std::uint8_t*& at, Value dict, Home home);
    /// Behind a read() that left some: pushes keys and values, and returns the new top.
    Value* pushMembers(Value* top) const;
    /// What was learned of how keys are written no longer holds.
    void forget() { m_keyShapes.fill({}); }

private:
    /// How a GET of an event's key is written.
    struct KeyShape {
        std::uint64_t bytes = 1; // matches nothing
        std::uint64_t mask = 0;
        std::uint8_t length = 0;
        Known key = Known::KeyCount;
    };
    struct Member {
        Value value;
        const std::uint8_t* next;
    };
    [[nodiscard]] Member takeMember(const std::uint8_t* p);
    [[nodiscard]] Member takeLongMember(const std::uint8_t* p);
    [[nodiscard]] std::size_t storeLength(const std::uint8_t* at) const;

    const ByteStream& m_stream;
    Heap& m_heap;
    PickleMemo& m_memo;
    pickle::FrameRuns& m_frameRuns;
    EventFields m_fields;
    std::size_t m_keys = 0;
    std::array<KeyShape, EventFields::kKeys> m_keyShapes; // of the last event
};

} // namespace strata::model
