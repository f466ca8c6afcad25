// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/hook/torch_hook.h"
#include "capture/hook_maker/torch_files.h"

#include <string>

namespace strata::agent {

/// The LibTorch that this process has loaded. False if there is none with CUDA's part. Reads a few files.
[[nodiscard]] bool findTorch(hook::TorchFiles& torch);

/// The folder of the library that holds this code: hooks and the program that makes them lie there.
[[nodiscard]] std::string libraryFolder();

/// Loads the hook at `path`, for good. nullptr and what to tell the user.
[[nodiscard]] const hook::Hook* loadHook(const std::string& path, std::string& why);

} // namespace strata::agent
