// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/search.h"

#include "model/base/units.h"

#include <QRegularExpression>

#include <cmath>
#include <limits>

namespace strata::views {

namespace {

constexpr std::int64_t kAnySize = std::numeric_limits<std::int64_t>::max();

/// Half a unit of the last digit of "24.0 MiB": what is shown so may be that much off.
std::int64_t halfLastDigit(const QString& number, const QString& unit)
{
    if (unit.isEmpty() || unit.compare(QLatin1String("B"), Qt::CaseInsensitive) == 0)
        return 0;
    const auto one = model::parseBytes((QLatin1Char('1') + unit).toStdString());
    if (!one)
        return 0;
    const qsizetype point = number.indexOf(QLatin1Char('.'));
    const auto decimals = point < 0 ? 0.0 : static_cast<double>(number.size() - point - 1);
    return static_cast<std::int64_t>(static_cast<double>(*one) * std::pow(10.0, -decimals) / 2);
}

} // namespace

std::optional<model::BlockFilter> searchFilter(const model::BlockFilter& filter, const QString& text)
{
    const QString trimmed = text.trimmed();
    if (trimmed.isEmpty())
        return std::nullopt;
    model::BlockFilter next = filter;

    static const QRegularExpression size(
        QStringLiteral("^(>=|<=|>|<|=|≥|≤)?\\s*([0-9][0-9,]*(?:\\.[0-9]+)?)\\s*([kmgt]?i?b)?$"),
        QRegularExpression::CaseInsensitiveOption);
    const QRegularExpressionMatch match = size.match(trimmed);
    if (match.hasMatch()) {
        const QString relation = match.captured(1);
        const QString number = match.captured(2).remove(QLatin1Char(','));
        const QString unit = match.captured(3);
        if (const auto bytes = model::parseBytes((number + unit).toStdString())) {
            if (relation == QLatin1String(">")) {
                next.minBytes = *bytes + (*bytes < kAnySize ? 1 : 0);
            } else if (relation == QLatin1String(">=") || relation == QStringLiteral("≥")) {
                next.minBytes = *bytes;
            } else if (relation == QLatin1String("<")) {
                next.maxBytes = std::max<std::int64_t>(*bytes - 1, 0);
            } else if (relation == QLatin1String("<=") || relation == QStringLiteral("≤")) {
                next.maxBytes = *bytes;
            } else {
                const std::int64_t off = halfLastDigit(number, unit);
                next.minBytes = std::max<std::int64_t>(*bytes - off, 0);
                next.maxBytes = *bytes > kAnySize - off ? kAnySize : *bytes + off;
            }
            return next;
        }
    }
    next.text = trimmed.toStdString();
    return next;
}

} // namespace strata::views
