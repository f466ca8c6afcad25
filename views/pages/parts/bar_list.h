// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTableWidget>

#include <vector>

namespace strata::views {

/// A short list of things with a bar each: name, bar, figures; as tall as its rows. Names give way before
/// figures do. Rows can be walked by keyboard and copied.
class BarList : public QTableWidget {
    Q_OBJECT
public:
    struct Row {
        QString label;
        QString toolTip;
        double fraction = 0; ///< of the bar, 0 to 1
        QBrush colour; ///< of the bar and the swatch
        QStringList figures; ///< right-aligned; as many in every row
        QColor ink; ///< of the text; invalid: as usual
        bool marked = false; ///< in bold: the one that it is about
        bool swatch = false; ///< a square of the colour before the label, as in a legend
        QString shortLabel{}; ///< instead, where the label has no room; empty: the label is cut
    };

    explicit BarList(QWidget* parent = nullptr);

    void setRows(const std::vector<Row>& rows);
    /// What stands above the labels and the figures of the rows that come next; none: no heading.
    void setHeadings(const QString& label, const QStringList& figures);
    void setColour(int row, const QBrush& colour); ///< of its bar and swatch
    /// From this figure on columns give way to names, the last one first: tooltips say what is in them.
    void setLessFrom(int figure) { m_lessFrom = figure; }

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void wheelEvent(QWheelEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;

private:
    void fitColumns();
    [[nodiscard]] int scaled(int px) const;

    [[nodiscard]] int headingHeight() const;

    QStringList m_headings; // of all columns; empty: none
    int m_shortWidth = 0; // of the label's column with short labels
    int m_lessFrom = -1; // none
};

} // namespace strata::views
