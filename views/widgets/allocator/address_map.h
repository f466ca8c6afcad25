// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractScrollArea>

#include "views/widgets/allocator/map_picture.h"
#include "views/widgets/memory/raster/fill_style.h"
#include "views/widgets/quick_text.h"

#include <memory>
#include <optional>
#include <vector>

namespace strata::views {

class HoverTip;

/// What lies under a point of the address map.
struct MapHit {
    std::uint32_t row = 0;
    std::optional<std::uint32_t> block; ///< of the map, free ones too; none: between what is mapped
    friend bool operator==(const MapHit&, const MapHit&) = default;
};

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
    [[nodiscard]] std::int64_t bytesOfLine(std::uint32_t row) const; ///< of a full line of that row

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
    struct Look; // brushes of one frame
    /// A line of a row: the bytes of the row that it shows, and where they fall.
    struct Line {
        std::uint32_t row = 0;
        std::int64_t begin = 0, end = 0; ///< of the row
        QRect bar; ///< of what is reserved, in the content
        double perByte = 0;

        [[nodiscard]] double x(std::int64_t offset) const
        {
            return bar.left() + static_cast<double>(offset - begin) * perByte;
        }
    };
    void measure();
    void layOut(); ///< lines, for the zoom and the mode
    void updateScrollBar();
    void updateStyles();
    void zoomAt(int contentY, double factor);
    void hover(const QPoint& at);
    void leave();
    void choose(const MapHit& hit);
    [[nodiscard]] int contentHeight() const;
    [[nodiscard]] std::int64_t lineBytes(std::uint32_t section) const;
    [[nodiscard]] int lineTop(std::uint32_t row, std::int64_t line) const; ///< in the content
    [[nodiscard]] Line lineOf(std::uint32_t row, std::int64_t line) const;
    [[nodiscard]] std::optional<Line> lineAtContent(int y) const;
    /// The section whose heading has scrolled out of view while its lines are in view: it stays at the top.
    [[nodiscard]] std::optional<std::uint32_t> heldSection() const;
    [[nodiscard]] int heldTop(std::uint32_t section) const; ///< of that heading, in the viewport
    void paintContent(QPainter& painter, const QRect& area, int scrolled, bool vector) const;
    void paintSection(QPainter& painter, std::uint32_t section, int top) const;
    void paintLine(QPainter& painter, Line line, int scrolled, const Look& look, bool vector) const;
    void paintBlocks(QPainter& painter, const Line& line, const Look& look) const;
    void paintRefused(QPainter& painter, const Line& line) const;
    void paintMark(QPainter& painter, const Line& line) const;
    void announce();

    std::shared_ptr<const MapPicture> m_picture;
    Palette m_palette = Palette::light();
    GroupStyles m_styles;
    const DeviceData* m_styledFor = nullptr;
    bool m_normalised = false;
    double m_zoom = 1;
    std::vector<std::int64_t> m_firstLine; // by row: lines of its section before it; one more at the end
    std::vector<int> m_sectionTop; // by section: of its heading; one more at the end
    std::optional<MapHit> m_hovered, m_chosen;
    std::optional<QPoint> m_dragFrom;
    int m_dragScroll = 0;
    int m_lineHeight = 20, m_headingHeight = 36, m_labelWidth = 160;
    mutable std::optional<QuickText> m_text;
    HoverTip* m_tip;
};

} // namespace strata::views

Q_DECLARE_METATYPE(strata::views::MapHit)
