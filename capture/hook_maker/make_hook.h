// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/hook_maker/torch_files.h"

#include <functional>
#include <string_view>
#include <tl/expected.hpp>

namespace strata::hook {

/// How strata-hook says that there is one: this, then the path. Any other line says why there is none.
inline constexpr std::string_view kHookMade = "hook ";

/// A hook that fits: one that is there, else compiled from the headers of this LibTorch and kept. Of
/// processes that ask at once one compiles and the others wait for it. `beforeCompiling` is called where this
/// one does. The error says what went wrong and what to do.
[[nodiscard]] tl::expected<std::filesystem::path, std::string> makeHook(const TorchFiles& torch,
    const std::filesystem::path& libraries, const std::function<void()>& beforeCompiling = {});

} // namespace strata::hook
