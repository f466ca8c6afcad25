// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/recording.h"

namespace strata::model {

/// Whether stacks show a program in C++ alone: code of its own, and nothing of Python, neither its frames nor
/// its interpreter. Without stacks nothing tells: false. O(frames).
[[nodiscard]] bool isCppProgram(const Recording& recording);

} // namespace strata::model
