// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/tables/table_page.h"

namespace strata::views {

/// Every block that ever lived on the device, one row a lifetime: of the whole trace, or those alive in what
/// is selected.
class BlocksPage : public TablePage {
    Q_OBJECT
public:
    explicit BlocksPage(Document& document, QWidget* parent = nullptr);

    [[nodiscard]] QString id() const override { return QStringLiteral("blocks"); }
    [[nodiscard]] QString title() const override { return tr("Blocks"); }
    [[nodiscard]] QString iconName() const override { return QStringLiteral("blocks"); }
    [[nodiscard]] QString commandLine() const override;
    void goTo(model::EventIndex event) override; ///< to the block of the event
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
    [[nodiscard]] std::uint32_t rowOf(model::BlockId block) const; ///< in the table
    struct Live {
        model::EventIndex event = -1;
        std::int64_t blocks = 0;
        std::int64_t bytes = 0;
    };
    void countLive();
    [[nodiscard]] model::EventIndex instant() const; ///< selected, else that of the peak

    BackgroundJob m_counting;
    std::optional<Live> m_live; // of the blocks that the filters keep
};

} // namespace strata::views
