// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

#include <cstdint>

namespace strata::model {

/// What would let a refused what-if be answered, so that a window can point to where it is given.
enum class Lacks : std::uint8_t {
    Nothing, ///< that is known by name: the hint of the error says it
    BatchItems, ///< how many the recorded batch has
    OtherRecording, ///< of the same program, with another batch
    SequenceLength, ///< how long the sequences of each recording are
    OtherLength, ///< a recording of the same program, with sequences of another length
    Capacity, ///< of the device that it is to fit
    Confirmation, ///< no recording tells it: the program is to be run, or its calls made again
    Program, ///< likewise, but calls do not tell it either
    Calls, ///< likewise, but nobody can write it into a program from outside: its calls tell it
};

/// What to do, for the command line. Empty for Nothing. Any thread.
[[nodiscard]] Sentence hintFor(Lacks lacks);

/// What to do where a change is to be made in a program of C++, and its calls do not tell it. Any thread.
[[nodiscard]] Sentence hintToWriteByHand();

/// Of an error with such a hint. O(1), any thread.
[[nodiscard]] Lacks lacksOf(const Error& error);

} // namespace strata::model
