// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/raster/picture_scaler.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace strata::views {

namespace {

/// Source pixels by pixel of the view, and the stretch of the view that has any. Positions rise along the
/// view, so the stretch has no holes.
struct Run {
    int begin = 0, end = 0;
    std::vector<int> source; ///< of begin .. end - 1
};

template <class SourceOf> Run runOf(int pixels, int sourcePixels, const SourceOf& sourceOf)
{
    Run run;
    run.source.reserve(static_cast<std::size_t>(std::max(pixels, 0)));
    for (int i = 0; i < pixels; ++i) {
        const double from = std::floor(sourceOf(i));
        if (!(from >= 0 && from < sourcePixels)) {
            if (!run.source.empty())
                break;
            continue;
        }
        if (run.source.empty())
            run.begin = i;
        run.source.push_back(static_cast<int>(from));
    }
    run.end = run.begin + static_cast<int>(run.source.size());
    return run;
}

} // namespace

ScaledPicture::ScaledPicture(
    const Picture& source, const XMapping& x, const YMapping& y, const model::Clock& clock)
    : m_source(&source)
{
    if (source.isNull())
        return;
    const bool otherAxis = source.x.axis() != x.axis();
    Run columns = runOf(x.columns(), source.image.width(), [&](int column) {
        double value = x.valueAt(column + 0.5);
        if (otherAxis)
            value
                = model::axisPosition(source.x.axis(), clock, model::eventAtPosition(x.axis(), clock, value));
        return source.x.columnOf(value);
    });
    Run rows = runOf(
        y.rows(), source.image.height(), [&](int row) { return source.y.rowOf(y.bytesAt(row + 0.5)); });
    if (columns.source.empty() || rows.source.empty())
        return;
    m_covered = QRect(columns.begin, rows.begin, columns.end - columns.begin, rows.end - rows.begin);
    m_column = std::move(columns.source);
    m_row = std::move(rows.source);
    m_sameColumns = source.x == x && source.image.width() == x.columns();
}

void ScaledPicture::paint(QImage& target, QPoint origin, QRect part) const
{
    part &= m_covered;
    part &= target.rect().translated(-origin);
    if (part.isEmpty())
        return;
    const auto width = static_cast<std::size_t>(part.width());
    const int* const from = m_column.data() + (part.left() - m_covered.left());
    const QRgb* previous = nullptr;
    int previousRow = -1;
    uchar* const bits = target.bits(); // first: a shared image gets another stride by it
    const qsizetype stride = target.bytesPerLine();
    for (int row = part.top(); row <= part.bottom(); ++row) {
        auto* out = reinterpret_cast<QRgb*>(bits + (row + origin.y()) * stride) + origin.x() + part.left();
        const int sourceRow = m_row[static_cast<std::size_t>(row - m_covered.top())];
        const auto* in = reinterpret_cast<const QRgb*>(m_source->image.constScanLine(sourceRow));
        if (m_sameColumns)
            std::memcpy(out, in + part.left(), width * sizeof(QRgb));
        else if (sourceRow == previousRow)
            std::memcpy(out, previous, width * sizeof(QRgb));
        else
            for (std::size_t i = 0; i < width; ++i)
                out[i] = in[from[i]];
        previous = out;
        previousRow = sourceRow;
    }
}

std::vector<QRect> around(const QRect& whole, const QRect& inside)
{
    const QRect hole = whole & inside;
    if (hole.isEmpty())
        return { whole };
    const QRect candidates[] = {
        QRect(whole.left(), whole.top(), whole.width(), hole.top() - whole.top()),
        QRect(whole.left(), hole.bottom() + 1, whole.width(), whole.bottom() - hole.bottom()),
        QRect(whole.left(), hole.top(), hole.left() - whole.left(), hole.height()),
        QRect(hole.right() + 1, hole.top(), whole.right() - hole.right(), hole.height()),
    };
    std::vector<QRect> parts;
    for (const QRect& part : candidates)
        if (!part.isEmpty())
            parts.push_back(part);
    return parts;
}

void fillPart(QImage& target, const QRect& part, QRgb colour)
{
    const QRect inside = part & target.rect();
    if (inside.isEmpty())
        return;
    uchar* const bits = target.bits(); // first: a shared image gets another stride by it
    const qsizetype stride = target.bytesPerLine();
    for (int row = inside.top(); row <= inside.bottom(); ++row)
        std::fill_n(reinterpret_cast<QRgb*>(bits + row * stride) + inside.left(), inside.width(), colour);
}

} // namespace strata::views
