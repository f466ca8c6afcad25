// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/hook_maker/torch_files.h"

#include <vector>

namespace strata::hook {

// Where hooks lie. Some come with Strata, one for a minor version and the ABI of its strings; the others were
// made on this machine, each for the very headers of one LibTorch, and lie in a cache. `libraries` is the
// folder lib/strata throughout, with built hooks, their source and the program that makes one.

/// Of the source that is installed with Strata, below `libraries`.
[[nodiscard]] std::filesystem::path hookSource(const std::filesystem::path& libraries);

/// The hook that came with Strata; empty where none fits.
[[nodiscard]] std::filesystem::path builtHook(
    const TorchFiles& torch, const std::filesystem::path& libraries);

/// File name of a hook that is made, of everything that goes into it: version, CUDA, ABI, and a hash over the
/// source and all headers that it reaches. Empty where there are no headers or no source. Reads some 400
/// files, 5 MB.
[[nodiscard]] std::string hookName(const TorchFiles& torch, const std::filesystem::path& libraries);

/// Where hooks are kept, the best first: $XDG_CACHE_HOME/strata/hooks, else ~/.cache/strata/hooks; then, for
/// machines where that cannot be written, a folder of the user below the one for temporary files.
[[nodiscard]] std::vector<std::filesystem::path> hookFolders();

/// Nobody but this user can have put something there: it may be loaded.
[[nodiscard]] bool isOwn(const std::filesystem::path& path);

/// A hook that was made before, by its name; empty where none is there. Notes that it is in use.
[[nodiscard]] std::filesystem::path keptHook(const std::string& name);

/// Removes hooks that were made for a LibTorch, headers or source that nobody has used for 90 days.
void removeUnused(const std::filesystem::path& folder);

/// A hook that fits, built or made; empty where one has to be made.
[[nodiscard]] std::filesystem::path findHook(const TorchFiles& torch, const std::filesystem::path& libraries);

} // namespace strata::hook
