// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/readers/pickle/pickle_machine.h"

#include <cstdint>
#include <string_view>

namespace strata::model {

/// The opcodes that snapshots of today hardly use: text forms of protocol 0, binary data, tuples, long texts.
/// All return false where it went wrong: the machine says why. Arguments begin at `at`, which is moved on.
class RareOpcodes {
public:
    /// The machine outlives it.
    explicit RareOpcodes(PickleMachine& machine)
        : m_machine(machine)
    {
    }

    [[nodiscard]] bool run(std::uint8_t op, const std::uint8_t*& at);
    /// A text that may be cut off, or longer than the buffer.
    [[nodiscard]] bool pushText(const std::uint8_t*& at, std::uint64_t count);
    /// An integer of 0 to 9 bytes that are there.
    [[nodiscard]] bool pushLong(const std::uint8_t* bytes, std::uint64_t count);
    [[nodiscard]] int protocol() const { return m_protocol; } ///< that the pickle names; 0: none

private:
    [[nodiscard]] bool readLine(const std::uint8_t*& at, std::string_view& line);
    [[nodiscard]] bool readTextForm(std::uint8_t op, const std::uint8_t*& at);
    [[nodiscard]] bool readNumberLine(std::uint8_t op, std::string_view line);
    [[nodiscard]] bool skipBytes(const std::uint8_t*& at, std::uint64_t count);
    [[nodiscard]] bool makeFromMark(std::uint8_t op);
    [[nodiscard]] bool mayDrop(std::size_t first);

    PickleMachine& m_machine;
    int m_protocol = 0;
};

} // namespace strata::model
