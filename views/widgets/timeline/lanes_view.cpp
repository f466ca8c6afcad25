// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/lanes_view.h"

#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/hover_tip.h"
#include "views/widgets/timeline/lane_words.h"
#include "views/widgets/timeline/lanes_look.h"

#include <QDateTime>
#include <QScrollBar>

#include <algorithm>

namespace strata::views {

namespace {

constexpr double kNarrowestNs = 200; // of a view
constexpr qint64 kJoinMs = 500; // moves that are one step of the history

} // namespace

LanesView::LanesView(QWidget* parent)
    : QAbstractScrollArea(parent)
    , m_text(sized(font(), kAxisPx))
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
    m_folded.clear();
    m_whole.clear();
    m_history.clear();
    m_found.clear();
    m_foundCount = 0;
    m_names.clear();
    takeKeys();
    if (m_data)
        foldIdleThreads();
    m_view = limits();
    layOut();
    Q_EMIT historyChanged();
    Q_EMIT measuredChanged();
}

/// Threads that launch nothing, of which Python's may be many, show their outermost row at first.
void LanesView::foldIdleThreads()
{
    const auto tracks = m_data->tracks().tracks();
    const auto isThread
        = [&](const model::WorkTrack& track) { return !m_data->work().lanes[track.lane].device; };
    const bool launches
        = std::ranges::any_of(tracks, [](const model::WorkTrack& track) { return track.launches > 0; });
    for (std::size_t i = 0; launches && i < tracks.size(); ++i)
        if (isThread(tracks[i]) && tracks[i].launches == 0)
            m_folded.insert(i);
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
    const auto carried = [&](const std::set<std::size_t>& tracks) {
        std::set<std::size_t> now;
        for (const std::size_t track : tracks) {
            const model::WorkLane& lane = before->work().lanes[before->tracks().tracks()[track].lane];
            const auto found = std::ranges::find_if(m_data->tracks().tracks(),
                [&](const model::WorkTrack& each) { return m_data->work().lanes[each.lane] == lane; });
            if (found != m_data->tracks().tracks().end())
                now.insert(static_cast<std::size_t>(found - m_data->tracks().tracks().begin()));
        }
        return now;
    };
    m_folded = carried(m_folded);
    m_whole = carried(m_whole);
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
    m_found.clear();
    m_foundCount = 0;
    takeKeys();
    layOut();
}

void LanesView::setColours(const Palette& palette)
{
    m_palette = palette;
    m_tip->setColours(palette);
    m_fills.clear();
    for (int look = 0; look < kWorkLooks; ++look) {
        const QColor fill = colourOf(palette, static_cast<WorkLook>(look));
        m_fills.push_back(fill);
        m_fills.push_back(palette.isDark() ? fill.darker(118) : fill.lighter(114));
    }
    viewport()->update();
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
        m_folded.erase(place->first);
        m_whole.insert(place->first);
        layOut();
    }
    const auto begin = static_cast<double>(m_data->tracks().beginOf(span));
    const auto end = static_cast<double>(m_data->tracks().endOf(span));
    // As it is seen best where it cannot be seen at all, else as it is.
    const bool isTooNarrow = (end - begin) / nsPerPoint() < 2;
    const bool isOut = begin < m_view.begin || end > m_view.end;
    if (isTooNarrow || isOut) {
        const double width = isTooNarrow ? std::max((end - begin) * 20, kNarrowestNs)
                                         : std::max(m_view.width(), (end - begin) * 1.2);
        move({ (begin + end - width) / 2, (begin + end + width) / 2 });
    }
    if (const auto row = m_lanes.rowOf(place->first, place->second)) {
        const int top = m_lanes.rows()[*row].top;
        QScrollBar* const bar = verticalScrollBar();
        if (top >= fixedHeight())
            bar->setValue(std::clamp(bar->value(), top + 2 * m_lanes.rowHeight() - plot().height(),
                std::max(top - m_lanes.rowHeight() - fixedHeight(),
                    top + 2 * m_lanes.rowHeight() - plot().height())));
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
    if (folded == m_folded.contains(track))
        return;
    if (folded)
        m_folded.insert(track);
    else
        m_folded.erase(track);
    layOut();
}

