// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace strata::model {

/// What PyTorch's profiler says that memory is for, as it numbers that in what it exports
/// (torch/profiler/_memory_profiler.py: _CATEGORY_TO_INDEX).
enum class ProfiledCategory : std::uint8_t {
    Parameter,
    OptimizerState,
    Input,
    Temporary,
    Activation,
    Gradient,
    AutogradDetail, ///< asked for in a backward, and no gradient
    Unknown,
};
inline constexpr std::size_t kProfiledCategories = 8;

/// That of each allocation: a part of a recording.
struct ProfiledCategories {
    std::map<int, std::vector<ProfiledCategory>>
        ofEvents; ///< by device, by row of its events; of frees Unknown
};

} // namespace strata::model
