// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

#include <filesystem>
#include <string>

namespace strata::launch {

/// The library that recordings and dry runs preload.
inline constexpr const char* kPreloaded = "libstrata_preload.so";

/// Where this program and those that it starts lie.
[[nodiscard]] std::filesystem::path programFolder();

/// What is preloaded lies in lib/strata beside the folder of this program, built and installed alike.
[[nodiscard]] std::filesystem::path libraryFolder();

/// A file of that folder. The error says which is missing and how it comes there.
[[nodiscard]] model::Result<std::filesystem::path> libraryAt(const std::string& name);

/// A library of that folder, which the loader is able to preload from there.
[[nodiscard]] model::Result<std::filesystem::path> preloadable(const std::string& name);

} // namespace strata::launch
