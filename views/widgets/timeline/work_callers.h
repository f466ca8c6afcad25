// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/timeline/lanes_data.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::views {

/// What names of modules begin with.
inline constexpr std::string_view kModulePrefix = "nn.Module: ";

/// A function of Python as a profiler names it: "train.py(57): forward". The line is where it begins.
struct PythonPlace {
    std::string_view file, function; ///< of the name
    std::int64_t line = 0;
};
/// Nothing for built-in functions and modules.
[[nodiscard]] std::optional<PythonPlace> pythonPlaceOf(std::string_view name);

/// What a piece of work was called by: rows of Work::spans. Of a device's work what launched it; of a
/// backward operator on a thread without Python what its forward one was called by.
struct WorkCallers {
    std::optional<std::uint32_t> launch; ///< of a device's work: the call
    std::optional<std::uint32_t> op; ///< the operator itself, or the innermost around it
    std::optional<std::uint32_t> forward; ///< where it is a backward operator that was looked for
    std::optional<std::uint32_t> module; ///< the innermost nn.Module, as with_stack=True records it
    std::optional<std::uint32_t> line; ///< the innermost function of the user's own code, else of any file
    std::vector<std::uint32_t> functions; ///< of Python, with a file, innermost first
};

/// O(rows of the lane, log n each), and O(n) for a backward operator.
[[nodiscard]] WorkCallers callersOf(const LanesData& lanes, std::uint32_t piece);

} // namespace strata::views
