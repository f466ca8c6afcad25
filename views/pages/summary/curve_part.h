// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/document/document.h"
#include "views/style/palette.h"

class QVBoxLayout;

namespace strata::views {

class CurveOverview;

/// Memory over time, on the page "Summary", with what its lines mean. Returns the picture, which
/// the widget of `part` owns; nullptr, and nothing is added, where there are no events. GUI thread.
CurveOverview* addCurves(
    QVBoxLayout& part, Document& document, const SummaryData& device, const Palette& palette);
/// What keeps the picture from being there. GUI thread.
[[nodiscard]] QString waitingFor(const Document& document);

} // namespace strata::views
