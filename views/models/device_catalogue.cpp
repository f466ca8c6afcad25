// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/device_catalogue.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>

namespace strata::views {

namespace {

std::vector<DeviceCard> readCatalogue()
{
    QFile file(QStringLiteral(":/strata/devices.json"));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const QJsonArray entries
        = QJsonDocument::fromJson(file.readAll()).object().value(QLatin1String("devices")).toArray();
    std::vector<DeviceCard> cards;
    for (const QJsonValue& entry : entries)
        cards.push_back({ entry[QLatin1String("name")].toString(), entry[QLatin1String("product")].toString(),
            entry[QLatin1String("capacity_bytes")].toInteger(),
            entry[QLatin1String("capacity_source")].toString() });
    return cards;
}

} // namespace

const std::vector<DeviceCard>& deviceCatalogue()
{
    static const std::vector<DeviceCard> cards = readCatalogue();
    return cards;
}

const DeviceCard* findDeviceCard(const QString& name)
{
    const auto& cards = deviceCatalogue();
    const auto found = std::find_if(cards.begin(), cards.end(),
        [&](const DeviceCard& card) { return card.name.compare(name, Qt::CaseInsensitive) == 0; });
    return found == cards.end() ? nullptr : &*found;
}

} // namespace strata::views
