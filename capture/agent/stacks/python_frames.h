// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/stacks/python_layout.h"
#include "capture/agent/stacks/sequence_table.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace strata::agent {

/// A place in Python code, as a traceback names it.
struct PythonPlace {
    std::string file, function;
    std::int64_t line = 0; ///< 0 not known
};

/// Reads the Python frames of the calling thread without the interpreter's lock: a thread that is inside a
/// call into LibTorch cannot change its own frames, and nobody else does. No reference is taken; what is
/// needed of a code object (its names and its table of lines) is copied the first time that it is met, into
/// memory that is there already.
///
/// A layout that is known by the name of its version is still not trusted: check() compares what is read with
/// what Python itself says, and only then gather() reads anything.
class PythonFrames {
public:
    /// `wordBits` and `slotBits` as SequenceTable has them, for copies of code objects.
    PythonFrames(unsigned wordBits, unsigned slotBits);

    [[nodiscard]] bool usable() const { return m_codes.usable(); }

    /// True if this process runs a Python whose frames are known; `why` says which it is otherwise. Needs no
    /// lock.
    [[nodiscard]] bool recognise(std::string& why);

    /// Whether recognise() met a Python at all.
    [[nodiscard]] bool isHere() const { return m_threadState != nullptr; }

    /// `expected`: the calling thread's frames as Python tells them, innermost first, each
    /// "FILE\tNAME\tLINE\n". From Python, through ctypes. True if gather() reads the same.
    [[nodiscard]] bool check(const std::string& expected);
    /// What check() said of another one in this process.
    void trust() { m_on.store(true, std::memory_order_release); }
    [[nodiscard]] bool isOn() const { return m_on.load(std::memory_order_acquire); }

    /// The same for the values of frames: `first` is the first local variable of the innermost one.
    [[nodiscard]] bool checkLocals(std::uint64_t first);
    [[nodiscard]] bool readsLocals() const { return m_readsLocals.load(std::memory_order_relaxed); }
    void trustLocals() { m_readsLocals.store(true, std::memory_order_release); }

    /// Innermost first; a word for each frame, 0 in a thread without Python. `module`: the object whose
    /// forward the innermost call of a torch.nn.Module runs, where there is one and checkLocals() agreed.
    std::uint32_t gather(std::uint64_t* words, std::uint32_t most, std::uint64_t* module = nullptr) noexcept;

    [[nodiscard]] PythonPlace describe(std::uint64_t word) const;
    [[nodiscard]] std::uint64_t refused() const { return m_codes.refused(); }

private:
    using Known = std::atomic<std::uint32_t>;
    static constexpr unsigned kKnownBits = 14;

    std::uint32_t codeNumber(const char* code) noexcept;
    std::uint32_t copyCode(const char* code) noexcept;
    [[nodiscard]] const char* innermost() const noexcept;
    [[nodiscard]] bool isModuleCall(std::uint32_t code) const noexcept;

    SequenceTable m_codes;
    ReservedMemory m_knownMemory;
    Known* m_known; // by hash of the address: where its copy was last found
    const PythonLayout* m_layout = nullptr;
    void* (*m_threadState)() = nullptr;
    std::atomic<bool> m_on{ false };
    std::atomic<bool> m_readsLocals{ false };
    /// Copies of the code that every call of a module runs first, whose first argument is the module.
    std::array<std::atomic<std::uint32_t>, 4> m_moduleCalls{};
};

} // namespace strata::agent
