// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/plain_table_view.h"

#include "views/models/tables/csv.h"
#include "views/style/type.h"
#include "views/widgets/kept_rows.h"

#include <QStringList>

#include <utility>

namespace strata::views {

PlainTableView::PlainTableView(QWidget* parent)
    : TableView(parent)
    , m_model(new TableModel(this))
{
    setFont(numberFont(font()));
    setTable(m_model);
    setSortIndicator(-1, false); // as the table has its rows
    connect(this, &TableView::sortRequested, this, &PlainTableView::sortBy);
    connect(this, &TableView::rowChosen, this,
        [this](int row) { Q_EMIT sourceRowChosen(m_model->sourceRow(row)); });
    connect(this, &QAbstractItemView::activated, this,
        [this](const QModelIndex& index) { Q_EMIT sourceRowOpened(m_model->sourceRow(index.row())); });
}

void PlainTableView::setSource(std::shared_ptr<const PlainTable> source)
{
    m_source = std::move(source);
    arrange();
}

void PlainTableView::goOn(std::shared_ptr<const PlainTable> source)
{
    if (!m_source || !source)
        return setSource(std::move(source));
    const KeptRows kept(*m_model, *this);
    setSource(std::move(source));
    kept.restore(*m_model, *this);
}

void PlainTableView::sortBy(int column, bool descending)
{
    m_column = column;
    m_descending = descending;
    setSortIndicator(column, descending);
    arrange();
}

void PlainTableView::arrange()
{
    if (!m_source)
        return m_model->show(nullptr, std::make_shared<const TableRows>());
    const std::uint32_t count = m_source->rowCount();
    if (m_column < 0)
        return m_model->show(m_source, std::make_shared<const TableRows>(TableRows::all(count, {})));
    TableQuery query;
    query.sortColumn = m_column;
    query.descending = m_descending;
    m_model->show(
        m_source, std::make_shared<const TableRows>(views::arrange(*m_source, query, JobContext())));
}

std::optional<std::uint32_t> PlainTableView::currentSourceRow() const
{
    const QModelIndex index = currentIndex();
    return index.isValid() && index.row() < m_model->rowCount()
        ? std::optional(m_model->sourceRow(index.row()))
        : std::nullopt;
}

void PlainTableView::setCurrentSourceRow(std::optional<std::uint32_t> row)
{
    const auto position = row && m_model->rows() ? m_model->rows()->positionOf(*row) : std::nullopt;
    setCurrentRow(position ? static_cast<int>(*position) : -1, QAbstractItemView::EnsureVisible);
}

QString PlainTableView::copyText() const
{
    if (!m_source)
        return {};
    QString all;
    for (const auto& [first, last] : selectedRanges())
        for (int row = first; row <= last; ++row) {
            QStringList cells;
            for (int column = 0; column < static_cast<int>(m_source->columns().size()); ++column) {
                const TableCell cell = m_model->cell(row, column);
                cells << (cell.note.isEmpty() ? cell.text : cell.text + QLatin1Char(' ') + cell.note);
            }
            all += cells.join(QLatin1Char('\t')) + QLatin1Char('\n');
        }
    return all;
}

bool PlainTableView::writeCsv(QIODevice& out) const
{
    if (!m_source)
        return false;
    std::string all = m_source->csvHeader();
    for (int row = 0; row < m_model->rowCount(); ++row)
        m_source->appendCsv(all, m_model->sourceRow(row));
    return writeText(out, all);
}

} // namespace strata::views
