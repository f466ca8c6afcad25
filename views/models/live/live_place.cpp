// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/live/live_place.h"

#include <QFileInfo>

namespace strata::views {

namespace {

const QString kLive = QStringLiteral("live:");
const QLatin1Char kBeforeToken('#'); // stands in no address of a port

} // namespace

bool LivePlace::isLive(const QString& place)
{
    return place.startsWith(kLive) && !QFileInfo::exists(place);
}

QString LivePlace::target(const QString& place)
{
    const QString target = place.mid(kLive.size());
    const qsizetype mark = target.startsWith(QLatin1Char('/')) ? -1 : target.lastIndexOf(kBeforeToken);
    return target.left(mark);
}

model::Result<LivePlace> LivePlace::find(const QString& place)
{
    const QString target = LivePlace::target(place);
    const auto address = model::findAddress(target.toStdString());
    if (!address)
        return model::Failure(address.error());
    LivePlace found;
    found.m_address = *address;
    found.m_token = place.mid(kLive.size() + target.size() + 1);
    return found;
}

QString LivePlace::text(const model::LinkAddress& address, const QString& token)
{
    const QString target = kLive + QString::fromStdString(address.text());
    return address.isPort() && !token.isEmpty() ? target + kBeforeToken + token : target;
}

QString LivePlace::target() const
{
    return QString::fromStdString(m_address.text());
}

} // namespace strata::views