void LanesView::turnTrack(std::size_t track)
{
    const auto shown = std::ranges::find(m_lanes.tracks(), track, &LaneLayout::Track::track);
    if (shown == m_lanes.tracks().end())
        return;
    if (shown->left > 0) {
        m_whole.insert(track);
        return layOut();
    }
    m_whole.erase(track);
    setFolded(track, !isFolded(track));
}

void LanesView::find(const QString& wanted)
{
    if (wanted.isEmpty() || !m_data)
        return standOut({});
    std::vector<std::int8_t> matches; // by name: 0 not looked at yet, 1 yes, -1 no
    const auto& spans = m_data->work().spans;
    std::vector<bool> isFound(spans.size());
    for (std::size_t first = 0; first < spans.size(); first += spans.kChunk) {
        const std::span<const model::WorkSpan> run = spans.run(first);
        for (std::size_t i = 0; i < run.size(); ++i) {
            const model::StringId name = run[i].name;
            if (name.value >= matches.size())
                matches.resize(name.value + 1);
            std::int8_t& known = matches[name.value];
            if (known == 0)
                known = text::utf8(m_data->strings()[name]).contains(wanted, Qt::CaseInsensitive) ? 1 : -1;
            isFound[first + i] = known == 1;
        }
    }
    standOut(isFound);
}

void LanesView::mark(std::span<const std::uint32_t> pieces)
{
    if (pieces.empty() || !m_data)
        return standOut({});
    std::vector<bool> isMarked(m_data->work().spans.size());
    for (const std::uint32_t piece : pieces)
        isMarked[piece] = true;
    standOut(isMarked);
}

void LanesView::standOut(const std::vector<bool>& isFound)
{
    m_found.clear();
    m_foundCount = 0;
    if (!isFound.empty()) {
        for (const model::WorkTrack& track : m_data->tracks().tracks()) {
            Found& found = m_found.emplace_back();
            for (const model::WorkRow& row : track.rows) {
                std::vector<std::uint32_t>& places = found.places.emplace_back();
                for (std::uint32_t i = 0; i < row.size(); ++i)
                    if (isFound[row.spans[i]])
                        places.push_back(i);
                m_foundCount += std::ssize(places);
            }
        }
    }
    viewport()->update();
}

bool LanesView::hasFound(std::size_t track, std::size_t row, const model::WorkSegment& segment) const
{
    const std::vector<std::uint32_t>& places = m_found[track].places[row];
    const auto at = std::ranges::lower_bound(places, segment.first);
    return at != places.end() && *at < segment.first + segment.count;
}

std::optional<std::uint32_t> LanesView::nextFound(bool forward) const
{
    std::optional<std::uint32_t> next, around; // the nearest beyond, and the farthest the other way
    const auto order = [&](std::uint32_t span) { return std::pair(m_data->tracks().beginOf(span), span); };
    const auto isBefore = [&](std::uint32_t a, std::uint32_t b) {
        return forward ? order(a) < order(b) : order(b) < order(a);
    };
    const auto take = [&](std::optional<std::uint32_t>& best, std::uint32_t span) {
        if (!best || isBefore(span, *best))
            best = span;
    };
    for (std::size_t track = 0; track < m_found.size(); ++track)
        for (std::size_t row = 0; row < m_found[track].places.size(); ++row) {
            const std::vector<std::uint32_t>& places = m_found[track].places[row];
            const std::vector<std::uint32_t>& spans = m_data->tracks().tracks()[track].rows[row].spans;
            if (places.empty())
                continue;
            take(around, spans[forward ? places.front() : places.back()]);
            if (!m_current)
                continue;
            const auto behind = std::ranges::partition_point(places, [&](std::uint32_t place) {
                return forward ? order(spans[place]) <= order(*m_current)
                               : order(spans[place]) < order(*m_current);
            });
            if (forward && behind != places.end())
                take(next, spans[*behind]);
            if (!forward && behind != places.begin())
                take(next, spans[*std::prev(behind)]);
        }
    return next ? next : around;
}

