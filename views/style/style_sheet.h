// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/style/palette.h"

class QPalette;

namespace strata::views {

/// Qt's palette of a scheme.
[[nodiscard]] QPalette qtPalette(const Palette& palette);

/// The style sheet for the flat controls of the frame, every size times `scale` but hairlines.
[[nodiscard]] QString styleSheet(const Palette& palette, double scale);

} // namespace strata::views
