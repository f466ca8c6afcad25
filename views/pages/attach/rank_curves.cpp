// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/attach/rank_curves.h"

#include "views/style/texts.h"
#include "views/style/type.h"

#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QTimer>

#include <algorithm>

namespace strata::views {

using Role = Palette::Role;

namespace {

constexpr int kTallest = 200, kShortest = 32;
constexpr double kNameWidth = 132, kFigureWidth = 84;
constexpr double kHeadroom = 1.06;
constexpr int kFigures = 3; // now, requested peak, reserved peak

QString linkStateText(model::LinkState state)
{
    switch (state) {
    case model::LinkState::Connecting:
        return RankCurves::tr("connecting");
    case model::LinkState::Following:
        return RankCurves::tr("live");
    case model::LinkState::Reconnecting:
        return RankCurves::tr("reconnecting");
    case model::LinkState::Ended:
        return RankCurves::tr("ended");
    case model::LinkState::Broken:
        return RankCurves::tr("gone");
    }
    return {};
}

} // namespace

RankCurves::RankCurves(QWidget* parent)
    : QAbstractScrollArea(parent)
{
    setAccessibleName(tr("Memory of each rank over time"));
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    verticalScrollBar()->setSingleStep(kRowHeight);
}

QSize RankCurves::minimumSizeHint() const
{
    return { 480, 3 * kShortest };
}

void RankCurves::setColours(const Palette& palette)
{
    m_palette = palette;
    viewport()->update();
}

void RankCurves::setRanks(const LiveRanks* ranks)
{
    if (m_ranks != ranks) {
        m_ranks = ranks;
        m_job.cancel();
        m_picture = {};
        m_current = ranks && !ranks->ranks().empty() ? 0 : -1;
    }
    refresh();
}

void RankCurves::setCurrent(int row)
{
    if (!m_ranks || m_ranks->ranks().empty())
        return;
    m_current = std::clamp(row, 0, static_cast<int>(m_ranks->ranks().size()) - 1);
    const int top = m_current * m_rowHeight, page = viewport()->height() - kRowHeight;
    QScrollBar* const bar = verticalScrollBar();
    bar->setValue(std::clamp(bar->value(), top + m_rowHeight - page, top));
    setAccessibleDescription(m_ranks->rankName(static_cast<std::size_t>(m_current)));
    viewport()->update();
    Q_EMIT currentChanged();
}

int RankCurves::rows() const
{
    return m_ranks ? static_cast<int>(m_ranks->ranks().size()) : 0;
}

RankCurves::Picture RankCurves::pictureOf(
    const std::vector<std::shared_ptr<const RankData>>& ranks, int width)
{
    Picture picture;
    picture.width = width;
    picture.columns.resize(ranks.size());
    std::int64_t firstNs = INT64_MAX, lastNs = INT64_MIN;
    for (const auto& rank : ranks) {
        if (!rank || rank->trace().eventCount() == 0)
            continue;
        firstNs = std::min(firstNs, rank->timeline->clock().startNs());
        lastNs = std::max(lastNs, rank->timeline->clock().endNs());
        picture.topBytes = std::max(
            { picture.topBytes, rank->totals().reservedBytesPeak, rank->totals().requestedBytesPeak });
    }
    if (firstNs > lastNs)
        return picture;
    picture.lengthNs = std::max<std::int64_t>(lastNs - firstNs, 1);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (!ranks[i] || ranks[i]->trace().eventCount() == 0)
            continue;
        const auto start = static_cast<double>(ranks[i]->timeline->clock().startNs() - firstNs);
        const Span view{ -start, static_cast<double>(picture.lengthNs) - start };
        CurveColumns& columns = picture.columns[i];
        columns = curveColumnsOf(*ranks[i]->timeline, nullptr, XMapping(model::Axis::Time, view, width));
        // Before its first event a rank has nothing to show.
        const auto before = static_cast<std::ptrdiff_t>(start / view.width() * width);
        for (auto* const curve : { &columns.requested, &columns.reserved })
            std::fill(
                curve->begin(), curve->begin() + std::min(before, std::ssize(*curve)), model::CurveRange{});
    }
    return picture;
}

