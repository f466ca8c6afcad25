// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/tables/row_columns.h"
#include "model/trace/filter/grouping.h"
#include "views/models/tables/csv.h"

#include <concepts>
#include <fmt/format.h>
#include <iterator>
#include <string>
#include <string_view>

namespace strata::views {

/// A row of blocks or events as a line of CSV: model/tables/row_columns.h says of what.

template <class T> void appendCsvValue(std::string& to, const T& value)
{
    if constexpr (std::integral<T>)
        fmt::format_to(std::back_inserter(to), "{}", value);
    else if constexpr (std::same_as<T, model::Address>)
        fmt::format_to(std::back_inserter(to), "0x{:x}", value.value);
    else if constexpr (std::same_as<T, model::StreamIn>)
        appendCsvValue(to, value.handle());
    else if constexpr (std::same_as<T, model::PoolIn>)
        appendCsvField(to, model::poolLabel(*value.recording, value.pool));
    else if constexpr (std::same_as<T, model::LineIn>)
        appendCsvField(
            to, model::frameLabel(*value.recording, model::userFrame(*value.recording, value.stack)));
    else if constexpr (std::same_as<T, model::ForeignJson>)
        appendCsvField(to, value.text);
    else if constexpr (std::convertible_to<const T&, std::string_view>)
        appendCsvField(to, value);
    else if (value) // an optional
        appendCsvValue(to, *value);
}
template <class T> void appendCsvValue(std::string& to, const model::LeftOutWhereNone<T>& value)
{
    appendCsvValue(to, value.value);
}

template <class Row> [[nodiscard]] std::string csvHeader()
{
    std::string line;
    model::forEachCsvColumn<Row>([&](const auto& column) {
        line += line.empty() ? "" : ",";
        line += column.names.csv.empty() ? column.key : column.names.csv;
    });
    return line + '\n';
}

template <class Row> void appendCsvRow(std::string& to, const Row& row)
{
    bool first = true;
    model::forEachCsvColumn<Row>([&](const auto& column) {
        if (!first)
            to += ',';
        first = false;
        appendCsvValue(to, column.of(row));
    });
    to += '\n';
}

} // namespace strata::views
