// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/picture_scaler.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace strata::views {

namespace {

struct Run {
    int begin = 0, end = 0; ///< target pixels that the source covers
    std::vector<int> source; ///< by target pixel
};

Run columnsOf(const Picture& source, const XMapping& x, const model::Clock& clock)
{
    Run run;
    run.source.resize(static_cast<std::size_t>(x.columns()));
    run.begin = x.columns();
    for (int column = 0; column < x.columns(); ++column) {
        double value = x.valueAt(column + 0.5);
        if (source.x.axis() != x.axis())
            value
                = model::axisPosition(source.x.axis(), clock, model::eventAtPosition(x.axis(), clock, value));
        const double from = std::floor(source.x.columnOf(value));
        if (!(from >= 0 && from < source.image.width()))
            continue;
        run.begin = std::min(run.begin, column);
        run.end = column + 1;
        run.source[static_cast<std::size_t>(column)] = static_cast<int>(from);
    }
    return run;
}

} // namespace

void paintScaled(const Picture& source, QImage& target, QRect place, const XMapping& x, const YMapping& y,
    const model::Clock& clock)
{
    if (source.isNull() || !target.rect().contains(place) || x.columns() != place.width()
        || y.rows() != place.height())
        return;
    const Run columns = columnsOf(source, x, clock);
    if (columns.begin >= columns.end)
        return;
    const bool same = source.x == x && source.image.width() == x.columns();
    const auto width = static_cast<std::size_t>(columns.end - columns.begin);
    const int* from = columns.source.data() + columns.begin;
    QRgb* previous = nullptr;
    int previousRow = -1;
    for (int row = 0; row < y.rows(); ++row) {
        const double at = std::floor(source.y.rowOf(y.bytesAt(row + 0.5)));
        if (!(at >= 0 && at < source.image.height()))
            continue;
        auto* out = reinterpret_cast<QRgb*>(target.scanLine(place.y() + row)) + place.x() + columns.begin;
        const int sourceRow = static_cast<int>(at);
        const auto* in = reinterpret_cast<const QRgb*>(source.image.constScanLine(sourceRow));
        if (same)
            std::memcpy(out, in + columns.begin, width * sizeof(QRgb));
        else if (sourceRow == previousRow)
            std::memcpy(out, previous, width * sizeof(QRgb));
        else
            for (std::size_t i = 0; i < width; ++i)
                out[i] = in[from[i]];
        previous = out;
        previousRow = sourceRow;
    }
}

} // namespace strata::views
