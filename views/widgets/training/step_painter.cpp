// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/training/step_painter.h"

#include "views/models/document/training_words.h"
#include "views/widgets/memory/raster/curve_spans.h"
#include "views/widgets/memory/raster/fill_style.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <array>
#include <cmath>

namespace strata::views {

namespace {

struct StepTexts {
    Q_DECLARE_TR_FUNCTIONS(Steps)
};

constexpr std::array kInOrder{ model::Phase::Forward, model::Phase::Backward, model::Phase::Recompute,
    model::Phase::Optimizer, model::Phase::NoGrad };
constexpr int kStepAreaAlpha = 48;

int thickness(double ratio)
{
    return std::max(static_cast<int>(std::lround(1.5 * ratio)), 1);
}

void fill(QPainter& painter, const StepLook& look, const QPoint& origin, const std::vector<PixelSpan>& spans,
    const QColor& colour)
{
    painter.save();
    painter.translate(origin);
    painter.scale(1 / look.columns, 1 / look.ratio); // from here on in columns and rows
    for (const PixelSpan& span : spans)
        painter.fillRect(QRect(span.x0, span.top, span.x1 - span.x0, span.bottom - span.top), colour);
    painter.restore();
}

} // namespace

QBrush phaseBrush(const Palette& palette, model::Phase phase, int scale)
{
    if (phase == model::Phase::Unknown)
        return patternBrush(
            Pattern::Hatched, palette[Palette::Role::Surface], palette[Palette::Role::Other], scale);
    const auto place = std::ranges::find(kInOrder, phase) - kInOrder.begin();
    return palette.phase(static_cast<int>(place));
}

void paintStep(QPainter& painter, const StepLook& look, const QPoint& origin, const StepCurve& curve,
    const StepCurve* other, const YMapping& y)
{
    QColor area = look.palette[Palette::Role::Requested];
    const QColor line = area;
    area.setAlpha(kStepAreaAlpha);
    fill(painter, look, origin, areaSpans(curve.requested, y), area);
    if (other != nullptr)
        fill(painter, look, origin, curveSpans(other->requested, y, thickness(look.ratio)),
            look.palette[Palette::Role::TextMuted]);
    fill(painter, look, origin, curveSpans(curve.requested, y, thickness(look.ratio)), line);
}

void paintPhases(QPainter& painter, const StepLook& look, const QRect& strip, const StepCurve& curve)
{
    const int scale = std::max(static_cast<int>(look.ratio), 1);
    painter.setFont(look.font);
    const QFontMetricsF metrics(look.font);
    for (const StepCurve::PhaseRun& run : curve.phases) {
        const QRectF part(strip.left() + run.x0 / look.columns, strip.top(), (run.x1 - run.x0) / look.columns,
            strip.height());
        painter.setBrushOrigin(part.topLeft());
        painter.fillRect(part, phaseBrush(look.palette, run.phase, scale));
        const QString letter = text::phaseLetter(run.phase);
        if (letter.isEmpty() || part.width() < metrics.horizontalAdvance(letter) + 2)
            continue;
        painter.setPen(look.palette[Palette::Role::Surface]);
        painter.drawText(part, Qt::AlignCenter, letter);
    }
    painter.setBrushOrigin(0, 0);
}

std::vector<Legend::Entry> stepLegend(
    const Palette& palette, const std::array<bool, model::kPhases>& occurs, const QString& other)
{
    std::vector<Legend::Entry> all;
    const auto ofLine = [&](const QString& name, Palette::Role role) {
        Legend::Entry entry{ name, [colour = palette[role]](int) { return QBrush(colour); } };
        entry.line = true;
        all.push_back(std::move(entry));
    };
    ofLine(StepTexts::tr("requested"), Palette::Role::Requested);
    if (!other.isEmpty())
        ofLine(other, Palette::Role::TextMuted);
    const auto ofPhase = [&](model::Phase phase) {
        if (!occurs[static_cast<std::size_t>(phase)])
            return;
        Legend::Entry entry{ text::phase(phase),
            [palette, phase](int scale) { return phaseBrush(palette, phase, scale); } };
        entry.letter = text::phaseLetter(phase);
        all.push_back(std::move(entry));
    };
    for (const model::Phase phase : kInOrder)
        ofPhase(phase);
    ofPhase(model::Phase::Unknown);
    return all;
}

} // namespace strata::views
