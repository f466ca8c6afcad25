// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractScrollArea>
#include <QVariantAnimation>

#include "views/widgets/flame/flame_painter.h"
#include "views/widgets/flame/flame_zoom.h"

namespace strata::views {

class HoverTip;

/// The flame graph as an icicle: the root on top, below every frame what it called, each as wide as what it
/// costs. Draws and finds only what is visible, whatever the size of the tree. GUI thread only.
///
/// Mouse: click zooms into a frame, wheel zooms at the cursor, Shift+wheel pans, Ctrl+wheel scrolls levels,
/// middle or Space drag moves. Keys: arrows walk between frames, Enter zooms into one, Backspace goes back.
class FlameGraph : public QAbstractScrollArea {
    Q_OBJECT
public:
    using Node = FlameTree::Node;

    explicit FlameGraph(QWidget* parent = nullptr);

    /// Another tree; stays zoomed into the same frames where the new tree has them.
    void setTree(std::shared_ptr<const FlameTree> tree);
    /// The same tree of a newer generation: what is seen of a frame, the history and what is scrolled to
    /// stay, too.
    void goOn(std::shared_ptr<const FlameTree> tree);
    [[nodiscard]] const std::shared_ptr<const FlameTree>& tree() const { return m_tree; }
    void setColours(const Palette& palette);
    /// Colours by rank (Palette::group()) for frames that have one: a picture by line looks as on other
    /// pages.
    void setRanks(std::map<Node, int> ranks);
    void setMatches(std::vector<bool> nodes); ///< by node; empty: no search
    void setAnimated(bool animated) { m_animated = animated; }

    [[nodiscard]] Node zoomed() const { return m_zoom.zoomed(); } ///< the frame that fills the width; 0: all
    [[nodiscard]] Node current() const { return m_current; } ///< of the keyboard and the tree beside it
    void setCurrent(Node node, bool scrollThere = true); ///< not told as the user's choice
    void zoomTo(Node node);
    void zoomOut(); ///< to all
    [[nodiscard]] bool canGoBack() const { return m_zoom.canGoBack(); }
    [[nodiscard]] bool canGoForward() const { return m_zoom.canGoForward(); }
    void goBack();
    void goForward();

    [[nodiscard]] FlameWindow window() const; ///< what is seen
    [[nodiscard]] int levelHeight() const { return m_levelHeight; }
    [[nodiscard]] std::optional<FlameBox> boxAt(const QPoint& viewportPoint) const;
    /// Draws all levels of what is seen, from the top of `painter` down, as vectors; the size is that of
    /// fullSize().
    void paintVectors(QPainter& painter) const;
    [[nodiscard]] QSize fullSize() const; ///< of all levels, at most 20,000 pixels high
    [[nodiscard]] QSize sizeHint() const override { return { 800, 480 }; }

Q_SIGNALS:
    void chosen(quint32 node); ///< by the user
    void hovered(const QString& text); ///< for the status bar; empty when the mouse leaves
    void zoomChanged(); ///< zoomed() or the history
    void menuRequested(quint32 node, const QPoint& globalPosition);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void keyReleaseEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    bool event(QEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    void measureFont();
    void updateScrollBar(); // and the height of levels
    void setPiece(FlamePiece piece);
    void choose(Node node);
    void showLevel(Node node);
    void hover(const QPoint& at);
    void leave();
    [[nodiscard]] Node neighbour(Node node, int key) const;
    void announce();

    std::shared_ptr<const FlameTree> m_tree;
    mutable FlamePainter m_painter; // keeps boxes that it drew
    FlameZoom m_zoom;
    Node m_current = 0;
    std::optional<FlameBox> m_hovered;
    int m_lowestLevel = 20;
    int m_levelHeight = 20;
    QVariantAnimation m_animation;
    bool m_animated = true;

    std::optional<QPoint> m_dragFrom;
    FlamePiece m_dragPiece;
    int m_dragScroll = 0;
    bool m_space = false;
    HoverTip* m_tip;
};

} // namespace strata::views
