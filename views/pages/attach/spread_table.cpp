// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/attach/spread_table.h"

#include "views/models/tables/table_cells.h"

#include <algorithm>
#include <utility>

namespace strata::views {

namespace {

const QString kSizeSample = QStringLiteral("1,023");
const QString kUnit = QStringLiteral("MiB");
const QString kRankSample = QStringLiteral("rank 8888");

/// Its name does not say so itself.
bool isOfPeak(RankSpread::Of of)
{
    return of == RankSpread::Of::Line || of == RankSpread::Of::NoStack;
}

} // namespace

SpreadTable::SpreadTable(std::vector<RankSpread> spreads, QStringList names)
    : PlainTable({
        { { tr("What differs"), tr("Lines of code are of what is active at each rank's own peak"),
              QStringLiteral("attention.py:888"), false, {}, true },
            "what" },
        { { tr("Spread"), tr("Between the highest and the lowest rank"), kSizeSample, true, kUnit },
            "spread_bytes" },
        { { tr("Highest"), tr("Of all ranks"), kSizeSample, true, kUnit }, "highest_bytes" },
        { { tr("on"), tr("The rank that has the most"), kRankSample }, "highest_rank" },
        { { tr("Lowest"), tr("Of all ranks"), kSizeSample, true, kUnit }, "lowest_bytes" },
        { { tr("on"), tr("The rank that has the least"), kRankSample }, "lowest_rank" },
    })
    , m_spreads(std::move(spreads))
    , m_names(std::move(names))
{
}

std::optional<std::uint32_t> SpreadTable::sameRow(const TableSource& other, std::uint32_t row) const
{
    const auto* const table = dynamic_cast<const SpreadTable*>(&other);
    if (!table)
        return std::nullopt;
    const auto found = std::ranges::find(m_spreads, table->m_spreads[row].name, &RankSpread::name);
    return found == m_spreads.end() ? std::nullopt
                                    : std::optional(static_cast<std::uint32_t>(found - m_spreads.begin()));
}

TableCell SpreadTable::cell(std::uint32_t row, int column) const
{
    const RankSpread& spread = m_spreads[row];
    switch (column) {
    case What:
        return { spread.name, isOfPeak(spread.of) ? tr("at the peak") : QString() };
    case HighestRank:
        return { m_names.value(static_cast<qsizetype>(spread.highest)), {} };
    case LowestRank:
        return { m_names.value(static_cast<qsizetype>(spread.lowest)), {} };
    default:
        return bytesCell(*figure(row, column));
    }
}

std::optional<std::int64_t> SpreadTable::figure(std::uint32_t row, int column) const
{
    const RankSpread& spread = m_spreads[row];
    switch (column) {
    case Spread:
        return spread.bytes();
    case Highest:
        return spread.highestBytes;
    case Lowest:
        return spread.lowestBytes;
    default:
        return std::nullopt;
    }
}

std::string SpreadTable::text(std::uint32_t row, int column) const
{
    return cell(row, column).text.toStdString();
}

} // namespace strata::views
