// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>

#include "model/tables/block_columns.h"
#include "views/models/document/document.h"
#include "views/models/tables/listed_table.h"

namespace strata::views {

/// The block lifetimes of a device as a table; a row is a place in BlockColumns::all(). Events or times in it
/// follow `axis`.
class BlocksTable final : public ListedTable<model::BlockOrder> {
    Q_DECLARE_TR_FUNCTIONS(BlocksTable)
public:
    using enum model::BlockOrder;

    BlocksTable(std::shared_ptr<const DeviceData> device, model::Axis axis);

    /// Where a column is; Lifetime and Duration share a place.
    [[nodiscard]] static constexpr int placeOf(model::BlockOrder column)
    {
        return static_cast<int>(column) - (column > Lifetime ? 1 : 0);
    }
    [[nodiscard]] std::uint32_t rowCount() const override;
    [[nodiscard]] std::optional<std::uint32_t> sameRow(
        const TableSource& other, std::uint32_t row) const override;
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override;
    [[nodiscard]] QString tooltip(std::uint32_t row, int column) const override;
    [[nodiscard]] Key sortKey(int column) const override;
    [[nodiscard]] Match matcher(const std::vector<model::BlockFilter>& filters,
        const std::optional<EventRange>& range) const override;
    void add(TableSums& sums, std::uint32_t row) const override; ///< first: requested bytes
    [[nodiscard]] std::string csvHeader() const override;
    void appendCsv(std::string& to, std::uint32_t row) const override;
    [[nodiscard]] QString stackText(std::uint32_t row) const override;

private:
    [[nodiscard]] model::BlockRow rowAt(std::uint32_t row) const { return { &m_source, blocks().at(row) }; }
    [[nodiscard]] TableCell categoryCell(const model::BlockRow& row) const;
    [[nodiscard]] TableCell moduleCell(const model::BlockRow& row) const;
    [[nodiscard]] QString categoryTooltip(const model::BlockRow& row) const;
    [[nodiscard]] TableCell momentCell(std::optional<std::uint32_t> event) const;
    [[nodiscard]] TableCell lifetimeCell(const model::BlockRow& row) const;
    [[nodiscard]] QString momentTooltip(std::uint32_t event) const;
    [[nodiscard]] const model::BlockColumns& blocks() const { return m_device->trace->blocks(); }

    std::shared_ptr<const DeviceData> m_device;
    bool m_times = false;
    model::BlockSource m_source; // categories: once they are known of these blocks
};

} // namespace strata::views
