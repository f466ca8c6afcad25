// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/hook/torch_hook.h"

#include <string>

namespace strata::dryrun {

/// The hook of the LibTorch in this process, loaded for good: the one that the recorder has loaded, else the
/// one that the launcher names for the very LibTorch that is here. nullptr, and why. Milliseconds the first
/// time.
[[nodiscard]] const hook::Hook* torchHookAtHand(std::string& why);

} // namespace strata::dryrun
