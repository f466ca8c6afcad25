// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>

#include "model/tables/row_order.h"
#include "views/models/document/document.h"
#include "views/models/tables/table_source.h"

namespace strata::views {

/// The block lifetimes of a device as a table; a row is a place in BlockColumns::all(). Events or times in it
/// follow `axis`.
class BlocksTable final : public TableSource {
    Q_DECLARE_TR_FUNCTIONS(BlocksTable)
public:
    enum Column {
        Block,
        Requested,
        Rounded,
        Line,
        Category,
        Module,
        Born,
        FreeRequested,
        Freed,
        Lifetime,
        Stream,
        Pool,
        Address,
        Segment,
    };

    BlocksTable(std::shared_ptr<const DeviceData> device, model::Axis axis);

    [[nodiscard]] const std::vector<TableColumn>& columns() const override { return m_columns; }
    [[nodiscard]] std::uint32_t rowCount() const override;
    [[nodiscard]] std::optional<std::uint32_t> sameRow(
        const TableSource& other, std::uint32_t row) const override;
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override;
    [[nodiscard]] QString tooltip(std::uint32_t row, int column) const override;
    [[nodiscard]] Key sortKey(int column) const override;
    [[nodiscard]] QString sortName(int column) const override;
    [[nodiscard]] Match matcher(const std::vector<model::BlockFilter>& filters,
        const std::optional<EventRange>& range) const override;
    void add(TableSums& sums, std::uint32_t row) const override; ///< first: requested bytes
    [[nodiscard]] std::string csvHeader() const override;
    void appendCsv(std::string& to, std::uint32_t row) const override;
    [[nodiscard]] QString stackText(std::uint32_t row) const override;

private:
    [[nodiscard]] const TrainingData* training() const; ///< nullptr until it knows blocks' categories
    [[nodiscard]] const TrainingData* trainingOf(model::BlockId block) const; ///< likewise, that of this one
    [[nodiscard]] TableCell categoryCell(model::BlockId block) const;
    [[nodiscard]] TableCell moduleCell(model::BlockId block) const;
    [[nodiscard]] QString categoryTooltip(model::BlockId block) const;
    [[nodiscard]] TableCell momentCell(model::EventId event) const;
    [[nodiscard]] TableCell lifetimeCell(model::BlockId block) const;
    [[nodiscard]] QString momentTooltip(model::EventId event) const;
    [[nodiscard]] model::BlockOrder order(int column) const;
    [[nodiscard]] const model::SegmentLife* segmentOf(model::BlockId block) const;
    [[nodiscard]] const model::BlockColumns& blocks() const { return m_device->trace->blocks(); }

    std::shared_ptr<const DeviceData> m_device;
    bool m_times = false;
    std::vector<TableColumn> m_columns;
};

} // namespace strata::views
