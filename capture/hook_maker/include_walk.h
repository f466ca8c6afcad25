// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace strata::hook {

/// A hash over a source file and everything that it includes, directly or not, and finds in `folders`,
/// headers of the system left out. Conditions are not looked at: what might be included counts. The same
/// files elsewhere have the same hash. 0 where the file is not there.
[[nodiscard]] std::uint64_t hashWithIncludes(
    const std::filesystem::path& source, const std::vector<std::filesystem::path>& folders);

} // namespace strata::hook
