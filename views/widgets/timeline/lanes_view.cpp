// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/lanes_view.h"

#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/hover_tip.h"
#include "views/widgets/timeline/lane_walk.h"
#include "views/widgets/timeline/lane_words.h"
#include "views/widgets/timeline/lanes_look.h"
#include "views/widgets/timeline/mark_words.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QDateTime>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>
#include <utility>

namespace strata::views {

namespace {

constexpr double kNarrowestNs = 200; // of a view
constexpr qint64 kJoinMs = 500; // moves that are one step of the history

} // namespace

LanesView::LanesView(QWidget* parent)
    : QAbstractScrollArea(parent)
    , m_painter(sized(font(), kAxisPx))
    , m_tip(new HoverTip(viewport()))
{
    setAccessibleName(tr("Work over time, by stream and thread"));
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setMouseTracking(true);
    verticalScrollBar()->setSingleStep(kRowHeight);
    m_tip->hide();
}

QSize LanesView::minimumSizeHint() const
{
    return { 400, 160 };
}

void LanesView::setData(std::shared_ptr<const LanesData> data)
{
    m_data = std::move(data);
    m_current.reset();
    m_partner.reset();
    m_mark.reset();
    m_measured.reset();
    m_history.clear();
    m_found = {};
    m_painter.forgetNames();
    m_tracks = TrackArrangement(m_data.get(), m_tracks.order());
    m_view = limits();
    layOut();
    Q_EMIT historyChanged();
    Q_EMIT measuredChanged();
}

void LanesView::grow(std::shared_ptr<const LanesData> data)
{
    if (!m_data || !data)
        return setData(std::move(data));
    const std::shared_ptr<const LanesData> before = std::exchange(m_data, std::move(data));
    const bool showedAll = m_view == Span{ 0, static_cast<double>(before->tracks().lengthNs()) };
    const auto shift = static_cast<double>(before->tracks().startNs() - m_data->tracks().startNs());
    m_view = showedAll ? limits() : Span{ m_view.begin + shift, m_view.end + shift };
    if (m_measured)
        m_measured = Span{ m_measured->begin + shift, m_measured->end + shift };
    m_tracks.goOn(*before, *m_data);
    // Annotations come behind all other pieces: what was chosen may have another number.
    const auto carriedPiece = [&](std::optional<std::uint32_t> piece) -> std::optional<std::uint32_t> {
        if (!piece)
            return {};
        const model::WorkSpan& wanted = before->work().spans[*piece];
        for (std::uint32_t at = *piece; at < m_data->work().spans.size(); ++at) {
            const model::WorkSpan& span = m_data->work().spans[at];
            if (span.startNs == wanted.startNs && span.name == wanted.name && span.kind == wanted.kind)
                return at;
        }
        return {};
    };
    m_current = carriedPiece(m_current);
    m_partner = carriedPiece(m_partner);
    m_mark = m_mark ? m_data->marks().find(before->marks()[*m_mark]) : std::nullopt;
    m_found = {};
    layOut();
}

void LanesView::setColours(const Palette& palette)
{
    m_painter.setColours(palette);
    m_tip->setColours(palette);
    viewport()->update();
}

LanesGeometry LanesView::geometry() const
{
    return { m_data.get(), m_lanes, m_view, viewport()->size(), verticalScrollBar()->value(), font() };
}

Span LanesView::limits() const
{
    return m_data ? Span{ 0, std::max(static_cast<double>(m_data->tracks().lengthNs()), kNarrowestNs) }
                  : Span{ 0, kNarrowestNs };
}

void LanesView::showSpan(Span view)
{
    m_view = clampSpan(view, limits(), kNarrowestNs);
    viewport()->update();
}

void LanesView::move(Span view)
{
    const Span wanted = clampSpan(view, limits(), kNarrowestNs);
    if (wanted == m_view)
        return;
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    if (now - m_movedMs > kJoinMs)
        m_history.leave(m_view);
    m_movedMs = now;
    showSpan(wanted);
    Q_EMIT historyChanged();
}

void LanesView::showAll()
{
    move(limits());
}

void LanesView::goBack()
{
    m_movedMs = 0;
    showSpan(m_history.back(m_view));
    Q_EMIT historyChanged();
}

void LanesView::goForward()
{
    m_movedMs = 0;
    showSpan(m_history.forward(m_view));
    Q_EMIT historyChanged();
}

void LanesView::setCurrent(std::optional<std::uint32_t> span)
{
    m_current = span;
    m_mark.reset();
    m_partner = m_data && span ? m_data->partnerOf(*span) : std::nullopt;
    if (m_current && m_data)
        setAccessibleDescription(text::workLines(*m_data, *m_current).join(u'\n'));
    viewport()->update();
}

void LanesView::choose(std::optional<std::uint32_t> span)
{
    if (span == m_current && !m_mark)
        return;
    setCurrent(span);
    if (span)
        Q_EMIT chosen(*span);
}

void LanesView::reveal(std::uint32_t span)
{
    if (!m_data)
        return;
    const auto place = m_data->tracks().placeOf(span);
    if (!place)
        return;
    if (!m_lanes.rowOf(place->first, place->second)) {
        m_tracks.showWhole(place->first);
        layOut();
    }
    const auto begin = static_cast<double>(m_data->tracks().beginOf(span));
    const auto end = static_cast<double>(m_data->tracks().endOf(span));
    // As it is seen best where it cannot be seen at all, else as it is.
    const bool isTooNarrow = (end - begin) / geometry().nsPerPoint() < 2;
    const bool isOut = begin < m_view.begin || end > m_view.end;
    if (isTooNarrow || isOut) {
        const double width = isTooNarrow ? std::max((end - begin) * 20, kNarrowestNs)
                                         : std::max(m_view.width(), (end - begin) * 1.2);
        move({ (begin + end - width) / 2, (begin + end + width) / 2 });
    }
    if (const auto row = m_lanes.rowOf(place->first, place->second)) {
        const int top = m_lanes.rows()[*row].top;
        QScrollBar* const bar = verticalScrollBar();
        if (top >= geometry().fixedHeight())
            bar->setValue(std::clamp(bar->value(), top + 2 * m_lanes.rowHeight() - geometry().plot().height(),
                std::max(top - m_lanes.rowHeight() - geometry().fixedHeight(),
                    top + 2 * m_lanes.rowHeight() - geometry().plot().height())));
    }
}

void LanesView::measure(std::optional<Span> range)
{
    if (range == m_measured)
        return;
    m_measured = range;
    viewport()->update();
    Q_EMIT measuredChanged();
}

void LanesView::setFolded(std::size_t track, bool folded)
{
    if (m_tracks.setFolded(track, folded))
        layOut();
}

void LanesView::turnTrack(std::size_t track)
{
    const auto shown = std::ranges::find(m_lanes.tracks(), track, &LaneLayout::Track::track);
    if (shown == m_lanes.tracks().end())
        return;
    m_tracks.turn(*shown);
    layOut();
}

void LanesView::find(const QString& wanted)
{
    m_found = wanted.isEmpty() || !m_data ? FoundPieces() : FoundPieces::named(*m_data, wanted);
    viewport()->update();
}

void LanesView::mark(std::span<const std::uint32_t> pieces)
{
    m_found = pieces.empty() || !m_data ? FoundPieces() : FoundPieces::of(*m_data, pieces);
    viewport()->update();
}

std::optional<std::uint32_t> LanesView::nextFound(bool forward) const
{
    return m_found.isEmpty() ? std::nullopt : m_found.next(*m_data, m_current, forward);
}

void LanesView::layOut()
{
    m_lanes = m_data ? m_tracks.layOut(*m_data, scaled(kLaneHeight, font())) : LaneLayout();
    verticalScrollBar()->setRange(0, std::max(m_lanes.height() - geometry().plot().height(), 0));
    verticalScrollBar()->setPageStep(std::max(geometry().plot().height(), 1));
    viewport()->update();
}

void LanesView::resizeEvent(QResizeEvent*)
{
    layOut();
}

void LanesView::scrollContentsBy(int, int)
{
    viewport()->update();
}

void LanesView::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    m_painter.paint(painter,
        { geometry(), m_found, m_current, m_partner, m_mark, m_measured, dropTop(), devicePixelRatioF(),
            hasFocus() });
}

