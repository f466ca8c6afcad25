// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/style/rich_text.h"

namespace strata::views::text {

namespace {

constexpr QLatin1String kScheme("event:");

} // namespace

QString strong(const QString& plain)
{
    return QStringLiteral("<b>%1</b>").arg(plain.toHtmlEscaped());
}

QString link(const QString& plain, model::EventIndex event)
{
    return linked(plain.toHtmlEscaped(), event);
}

QString linked(const QString& html, model::EventIndex event, const QString& colour)
{
    return QStringLiteral("<a href=\"%1%2\" style=\"%3text-decoration:none\">%4</a>")
        .arg(kScheme, QString::number(event),
            colour.isEmpty() ? QString() : QStringLiteral("color:%1;").arg(colour), html);
}

std::optional<model::EventIndex> eventOfLink(const QString& link)
{
    if (!link.startsWith(kScheme))
        return std::nullopt;
    bool ok = false;
    const qlonglong event = link.mid(kScheme.size()).toLongLong(&ok);
    return ok ? std::optional<model::EventIndex>(event) : std::nullopt;
}

} // namespace strata::views::text
