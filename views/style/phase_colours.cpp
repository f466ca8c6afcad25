// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/style/phase_colours.h"

#include "resources/resources.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <array>

namespace strata::views {

namespace {

using Colours = std::array<QColor, kPhaseColours>;

Colours readColours(const QString& scheme)
{
    initResources();
    QFile file(QStringLiteral(":/strata/palette.json"));
    Colours colours;
    if (!file.open(QIODevice::ReadOnly))
        return colours;
    const QJsonArray values = QJsonDocument::fromJson(file.readAll())
                                  .object()
                                  .value(scheme)
                                  .toObject()
                                  .value(QLatin1String("phases"))
                                  .toArray();
    for (int place = 0; place < kPhaseColours; ++place)
        colours[static_cast<std::size_t>(place)] = QColor(values.at(place).toString());
    return colours;
}

} // namespace

QColor phaseColour(const Palette& palette, int place)
{
    static const Colours light = readColours(QStringLiteral("light")),
                         dark = readColours(QStringLiteral("dark"));
    if (place < 0 || place >= kPhaseColours)
        return palette[Palette::Role::Other];
    return (palette.isDark() ? dark : light)[static_cast<std::size_t>(place)];
}

} // namespace strata::views