void LanesView::setCurrentMark(std::optional<std::uint32_t> mark)
{
    m_mark = mark;
    if (mark) {
        m_current.reset();
        m_partner.reset();
        setAccessibleDescription(
            text::markLines(geometry().marks()[*mark], geometry().marks().timeOf(*mark)).join(u'\n'));
    }
    viewport()->update();
}

void LanesView::chooseMark(std::uint32_t mark)
{
    if (mark == m_mark)
        return;
    setCurrentMark(mark);
    Q_EMIT markChosen(mark);
}

void LanesView::revealMark(std::uint32_t mark)
{
    const auto ns = static_cast<double>(geometry().marks().timeOf(mark));
    if (ns < m_view.begin || ns > m_view.end)
        move({ ns - m_view.width() / 2, ns + m_view.width() / 2 });
}

/// Along the marks, or up to the lanes.
void LanesView::walkMarks(int key)
{
    if (key == Qt::Key_Left || key == Qt::Key_Right) {
        const bool isAtEnd = key == Qt::Key_Left ? *m_mark == 0 : *m_mark + 1 == geometry().marks().size();
        if (!isAtEnd) {
            chooseMark(key == Qt::Key_Left ? *m_mark - 1 : *m_mark + 1);
            revealMark(*m_mark);
        }
    } else if (key == Qt::Key_Up) {
        const std::int64_t ns = geometry().marks().timeOf(*m_mark);
        if (const auto piece = lowestPieceAt(geometry(), ns)) {
            choose(piece);
            reveal(*piece);
        }
    }
}

