// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/hook/torch_hook.h"

#include <string>

namespace strata::agent {

/// The LibTorch that this process has loaded.
struct TorchLibrary {
    std::string folder; ///< of libc10_cuda.so
    std::string version; ///< "2.15.0+cu132"; empty where no file beside it tells
    std::string cuda; ///< "13.2"; the same
    bool newStrings = true; ///< how its std::string lies in memory: the C++11 ABI of libstdc++
};

/// True if libc10_cuda is loaded. Reads a small file.
[[nodiscard]] bool findTorch(TorchLibrary& torch);

/// Loads the hook for it, which lies beside this library, for good. nullptr and what to tell the user.
[[nodiscard]] const hook::Hook* loadHook(const TorchLibrary& torch, std::string& why);

} // namespace strata::agent
