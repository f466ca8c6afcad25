// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/style/palette.h"

namespace strata::views {

/// How many phases of a step have a colour: forward, backward, recompute, optimizer, without gradients.
inline constexpr int kPhaseColours = 5;

/// The colour of one of them, by its place above, from resources/palette.json; beyond the last one that of
/// what is not known, Role::Other. Never shown without the letter or the name of the phase.
[[nodiscard]] QColor phaseColour(const Palette& palette, int place);

} // namespace strata::views
