// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/readers/source/byte_stream.h"
#include "model/readers/values/heap.h"

namespace strata::model {

/// Reads one JSON value into the heap, event by event like the pickle reader: lists and dicts are digested
/// when they close. Stops after the value. One use, one thread.
class JsonReader {
public:
    JsonReader(ByteStream& stream, Heap& heap, std::uint64_t memoryLimit);

    [[nodiscard]] Result<Value> run();

    /// After a run that failed: what was complete.
    [[nodiscard]] Value salvage();
    [[nodiscard]] std::uint64_t failedAt() const { return m_failedAt; }

private:
    class Handler;

    ByteStream& m_stream;
    Heap& m_heap;
    std::uint64_t m_memoryLimit;
    GrowArray<Value> m_stack;
    GrowArray<std::uint64_t> m_marks;
    std::uint64_t m_failedAt = 0;
};

} // namespace strata::model
