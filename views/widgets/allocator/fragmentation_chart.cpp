// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/allocator/fragmentation_chart.h"

#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/axis/axis_painter.h"
#include "views/widgets/hover_tip.h"

#include <QCoreApplication>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace strata::views {

namespace {

struct FragmentationTexts {
    Q_DECLARE_TR_FUNCTIONS(FragmentationChart)
};

constexpr int kLeft = 72, kRight = 64, kTop = 8, kAxis = 28; // before scaling
constexpr double kHeadroom = 1.06;

} // namespace

QString partName(ReservedPart part)
{
    switch (part) {
    case ReservedPart::InUse:
        return FragmentationTexts::tr("in use");
    case ReservedPart::Rounding:
        return FragmentationTexts::tr("rounding");
    case ReservedPart::Unsplit:
        return FragmentationTexts::tr("not split off");
    case ReservedPart::Pending:
        return FragmentationTexts::tr("pending free");
    case ReservedPart::Pinned:
        return FragmentationTexts::tr("free, pinned by live blocks");
    case ReservedPart::Cached:
        return FragmentationTexts::tr("free, whole segments");
    }
    return {};
}

std::int64_t bytesOf(const model::Fragmentation& of, ReservedPart part)
{
    switch (part) {
    case ReservedPart::InUse:
        return of.liveBytes;
    case ReservedPart::Rounding:
        return of.roundingBytes;
    case ReservedPart::Unsplit:
        return of.unsplitBytes;
    case ReservedPart::Pending:
        return of.pendingBytes;
    case ReservedPart::Pinned:
        return of.pinnedFreeBytes();
    case ReservedPart::Cached:
        return of.cachedSegmentsBytes;
    }
    return 0;
}

FillStyle partStyle(const Palette& palette, ReservedPart part)
{
    const QRgb surface = palette[Palette::Role::Surface].rgb();
    const auto plain = [&](Palette::Role role) {
        return FillStyle{ palette[role].rgb(), surface, Pattern::Plain };
    };
    switch (part) {
    case ReservedPart::InUse:
        return plain(Palette::Role::Requested);
    case ReservedPart::Rounding:
        return { palette[Palette::Role::Other].rgb(), surface, Pattern::Crossed };
    case ReservedPart::Unsplit:
        return plain(Palette::Role::Other);
    case ReservedPart::Pending:
        return { palette[Palette::Role::PendingFree].rgb(), surface, Pattern::Dotted };
    case ReservedPart::Pinned:
        return plain(Palette::Role::Bad);
    case ReservedPart::Cached:
        return plain(Palette::Role::FilteredOut);
    }
    return {};
}

FragmentationChart::FragmentationChart(QWidget* parent)
    : QWidget(parent)
    , m_tip(new HoverTip(this))
{
    setMouseTracking(true);
    setAccessibleName(tr("Fragmentation over time"));
}

void FragmentationChart::setSamples(std::shared_ptr<const FragmentationSamples> samples)
{
    m_samples = std::move(samples);
    m_hovered.reset();
    m_tip->hide();
    setCursor(m_samples ? Qt::CrossCursor : Qt::ArrowCursor);
    update();
}

void FragmentationChart::setInstant(model::EventIndex event)
{
    m_instant = event;
    update();
}

void FragmentationChart::setColours(const Palette& palette)
{
    m_palette = palette;
    m_tip->setColours(palette);
    update();
}

QRect FragmentationChart::plot() const
{
    const auto s = [this](int px) { return scaled(px, font()); };
    return rect().adjusted(s(kLeft), s(kTop), -s(kRight), -s(kAxis));
}

XMapping FragmentationChart::xMapping() const
{
    const model::Clock& clock = m_samples->device->timeline->clock();
    return { m_samples->axis, XMapping::wholeSpan(m_samples->axis, clock),
        static_cast<int>(std::lround(plot().width() * devicePixelRatioF())) };
}

YMapping FragmentationChart::yMapping() const
{
    std::int64_t most = 1;
    for (const model::Fragmentation& sample : m_samples->at)
        most = std::max(most, sample.reservedBytes);
    return { { 0, static_cast<double>(most) * kHeadroom },
        static_cast<int>(std::lround(plot().height() * devicePixelRatioF())) };
}

std::optional<int> FragmentationChart::sampleAt(const QPointF& at) const
{
    const QRect area = plot();
    if (!m_samples || m_samples->at.empty() || at.x() < area.left() || at.x() > area.right() + 1)
        return std::nullopt;
    const auto count = static_cast<double>(m_samples->at.size());
    return static_cast<int>(std::clamp((at.x() - area.left()) / area.width() * count, 0.0, count - 1));
}

