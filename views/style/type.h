// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>

namespace strata::views {

/// The three type sizes of the window, in pixels before scaling, and the grid of its layouts.
inline constexpr int kVerdictPx = 15;
inline constexpr int kBodyPx = 13;
inline constexpr int kAxisPx = 11;
inline constexpr int kGrid = 8;
inline constexpr int kMargin = 12;
inline constexpr int kRowHeight = 24;

/// How much larger than usual the desktop wants text, from its font: 1 for the common sizes.
[[nodiscard]] double textScale(const QFont& desktopFont, double dotsPerInch);

/// How much larger than usual text of this font is, which of an application has kBodyPx; and `px` times that.
[[nodiscard]] double scaleOf(const QFont& font);
[[nodiscard]] int scaled(double px, const QFont& font);

/// `base` at `px` of the sizes above; `base` is the font of the application, whose size stands for kBodyPx.
[[nodiscard]] QFont sized(const QFont& base, int px);

[[nodiscard]] QFont bold(const QFont& base);

/// `base` if its digits have one width, else the same size of DejaVu Sans: for columns of numbers.
[[nodiscard]] QFont numberFont(const QFont& base);

/// A fixed-width font of the size of `base`: code, paths, stacks.
[[nodiscard]] QFont codeFont(const QFont& base);

} // namespace strata::views
