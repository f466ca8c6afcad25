// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace strata::agent {

/// Where one minor version of CPython keeps what a stack is read from: bytes from the begin of each struct,
/// on machines of 64 bits, as its own headers give them (PyThreadState, _PyInterpreterFrame or PyFrameObject,
/// PyCodeObject, PyASCIIObject). They are CPython's own affair: who reads by one compares with what Python
/// says before he believes it.
struct PythonLayout {
    static constexpr std::size_t kNone = SIZE_MAX;

    std::string_view version; ///< "3.11."
    std::size_t threadFrame; ///< the innermost frame
    std::size_t
        frameFromThat; ///< threadFrame points to a struct that has it here; kNone: to the frame itself
    std::size_t frameCode, framePrevious;
    /// The instruction that runs: its address; or, if `countsUnits`, its number of code units from the first.
    std::size_t frameInstruction;
    bool countsUnits;
    std::size_t frameOwner; ///< kNone: every frame is one of Python code that has begun
    std::uint8_t ownedByC; ///< owners from here on are no frames of Python code
    std::size_t frameLocals; ///< the arguments and local variables, a reference each
    std::size_t codeFirstLine, codeFile, codeName, codeLines;
    std::size_t codeFirstTraceable, codeInstructions; ///< kNone with `countsUnits`
    std::size_t textAscii, textOther; ///< where the characters of a compact str begin

    enum class Lines : std::uint8_t {
        Differences, ///< PEP 626: pairs of bytes, code and lines
        Locations, ///< PEP 657: entries of code units, each with a line as a difference
    } lines;

    // The same in all of them.
    static constexpr std::uint8_t kOwnedByGenerator = 1;
    static constexpr std::size_t kTextLength = 16, kTextState = 32;
    static constexpr std::size_t kBytesLength = 16, kBytesData = 32;
};

/// That of an interpreter whose Py_GetVersion() begins so; nullptr where it is not known.
[[nodiscard]] const PythonLayout* pythonLayout(std::string_view version);

/// The line of a code unit (-1: before the first one); 0 where the table knows none. `table` as the code
/// object has it.
[[nodiscard]] std::int64_t pythonLine(
    PythonLayout::Lines form, std::string_view table, std::int64_t unit, std::int64_t firstLine);

} // namespace strata::agent