void LanesView::layOut()
{
    m_lanes = m_data ? LaneLayout(
                  m_data->tracks(), m_folded, m_whole, scaled(kLaneHeight, font()), m_order.arrange(m_keys))
                     : LaneLayout();
    verticalScrollBar()->setRange(0, std::max(m_lanes.height() - plot().height(), 0));
    verticalScrollBar()->setPageStep(std::max(plot().height(), 1));
    viewport()->update();
}

/// Memory takes room that the lanes do not need, as far as that makes it easier to read.
int LanesView::memoryHeight() const
{
    const int marked = marks().empty() ? 0 : scaled(kMarksHeight, font());
    const int room = viewport()->height() - scaled(kScaleHeight, font()) - marked - m_lanes.height();
    return std::clamp(room, scaled(kMemoryHeight, font()), scaled(kMostMemoryHeight, font()));
}

QRect LanesView::plot() const
{
    const int left = scaled(kNamesWidth, font()), top = scaled(kScaleHeight, font());
    const int below = (memory() ? memoryHeight() : 0)
        + (marks().empty() ? 0 : scaled(kMarksHeight, font()) + (memory() ? 0 : kGrid));
    return { left, top, std::max(viewport()->width() - left, 1),
        std::max(viewport()->height() - top - below, 1) };
}

QRect LanesView::memoryPlot() const
{
    if (!memory())
        return {};
    const QRect lanes = plot();
    const int marked = marks().empty() ? 0 : scaled(kMarksHeight, font());
    return { lanes.left(), lanes.bottom() + 1 + kGrid + marked, lanes.width(), memoryHeight() - 2 * kGrid };
}

/// Of a GPU, where there is one.
const model::WorkMemory* LanesView::memory() const
{
    if (!m_data || m_data->tracks().memory().empty())
        return nullptr;
    const auto all = m_data->tracks().memory();
    const auto gpu
        = std::ranges::find_if(all, [](const model::WorkMemory& each) { return each.deviceType != 0; });
    return gpu == all.end() ? &all.front() : &*gpu;
}

double LanesView::nsPerPoint() const
{
    return m_view.width() / plot().width();
}

double LanesView::nsAt(int x) const
{
    const QRect area = plot();
    return m_view.begin + (x - area.left()) * m_view.width() / area.width();
}

double LanesView::xOf(double ns) const
{
    const QRect area = plot();
    return area.left() + (ns - m_view.begin) * area.width() / m_view.width();
}

std::optional<std::uint32_t> LanesView::pieceAt(const QPoint& at) const
{
    if (!m_data || !plot().contains(at))
        return std::nullopt;
    const auto row = m_lanes.rowAt(topAt(at.y()));
    if (!row)
        return std::nullopt;
    const LaneLayout::Row& shown = m_lanes.rows()[*row];
    return m_data->tracks().pick(m_data->tracks().tracks()[shown.track].rows[shown.row],
        static_cast<std::int64_t>(nsAt(at.x())), static_cast<std::int64_t>(2 * nsPerPoint()));
}

QPoint LanesView::placeOf(std::uint32_t span) const
{
    const auto place = m_data->tracks().placeOf(span);
    const auto row = place ? m_lanes.rowOf(place->first, place->second) : std::nullopt;
    const double begin
        = std::max(xOf(static_cast<double>(m_data->tracks().beginOf(span))), plot().left() * 1.0);
    const double end = std::min(xOf(static_cast<double>(m_data->tracks().endOf(span))), plot().right() * 1.0);
    const int top = row ? m_lanes.rows()[*row].top : 0;
    return { static_cast<int>((begin + end) / 2), yOf(top) + m_lanes.rowHeight() / 2 };
}

void LanesView::resizeEvent(QResizeEvent*)
{
    layOut();
}

void LanesView::scrollContentsBy(int, int)
{
    viewport()->update();
}

} // namespace strata::views