/// To the mark that is nearest to an instant; whether there is any.
bool LanesView::walkToMarks(std::int64_t ns)
{
    const auto mark = geometry().marks().nearest(ns);
    if (!mark)
        return false;
    chooseMark(*mark);
    revealMark(*mark);
    return true;
}

QStringList LanesView::markLinesAt(const QPoint& at) const
{
    const auto mark = markAt(at);
    return mark ? text::markLines(geometry().marks(), geometry().marks().groupOf(*mark, geometry().foldNs()))
                : QStringList();
}

void LanesView::zoomToMarks(std::uint32_t mark)
{
    const MarkGroup group = geometry().marks().groupOf(mark, geometry().foldNs());
    const auto begin = static_cast<double>(group.beginNs), end = static_cast<double>(group.endNs);
    const double width = group.count > 1 ? (end - begin) * 1.2 : m_view.width() / 10;
    move({ (begin + end - width) / 2, (begin + end + width) / 2 });
}

std::optional<std::size_t> LanesView::currentTrack() const
{
    const auto place = m_data && m_current ? m_data->tracks().placeOf(*m_current) : std::nullopt;
    return place ? std::optional(place->first) : std::nullopt;
}

void LanesView::setOrder(const TrackOrder& order)
{
    if (order == m_tracks.order())
        return;
    m_tracks.setOrder(order);
    layOut();
}

/// Of what the user did.
void LanesView::order(TrackOrder order)
{
    if (order == m_tracks.order())
        return;
    setOrder(order);
    Q_EMIT orderChanged();
}

void LanesView::setPinned(std::size_t track, bool pinned)
{
    order(m_tracks.withPinned(track, pinned));
}

void LanesView::moveTrack(std::size_t track, int by)
{
    const auto shown = std::ranges::find(m_lanes.tracks(), track, &LaneLayout::Track::track);
    const std::ptrdiff_t to = shown - m_lanes.tracks().begin() + by;
    order(m_tracks.moved(track, static_cast<std::size_t>(std::max<std::ptrdiff_t>(to, 0))));
}

void LanesView::resetOrder()
{
    order(TrackOrder());
}

