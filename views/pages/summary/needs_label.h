// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/summary/summary.h"
#include "views/style/palette.h"

class QWidget;

namespace strata::views {

/// Where a run fits; its tip says what is left of every card.
[[nodiscard]] QWidget* needsLabel(const model::Needs& needs, const Palette& palette);

} // namespace strata::views
