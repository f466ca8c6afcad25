// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "capture/simgpu/launch/libtorch.h"
#include "model/base/result.h"

namespace strata::launch {

/// Of a LibTorch, by what tells it best: the files beside it, else the Python that has it. Empty where
/// nothing does.
[[nodiscard]] std::string versionOf(const simgpu::LibTorch& torch);
/// The same for a folder of its libraries.
[[nodiscard]] std::string versionIn(const std::filesystem::path& folder);

/// The hook through which a LibTorch is recorded: one that is there, else one compiled for it now, in about
/// ten seconds, once, which is said in one line on stderr. The error says why there is none and what to do.
[[nodiscard]] model::Result<std::filesystem::path> hookFor(const simgpu::LibTorch& torch);

} // namespace strata::launch
