// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/axis/x_mapping.h"

#include <QImage>
#include <QRect>

#include <vector>

namespace strata::views {

/// An image of a part of the axis and of the height.
struct Picture {
    QImage image;
    XMapping x;
    YMapping y;
    [[nodiscard]] bool isNull() const { return image.isNull(); }
};

/// A picture stretched so that it shows the ranges of `x` and `y`, by nearest pixels. When it is on the other
/// axis, the clock says which of its columns shows the same event. Keeps a pointer to `source`. Cost: a few
/// nanoseconds a column and a row; painting costs the pixels, about half a nanosecond each.
class ScaledPicture {
public:
    ScaledPicture(const Picture& source, const XMapping& x, const YMapping& y, const model::Clock& clock);

    /// The pixels of the view that the picture reaches: columns and rows of `x` and `y`.
    [[nodiscard]] QRect covered() const { return m_covered; }

    /// Paints its pixels within `part` (columns and rows of the view) into `target`, where the view's first
    /// pixel lies at `origin`; what it does not reach stays as it is. Both images are of Format_RGB32.
    void paint(QImage& target, QPoint origin, QRect part) const;

private:
    const Picture* m_source;
    QRect m_covered;
    std::vector<int> m_column, m_row; ///< of the source, by column and row of the view within m_covered
    bool m_sameColumns = false; ///< one by one
};

/// What of `whole` lies outside `inside`, as up to four rectangles.
[[nodiscard]] std::vector<QRect> around(const QRect& whole, const QRect& inside);

/// A colour over a part of an image of Format_RGB32.
void fillPart(QImage& target, const QRect& part, QRgb colour);

} // namespace strata::views
