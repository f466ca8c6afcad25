// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/hook/torch_hook.h"

#include <cstdint>
#include <string>

namespace strata::dryrun {

/// What operators are watched for, each by itself: to tell what a step launched (step_work.h), to tell how
/// long what they launch takes at least (work_bounds.h).
enum class WatchedFor : std::uint8_t { Steps, Bounds };

/// Operators of this LibTorch are watched from now on, through its hook, as long as it is for anything. False
/// where they cannot be, and why. Any thread; milliseconds the first time, then nothing where they already
/// are.
[[nodiscard]] bool watchOperators(WatchedFor what, std::string& why);
void leaveOperators(WatchedFor what) noexcept;

/// The innermost operator that runs on the calling thread, as hook::Hook::runningOperator has it; false where
/// none does, or none is watched.
[[nodiscard]] bool runningOperator(hook::Operator& to) noexcept;

} // namespace strata::dryrun
