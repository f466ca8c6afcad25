// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>

#include "views/base/background_job.h"
#include "views/models/tables/table_export.h"

namespace strata::views {

class TableFooter;
class TableModel;

/// Takes rows of a table page to the clipboard or into a file. CSV is written off the GUI thread; the footer
/// says what came of it. Model and footer must outlive it. GUI thread only.
class RowsExport {
    Q_DECLARE_TR_FUNCTIONS(strata::views::TablePage)
public:
    RowsExport(const TableModel& model, TableFooter& footer);

    /// Rows as they look. Empty where they are too many for that: then they are copied as CSV in a moment.
    [[nodiscard]] QString text(const RowRanges& ranges);
    void copyCsv(const RowRanges& ranges);
    void saveCsv(const QString& path); ///< all rows; the table has some
    [[nodiscard]] BackgroundJob& job() { return m_job; } ///< runs while CSV is written

private:
    const TableModel& m_model;
    TableFooter& m_footer;
    BackgroundJob m_job;
};

} // namespace strata::views
