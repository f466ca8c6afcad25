// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/tables/table_source.h"

#include <numeric>

namespace strata::views {

namespace {

constexpr std::uint32_t kRowsBetweenStops = 1u << 15; // rows between two looks at the stop token

struct Kept {
    std::vector<std::uint32_t> rows;
    TableSums sums;
};

Kept filterRows(const TableSource& source, const TableQuery& query, const JobContext& context)
{
    const TableSource::Match match = source.matcher(query.filters, query.range);
    const auto [begin, end] = source.rowsNear(query.range);
    Kept kept;
    for (std::uint32_t row = begin; row < end; ++row) {
        if ((row - begin) % kRowsBetweenStops == 0) {
            if (context.cancelled())
                break;
            context.progress(0.3 * (row - begin) / (end - begin));
        }
        if (match && !match(row))
            continue;
        if (match)
            kept.rows.push_back(row);
        source.add(kept.sums, row);
    }
    if (!match) {
        kept.rows.resize(end);
        std::iota(kept.rows.begin(), kept.rows.end(), 0u);
    }
    return kept;
}

std::vector<std::uint32_t> sorted(const TableSource& source, const TableQuery& query,
    std::vector<std::uint32_t> rows, const JobContext& context)
{
    const TableSource::Key key = source.sortKey(query.sortColumn);
    std::vector<std::uint32_t> withKey, without;
    std::vector<std::uint64_t> keys;
    keys.reserve(rows.size());
    withKey.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i % kRowsBetweenStops == 0) {
            if (context.cancelled())
                return {};
            context.progress(0.3 + 0.2 * static_cast<double>(i) / static_cast<double>(rows.size()));
        }
        if (const std::optional<std::uint64_t> value = key(rows[i])) {
            keys.push_back(query.descending ? ~*value : *value);
            withKey.push_back(rows[i]);
        } else {
            without.push_back(rows[i]);
        }
    }
    rows = {};
    sortByKey(keys, withKey, context);
    withKey.insert(withKey.end(), without.begin(), without.end());
    return withKey;
}

} // namespace

std::optional<std::uint32_t> TableSource::sameRow(const TableSource&, std::uint32_t row) const
{
    return row < rowCount() ? std::optional(row) : std::nullopt;
}

TableSource::Span TableSource::rowsNear(const std::optional<EventRange>&) const
{
    return { 0, rowCount() };
}

TableRows arrange(const TableSource& source, const TableQuery& query, const JobContext& context)
{
    Kept kept = filterRows(source, query, context);
    const bool ownOrder = query.sortColumn == 0 && !query.descending;
    if (ownOrder && kept.rows.size() == source.rowCount())
        return TableRows::all(source.rowCount(), kept.sums);
    if (ownOrder)
        return TableRows::of(std::move(kept.rows), true, kept.sums);
    return TableRows::of(sorted(source, query, std::move(kept.rows), context), false, kept.sums);
}

} // namespace strata::views
