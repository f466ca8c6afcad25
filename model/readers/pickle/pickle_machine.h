// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/readers/pickle/pickle_memo.h"
#include "model/readers/source/byte_stream.h"
#include "model/readers/values/heap.h"

#include <cstdint>
#include <span>

namespace strata::model {

/// What the opcodes of a pickle work on: a stack with marks, stored values, and the bytes that follow. What
/// returns false says why in error(). One use, one thread.
class PickleMachine {
public:
    /// `memoryLimit`: bytes of values above which reading is refused.
    PickleMachine(ByteStream& stream, Heap& heap, std::uint64_t memoryLimit)
        : m_stream(stream)
        , m_heap(heap)
        , m_memoryLimit(memoryLimit)
    {
    }

    [[nodiscard]] ByteStream& stream() { return m_stream; }
    [[nodiscard]] Heap& heap() { return m_heap; }
    [[nodiscard]] PickleMemo& memo() { return m_memo; }
    [[nodiscard]] GrowArray<Value>& stack() { return m_stack; }
    [[nodiscard]] std::span<const std::uint64_t> marks() const { return { m_marks.data(), m_marks.size() }; }

    // The stack. Values above the last mark can be taken.
    void push(Value value) { m_stack.push_back(value); }
    void mark(std::size_t size) { m_marks.push_back(size); } ///< above so many values
    [[nodiscard]] bool popMark(std::size_t& first);
    [[nodiscard]] std::size_t fence() const { return m_marks.empty() ? 0 : m_marks[m_marks.size() - 1]; }
    [[nodiscard]] bool has(std::size_t count) const { return m_stack.size() - fence() >= count; }
    /// The list that an object on the stack will go to, if a mark stands between them.
    [[nodiscard]] Home homeOf(std::size_t object) const;
    [[nodiscard]] bool memoGet(std::uint64_t key); ///< pushes it
    /// Stores what is on top. Whoever learned from stored values asks PickleMemo::takeReplaced() behind it.
    [[nodiscard]] bool memoPut(std::uint64_t key);

    // The bytes. What moves the buffer sets `at`, and makes room for all that its opcodes can push.
    [[nodiscard]] bool refill(const std::uint8_t*& at);
    bool more(const std::uint8_t*& at, std::size_t count); ///< false: there are fewer, which is no error
    [[nodiscard]] bool need(const std::uint8_t*& at, std::uint64_t count);
    /// The offset of the opcode that runs, for messages.
    void setOpcodeAt(std::uint64_t offset) { m_opAt = offset; }
    [[nodiscard]] std::uint64_t opcodeAt() const { return m_opAt; }

    // All return false.
    bool damaged(Sentence what);
    bool tooShort();
    bool heapFailed();
    bool fail(Error error)
    {
        m_error = std::move(error);
        return false;
    }
    [[nodiscard]] const Error& error() const { return m_error; }

private:
    ByteStream& m_stream;
    Heap& m_heap;
    std::uint64_t m_memoryLimit;
    GrowArray<Value> m_stack;
    GrowArray<std::uint64_t> m_marks; // size of the stack at each MARK
    PickleMemo m_memo;
    std::uint64_t m_opAt = 0;
    Error m_error;
};

} // namespace strata::model
