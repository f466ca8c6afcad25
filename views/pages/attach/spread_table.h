// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/live/live_ranks.h"
#include "views/models/tables/plain_table.h"

#include <QCoreApplication>
#include <QStringList>

namespace strata::views {

/// How ranks differ, in numbers: a row is a RankSpread, the widest first.
class SpreadTable final : public PlainTable {
    Q_DECLARE_TR_FUNCTIONS(SpreadTable)
public:
    enum Place { What, Spread, Highest, HighestRank, Lowest, LowestRank };

    /// `names` of the ranks by their places.
    SpreadTable(std::vector<RankSpread> spreads, QStringList names);
    [[nodiscard]] std::uint32_t rowCount() const override
    {
        return static_cast<std::uint32_t>(m_spreads.size());
    }
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override;
    [[nodiscard]] const RankSpread& spread(std::uint32_t row) const { return m_spreads[row]; }
    [[nodiscard]] std::optional<std::uint32_t> sameRow(
        const TableSource& other, std::uint32_t row) const override;

private:
    [[nodiscard]] std::optional<std::int64_t> figure(std::uint32_t row, int column) const override;
    [[nodiscard]] std::string text(std::uint32_t row, int column) const override;

    std::vector<RankSpread> m_spreads;
    QStringList m_names;
};

} // namespace strata::views