void RankCurves::refresh()
{
    layOut();
    viewport()->update();
    if (rows() == 0 || m_job.running())
        return;
    std::vector<std::shared_ptr<const RankData>> ranks;
    for (const LiveRanks::Rank& rank : m_ranks->ranks())
        ranks.push_back(rank.data);
    m_job.start([ranks = std::move(ranks), width = plotOf(0).width()](
                    const JobContext&) { return pictureOf(ranks, width); },
        [this](Picture picture) {
            const bool fits = picture.width == plotOf(0).width();
            m_picture = std::move(picture);
            viewport()->update();
            if (!fits)
                QTimer::singleShot(0, this, &RankCurves::refresh);
        });
}

void RankCurves::layOut()
{
    const int room = viewport()->height() - kRowHeight;
    m_rowHeight = scaled(std::clamp(rows() > 0 ? room / rows() : kTallest, kShortest, kTallest), font());
    verticalScrollBar()->setRange(0, std::max(rows() * m_rowHeight - room, 0));
    verticalScrollBar()->setPageStep(std::max(room, 1));
}

int RankCurves::rowAt(int y) const
{
    const int row = (y - kRowHeight + verticalScrollBar()->value()) / std::max(m_rowHeight, 1);
    return y >= kRowHeight && row < rows() ? row : -1;
}

QRect RankCurves::plotOf(int row) const
{
    const int left = kMargin + scaled(kNameWidth, font());
    const int right = viewport()->width() - kMargin - kFigures * scaled(kFigureWidth, font());
    const int top = kRowHeight + row * m_rowHeight - verticalScrollBar()->value();
    return { left, top + 3, std::max(right - left, 1), m_rowHeight - 6 };
}

void RankCurves::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), m_palette[Role::Surface]);
    for (int row = 0; row < rows(); ++row)
        if (const QRect plot = plotOf(row); plot.bottom() >= kRowHeight && plot.top() < viewport()->height())
            paintRow(painter, row);
    // The heading lies over what is scrolled.
    const QRect head(0, 0, viewport()->width(), kRowHeight);
    painter.fillRect(head, m_palette[Role::Surface]);
    painter.fillRect(0, kRowHeight - 1, head.width(), 1, m_palette[Role::Line]);
    painter.setPen(m_palette[Role::TextMuted]);
    painter.setFont(sized(font(), kAxisPx));
    const int figure = scaled(kFigureWidth, font());
    painter.drawText(head.adjusted(kMargin, 0, 0, 0), Qt::AlignVCenter, tr("Rank"));
    if (m_picture.lengthNs > 0)
        painter.drawText(QRect(plotOf(0).left(), 0, plotOf(0).width(), kRowHeight), Qt::AlignVCenter,
            tr("%1 of requested memory, filled, and reserved, a line; height %2")
                .arg(text::duration(m_picture.lengthNs), text::bytes(m_picture.topBytes)));
    const QString titles[] = { tr("Now"), tr("Peak"), tr("Reserved") };
    for (int i = 0; i < kFigures; ++i)
        painter.drawText(QRect(head.right() - kMargin - (kFigures - i) * figure, 0, figure, kRowHeight),
            Qt::AlignRight | Qt::AlignVCenter, titles[i]);
}

