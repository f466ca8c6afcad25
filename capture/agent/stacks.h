// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/python_frames.h"
#include "capture/agent/sequence_table.h"

#include <cstdint>
#include <string>

namespace strata::agent {

enum class StackKind : std::uint8_t { None, Native, Python };

/// Takes stacks on the threads that allocate: return addresses, or places in Python code, interned on the
/// spot. What they mean is found out later, by Symbols and PythonFrames::describe().
class Stacks {
public:
    using Unwind = std::uint32_t (*)(std::uint64_t* addresses, std::uint32_t most) noexcept;

    /// `memory`: bytes that the tables may take, at most.
    explicit Stacks(std::uint64_t memory);

    [[nodiscard]] bool usable() const { return m_sequences.usable() && m_python.usable(); }

    /// Before anything is recorded. Unwinds by libunwind where it is installed, else by LibTorch's `unwind`
    /// (nullptr: it has none). False and why: then no stacks are taken.
    [[nodiscard]] bool useNative(Unwind unwind, std::string& why);
    void usePython() { m_kind.store(StackKind::Python, std::memory_order_release); }
    void useNone() { m_kind.store(StackKind::None, std::memory_order_release); }

    [[nodiscard]] StackKind kind() const { return m_kind.load(std::memory_order_relaxed); }
    [[nodiscard]] PythonFrames& python() { return m_python; }

    /// Number of the calling thread's stack, 0 for none. No allocation of our own; an unwinder may have some.
    [[nodiscard]] std::uint32_t gather() noexcept;

    [[nodiscard]] std::span<const std::uint64_t> operator[](std::uint32_t number) const
    {
        return m_sequences[number];
    }
    /// Stacks and code objects that found no room.
    [[nodiscard]] std::uint64_t refused() const { return m_sequences.refused() + m_python.refused(); }

private:
    SequenceTable m_sequences;
    PythonFrames m_python;
    Unwind m_unwind = nullptr;
    std::atomic<StackKind> m_kind{ StackKind::None };
};

} // namespace strata::agent