void LanesView::dragTrack(const QPoint& at)
{
    if (m_drag == Drag::None && (at - *m_pressed).manhattanLength() < QApplication::startDragDistance())
        return;
    m_drag = Drag::Track;
    if (at.y() < geometry().partOf(false).top())
        verticalScrollBar()->triggerAction(QAbstractSlider::SliderSingleStepSub);
    else if (at.y() > geometry().plot().bottom())
        verticalScrollBar()->triggerAction(QAbstractSlider::SliderSingleStepAdd);
    const int top = geometry().topAt(at.y());
    m_dropPlace = 0;
    for (const LaneLayout::Track& track : m_lanes.tracks())
        m_dropPlace += track.track != *m_heldTrack && track.top + track.height / 2 < top ? 1 : 0;
    viewport()->setCursor(Qt::ClosedHandCursor);
    viewport()->update();
}

void LanesView::dropTrack()
{
    const std::size_t track = *std::exchange(m_heldTrack, std::nullopt);
    if (m_drag == Drag::Track)
        order(m_tracks.moved(track, m_dropPlace));
    else
        turnTrack(track);
    viewport()->unsetCursor();
    viewport()->update();
}

/// Where what is dragged would come, in the layout.
std::optional<int> LanesView::dropTop() const
{
    if (!m_data || m_drag != Drag::Track || !m_heldTrack)
        return std::nullopt;
    const TrackOrder::Arranged arranged = m_tracks.arranged(m_tracks.moved(*m_heldTrack, m_dropPlace));
    const auto place = std::ranges::find(arranged.lanes, *m_heldTrack) - arranged.lanes.begin();
    // Above the one that would come behind it, or below all.
    int top = m_lanes.height();
    if (std::cmp_less(place + 1, arranged.lanes.size())) {
        const std::size_t next = arranged.lanes[static_cast<std::size_t>(place) + 1];
        top = std::ranges::find(m_lanes.tracks(), next, &LaneLayout::Track::track)->top;
    }
    return top;
}

void LanesView::addTrackActions(QMenu& menu, std::size_t track)
{
    const auto shown = std::ranges::find(m_lanes.tracks(), track, &LaneLayout::Track::track);
    const auto place = static_cast<std::size_t>(shown - m_lanes.tracks().begin());
    const bool isPinned = this->isPinned(track);
    const std::size_t first = isPinned ? 0 : m_lanes.pinnedTracks();
    const std::size_t last = (isPinned ? m_lanes.pinnedTracks() : m_lanes.tracks().size()) - 1;
    menu.addAction(tr("Move Up"), this, [this, track] { moveTrack(track, -1); })->setEnabled(place > first);
    menu.addAction(tr("Move Down"), this, [this, track] { moveTrack(track, 1); })->setEnabled(place < last);
    menu.addAction(isPinned ? tr("Unpin") : tr("Pin to Top"), this,
        [this, track, isPinned] { setPinned(track, !isPinned); });
    if (m_data->tracks().tracks()[track].rows.size() > 1)
        menu.addAction(isFolded(track) ? tr("Unfold") : tr("Fold"), this,
            [this, track] { setFolded(track, !isFolded(track)); });
    menu.addSeparator();
    menu.addAction(tr("Reset Order"), this, [this] { resetOrder(); })->setEnabled(!m_tracks.order().empty());
}

void LanesView::contextMenuEvent(QContextMenuEvent* event)
{
    if (!m_data)
        return;
    m_tip->hide();
    const bool isByKey = event->reason() == QContextMenuEvent::Keyboard;
    const QPoint at = !isByKey ? event->pos() : m_current ? placeOf(*m_current) : geometry().plot().topLeft();
    const auto track = isByKey ? currentTrack() : geometry().trackAt(at.y());
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (const auto piece = isByKey ? m_current : pieceAt(at)) {
        Q_EMIT menuAsked(menu, *piece);
        if (!menu->isEmpty())
            menu->addSeparator();
    }
    if (track)
        addTrackActions(*menu, *track);
    if (menu->isEmpty())
        delete menu;
    else
        menu->popup(viewport()->mapToGlobal(at));
}

} // namespace strata::views
