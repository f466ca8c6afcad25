// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractItemView>

#include "views/models/tables/table_model.h"
#include "views/style/palette.h"
#include "views/widgets/quick_text.h"

#include <optional>
#include <vector>

namespace strata::views {

class TableHeader;

/// A table of millions of rows. QTableView keeps an item for every row in its vertical header (50 MB and
/// 45 ms at every change for six million rows) and paints a cell in 25 us; this one knows rows of one height
/// only, so that nothing costs more than what is visible, to the last row. Whole rows are selected; the
/// current cell tells which column the keyboard means. GUI thread only.
///
/// Keys: arrows, J and K, Page, Home, End walk; Left and Right choose a column, Alt+Up and Alt+Down sort by
/// it; Enter activates.
class TableView : public QAbstractItemView {
    Q_OBJECT
public:
    explicit TableView(QWidget* parent = nullptr);

    void setTable(TableModel* model);
    void setColours(const Palette& palette);
    void setSortIndicator(int column, bool descending);

    [[nodiscard]] int rowHeight() const { return m_rowHeight; }
    [[nodiscard]] int firstVisibleRow() const;
    [[nodiscard]] int fullyVisibleRows() const;
    [[nodiscard]] TableHeader* header() const { return m_header; }
    /// Makes a row the current and only selected one without telling it as the user's choice; -1: none.
    void setCurrentRow(int row, ScrollHint hint);
    /// Rows that are selected, the current cell and the first row in view, after the model was reset. Nothing
    /// of it is told as the user's choice.
    void restore(
        int currentRow, int currentColumn, const std::vector<std::pair<int, int>>& selected, int firstRow);
    /// Selected rows as ranges of the model, ascending: a few pairs even when all are selected.
    [[nodiscard]] std::vector<std::pair<int, int>> selectedRanges() const;
    /// Moves the current row by so many, as the arrow keys do.
    void step(int rows);

    [[nodiscard]] QRect visualRect(const QModelIndex& index) const override;
    void scrollTo(const QModelIndex& index, ScrollHint hint = EnsureVisible) override;
    [[nodiscard]] QModelIndex indexAt(const QPoint& point) const override;
    void keyboardSearch(const QString& search) override; ///< letters are shortcuts here
    void reset() override;

Q_SIGNALS:
    void sortRequested(int column, bool descending);
    /// The user chose a current row, by mouse or keys; a click on the one that is current chooses it again.
    void rowChosen(int row);

protected:
    [[nodiscard]] QModelIndex moveCursor(CursorAction action, Qt::KeyboardModifiers modifiers) override;
    [[nodiscard]] int horizontalOffset() const override;
    [[nodiscard]] int verticalOffset() const override;
    [[nodiscard]] bool isIndexHidden(const QModelIndex&) const override { return false; }
    void setSelection(const QRect& rect, QItemSelectionModel::SelectionFlags flags) override;
    [[nodiscard]] QRegion visualRegionForSelection(const QItemSelection&) const override;
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
    void updateGeometries() override;
    void scrollContentsBy(int dx, int dy) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool event(QEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    void measureFonts();
    void sizeColumns();
    void fitFlexibleColumn();
    void giveWay(std::vector<int>& widths) const;
    [[nodiscard]] int rowAt(int y) const; // may lie beyond the last row
    [[nodiscard]] std::vector<char> selectedAmong(int first, int count) const;
    void setHoverRow(int row);

    TableModel* m_table = nullptr;
    TableHeader* m_header;
    Palette m_palette = Palette::light();
    std::optional<QuickText> m_text;
    int m_rowHeight = 24;
    int m_hoverRow = -1;
    int m_sizedColumns = 0; // number of columns that the widths were made for
    bool m_flexibleByHand = false;
    struct Wished {
        int width = 0;
        bool byHand = false;
    };
    std::vector<Wished> m_wished; // widths of columns that have room
    bool m_quiet = false; // current row set by the program
};

} // namespace strata::views
