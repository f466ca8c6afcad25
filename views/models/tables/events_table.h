// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>

#include "model/tables/event_columns.h"
#include "views/models/document/document.h"
#include "views/models/tables/listed_table.h"

namespace strata::views {

/// The trace of a device as a table; row = event. Columns of what few recordings have (user metadata, compile
/// context, keys that Strata does not know) are there only if some event has it.
class EventsTable final : public ListedTable<model::EventOrder> {
    Q_DECLARE_TR_FUNCTIONS(EventsTable)
public:
    using Column = model::EventOrder;
    using enum model::EventOrder;

    explicit EventsTable(std::shared_ptr<const DeviceData> device);

    [[nodiscard]] std::uint32_t rowCount() const override;
    [[nodiscard]] TableCell cell(std::uint32_t row, int column) const override;
    [[nodiscard]] QString tooltip(std::uint32_t row, int column) const override;
    [[nodiscard]] Key sortKey(int column) const override;
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
    [[nodiscard]] model::EventRow rowAt(std::uint32_t row) const { return { &m_source, row }; }
    [[nodiscard]] TableCell poolCell(const model::EventRow& row) const;
    [[nodiscard]] TableCell addressCell(const model::EventRow& row) const;
    [[nodiscard]] TableCell lineCellOf(std::uint32_t row) const;
    [[nodiscard]] model::StackId stackOf(std::uint32_t row) const; ///< the event's, else its block's
    /// Of a column that few recordings have.
    [[nodiscard]] static std::string_view rareText(const model::EventRow& row, Column kind);
    [[nodiscard]] const model::EventColumns& events() const { return m_device->trace->events(); }
    [[nodiscard]] const model::Recording& recording() const { return m_device->trace->recording(); }

    std::shared_ptr<const DeviceData> m_device;
    model::EventSource m_source;
};

} // namespace strata::views
