// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/stacks/module_of_node.h"
#include "capture/agent/stacks/python_frames.h"
#include "capture/agent/stacks/sequence_table.h"
#include "capture/hook/torch_hook.h"

#include <cstdint>
#include <string>

namespace strata::agent {

/// What a recording asks for; a stack that was taken is one of the first three.
enum class StackKind : std::uint8_t {
    None,
    Native,
    Python,
    PythonElseNative ///< C++ where the thread runs no Python: autograd's own, for one
};

/// Takes stacks on the threads that allocate: return addresses, or places in Python code, interned on the
/// spot. What they mean is found out later, by Symbols and PythonFrames::describe().
class Stacks {
public:
    struct Taken {
        std::uint32_t number = 0; ///< 0 none
        StackKind kind = StackKind::None;
    };
    using Unwind = std::uint32_t (*)(std::uint64_t* addresses, std::uint32_t most) noexcept;

    /// `memory`: bytes that the tables may take, at most.
    explicit Stacks(std::uint64_t memory);

    [[nodiscard]] bool usable() const { return m_sequences.usable() && m_python.usable(); }

    /// Before anything is recorded: what stacks are from now on. C++ is unwound by libunwind where it is
    /// installed, else by LibTorch's `unwind` (nullptr: it has none). What cannot be had is left out, and
    /// `why` says so, for people; else it stays empty.
    void use(StackKind wanted, Unwind unwind, std::string& why);

    [[nodiscard]] StackKind kind() const { return m_kind.load(std::memory_order_relaxed); }
    [[nodiscard]] PythonFrames& python() { return m_python; }

    /// The calling thread's stack. No allocation of our own; an unwinder may have some.
    [[nodiscard]] Taken gather() noexcept;
    /// The same, with the module whose forward the thread runs or whose backward it evaluates, behind the
    /// frames: isModule(). `phase` (EventPhase) and and `node`,
    /// which asks for that of autograd, tell the second: a node is made in the forward of its module.
    [[nodiscard]] Taken gatherWithModule(std::uint8_t phase, hook::AutogradNode node) noexcept;

    /// The last word of a sequence may stand for a module: its address and this bit, which no frame has.
    static constexpr std::uint64_t kModule = std::uint64_t{ 1 } << 63;
    [[nodiscard]] static bool isModule(std::uint64_t word) { return (word & kModule) != 0; }

    [[nodiscard]] std::span<const std::uint64_t> operator[](std::uint32_t number) const
    {
        return m_sequences[number];
    }
    /// Stacks and code objects that found no room.
    [[nodiscard]] std::uint64_t refused() const { return m_sequences.refused() + m_python.refused(); }

private:
    [[nodiscard]] bool findUnwinder(Unwind unwind);
    [[nodiscard]] std::uint32_t gatherWords(
        std::uint64_t* words, StackKind& kind, std::uint64_t* module) noexcept;

    SequenceTable m_sequences;
    PythonFrames m_python;
    ModuleOfNode m_modules;
    Unwind m_unwind = nullptr;
    std::atomic<StackKind> m_kind{ StackKind::None };
};

} // namespace strata::agent
