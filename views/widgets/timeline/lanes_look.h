// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace strata::views {

/// Sizes of a picture of lanes, in pixels before scaling.
inline constexpr double kLaneHeight = 17, kNamesWidth = 168, kScaleHeight = 24, kMemoryHeight = 88,
                        kMostMemoryHeight = 220, kMarksHeight = 16;
inline constexpr int kFoldPx = 3; ///< what is narrower comes together with its neighbours

} // namespace strata::views
