// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/tables/rows_export.h"

#include "views/models/tables/table_model.h"
#include "views/style/texts.h"
#include "views/widgets/table_footer.h"

#include <QBuffer>
#include <QClipboard>
#include <QFileInfo>
#include <QGuiApplication>
#include <QSaveFile>

namespace strata::views {

namespace {

constexpr std::int64_t kRowsAsText = 5000; // beyond it, rows are copied as CSV, off the GUI thread
constexpr std::int64_t kRowsToCopy = 500'000; // about 80 MB; more belongs into a file

} // namespace

RowsExport::RowsExport(const TableModel& model, TableFooter& footer)
    : m_model(model)
    , m_footer(footer)
{
}

QString RowsExport::text(const RowRanges& ranges)
{
    if (!m_model.source() || ranges.empty())
        return {};
    if (countRows(ranges) <= kRowsAsText)
        return rowsAsText(*m_model.source(), *m_model.rows(), ranges);
    copyCsv(ranges);
    return {};
}

void RowsExport::copyCsv(const RowRanges& ranges)
{
    if (!m_model.source() || ranges.empty())
        return;
    if (countRows(ranges) > kRowsToCopy) {
        m_footer.announce(tr("Too many rows for the clipboard: save the table as CSV instead"));
        return;
    }
    m_job.start(
        [source = m_model.source(), rows = m_model.rows(), ranges](const JobContext& context) {
            QBuffer buffer;
            buffer.open(QIODevice::WriteOnly);
            return views::writeCsv(*source, *rows, ranges, buffer, context) ? QString::fromUtf8(buffer.data())
                                                                            : QString();
        },
        [this, count = countRows(ranges)](const QString& csv) {
            QGuiApplication::clipboard()->setText(csv);
            m_footer.announce(tr("Copied %1 rows as CSV").arg(text::count(count)));
        });
}

void RowsExport::saveCsv(const QString& path)
{
    m_job.start(
        [source = m_model.source(), rows = m_model.rows(), path](const JobContext& context) {
            QSaveFile file(path);
            if (!file.open(QIODevice::WriteOnly))
                return file.errorString();
            if (!views::writeCsv(*source, *rows, allRows(*rows), file, context) || !file.commit())
                return file.errorString();
            return QString();
        },
        [this, path](const QString& problem) {
            const QString name = QFileInfo(path).fileName();
            m_footer.announce(problem.isEmpty() ? tr("Saved %1").arg(name)
                                                : tr("%1: cannot be written: %2").arg(name, problem));
        });
}

} // namespace strata::views
