// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/texts.h"

#include <QCoreApplication>

#include <cmath>

namespace strata::views::figures {

QString shareText(std::int64_t part, std::int64_t whole)
{
    if (whole <= 0 || part <= 0)
        return QStringLiteral("0 %");
    const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    if (percent < 0.5)
        return QStringLiteral("<1 %");
    return QStringLiteral("%1 %").arg(static_cast<int>(std::lround(percent)));
}

QString eventText(model::EventIndex event)
{
    if (event < 0)
        return QCoreApplication::translate("Instant", "before the first event");
    return QCoreApplication::translate("Instant", "event %1").arg(countText(event));
}

QString instantText(const model::Clock& clock, model::EventIndex event)
{
    if (!clock.hasTimes() || event < 0)
        return eventText(event);
    return QStringLiteral("%1 · %2").arg(
        eventText(event), durationText(clock.timeNs(event) - clock.startNs()));
}

QString shortened(const QString& text, qsizetype most)
{
    return text.size() <= most ? text : QStringLiteral("…") + text.right(most - 1);
}

} // namespace strata::views::figures
