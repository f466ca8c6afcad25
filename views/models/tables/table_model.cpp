// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/tables/table_model.h"

namespace strata::views {

TableModel::TableModel(QObject* parent)
    : QAbstractTableModel(parent)
    , m_rows(std::make_shared<const TableRows>())
{
}

void TableModel::show(std::shared_ptr<const TableSource> source, std::shared_ptr<const TableRows> rows)
{
    beginResetModel();
    m_source = std::move(source);
    m_rows = std::move(rows);
    endResetModel();
}

void TableModel::replaceSource(std::shared_ptr<const TableSource> source)
{
    m_source = std::move(source);
    if (columnCount() == 0)
        return;
    Q_EMIT headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
    if (rowCount() > 0)
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

int TableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_source ? 0 : static_cast<int>(m_rows->size());
}

int TableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_source ? 0 : static_cast<int>(m_source->columns().size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    switch (role) {
    case Qt::DisplayRole: {
        const TableCell shown = cell(index.row(), index.column());
        if (shown.text.isEmpty() || shown.note.isEmpty())
            return shown.text + shown.note;
        return QVariant(shown.text + QLatin1Char(' ') + shown.note);
    }
    case Qt::ToolTipRole: {
        const QString text = m_source->tooltip(sourceRow(index.row()), index.column());
        return text.isEmpty() ? QVariant() : QVariant(text);
    }
    case Qt::TextAlignmentRole: {
        const bool number = m_source->columns()[static_cast<std::size_t>(index.column())].number;
        return static_cast<int>((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    default:
        return {};
    }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
        return {};
    const TableColumn& column = m_source->columns()[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole)
        return column.title;
    if (role == Qt::ToolTipRole)
        return column.description;
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>((column.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role == Qt::InitialSortOrderRole) // who sorts by figures looks for the largest
        return static_cast<int>(column.number ? Qt::DescendingOrder : Qt::AscendingOrder);
    return {};
}

} // namespace strata::views
