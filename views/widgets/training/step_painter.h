// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/style/palette.h"
#include "views/widgets/legend.h"
#include "views/widgets/training/step_curve.h"

#include <QFont>
#include <QRect>

#include <array>

class QPainter;

namespace strata::views {

/// How steps are drawn. Rectangles are in points, rows of mappings in device pixels.
struct StepLook {
    const Palette& palette;
    QFont font; ///< of letters on phases
    double ratio = 1; ///< device pixels per point
    double columns = 1; ///< of curves per point
};

/// The colour that a phase has, with the pattern of what is not known.
[[nodiscard]] QBrush phaseBrush(const Palette& palette, model::Phase phase, int scale);

/// A step's curve above its area; below the curve, where there is one, that of another step as a muted line:
/// it shows where the two differ.
void paintStep(QPainter& painter, const StepLook& look, const QPoint& origin, const StepCurve& curve,
    const StepCurve* other, const YMapping& y);
/// What the program does during a step: bands with the letters of their phases, where these fit.
void paintPhases(QPainter& painter, const StepLook& look, const QRect& strip, const StepCurve& curve);

/// The phases that occur (StepFigures::phases), and the lines of steps; `other` names the second, or is
/// empty.
[[nodiscard]] std::vector<Legend::Entry> stepLegend(
    const Palette& palette, const std::array<bool, model::kPhases>& occurs, const QString& other);

} // namespace strata::views
