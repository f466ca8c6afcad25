// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/table_filter.h"

#include "model/base/units.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include <algorithm>

namespace strata::views {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("TableFilter", text);
}

std::optional<std::int64_t> bytesOf(QString text)
{
    return model::parseBytes(text.remove(QLatin1Char(',')).simplified().toStdString());
}

void atLeast(model::BlockFilter& filter, std::int64_t bytes)
{
    filter.minBytes = std::max(filter.minBytes, bytes);
}

void atMost(model::BlockFilter& filter, std::int64_t bytes)
{
    filter.maxBytes = std::min(filter.maxBytes, bytes);
}

void compare(model::BlockFilter& filter, const QString& relation, std::int64_t bytes)
{
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    if (relation == QLatin1String(">"))
        atLeast(filter, bytes == kMost ? kMost : bytes + 1);
    else if (relation == QLatin1String(">="))
        atLeast(filter, bytes);
    else if (relation == QLatin1String("<"))
        atMost(filter, bytes - 1);
    else if (relation == QLatin1String("<="))
        atMost(filter, bytes);
    else {
        atLeast(filter, bytes);
        atMost(filter, bytes);
    }
}

} // namespace

model::Result<model::BlockFilter> parseTableFilter(const QString& typed)
{
    // A number, then a unit that may stand apart; all of it ends at a space.
    static const QString kSize
        = QStringLiteral("([0-9][0-9.,]*(?:[eE][0-9]+)?(?:\\s*(?:[kKmMgGtT]i?[bB]?|[bB]))?)");
    static const QRegularExpression kRange(
        QStringLiteral("(?<!\\S)") + kSize + QStringLiteral("\\.\\.") + kSize + QStringLiteral("(?!\\S)"));
    static const QRegularExpression kComparison(
        QStringLiteral("(?<!\\S)(>=|<=|>|<|=)(?:\\s*") + kSize + QStringLiteral("(?!\\S)|(?!\\S))"));

    model::BlockFilter filter;
    QString rest = typed;
    if (const QRegularExpressionMatch match = kRange.match(rest); match.hasMatch()) {
        const auto from = bytesOf(match.captured(1)), to = bytesOf(match.captured(2));
        if (from && to) {
            atLeast(filter, *from);
            atMost(filter, *to);
            rest.replace(match.capturedStart(), match.capturedLength(), QStringLiteral(" "));
        }
    }
    for (QRegularExpressionMatch match = kComparison.match(rest); match.hasMatch();
         match = kComparison.match(rest)) {
        const std::optional<std::int64_t> bytes = bytesOf(match.captured(2));
        if (!bytes)
            return model::fail(model::Error::Kind::Usage,
                tr("No size after \"%1\"").arg(match.captured(1)).toStdString(),
                tr("write a size such as 1 MiB, 512 or 2GiB").toStdString());
        compare(filter, match.captured(1), *bytes);
        rest.replace(match.capturedStart(), match.capturedLength(), QStringLiteral(" "));
    }
    filter.text = rest.simplified().toStdString();
    return filter;
}

} // namespace strata::views
