// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

namespace strata::model {

/// What further recordings are given by, on the command line.
inline constexpr auto kOtherRecording = English("--with FILE2");

/// What to do, for the command line. Empty for Nothing. Any thread. So are the next.
[[nodiscard]] Hint hintFor(Lacks lacks);

/// `said` asks to run the program, or to do something else.
[[nodiscard]] Hint hintToRun(Sentence said, Sentence besides = {});
/// To run the program with --confirm.
[[nodiscard]] Hint hintToConfirm();
/// What else to do, or that.
[[nodiscard]] Hint hintToConfirmOr(Sentence besides);

/// What to do where a change is to be made in a program of C++, and its calls do not tell it.
[[nodiscard]] Sentence hintToWriteByHand();

} // namespace strata::model
