// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/recording.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace strata::model {

/// What the system calls a thread of the program that was recorded ("pt_autograd_0"), with its number where
/// another one that annotates has the same name ("python 4711"). Empty where the recording has no name of it.
/// O(threads that have names).
[[nodiscard]] std::string threadName(const Recording& recording, std::uint32_t thread);
/// The same, or its number.
[[nodiscard]] std::string threadNameOrNumber(const Recording& recording, std::uint32_t thread);

/// The profiler's "thread 4242 (python)" is "python", since the number stands beside it; others are as they
/// are.
[[nodiscard]] std::string_view withoutThreadNumber(std::string_view name);

} // namespace strata::model
