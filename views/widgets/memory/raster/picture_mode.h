// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace strata::views {

/// The pictures of memory over time: bytes of groups on each other, or blocks in compacted address space.
enum class PictureMode : std::uint8_t { Stacked, Blocks };
inline constexpr std::size_t kPictureModes = 2;

/// Which of the pictures of a Viewport it is.
[[nodiscard]] constexpr std::size_t pictureOf(PictureMode mode)
{
    return static_cast<std::size_t>(mode);
}

} // namespace strata::views
