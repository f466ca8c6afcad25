// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/style/rich_text.h"

#include <QRegularExpression>

namespace strata::views::text {

namespace {

constexpr QLatin1String kScheme("event:");
constexpr QLatin1String kLineScheme("line:");
constexpr QLatin1String kGroupScheme("group:");
constexpr QLatin1String kPageScheme("page:");

QString anchor(const QString& target, const QString& html, const QString& colour)
{
    return QStringLiteral("<a href=\"%1\" style=\"%2text-decoration:none\">%3</a>")
        .arg(target, colour.isEmpty() ? QString() : QStringLiteral("color:%1;").arg(colour), html);
}

QString target(QLatin1String scheme, const std::string& name, std::optional<model::EventIndex> event)
{
    return scheme + (event ? QString::number(*event) : QString()) + QLatin1Char(':')
        + QString::fromLatin1(QByteArray::fromStdString(name).toPercentEncoding());
}

std::optional<LineLink> nameOfLink(QLatin1String scheme, const QString& link)
{
    if (!link.startsWith(scheme))
        return std::nullopt;
    const QString rest = link.mid(scheme.size());
    const qsizetype colon = rest.indexOf(QLatin1Char(':'));
    bool hasEvent = false;
    const qlonglong event = rest.left(colon).toLongLong(&hasEvent);
    return LineLink{ QByteArray::fromPercentEncoding(rest.mid(colon + 1).toLatin1()).toStdString(),
        hasEvent ? std::optional<model::EventIndex>(event) : std::nullopt };
}

} // namespace

QString strong(const QString& plain)
{
    return QStringLiteral("<b>%1</b>").arg(plain.toHtmlEscaped());
}

QString unbroken(QString html)
{
    static const QRegularExpression between(QStringLiteral("(?<=\\d) (?=(?:[KMGTPE]i)?B\\b|%|[nµm]?s\\b)"),
        QRegularExpression::UseUnicodePropertiesOption);
    return html.replace(between, QString(QChar::Nbsp));
}

QString link(const QString& plain, model::EventIndex event)
{
    return linked(plain.toHtmlEscaped(), event);
}

QString linked(const QString& html, model::EventIndex event, const QString& colour)
{
    return anchor(kScheme + QString::number(event), html, colour);
}

QString linked(const QString& html, const LineLink& line, const QString& colour)
{
    return anchor(target(kLineScheme, line.line, line.event), html, colour);
}

QString linked(const QString& html, const GroupLink& group)
{
    return anchor(target(kGroupScheme, group.label, group.event), html, {});
}

std::optional<LineLink> lineOfLink(const QString& link)
{
    return nameOfLink(kLineScheme, link);
}

std::optional<GroupLink> groupOfLink(const QString& link)
{
    const auto found = nameOfLink(kGroupScheme, link);
    return found && found->event ? std::optional(GroupLink{ found->line, *found->event }) : std::nullopt;
}

std::optional<model::EventIndex> eventOfLink(const QString& link)
{
    if (!link.startsWith(kScheme))
        return std::nullopt;
    bool ok = false;
    const qlonglong event = link.mid(kScheme.size()).toLongLong(&ok);
    return ok ? std::optional<model::EventIndex>(event) : std::nullopt;
}

QString pageLinked(const QString& html, const QString& page)
{
    return anchor(kPageScheme + page, html, {});
}

std::optional<QString> pageOfLink(const QString& link)
{
    return link.startsWith(kPageScheme) ? std::optional(link.mid(kPageScheme.size())) : std::nullopt;
}

QStringList sentences(const QString& html)
{
    QStringList all;
    qsizetype begin = 0;
    int open = 0; // elements around the place
    for (qsizetype i = 0; i < html.size(); ++i) {
        if (html[i] == QLatin1Char('<')) {
            open += QStringView(html).mid(i + 1).startsWith(QLatin1Char('/')) ? -1 : 1;
            const qsizetype end = html.indexOf(QLatin1Char('>'), i);
            i = end < 0 ? html.size() : end;
        } else if (open == 0 && QStringView(html).mid(i).startsWith(QLatin1String(". "))) {
            all.append(html.mid(begin, i + 1 - begin));
            begin = i + 2;
        }
    }
    if (begin < html.size())
        all.append(html.mid(begin));
    return all;
}

} // namespace strata::views::text