void RankCurves::paintRow(QPainter& painter, int row)
{
    const auto& rank = m_ranks->ranks()[static_cast<std::size_t>(row)];
    const QRect plot = plotOf(row);
    const QRect whole(0, plot.top() - 3, viewport()->width(), m_rowHeight);
    if (row == m_current)
        painter.fillRect(whole, hasFocus() ? m_palette[Role::Selection] : m_palette[Role::Hover]);
    painter.fillRect(0, whole.bottom(), whole.width(), 1, m_palette[Role::Line]);

    const bool failed = rank.data && !rank.data->trace().outOfMemories().empty();
    const QRect name(kMargin, whole.top(), scaled(kNameWidth, font()) - kGrid, whole.height());
    const bool twoLines = whole.height() >= 2 * kRowHeight - kGrid;
    painter.setFont(bold(font()));
    painter.setPen(m_palette[Role::Text]);
    painter.drawText(twoLines ? name.adjusted(0, 0, 0, -name.height() / 2) : name,
        (twoLines ? Qt::AlignBottom : Qt::AlignVCenter) | Qt::AlignLeft,
        m_ranks->rankName(static_cast<std::size_t>(row)));
    painter.setFont(sized(font(), kAxisPx));
    painter.setPen(failed ? m_palette[Role::Bad] : m_palette[Role::TextMuted]);
    painter.drawText(twoLines ? name.adjusted(0, name.height() / 2, 0, 0) : name,
        twoLines ? Qt::AlignTop | Qt::AlignLeft : Qt::AlignVCenter | Qt::AlignRight,
        failed ? tr("out of memory") : linkStateText(rank.state));

    if (!rank.data)
        return;
    const YMapping y({ 0, static_cast<double>(m_picture.topBytes) * kHeadroom }, plot.height());
    static const CurveColumns kNone;
    const auto place = static_cast<std::size_t>(row);
    const CurveColumns& columns = place < m_picture.columns.size() ? m_picture.columns[place] : kNone;
    const auto fill = [&](const std::vector<PixelSpan>& spans, const QColor& colour) {
        for (const PixelSpan& span : spans)
            painter.fillRect(plot.left() + span.x0, plot.top() + span.top, span.x1 - span.x0,
                span.bottom - span.top, colour);
    };
    if (!columns.requested.empty()) {
        QColor area = m_palette[Role::Requested];
        area.setAlphaF(0.35F);
        fill(areaSpans(columns.requested, y), area);
        fill(curveSpans(columns.requested, y, 1), m_palette[Role::Requested]);
        fill(curveSpans(columns.reserved, y, 2), m_palette[Role::Reserved]);
    }

    const int figure = scaled(kFigureWidth, font());
    const model::Totals& totals = rank.data->totals();
    const QString figures[]
        = { text::bytes(rank.data->requestedBytes), text::bytes(totals.requestedBytesPeak),
              totals.reservedKnown ? text::bytes(totals.reservedBytesPeak) : QStringLiteral("–") };
    painter.setFont(numberFont(font()));
    painter.setPen(m_palette[Role::Text]);
    for (int i = 0; i < kFigures; ++i)
        painter.drawText(
            QRect(whole.right() - kMargin - (kFigures - i) * figure, whole.top(), figure, whole.height()),
            Qt::AlignRight | Qt::AlignVCenter, figures[i]);
}

void RankCurves::resizeEvent(QResizeEvent*)
{
    refresh();
}

void RankCurves::scrollContentsBy(int, int)
{
    viewport()->update();
}

void RankCurves::mousePressEvent(QMouseEvent* event)
{
    if (const int row = rowAt(event->pos().y()); row >= 0)
        setCurrent(row);
}

void RankCurves::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (const int row = rowAt(event->pos().y()); row >= 0)
        Q_EMIT opened(row);
}

void RankCurves::keyPressEvent(QKeyEvent* event)
{
    const int page = std::max((viewport()->height() - kRowHeight) / std::max(m_rowHeight, 1), 1);
    switch (event->key()) {
    case Qt::Key_Up:
        return setCurrent(m_current - 1);
    case Qt::Key_Down:
        return setCurrent(m_current + 1);
    case Qt::Key_PageUp:
        return setCurrent(m_current - page);
    case Qt::Key_PageDown:
        return setCurrent(m_current + page);
    case Qt::Key_Home:
        return setCurrent(0);
    case Qt::Key_End:
        return setCurrent(INT32_MAX);
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_current >= 0)
            Q_EMIT opened(m_current);
        return;
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void RankCurves::focusInEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void RankCurves::focusOutEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

} // namespace strata::views
