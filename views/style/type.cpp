// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/style/type.h"

#include "views/style/elided_name.h"

#include <QFontDatabase>
#include <QFontMetricsF>

#include <algorithm>

namespace strata::views {

double textScale(const QFont& desktopFont, double dotsPerInch)
{
    constexpr double kUsualPx = 16; // 12 points at 96 dots an inch: no common desktop starts above it
    const double px
        = desktopFont.pixelSize() > 0 ? desktopFont.pixelSize() : desktopFont.pointSizeF() * dotsPerInch / 72;
    return px <= kUsualPx ? 1.0 : std::min(px / kUsualPx, 3.0);
}

double scaleOf(const QFont& font)
{
    return font.pixelSize() / static_cast<double>(kBodyPx);
}

int scaled(double px, const QFont& font)
{
    return qRound(px * font.pixelSize() / kBodyPx);
}

QFont sized(const QFont& base, int px)
{
    QFont font = base;
    font.setPixelSize(std::max(1, qRound(base.pixelSize() * px / static_cast<double>(kBodyPx))));
    return font;
}

QFont bold(const QFont& base)
{
    QFont font = base;
    font.setBold(true);
    return font;
}

QFont numberFont(const QFont& base)
{
    const QFontMetricsF metrics(base);
    const qreal width = metrics.horizontalAdvance(QLatin1Char('0'));
    for (char digit = '1'; digit <= '9'; ++digit)
        if (qAbs(metrics.horizontalAdvance(QLatin1Char(digit)) - width) > 0.01) {
            QFont font = base;
            font.setFamilies({ QStringLiteral("DejaVu Sans") });
            return font;
        }
    return base;
}

QFont codeFont(const QFont& base)
{
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    font.setFamilies({ font.family(), QStringLiteral("DejaVu Sans Mono") });
    font.setPixelSize(base.pixelSize() > 0 ? base.pixelSize() : kBodyPx);
    return font;
}

QString elidedName(const QFontMetricsF& metrics, const QString& name, double width)
{
    if (metrics.horizontalAdvance(name) <= width)
        return name;
    qsizetype digits = name.size();
    while (digits > 0 && name[digits - 1].isDigit())
        --digits;
    const QString number = name.mid(digits);
    return !number.isEmpty() && metrics.horizontalAdvance(number) <= width
        ? number
        : metrics.elidedText(name, Qt::ElideRight, width);
}

} // namespace strata::views
