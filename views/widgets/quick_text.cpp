// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/quick_text.h"

#include <QGlyphRun>
#include <QPainter>
#include <QVarLengthArray>

#include <algorithm>

namespace strata::views {

namespace {
constexpr QChar kEllipsis(0x2026);
}

QuickText::QuickText(const QFont& font)
    : m_font(font)
    , m_metrics(font)
    , m_raw(QRawFont::fromFont(font))
{
    const auto lookUp = [this](QChar c) {
        const QList<quint32> indexes = m_raw.glyphIndexesForString(QString(c));
        if (indexes.size() != 1 || indexes[0] == 0)
            return Glyph{};
        return Glyph{ indexes[0], static_cast<float>(m_metrics.horizontalAdvance(c)) };
    };
    for (char16_t c = kFirst; c < kEnd; ++c) {
        if (QChar(c).isPrint())
            m_glyphs[c - kFirst] = lookUp(QChar(c));
    }
    m_ellipsis = lookUp(kEllipsis);
}

bool QuickText::known(QStringView text) const
{
    return m_quick && m_ellipsis.index != 0 && std::all_of(text.begin(), text.end(), [this](QChar c) {
        return c.unicode() >= kFirst && c.unicode() < kEnd && glyph(c).index != 0;
    });
}

double QuickText::width(QStringView text) const
{
    if (!known(text))
        return m_metrics.horizontalAdvance(text.toString());
    double sum = 0;
    for (const QChar c : text)
        sum += static_cast<double>(glyph(c).advance);
    return sum;
}

void QuickText::draw(QPainter& painter, double x, double baseline, QStringView text) const
{
    drawElided(painter, x, baseline, 1e9, text);
}

double QuickText::drawElided(
    QPainter& painter, double x, double baseline, double room, QStringView text) const
{
    if (text.isEmpty() || room <= 0)
        return 0;
    if (!known(text)) {
        const QString shown = m_metrics.elidedText(text.toString(), Qt::ElideRight, room);
        if (shown == QString(kEllipsis))
            return 0;
        painter.setFont(m_font);
        painter.drawText(QPointF(x, baseline), shown);
        return m_metrics.horizontalAdvance(shown);
    }

    QVarLengthArray<quint32, 128> indexes;
    QVarLengthArray<QPointF, 128> places;
    const double ellipsis = static_cast<double>(m_ellipsis.advance);
    double end = 0;
    qsizetype fitting = 0; // glyphs that leave room for an ellipsis
    double fittingEnd = 0;
    bool cut = false;
    for (const QChar c : text) {
        const Glyph& g = glyph(c);
        const double next = end + static_cast<double>(g.advance);
        if (next > room) {
            cut = true;
            break;
        }
        indexes.append(g.index);
        places.append(QPointF(end, 0));
        end = next;
        if (end + ellipsis <= room) {
            fitting = indexes.size();
            fittingEnd = end;
        }
    }
    if (cut) {
        if (fitting == 0)
            return 0;
        indexes.resize(fitting);
        places.resize(fitting);
        indexes.append(m_ellipsis.index);
        places.append(QPointF(fittingEnd, 0));
        end = fittingEnd + ellipsis;
    }
    QGlyphRun run;
    run.setRawFont(m_raw);
    run.setRawData(indexes.constData(), places.constData(), static_cast<int>(indexes.size()));
    painter.drawGlyphRun(QPointF(x, baseline), run);
    return end;
}

} // namespace strata::views
