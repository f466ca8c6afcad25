// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace strata::hook {

/// A LibTorch as it lies on disk: what decides which hook fits it.
struct TorchFiles {
    std::filesystem::path folder; ///< of its libraries
    std::filesystem::path
        headers; ///< its include folder; empty where it came without the headers of CUDA's part
    std::string version; ///< "2.15.0+cu132"; empty where no file beside it tells
    std::string cuda; ///< "13.2"; the same
    int cudaMajor = 0; ///< of the runtime that it links; 0 where nothing tells
    bool newStrings = true; ///< how its std::string lies in memory: the C++11 ABI of libstdc++

    /// "2.15"
    [[nodiscard]] std::string minorVersion() const;
    /// Not a state between two versions, whose classes nobody but its own headers tells.
    [[nodiscard]] bool isRelease() const;
};

/// Reads a few small files and two libraries (3 MB). $STRATA_TORCH_VERSION, where set, is the version.
[[nodiscard]] TorchFiles readTorchFiles(const std::filesystem::path& folder);

} // namespace strata::hook
