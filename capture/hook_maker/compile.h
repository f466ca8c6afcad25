// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/hook_maker/torch_files.h"

#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace strata::hook {

/// Changes with the way a hook is compiled: those that were made otherwise are not used any more.
inline constexpr std::uint32_t kRecipe = 1;

/// The one file that is compiled, and where its includes are looked for; `libraries` as in hook_cache.h.
[[nodiscard]] std::filesystem::path compiledFile(const std::filesystem::path& libraries);
[[nodiscard]] std::vector<std::filesystem::path> includeFolders(
    const std::filesystem::path& libraries, const std::filesystem::path& torchHeaders);

/// A program that was started, and what it printed.
struct ToolRun {
    bool done = false; ///< it ended by itself, with exit status 0
    std::string output; ///< stdout and stderr
};
[[nodiscard]] ToolRun runTool(const std::vector<std::string>& words);

inline constexpr const char* kNoCompiler = "no C++ compiler is in PATH (c++, g++, clang++): install one, as "
                                           "with apt-get install g++, or set CXX to one";

/// The C++ compilers of this machine, each with the words to call it: $CXX, c++, g++, clang++.
[[nodiscard]] std::vector<std::vector<std::string>> compilers();

/// Compiles the hook for a LibTorch from the headers that came with it, into `target`, with the first
/// compiler that can. Seconds of work. The error says which compiler said what first, and what to do.
[[nodiscard]] tl::expected<void, std::string> compileHook(
    const TorchFiles& torch, const std::filesystem::path& libraries, const std::filesystem::path& target);

} // namespace strata::hook
