// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/tables/call_tree_model.h"

#include "views/models/tables/table_cells.h"
#include "views/style/texts.h"

namespace strata::views {

namespace {

TableCell costCell(const FlameTree& tree, std::int64_t cost)
{
    return tree.countsBlocks() ? TableCell{ text::count(cost), {} } : bytesCell(cost);
}

} // namespace

CallTreeModel::CallTreeModel(QObject* parent)
    : QAbstractItemModel(parent)
{
}

void CallTreeModel::setTree(std::shared_ptr<const FlameTree> tree)
{
    beginResetModel();
    m_tree = std::move(tree);
    endResetModel();
}

QModelIndex CallTreeModel::indexOf(FlameTree::Node node, int column) const
{
    if (!m_tree)
        return {};
    return createIndex(static_cast<int>(m_tree->rank(node)), column, quintptr{ node });
}

QModelIndex CallTreeModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    if (!parent.isValid())
        return createIndex(0, column, quintptr{ 0 });
    return createIndex(
        row, column, quintptr{ m_tree->children(nodeOf(parent))[static_cast<std::size_t>(row)] });
}

QModelIndex CallTreeModel::parent(const QModelIndex& child) const
{
    if (!child.isValid() || nodeOf(child) == 0)
        return {};
    return indexOf(m_tree->parent(nodeOf(child)));
}

int CallTreeModel::rowCount(const QModelIndex& parent) const
{
    if (!m_tree)
        return 0;
    if (!parent.isValid())
        return 1;
    return parent.column() > 0 ? 0 : static_cast<int>(m_tree->children(nodeOf(parent)).size());
}

int CallTreeModel::columnCount(const QModelIndex&) const
{
    return ColumnCount;
}

bool CallTreeModel::hasChildren(const QModelIndex& parent) const
{
    return rowCount(parent) > 0;
}

QVariant CallTreeModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const FlameTree::Node node = nodeOf(index);
    const double whole = static_cast<double>(m_tree->total(0));
    const double share = whole > 0 ? static_cast<double>(m_tree->total(node)) / whole : 0.0;
    if (role == ShareRole)
        return share;
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>(
            (index.column() == Frame ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);

    switch (index.column()) {
    case Frame:
        if (role == Qt::DisplayRole)
            return m_tree->function(node);
        if (role == NoteRole)
            return m_tree->place(node);
        if (role == Qt::ToolTipRole)
            return m_tree->fullPlace(node);
        return {};
    case Total:
    case Self: {
        const std::int64_t cost = index.column() == Total ? m_tree->total(node) : m_tree->self(node);
        const TableCell cell = costCell(*m_tree, cost);
        if (role == Qt::DisplayRole)
            return cell.text;
        if (role == NoteRole)
            return cell.note;
        if (role == Qt::ToolTipRole)
            return m_tree->countsBlocks() ? QVariant() : text::exactBytes(cost);
        return {};
    }
    case Share:
        if (role == Qt::DisplayRole)
            return text::share(m_tree->total(node), m_tree->total(0));
        return {};
    case Blocks:
        if (role == Qt::DisplayRole)
            return text::count(m_tree->blocks(node));
        return {};
    default:
        return {};
    }
}

QVariant CallTreeModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>((section == Frame ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Frame:
        return tr("Frame");
    case Total:
        return tr("Total");
    case Self:
        return tr("Self");
    case Share:
        return tr("Share");
    case Blocks:
        return tr("Blocks");
    default:
        return {};
    }
}

} // namespace strata::views
