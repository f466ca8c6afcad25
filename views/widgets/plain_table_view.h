// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/tables/plain_table.h"
#include "views/widgets/table_view.h"

#include <memory>
#include <optional>

class QIODevice;

namespace strata::views {

/// A PlainTable with what its user made of it: sorted at once, since it is small. GUI thread only.
class PlainTableView : public TableView {
    Q_OBJECT
public:
    explicit PlainTableView(QWidget* parent = nullptr);

    /// Other rows of the same columns, or other columns; sorted as before. nullptr: none.
    void setSource(std::shared_ptr<const PlainTable> source);
    /// The same table of a newer generation: what is current, selected and in view stays.
    void goOn(std::shared_ptr<const PlainTable> source);
    [[nodiscard]] const std::shared_ptr<const PlainTable>& source() const { return m_source; }
    void sortBy(int column, bool descending);
    [[nodiscard]] std::optional<std::uint32_t> currentSourceRow() const;
    void setCurrentSourceRow(std::optional<std::uint32_t> row); ///< not told as the user's choice
    [[nodiscard]] QString copyText() const; ///< the selected rows, with tabs between their cells
    [[nodiscard]] bool writeCsv(QIODevice& out) const; ///< all rows, as they are sorted

Q_SIGNALS:
    void sourceRowChosen(quint32 row); ///< by the user
    void sourceRowOpened(quint32 row); ///< by Enter or a double click

private:
    void arrange();

    TableModel* m_model;
    std::shared_ptr<const PlainTable> m_source;
    int m_column = -1; // none: the table's own order
    bool m_descending = false;
};

} // namespace strata::views
