// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractScrollArea>

#include "views/base/history.h"
#include "views/widgets/timeline/lanes_painter.h"
#include "views/widgets/timeline/track_arrangement.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

class QMenu;

namespace strata::views {

class HoverTip;

/// Work on lanes over time: streams above threads, what is nested below what holds it, and below them on the
/// same axis what the allocator asked of the driver, as marks, and memory. What is narrower than three pixels
/// comes together with its neighbours, never is left out. A frame costs what is in view.
///
/// The wheel zooms at the pointer, Shift+wheel and A, D move, W and S zoom; over the names the wheel scrolls.
/// Dragging measures a stretch of time, a click chooses a piece, a double click zooms to it, the arrow keys
/// walk. A click on a name folds its track, dragging it moves the track. GUI thread only.
class LanesView : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit LanesView(QWidget* parent = nullptr);

    void setData(std::shared_ptr<const LanesData> data); ///< nullptr: none. All is in view
    [[nodiscard]] const std::shared_ptr<const LanesData>& data() const { return m_data; }
    void setColours(const Palette& palette);

    [[nodiscard]] Span view() const { return m_view; } ///< nanoseconds since WorkTracks::startNs()
    void showSpan(Span view); ///< as far as there is something
    /// More of the same recording, which goes on: what is shown, measured, chosen and folded stays. Where all
    /// was shown, all is.
    void grow(std::shared_ptr<const LanesData> data);
    void showAll();
    [[nodiscard]] bool canGoBack() const { return m_history.canGoBack(); }
    [[nodiscard]] bool canGoForward() const { return m_history.canGoForward(); }
    void goBack();
    void goForward();

    [[nodiscard]] std::optional<std::uint32_t> current() const { return m_current; } ///< row of Work::spans
    void setCurrent(std::optional<std::uint32_t> span); ///< not told as the user's choice
    void reveal(std::uint32_t span); ///< zooms and scrolls so that it can be seen
    [[nodiscard]] std::optional<Span> measured() const { return m_measured; }
    void measure(std::optional<Span> range);
    void setFolded(std::size_t track, bool folded);
    [[nodiscard]] bool isFolded(std::size_t track) const { return m_tracks.isFolded(track); }
    /// How the tracks stand: pinned ones do not scroll, unless they would leave no room for others.
    void setOrder(const TrackOrder& order); ///< not told as the user's change
    [[nodiscard]] const TrackOrder& order() const { return m_tracks.order(); }
    [[nodiscard]] bool isPinned(std::size_t track) const { return m_lanes.isPinned(track); }
    void setPinned(std::size_t track, bool pinned);
    void moveTrack(std::size_t track, int by); ///< so many places down, as far as it can
    void resetOrder();
    [[nodiscard]] std::optional<std::size_t> currentTrack() const; ///< of the current piece
    /// What a click on a track's name does: rows that tell something, all of them, the outermost alone.
    void turnTrack(std::size_t track);

    /// Pieces whose name has this text in it, whatever the case, stand out; empty: none do.
    void find(const QString& text);
    /// These pieces stand out instead, rows of Work::spans; empty: none do.
    void mark(std::span<const std::uint32_t> pieces);
    [[nodiscard]] std::int64_t foundCount() const { return m_found.count(); }
    /// The next of them in time behind the current piece (before it), around the end too.
    [[nodiscard]] std::optional<std::uint32_t> nextFound(bool forward) const;

    /// In the viewport; the place of a piece, its middle, may be out of it, and that of a mark.
    [[nodiscard]] std::optional<std::uint32_t> pieceAt(const QPoint& at) const
    {
        return geometry().pieceAt(at);
    }
    [[nodiscard]] QPoint placeOf(std::uint32_t span) const { return geometry().placeOf(span); }
    /// A mark of the allocator (LanesData::marks()) may be chosen in place of a piece.
    [[nodiscard]] std::optional<std::uint32_t> currentMark() const { return m_mark; }
    void setCurrentMark(std::optional<std::uint32_t> mark); ///< not told as the user's choice
    [[nodiscard]] std::optional<std::uint32_t> markAt(const QPoint& at) const
    {
        return geometry().markAt(at);
    }
    [[nodiscard]] QPoint placeOfMark(std::uint32_t mark) const { return geometry().placeOfMark(mark); }
    [[nodiscard]] QStringList markLinesAt(const QPoint& at) const; ///< what hovering says of them; or empty

    [[nodiscard]] const LaneLayout& lanes() const { return m_lanes; }
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void chosen(quint32 span); ///< by the user
    void markChosen(quint32 mark); ///< likewise
    void measuredChanged();
    void orderChanged(); ///< by the user
    /// Of a piece, or of its lane: for what can be done with the piece.
    void menuAsked(QMenu* menu, quint32 piece);
    void hovered(const QString& text);
    void historyChanged();

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    [[nodiscard]] LanesGeometry geometry() const;
    void layOut();
    void order(TrackOrder order); // by the user
    void dragTrack(const QPoint& at);
    void dropTrack();
    void addTrackActions(QMenu& menu, std::size_t track);
    [[nodiscard]] std::optional<int> dropTop() const;
    void move(Span view); ///< and remembers where it was
    void choose(std::optional<std::uint32_t> span);
    void walk(int key);
    void hover(const QPoint& at);
    void chooseMark(std::uint32_t mark);
    void revealMark(std::uint32_t mark);
    void zoomToMarks(std::uint32_t mark); ///< that lie together with this one
    void walkMarks(int key);
    bool walkToMarks(std::int64_t ns);
    [[nodiscard]] Span limits() const;

    std::shared_ptr<const LanesData> m_data;
    LaneLayout m_lanes;
    TrackArrangement m_tracks;
    Span m_view;
    History<Span> m_history{ 100 };
    qint64 m_movedMs = 0;
    std::optional<std::uint32_t> m_current;
    std::optional<std::uint32_t> m_partner; // of that: what it launched, or its launch
    std::optional<std::uint32_t> m_mark; // or none of both
    std::optional<Span> m_measured;
    std::optional<QPoint> m_pressed; // where the button went down
    enum class Drag { None, Measure, Pan, Track } m_drag = Drag::None;
    std::optional<std::size_t> m_heldTrack; // whose name the button went down on
    std::size_t m_dropPlace = 0; // among those that are shown, of what is dragged
    int m_draggedX = 0;
    FoundPieces m_found;
    LanesPainter m_painter;
    HoverTip* m_tip;
};

} // namespace strata::views
