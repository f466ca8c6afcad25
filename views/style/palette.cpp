// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/style/palette.h"

#include "resources/resources.h"

#include <QFile>
#include <QImage>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <array>
#include <utility>

namespace strata::views {

namespace {

// In the order of Palette::Role.
constexpr std::array kRoleNames{ "surface", "frame", "line", "text", "textMuted", "accent", "accentText",
    "selection", "hover", "good", "warning", "bad", "reserved", "requested", "pendingFree", "beforeTrace",
    "other", "filteredOut", "free", "tooltip", "tooltipText" };
static_assert(kRoleNames.size() == static_cast<std::size_t>(Palette::Role::TooltipText) + 1);

QColor parseColour(const QJsonValue& value)
{
    const QColor colour(value.toString());
    Q_ASSERT_X(colour.isValid(), "Palette", "palette.json lacks a colour");
    return colour;
}

QJsonObject readScheme(const QString& name)
{
    initResources();
    QFile file(QStringLiteral(":/strata/palette.json"));
    const bool opened = file.open(QIODevice::ReadOnly);
    Q_ASSERT_X(opened, "Palette", "palette.json is not among the resources");
    return opened ? QJsonDocument::fromJson(file.readAll()).object().value(name).toObject() : QJsonObject();
}

} // namespace

Palette::Palette(bool dark)
    : m_dark(dark)
{
    const QJsonObject scheme = readScheme(dark ? QStringLiteral("dark") : QStringLiteral("light"));
    for (const char* role : kRoleNames)
        m_roles.push_back(parseColour(scheme.value(QLatin1String(role))));
    for (const auto& [name, colours] : { std::pair(QLatin1String("groups"), &m_groups),
             std::pair(QLatin1String("categories"), &m_categories),
             std::pair(QLatin1String("phases"), &m_phases) })
        for (const QJsonValue& colour : scheme.value(name).toArray())
            colours->push_back(parseColour(colour));
}

Palette Palette::light()
{
    static const Palette palette(false);
    return palette;
}

Palette Palette::dark()
{
    static const Palette palette(true);
    return palette;
}

QColor Palette::operator[](Role role) const
{
    return m_roles[static_cast<std::size_t>(role)];
}

QColor Palette::group(int rank) const
{
    if (rank <= kFirstCategory && kFirstCategory - rank < categoryCount())
        return m_categories[static_cast<std::size_t>(kFirstCategory - rank)];
    if (rank < 0 || rank >= groupCount())
        return (*this)[Role::Other];
    return m_groups[static_cast<std::size_t>(rank)];
}

QColor Palette::phase(int place) const
{
    return place >= 0 && place < phaseCount() ? m_phases[static_cast<std::size_t>(place)]
                                              : (*this)[Role::Other];
}

QBrush Palette::groupFill(int rank) const
{
    if (!isHatched(rank))
        return group(rank);
    constexpr int kPeriod = 6, kScale = 2;
    QImage tile(kPeriod * kScale, kPeriod * kScale, QImage::Format_RGB32);
    const QRgb ground = group(rank).rgb(), mark = (*this)[Role::Surface].rgb();
    for (int y = 0; y < tile.height(); ++y)
        for (int x = 0; x < tile.width(); ++x)
            tile.setPixel(x, y, (x / kScale + y / kScale) % kPeriod == 0 ? mark : ground);
    tile.setDevicePixelRatio(kScale);
    return tile;
}

} // namespace strata::views
