// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/group_table_model.h"

#include "views/models/document/group_colours.h"
#include "views/models/tables/csv.h"
#include "views/models/tables/table_cells.h"
#include "views/style/texts.h"

#include <algorithm>
#include <fmt/format.h>

namespace strata::views {

GroupTableModel::GroupTableModel(QObject* parent)
    : QAbstractTableModel(parent)
{
}

void GroupTableModel::setGroups(
    std::shared_ptr<const model::GroupTable> table, model::LiveGroups live, const model::Recording* recording)
{
    beginResetModel();
    m_recording = recording;
    m_table = std::move(table);
    m_live = std::move(live);
    m_rows = m_live.groups;
    sortRows();
    endResetModel();
}

void GroupTableModel::setStyles(const GroupStyles& styles)
{
    m_styles = styles;
    if (!m_rows.empty())
        Q_EMIT dataChanged(index(0, GroupColumn), index(rowCount() - 1, GroupColumn), { kFillRole });
}

int GroupTableModel::rowOf(std::uint32_t group) const
{
    const auto it
        = std::find_if(m_rows.begin(), m_rows.end(), [&](const auto& row) { return row.group == group; });
    return it == m_rows.end() ? -1 : static_cast<int>(it - m_rows.begin());
}

int GroupTableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int GroupTableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString GroupTableModel::label(const model::GroupSum& row) const
{
    return groupName(*m_table, row.group);
}

TableCell GroupTableModel::cell(const model::GroupSum& row) const
{
    const model::StackId stack = m_table->stackOf(row.group);
    return m_table->grouping() == model::Grouping::Line && stack.valid() ? lineCell(*m_recording, stack)
                                                                         : TableCell{ label(row), {} };
}

QVariant GroupTableModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const model::GroupSum& row = m_rows[static_cast<std::size_t>(index.row())];
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(
            Qt::AlignVCenter | (index.column() == GroupColumn ? Qt::AlignLeft : Qt::AlignRight)));
    if (index.column() == GroupColumn && role == kNameRole)
        return cell(row).text;
    if (index.column() == GroupColumn && role == kNoteRole)
        return cell(row).note;
    if (index.column() == GroupColumn && role == kFillRole)
        return m_styles.group(row.group).brush();
    if (role == Qt::ToolTipRole) {
        if (index.column() == GroupColumn)
            return label(row);
        if (index.column() == BytesColumn)
            return text::exactBytes(row.bytes);
        return {};
    }
    if (role != Qt::DisplayRole && role != kSortRole)
        return {};
    const bool display = role == Qt::DisplayRole;
    switch (index.column()) {
    case GroupColumn:
        return label(row);
    case BytesColumn:
        return display ? QVariant(text::bytes(row.bytes)) : QVariant::fromValue(qint64{ row.bytes });
    case ShareColumn:
        return display ? QVariant(text::share(row.bytes, m_live.requestedBytes))
                       : QVariant::fromValue(qint64{ row.bytes });
    case BlocksColumn:
        return display ? QVariant(text::count(row.blocks)) : QVariant::fromValue(qint64{ row.blocks });
    default:
        return {};
    }
}

QVariant GroupTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(
            Qt::Alignment(Qt::AlignVCenter | (section == GroupColumn ? Qt::AlignLeft : Qt::AlignRight)));
    if (role == Qt::InitialSortOrderRole) // who sorts by figures looks for the largest
        return static_cast<int>(section == GroupColumn ? Qt::AscendingOrder : Qt::DescendingOrder);
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case GroupColumn:
        return text::said(model::infoOf(m_table ? m_table->grouping() : model::Grouping::Line).title);
    case BytesColumn:
        return tr("Requested");
    case ShareColumn:
        return tr("Share");
    case BlocksColumn:
        return tr("Blocks");
    default:
        return {};
    }
}

void GroupTableModel::sort(int column, Qt::SortOrder order)
{
    m_sortColumn = column;
    m_sortOrder = order;
    Q_EMIT layoutAboutToBeChanged({}, VerticalSortHint);
    const QModelIndexList before = persistentIndexList();
    std::vector<std::uint32_t> groups;
    for (const QModelIndex& index : before)
        groups.push_back(groupAt(index.row()));
    sortRows();
    QModelIndexList after;
    for (qsizetype i = 0; i < before.size(); ++i)
        after << index(rowOf(groups[static_cast<std::size_t>(i)]), before[i].column());
    changePersistentIndexList(before, after);
    Q_EMIT layoutChanged({}, VerticalSortHint);
}

void GroupTableModel::sortRows()
{
    m_rows = m_live.groups; // by bytes: the order among equals
    if (m_table)
        model::sortGroups(m_rows, *m_table, order());
}

model::SortBy<model::GroupOrder> GroupTableModel::order() const
{
    using model::GroupOrder;
    const GroupOrder by = m_sortColumn == GroupColumn ? GroupOrder::Group
        : m_sortColumn == BlocksColumn                ? GroupOrder::Blocks
                                                      : GroupOrder::Bytes;
    return { by, m_sortOrder == Qt::DescendingOrder };
}

QString GroupTableModel::text(const QModelIndexList& rows) const
{
    std::vector<int> numbers;
    for (const QModelIndex& index : rows)
        numbers.push_back(index.row());
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    QStringList lines;
    for (const int number : numbers) {
        const model::GroupSum& row = m_rows[static_cast<std::size_t>(number)];
        lines << QStringList{ label(row), text::bytes(row.bytes),
            text::share(row.bytes, m_live.requestedBytes), text::count(row.blocks) }
                     .join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n'));
}

bool GroupTableModel::writeCsv(QIODevice& out) const
{
    std::string text = "group,requested_bytes,share,blocks\n";
    for (const model::GroupSum& row : m_rows) {
        appendCsvField(text, m_table->label(row.group));
        const double share = m_live.requestedBytes > 0
            ? static_cast<double>(row.bytes) / static_cast<double>(m_live.requestedBytes)
            : 0;
        text += fmt::format(",{},{:.6f},{}\n", row.bytes, share, row.blocks);
    }
    return writeText(out, text);
}

} // namespace strata::views