QStringList FragmentationChart::describe(const model::Fragmentation& sample) const
{
    QStringList lines{ tr("%1 reserved").arg(text::bytes(sample.reservedBytes)) };
    for (int p = kReservedParts - 1; p >= 0; --p) {
        const auto part = static_cast<ReservedPart>(p);
        if (const std::int64_t bytes = bytesOf(sample, part); bytes > 0)
            lines << tr("%1 %2").arg(text::bytes(bytes), partName(part));
    }
    if (sample.freeBytes > 0)
        lines << tr("largest free block %1").arg(text::bytes(sample.largestFreeBytes));
    if (const auto share = sample.externalShare())
        lines << tr("%1 of what is free lies outside of it")
                     .arg(QString::number(*share * 100, 'f', 1) + QStringLiteral(" %"));
    if (!sample.exact)
        lines << tr("free at most, in use at least");
    return lines << text::instant(m_samples->device->timeline->clock(), sample.event);
}

void FragmentationChart::paintOn(QPainter& painter, bool vector) const
{
    painter.fillRect(rect(), m_palette[Palette::Role::Surface]);
    if (!m_samples || m_samples->at.empty())
        return;
    const QRect area = plot();
    const double ratio = devicePixelRatioF();
    const AxisLook look{ sized(font(), kAxisPx), m_palette[Palette::Role::TextMuted],
        m_palette[Palette::Role::Line], ratio };
    const YMapping y = yMapping();
    const XMapping x = xMapping();
    paintByteAxis(painter, look, area, y);

    const int scale = vector ? 1 : std::max(1, qRound(ratio));
    std::array<QBrush, kReservedParts> brushes;
    for (int p = 0; p < kReservedParts; ++p)
        brushes[static_cast<std::size_t>(p)]
            = partStyle(m_palette, static_cast<ReservedPart>(p)).brush(scale);
    const auto count = static_cast<double>(m_samples->at.size());
    for (std::size_t i = 0; i < m_samples->at.size(); ++i) {
        const double x0 = std::round(area.left() + area.width() * static_cast<double>(i) / count);
        const double x1 = std::round(area.left() + area.width() * static_cast<double>(i + 1) / count);
        std::int64_t below = 0;
        for (int p = 0; p < kReservedParts; ++p) {
            const std::int64_t bytes = bytesOf(m_samples->at[i], static_cast<ReservedPart>(p));
            if (bytes <= 0)
                continue;
            const double bottom = area.top() + y.rowOf(static_cast<double>(below)) / ratio;
            below += bytes;
            const double top = area.top() + y.rowOf(static_cast<double>(below)) / ratio;
            painter.fillRect(QRectF(x0, top, x1 - x0, bottom - top), brushes[static_cast<std::size_t>(p)]);
        }
    }
    paintAxisFrame(painter, look, area);
    paintEventAxis(painter, look, { area.left(), area.bottom() + 1, area.width(), scaled(kAxis, font()) }, x);

    if (m_instant >= 0) {
        const model::Clock& clock = m_samples->device->timeline->clock();
        const double at
            = area.left() + x.columnOf(model::axisPosition(m_samples->axis, clock, m_instant)) / ratio;
        painter.setPen(QPen(m_palette[Palette::Role::Text], 1.5));
        painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom() + 1));
    }
    if (!vector && m_hovered) {
        const double at = area.left() + area.width() * (*m_hovered + 0.5) / count;
        painter.setPen(QPen(m_palette[Palette::Role::TextMuted], 1, Qt::DashLine));
        painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom() + 1));
    }
}

void FragmentationChart::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paintOn(painter, false);
}

void FragmentationChart::mousePressEvent(QMouseEvent* event)
{
    const auto sample = sampleAt(event->position());
    if (event->button() == Qt::LeftButton && sample)
        Q_EMIT instantChosen(m_samples->at[static_cast<std::size_t>(*sample)].event);
}

void FragmentationChart::mouseMoveEvent(QMouseEvent* event)
{
    m_hovered = sampleAt(event->position());
    update();
    if (!m_hovered) {
        m_tip->hide();
        return Q_EMIT hovered({});
    }
    const QStringList lines = describe(m_samples->at[static_cast<std::size_t>(*m_hovered)]);
    m_tip->showAt(event->pos(), lines);
    Q_EMIT hovered(lines.join(QStringLiteral(", ")));
}

void FragmentationChart::leaveEvent(QEvent*)
{
    m_hovered.reset();
    m_tip->hide();
    update();
    Q_EMIT hovered({});
}

} // namespace strata::views
