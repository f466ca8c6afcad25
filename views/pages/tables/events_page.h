// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/tables/table_page.h"

namespace strata::views {

/// The trace, event by event. The current row and the selected instant are one: stepping through rows steps
/// through time. A selected range restricts the table to its events; then only Enter moves the instant.
class EventsPage : public TablePage {
    Q_OBJECT
public:
    explicit EventsPage(Document& document, QWidget* parent = nullptr);

    [[nodiscard]] QString id() const override { return QStringLiteral("events"); }
    [[nodiscard]] QString title() const override { return tr("Events"); }
    [[nodiscard]] QString absence() const override { return eventsAbsence(); }
    [[nodiscard]] QString iconName() const override { return QStringLiteral("events"); }
    [[nodiscard]] QString commandLine() const override;
    void goTo(model::EventIndex event) override;
    void showFocus(const Focus& focus) override;

protected:
    [[nodiscard]] std::shared_ptr<const TableSource> makeSource(
        std::shared_ptr<const DeviceData> device) const override;
    [[nodiscard]] std::optional<EventRange> restriction(const EventRange& selection) const override;
    [[nodiscard]] QString sentence() const override;
    [[nodiscard]] QString sums(const TableSums& sums) const override;
    [[nodiscard]] EmptyNotice::Text nothingRecorded() const override;
    [[nodiscard]] QString nothingMatches() const override;
    [[nodiscard]] std::vector<RowFilter> rowFilters(std::uint32_t row) const override;
    void chosen(std::uint32_t row) override;
    void opened(std::uint32_t row) override;
    void selectionMoved() override;
    void rowsShown() override;

private:
    [[nodiscard]] std::optional<model::EventIndex> selectedInstant() const;
    [[nodiscard]] QString selectedEventText() const;
};

} // namespace strata::views
