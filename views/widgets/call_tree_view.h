// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTreeView>

#include "views/models/tables/call_tree_model.h"
#include "views/style/palette.h"

namespace strata::views {

/// What a row says of its frame where not all fits into so many pixels: the function gives way to the place
/// down to three fifths, or to a third for the number of the line; of a place goes the beginning, since rows
/// of one function differ by file and line.
struct FrameRow {
    QString function, place;
};
[[nodiscard]] FrameRow cutToFit(
    const QString& function, const QString& place, int width, const QFontMetrics& metrics);

/// The table beside a flame graph: the same tree in figures, with a bar for the share. Shows the heaviest
/// path opened.
class CallTreeView : public QTreeView {
    Q_OBJECT
public:
    explicit CallTreeView(QWidget* parent = nullptr);

    void setTree(std::shared_ptr<const FlameTree> tree);
    /// The same tree of a newer generation: what is open, current and in view stays.
    void goOn(std::shared_ptr<const FlameTree> tree);
    void setColours(const Palette& palette);
    /// Opens the way to a frame and marks it, without telling it as the user's choice.
    void setCurrentNode(FlameTree::Node node);
    [[nodiscard]] FlameTree::Node currentNode() const;
    [[nodiscard]] CallTreeModel& treeModel() const { return *m_model; }
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void chosen(quint32 node); ///< by the user
    void opened(quint32 node); ///< Enter or double click

protected:
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
    void drawBranches(QPainter* painter, const QRect& rect, const QModelIndex& index) const override;
    void drawRow(
        QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void openHeaviestPath();
    void fitColumns();
    [[nodiscard]] int bytesWidth() const;
    [[nodiscard]] int shareWidth() const;
    void fitIndentation();

    CallTreeModel* m_model;
    Palette m_palette = Palette::light();
    bool m_quiet = false;
};

} // namespace strata::views
