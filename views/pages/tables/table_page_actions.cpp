// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/tables/table_page.h"
#include "views/style/texts.h"
#include "views/widgets/table_filter_bar.h"
#include "views/widgets/table_footer.h"
#include "views/widgets/table_view.h"

#include <QAction>
#include <QBuffer>
#include <QClipboard>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMenu>
#include <QSaveFile>

namespace strata::views {

namespace {

constexpr std::int64_t kRowsAsText = 5000; // beyond it, rows are copied as CSV, off the GUI thread
constexpr std::int64_t kRowsToCopy = 500'000; // about 80 MB; more belongs into a file

} // namespace

void TablePage::makeActions()
{
    addPageAction(tr("Next Row"), { Qt::Key_J }, [this] { m_view->step(1); });
    addPageAction(tr("Previous Row"), { Qt::Key_K }, [this] { m_view->step(-1); });
    addPageAction(tr("Selection or Whole Trace"), { Qt::Key_W }, [this] { m_filterBar->toggleSelection(); });
    addPageAction(
        tr("Filter This Page"), { Qt::CTRL | Qt::SHIFT | Qt::Key_F }, [this] { m_filterBar->focusFilter(); });
    addPageAction(tr("Copy Rows as CSV"), { Qt::CTRL | Qt::ALT | Qt::Key_R },
        [this] { copyCsv(m_view->selectedRanges()); });
}

QString TablePage::copyText() const
{
    const RowRanges ranges = m_view->selectedRanges();
    if (!m_model->source() || ranges.empty())
        return {};
    if (countRows(ranges) <= kRowsAsText)
        return rowsAsText(*m_model->source(), *m_model->rows(), ranges);
    copyCsv(ranges);
    return {};
}

void TablePage::copyCsv(const RowRanges& ranges) const
{
    if (!m_model->source() || ranges.empty())
        return;
    if (countRows(ranges) > kRowsToCopy) {
        m_footer->announce(tr("Too many rows for the clipboard: save the table as CSV instead"));
        return;
    }
    m_exporting.start(
        [source = m_model->source(), rows = m_model->rows(), ranges](const JobContext& context) {
            QBuffer buffer;
            buffer.open(QIODevice::WriteOnly);
            return views::writeCsv(*source, *rows, ranges, buffer, context) ? QString::fromUtf8(buffer.data())
                                                                            : QString();
        },
        [this, count = countRows(ranges)](const QString& csv) {
            QGuiApplication::clipboard()->setText(csv);
            m_footer->announce(tr("Copied %1 rows as CSV").arg(text::count(count)));
        });
}

bool TablePage::hasCsv() const
{
    return m_model->rowCount() > 0;
}

bool TablePage::writeCsv(QIODevice& out) const
{
    return m_model->source()
        && views::writeCsv(*m_model->source(), *m_model->rows(), allRows(*m_model->rows()), out, {});
}

bool TablePage::saveCsvLater(const QString& path)
{
    if (!hasCsv())
        return false;
    m_exporting.start(
        [source = m_model->source(), rows = m_model->rows(), path](const JobContext& context) {
            QSaveFile file(path);
            if (!file.open(QIODevice::WriteOnly))
                return file.errorString();
            if (!views::writeCsv(*source, *rows, allRows(*rows), file, context) || !file.commit())
                return file.errorString();
            return QString();
        },
        [this, path](const QString& problem) {
            const QString name = QFileInfo(path).fileName();
            m_footer->announce(problem.isEmpty() ? tr("Saved %1").arg(name)
                                                 : tr("%1: cannot be written: %2").arg(name, problem));
        });
    return true;
}

bool TablePage::copyCsvLater()
{
    if (!hasCsv())
        return false;
    copyCsv(allRows(*m_model->rows()));
    return true;
}

void TablePage::showMenu(const QPoint& at)
{
    const QModelIndex index = m_view->indexAt(at);
    QMenu menu;
    if (index.isValid()) {
        const std::uint32_t row = m_model->sourceRow(index.row());
        for (const RowFilter& filter : rowFilters(row))
            menu.addAction(filter.text, this, [this, filter] { filterEverywhere(filter.filter); });
        menu.addSeparator();
        menu.addAction(tr("Copy Rows"), this, [this] {
            if (const QString text = copyText(); !text.isEmpty())
                QGuiApplication::clipboard()->setText(text);
        });
    }
    menu.addActions(pageActions());
    menu.exec(m_view->viewport()->mapToGlobal(at));
}

} // namespace strata::views
