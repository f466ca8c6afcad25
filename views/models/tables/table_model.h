// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>

#include "views/models/tables/table_source.h"

#include <memory>
#include <optional>

namespace strata::views {

/// Qt's view of a TableSource and of the rows of it that are shown. Sorting and filtering happen elsewhere
/// (arrange()); this only swaps in what they found, so it costs O(1) whatever the number of rows.
class TableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    explicit TableModel(QObject* parent = nullptr);

    /// Other rows of the same or of another table. Resets the model.
    void show(std::shared_ptr<const TableSource> source, std::shared_ptr<const TableRows> rows);
    /// Other texts for the rows that are shown (the axis changed): the new source has the same rows.
    void replaceSource(std::shared_ptr<const TableSource> source);

    [[nodiscard]] const std::shared_ptr<const TableSource>& source() const { return m_source; }
    [[nodiscard]] const std::shared_ptr<const TableRows>& rows() const { return m_rows; }
    /// Row of the source at a row of the model, which must be one of its rows.
    [[nodiscard]] std::uint32_t sourceRow(int row) const
    {
        return (*m_rows)[static_cast<std::uint32_t>(row)];
    }
    [[nodiscard]] TableCell cell(int row, int column) const { return m_source->cell(sourceRow(row), column); }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::shared_ptr<const TableSource> m_source;
    std::shared_ptr<const TableRows> m_rows;
};

} // namespace strata::views
