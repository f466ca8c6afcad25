// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/readers/pickle/frame_runs.h"
#include "model/readers/pickle/opcodes.h"
#include "model/readers/source/byte_stream.h"
#include "model/readers/source/little_endian.h"
#include "model/readers/values/heap.h"
#include "model/readers/values/open_values.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace strata::model {

/// Runs the data-only opcodes of pickle protocols 0 to 5. Anything that would import or call something is
/// refused by name and offset. Values go to the Heap, which digests frames, stacks and events on the way. No
/// recursion; nothing is allocated for a length or count before the bytes are there. One use, one thread.
class PickleReader {
public:
    /// `memoryLimit`: bytes of values above which reading is refused.
    PickleReader(ByteStream& stream, Heap& heap, std::uint64_t memoryLimit);

    /// What STOP leaves on the stack.
    [[nodiscard]] Result<Value> run();

    /// After a run that failed: what was complete, with open lists and dicts closed.
    [[nodiscard]] Value salvage() { return closeOpen(m_heap, { m_stack.data(), m_stack.size() }, marks()); }
    [[nodiscard]] std::uint64_t failedAt() const { return m_opAt; }
    [[nodiscard]] int protocol() const { return m_protocol; }

private:
    [[nodiscard]] std::span<const std::uint64_t> marks() const { return { m_marks.data(), m_marks.size() }; }
    bool runLoop();
    bool refill(const std::uint8_t*& at);
    bool more(const std::uint8_t*& at, std::size_t count);
    bool need(const std::uint8_t*& at, std::uint64_t count);
    bool readLine(const std::uint8_t*& at, std::string_view& line);
    bool readRare(std::uint8_t op, const std::uint8_t*& at);
    bool readTextForm(std::uint8_t op, const std::uint8_t*& at);
    bool readNumberLine(std::uint8_t op, std::string_view line);
    bool pushLong(const std::uint8_t* bytes, std::uint64_t count);
    bool pushText(const std::uint8_t*& at, std::uint64_t count);
    bool skipBytes(const std::uint8_t*& at, std::uint64_t count);
    /// How a GET of an event's key is written.
    struct KeyShape {
        std::uint64_t bytes = 1; // matches nothing
        std::uint64_t mask = 0;
        std::uint8_t length = 0;
        Known key = Known::KeyCount;
    };

    enum class EventDict : std::uint8_t { Read, Left, Failed };
    EventDict readEventDict(const std::uint8_t*& at, Value dict, Home home);
    Value* pushMembers(Value* top) const;
    /// What a GET at `at` pushes; Unset, and nothing moved, if it is none or nothing is stored there.
    [[nodiscard]] Value peekGet(const std::uint8_t*& at) const
    {
        const bool shortForm = *at == pickle::kBinGet;
        if (!shortForm && *at != pickle::kLongBinGet)
            return Value::unset();
        const std::size_t key = shortForm ? at[1] : littleEndian32(at + 1);
        if (key >= m_memo.size())
            return Value::unset();
        const Value value = m_memo[key];
        at += value.is(Value::Tag::Unset) ? 0 : shortForm ? 2 : 5;
        return value;
    }
    struct Member {
        Value value;
        const std::uint8_t* next;
    };
    [[nodiscard]] Member takeMember(const std::uint8_t* p);
    [[nodiscard]] Member takeLongMember(const std::uint8_t* p);
    [[nodiscard]] std::size_t storeLength(const std::uint8_t* at) const;
    void store(Value value);
    bool popMark(std::size_t& first);
    bool makeFromMark(std::uint8_t op);
    bool memoGet(std::uint64_t key);
    void forgetShapes();
    bool memoPut(std::uint64_t key);
    [[nodiscard]] std::size_t fence() const { return m_marks.empty() ? 0 : m_marks[m_marks.size() - 1]; }
    [[nodiscard]] bool has(std::size_t count) const { return m_stack.size() - fence() >= count; }
    [[nodiscard]] bool mayDrop(std::size_t first);
    [[nodiscard]] Home homeOf(std::size_t object) const;

    bool damaged(Sentence what);
    bool tooShort();
    bool heapFailed();

    ByteStream& m_stream;
    Heap& m_heap;
    std::uint64_t m_memoryLimit;
    GrowArray<Value> m_stack;
    GrowArray<std::uint64_t> m_marks; // size of the stack at each MARK
    GrowArray<Value> m_memo;
    std::uint64_t m_memoCount = 0;
    std::unordered_map<std::uint64_t, Value> m_farMemo; // numbers far beyond what was memoised
    pickle::FrameRuns m_frameRuns;
    EventFields m_eventFields;
    std::size_t m_eventKeys = 0;
    std::array<KeyShape, EventFields::kKeys> m_keyShapes; // of the last event
    std::uint64_t m_opAt = 0;
    int m_protocol = 0;
    Error m_error;
};

} // namespace strata::model
