// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/raster/span_raster.h"

#include <algorithm>

namespace strata::views {

namespace {

/// `alpha` (0 to 256) of a colour over what is there.
class Blend {
public:
    explicit Blend(const QColor& colour)
        : m_colour(colour.rgb() | 0xff000000U)
        , m_share(static_cast<unsigned>(colour.alpha() + colour.alpha() / 128))
        , m_redBlue((m_colour & 0xff00ffU) * m_share)
        , m_green((m_colour & 0x00ff00U) * m_share)
    {
    }
    [[nodiscard]] bool opaque() const { return m_share == 256; }
    [[nodiscard]] QRgb colour() const { return m_colour; }
    [[nodiscard]] QRgb over(QRgb ground) const
    {
        const unsigned rest = 256 - m_share; // two channels at once, with room between them
        const unsigned redBlue = (m_redBlue + (ground & 0xff00ffU) * rest) >> 8 & 0xff00ffU;
        const unsigned green = (m_green + (ground & 0x00ff00U) * rest) >> 8 & 0x00ff00U;
        return 0xff000000U | redBlue | green;
    }

private:
    QRgb m_colour;
    unsigned m_share, m_redBlue, m_green;
};

} // namespace

void fillSpans(
    QImage& target, QPoint origin, const std::vector<PixelSpan>& spans, const SpanFill& fill, int scale)
{
    const Blend blend(fill.colour);
    const QRgb mark = fill.mark.rgb() | 0xff000000U;
    // The pixels first: a shared image gets another stride by that.
    auto* const pixels = reinterpret_cast<QRgb*>(target.bits());
    const qsizetype stride = target.bytesPerLine() / qsizetype(sizeof(QRgb));
    for (const PixelSpan& span : spans) {
        const int x0 = std::max(span.x0 + origin.x(), 0), x1 = std::min(span.x1 + origin.x(), target.width());
        const int top = std::max(span.top + origin.y(), 0),
                  bottom = std::min(span.bottom + origin.y(), target.height());
        if (x0 >= x1)
            continue;
        for (int row = top; row < bottom; ++row) {
            QRgb* const line = pixels + row * stride;
            if (fill.pattern != Pattern::Plain) {
                for (int x = x0; x < x1; ++x)
                    line[x] = patternMark(fill.pattern, x - origin.x(), row - origin.y(), scale)
                        ? mark
                        : blend.over(line[x]);
            } else if (blend.opaque()) {
                std::fill(line + x0, line + x1, blend.colour());
            } else {
                for (int x = x0; x < x1; ++x)
                    line[x] = blend.over(line[x]);
            }
        }
    }
}

} // namespace strata::views
