// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace strata::model {

/// Sums over figures from a file, which may be crafted: they wrap where int64_t would be undefined.
[[nodiscard]] constexpr std::int64_t wrapAdd(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

[[nodiscard]] constexpr std::int64_t wrapSub(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

} // namespace strata::model
