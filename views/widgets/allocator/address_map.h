// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractScrollArea>

#include "views/widgets/allocator/map_painter.h"

#include <memory>
#include <optional>

namespace strata::views {

class HoverTip;

/// The memory that the allocator holds at one instant, by address: a row a segment, in sections of one pool,
/// stream and kind, each to the scale of its widest row, or every row as wide as the picture. Blocks have the
/// colour of their line; what rounding added and what was not split off is hatched, what waits for another
/// stream dotted, what is free empty. Paints what is in view alone, and per pixel where blocks are narrower.
/// GUI thread only.
///
/// Mouse: wheel scrolls, Ctrl+wheel zooms at the cursor, Shift+wheel and drag pan, click chooses, double
/// click zooms to the thing. Keys: Up and Down walk rows, Plus and Minus zoom, Home shows all.
class AddressMap : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit AddressMap(QWidget* parent = nullptr);

    /// Another instant, or another device: zoom and scrolling stay where it is the same device.
    void setPicture(std::shared_ptr<const MapPicture> picture);
    [[nodiscard]] const std::shared_ptr<const MapPicture>& picture() const { return m_picture; }
    void setColours(const Palette& palette);
    void setNormalised(bool on); ///< every row as wide as the picture
    [[nodiscard]] bool normalised() const { return m_normalised; }
    void setChosen(std::optional<MapHit> hit); ///< marks it; no signal
    [[nodiscard]] const std::optional<MapHit>& chosen() const { return m_chosen; }
    /// Scrolls as little as is needed; `centred`: to the middle.
    void reveal(std::uint32_t row, std::optional<std::uint32_t> block = std::nullopt, bool centred = false);
    void showAll();
    void zoomBy(double factor); ///< above 1: in, at the top of the view
    [[nodiscard]] double zoom() const { return m_zoom; } ///< 1: as a whole
    /// Of a full line of that row.
    [[nodiscard]] std::int64_t bytesOfLine(std::uint32_t row) const { return m_lines.bytesOfLine(row); }

    [[nodiscard]] std::optional<MapHit> hitAt(const QPoint& viewportPoint) const;
    /// The bar of the line of a row that an address lies in, in the viewport.
    [[nodiscard]] QRect lineRect(std::uint32_t row, std::uint64_t address) const;
    /// What hovering says of a thing; the first line is its figure.
    [[nodiscard]] QStringList describe(const MapHit& hit) const;
    void paintVectors(QPainter& painter) const; ///< all rows, from the top of `painter` down
    [[nodiscard]] QSize fullSize() const; ///< of all rows, at most 20,000 pixels high
    [[nodiscard]] QSize sizeHint() const override { return { 800, 400 }; }

Q_SIGNALS:
    void chosenByUser(const strata::views::MapHit& hit);
    void hovered(const QString& text); ///< for the status bar; empty when the mouse leaves

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    bool event(QEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    void measure();
    void layOut();
    void updateScrollBar();
    void updateStyles();
    void zoomAt(int contentY, double factor);
    void hover(const QPoint& at);
    void leave();
    void choose(const MapHit& hit);
    /// The section whose heading has scrolled out of view while its lines are in view: it stays at the top.
    [[nodiscard]] std::optional<std::uint32_t> heldSection() const;
    [[nodiscard]] int heldTop(std::uint32_t section) const; ///< of that heading, in the viewport
    [[nodiscard]] MapScene scene() const;
    void announce();

    std::shared_ptr<const MapPicture> m_picture;
    Palette m_palette = Palette::light();
    GroupStyles m_styles;
    const DeviceData* m_styledFor = nullptr;
    bool m_normalised = false;
    double m_zoom = 1;
    MapSizes m_sizes;
    MapLines m_lines; // of the picture, the sizes, the zoom and the mode
    std::optional<MapHit> m_hovered, m_chosen;
    std::optional<QPoint> m_dragFrom;
    int m_dragScroll = 0;
    mutable std::optional<QuickText> m_text;
    HoverTip* m_tip;
};

} // namespace strata::views

Q_DECLARE_METATYPE(strata::views::MapHit)
