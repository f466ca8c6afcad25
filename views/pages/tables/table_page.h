// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/background_job.h"
#include "views/models/tables/table_model.h"
#include "views/pages/parts/page.h"
#include "views/pages/tables/rows_export.h"
#include "views/widgets/empty_notice.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

class QLabel;
class QStackedWidget;

namespace strata::views {

class TableFilterBar;
class TableFooter;
class TableView;

/// What the pages Blocks and Events have in common: a sentence, a filter, a table of millions of rows that is
/// sorted and filtered off the GUI thread, a footer that adds up what is shown. The old rows stay until the
/// new ones are there; selection, filter, axis and device follow the document.
class TablePage : public Page {
    Q_OBJECT
public:
    explicit TablePage(Document& document, QWidget* parent = nullptr);

    [[nodiscard]] FilterReach filterReach() const override { return FilterReach::All; }
    void setPalette(const Palette& palette) override;
    void resetView() override; ///< own filter off, own order, whole trace
    [[nodiscard]] bool busy() const override { return m_arranging.running() || m_refreshing.running(); }
    [[nodiscard]] QString copyText() const override;
    [[nodiscard]] bool hasCsv() const override;
    [[nodiscard]] bool writeCsv(QIODevice& out) const override;
    bool saveCsvLater(const QString& path) override;
    bool copyCsvLater() override;

    /// The page shows this device; what it is called with when the document has one ready. Of a newer
    /// generation of what is shown, the rows take the place of the old ones once they are arranged: sorted,
    /// filtered, selected and scrolled as those are.
    void showDevice(std::shared_ptr<const DeviceData> device);

    [[nodiscard]] TableView& table() const { return *m_view; }
    [[nodiscard]] TableModel& model() const { return *m_model; }
    [[nodiscard]] TableFilterBar& filterBar() const { return *m_filterBar; }
    [[nodiscard]] EmptyNotice& notice() const { return *m_notice; }
    [[nodiscard]] TableFooter& footer() const { return *m_footer; }
    [[nodiscard]] QString sentenceText() const;

protected:
    void showEvent(QShowEvent* event) override;

    struct RowFilter {
        QString text; ///< "Only train.py:57"
        model::BlockFilter filter; ///< joins the document's filter
    };

    [[nodiscard]] virtual std::shared_ptr<const TableSource> makeSource(
        std::shared_ptr<const DeviceData> device) const = 0;
    /// The part of the selection that restricts the table; nothing if it does not.
    [[nodiscard]] virtual std::optional<EventRange> restriction(const EventRange& selection) const = 0;
    [[nodiscard]] virtual QString sentence() const = 0; ///< rich text; links are "event:N"
    [[nodiscard]] virtual QString sums(const TableSums& sums) const = 0; ///< rich text for the footer
    [[nodiscard]] virtual EmptyNotice::Text nothingRecorded() const = 0;
    [[nodiscard]] virtual QString nothingMatches() const = 0;
    [[nodiscard]] virtual std::vector<RowFilter> rowFilters(std::uint32_t row) const = 0;
    virtual void chosen(std::uint32_t row) = 0; ///< the user's current row
    virtual void opened(std::uint32_t row) = 0; ///< Enter or double click on it
    virtual void selectionMoved() = 0; ///< of the document
    virtual void rowsShown() = 0; ///< other rows stand in the table now

    /// Of the rows that stand in the table.
    [[nodiscard]] const std::shared_ptr<const DeviceData>& device() const { return m_shown; }
    /// What restricts the rows that are asked for: by the filter, by the selection.
    [[nodiscard]] bool filtered() const;
    [[nodiscard]] std::optional<EventRange> range() const;
    [[nodiscard]] std::vector<model::BlockFilter> filters() const;
    [[nodiscard]] bool dependsOnLabels() const;
    /// `strata COMMAND` that prints the rows that are asked for, in their order.
    [[nodiscard]] QString rowsCommandLine(const QString& command) const;
    [[nodiscard]] std::optional<std::uint32_t> currentRow() const; ///< of the source
    void showRow(std::uint32_t row); ///< makes it current, scrolls to it; the nearest one if it is left out
    void refreshSentence();

private:
    void makeActions();
    [[nodiscard]] model::BlockFilter ownFilter() const; ///< of this page alone
    void arrangeRows();
    void arrange(BackgroundJob& job);
    void show(std::shared_ptr<const DeviceData> device, std::shared_ptr<const TableSource> source,
        std::shared_ptr<const TableRows> rows, bool isSameQuery);
    void showNotice();
    void clearFilters();
    void filterEverywhere(const model::BlockFilter& filter);
    void showMenu(const QPoint& at);

    std::shared_ptr<const DeviceData> m_device, m_shown; // the newest; that of the rows in the table
    std::shared_ptr<const TableSource> m_source; // of m_device
    TableQuery m_query;
    std::optional<TableQuery> m_asked; // what the table shows or is about to show
    std::shared_ptr<const TableSource> m_askedOf; // likewise
    bool m_late = false; // something changed while the page was in the background
    bool m_again = false; // a newer generation came while rows were arranged
    BackgroundJob m_arranging; // as the user wants it
    BackgroundJob m_refreshing; // as before, of a newer generation

    TableModel* m_model;
    QLabel* m_sentence;
    TableFilterBar* m_filterBar;
    QStackedWidget* m_stack;
    TableView* m_view;
    EmptyNotice* m_notice;
    TableFooter* m_footer;
    mutable RowsExport m_export; // copying leaves the page as it is
};

/// What stands on a page that has no device to show: the file is being read, or holds no memory of a GPU.
[[nodiscard]] EmptyNotice::Text noticeWithoutDevice(const Document& document);
/// What stands in place of segments where text::lacksSegments().
[[nodiscard]] EmptyNotice::Text noticeWithoutSegments();

} // namespace strata::views
