// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>

#include "model/tables/row_order.h"
#include "views/models/tables/table_source.h"
#include "views/widgets/memory/raster/fill_style.h"

class QIODevice;

namespace strata::views {

/// The groups that are live at one instant, in numbers: the table under the picture. Sorts itself; equal rows
/// keep the order of bytes. GUI thread.
class GroupTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column : int { GroupColumn, BytesColumn, ShareColumn, BlocksColumn, ColumnCount };
    /// The value that a column sorts by.
    static constexpr int kSortRole = Qt::UserRole;
    /// Of the group's column, as GroupDelegate draws it: "train.py:57" for the line that is shown in full
    /// elsewhere, its function, and the fill that the picture gives it.
    enum GroupRole : int { kNameRole = kSortRole + 1, kNoteRole, kFillRole };

    explicit GroupTableModel(QObject* parent = nullptr);

    /// `live` of `table`, which is of `recording`; nullptr: empty. The recording must outlive the next call.
    void setGroups(std::shared_ptr<const model::GroupTable> table, model::LiveGroups live,
        const model::Recording* recording);
    void setStyles(const GroupStyles& styles);
    void clear() { setGroups(nullptr, {}, nullptr); }

    [[nodiscard]] const model::LiveGroups& live() const { return m_live; }
    [[nodiscard]] const std::shared_ptr<const model::GroupTable>& table() const { return m_table; }
    [[nodiscard]] std::uint32_t groupAt(int row) const { return m_rows[static_cast<std::size_t>(row)].group; }
    [[nodiscard]] int rowOf(std::uint32_t group) const; ///< -1 if it is not live

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    void sort(int column, Qt::SortOrder order) override;

    [[nodiscard]] model::SortBy<model::GroupOrder> order() const;

    /// The rows in the table's order, tab-separated, without a header.
    [[nodiscard]] QString text(const QModelIndexList& rows) const;
    /// All rows as CSV with a header; exact bytes. False if the device failed.
    [[nodiscard]] bool writeCsv(QIODevice& out) const;

private:
    [[nodiscard]] QString label(const model::GroupSum& row) const;
    [[nodiscard]] TableCell cell(const model::GroupSum& row) const;
    void sortRows();

    std::shared_ptr<const model::GroupTable> m_table;
    const model::Recording* m_recording = nullptr;
    model::LiveGroups m_live;
    std::vector<model::GroupSum> m_rows;
    GroupStyles m_styles;
    int m_sortColumn = BytesColumn;
    Qt::SortOrder m_sortOrder = Qt::DescendingOrder;
};

} // namespace strata::views
