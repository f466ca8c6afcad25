// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/style/rich_text.h"

#include <QRegularExpression>

namespace strata::views::text {

namespace {

constexpr QLatin1String kScheme("event:");
constexpr QLatin1String kLineScheme("line:");
constexpr QLatin1String kPageScheme("page:");

QString anchor(const QString& target, const QString& html, const QString& colour)
{
    return QStringLiteral("<a href=\"%1\" style=\"%2text-decoration:none\">%3</a>")
        .arg(target, colour.isEmpty() ? QString() : QStringLiteral("color:%1;").arg(colour), html);
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
    const QByteArray name = QByteArray::fromStdString(line.line).toPercentEncoding();
    const QString event = line.event ? QString::number(*line.event) : QString();
    return anchor(kLineScheme + event + QLatin1Char(':') + QString::fromLatin1(name), html, colour);
}

std::optional<LineLink> lineOfLink(const QString& link)
{
    if (!link.startsWith(kLineScheme))
        return std::nullopt;
    const QString rest = link.mid(kLineScheme.size());
    const qsizetype colon = rest.indexOf(QLatin1Char(':'));
    bool hasEvent = false;
    const qlonglong event = rest.left(colon).toLongLong(&hasEvent);
    return LineLink{ QByteArray::fromPercentEncoding(rest.mid(colon + 1).toLatin1()).toStdString(),
        hasEvent ? std::optional<model::EventIndex>(event) : std::nullopt };
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
