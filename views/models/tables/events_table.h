// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>

#include "model/tables/row_order.h"
#include "views/models/document/document.h"
#include "views/models/tables/table_source.h"

namespace strata::views {

/// The trace of a device as a table; row = event. Columns of what few recordings have (user metadata, compile
/// context, keys that Strata does not know) are there only if some event has it.
class EventsTable final : public TableSource {
    Q_DECLARE_TR_FUNCTIONS(EventsTable)
public:
    enum Column {
        Event,
        Time,
        Action,
        Size,
        Line,
        Address,
        Stream,
        Pool,
        Metadata,
        CompileContext,
        Extras,
    };

    explicit EventsTable(std::shared_ptr<const DeviceData> device);

    [[nodiscard]] const std::vector<TableColumn>& columns() const override { return m_columns; }
    [[nodiscard]] Column columnKind(int column) const { return m_kinds[static_cast<std::size_t>(column)]; }
    [[nodiscard]] std::uint32_t rowCount() const override;
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override;
    [[nodiscard]] QString tooltip(std::uint32_t row, int column) const override;
    [[nodiscard]] Key sortKey(int column) const override;
    [[nodiscard]] QString sortName(int column) const override;
    /// Events of blocks are kept with their block; the others by their own size, stream, pool and stack. A
    /// text also finds actions, user metadata and compile contexts.
    [[nodiscard]] Match matcher(const std::vector<model::BlockFilter>& filters,
        const std::optional<EventRange>& range) const override;
    [[nodiscard]] Span rowsNear(const std::optional<EventRange>& range) const override;
    void add(TableSums& sums, std::uint32_t row) const override; ///< first: allocated, second: freed bytes
    [[nodiscard]] std::string csvHeader() const override;
    void appendCsv(std::string& to, std::uint32_t row) const override;
    [[nodiscard]] QString stackText(std::uint32_t row) const override;

private:
    void addColumn(Column kind, const TableColumn& column);
    [[nodiscard]] QString actionText(std::uint32_t row) const;
    [[nodiscard]] TableCell poolCell(std::uint32_t row) const;
    [[nodiscard]] TableCell addressCell(std::uint32_t row) const;
    [[nodiscard]] TableCell lineCellOf(std::uint32_t row) const;
    [[nodiscard]] model::PoolIndex poolOf(std::uint32_t row) const; ///< model::poolOfEvent()
    [[nodiscard]] model::StackId stackOf(std::uint32_t row) const; ///< the event's, else its block's
    [[nodiscard]] const model::SparseText* sparse(Column kind) const;
    [[nodiscard]] model::EventOrder order(int column) const;
    [[nodiscard]] const model::EventColumns& events() const { return m_device->trace->events(); }
    [[nodiscard]] const model::Recording& recording() const { return m_device->trace->recording(); }

    std::shared_ptr<const DeviceData> m_device;
    std::vector<TableColumn> m_columns;
    std::vector<Column> m_kinds;
};

} // namespace strata::views
