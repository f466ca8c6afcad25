// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/curve_overview.h"

#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/memory/curve_scale.h"
#include "views/widgets/own_keys.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::views {

namespace {

constexpr int kHeight = 128; // before scaling, as the rest
constexpr int kTop = 16; // out-of-memory marks
constexpr int kAxis = 28;
constexpr int kPeakRoom = 20; // of its label
constexpr int kPeakRoomBelowAnother = 32; // which says out of memory
constexpr int kTickGap = 10;
constexpr int kRight = 84; // half of the last number, and the name of the axis

} // namespace

CurveOverview::CurveOverview(QWidget* parent)
    : QWidget(parent)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Memory over time"));
    describe();
}

QSize CurveOverview::sizeHint() const
{
    return { scaled(400, font()), scaled(kHeight, font()) };
}

QSize CurveOverview::minimumSizeHint() const
{
    return { scaled(200, font()), scaled(kHeight, font()) };
}

void CurveOverview::setDevice(std::shared_ptr<const DeviceData> device)
{
    if (device == m_scene.device)
        return;
    const bool same = device && m_scene.device && device->timeline == m_scene.device->timeline;
    m_scene.device = std::move(device);
    setCursor(m_scene.device ? Qt::CrossCursor : Qt::ArrowCursor);
    if (!same)
        updateScene();
}

void CurveOverview::setWaitingFor(const QString& text)
{
    m_waitingFor = text;
    describe();
    update();
}

void CurveOverview::setAxis(model::Axis axis)
{
    if (std::exchange(m_axis, axis) == axis)
        return;
    m_cursor.reset();
    updateScene();
}

void CurveOverview::setColours(const Palette& palette)
{
    m_scene.palette = palette;
    update();
}

void CurveOverview::goOnFrom(const CurveOverview& earlier)
{
    m_cursor = earlier.m_cursor;
    m_mouse = earlier.m_mouse;
    m_overlay.mouse = earlier.m_overlay.mouse;
    m_overlay.focused = earlier.m_overlay.focused;
    updateHover();
}

std::optional<model::EventIndex> CurveOverview::pointedAt() const
{
    return m_overlay.mouse && m_overlay.hover.onTimeAxis() ? std::optional(m_overlay.hover.event)
                                                           : std::nullopt;
}

CanvasLayout CurveOverview::layoutFor(QSize size) const
{
    const int left = QFontMetrics(m_scene.axisFont()).horizontalAdvance(QStringLiteral("0.88 GiB"))
        + scaled(kTickGap, font());
    const int top = scaled(kTop, font()), axis = scaled(kAxis, font()), right = scaled(kRight, font());
    CanvasLayout layout;
    layout.curves
        = { left, top, std::max(size.width() - left - right, 1), std::max(size.height() - top - axis, 1) };
    const int below = layout.curves.top() + layout.curves.height();
    layout.picture = { left, below, layout.curves.width(), 0 }; // there is none but the curves
    layout.axis = { left, below, layout.curves.width(), axis };
    layout.labels = { left + layout.curves.width(), top, right, layout.curves.height() };
    return layout;
}

void CurveOverview::updateScene()
{
    update();
    if (!m_scene.device || width() <= 0 || height() <= 0) {
        describe();
        return;
    }
    m_scene.font = font();
    m_scene.ratio = devicePixelRatioF();
    m_scene.mode = PictureMode::Blocks; // the curves have a panel of their own
    m_scene.layout = layoutFor(size());
    const auto pixels = [this](int points) { return static_cast<int>(std::lround(points * m_scene.ratio)); };
    const model::Axis axis = m_scene.clock().hasTimes() ? m_axis : model::Axis::Events;
    m_scene.x = XMapping(axis, XMapping::wholeSpan(axis, m_scene.clock()), pixels(m_scene.layout.width()));
    const int rows = pixels(m_scene.layout.curves.height());
    const model::DeviceSummary& summary = *m_scene.device->summary;
    const int room = scaled(summary.outOfMemory.empty() ? kPeakRoom : kPeakRoomBelowAnother, font());
    m_scene.curveY = YMapping({ 0, withHeadroom(highestCurve(summary), rows, pixels(room)) }, rows);
    m_scene.y = m_scene.curveY;
    m_scene.curves = curveColumnsOf(m_scene.timeline(), nullptr, m_scene.x);
    updateHover();
}

double CurveOverview::pointOfCursor() const
{
    const double column = std::floor(m_scene.x.columnOf(*m_cursor));
    return m_scene.layout.left() + (std::clamp(column, 0.0, m_scene.x.columns() - 1.0) + 0.5) / m_scene.ratio;
}

/// What the pointer reads, be it that of the mouse or of the keyboard.
void CurveOverview::updateHover()
{
    if (!m_mouse) {
        m_overlay.mouse.reset();
        if (m_cursor && hasFocus() && m_scene.device && m_scene.x.columns() > 0)
            m_overlay.mouse = QPointF(pointOfCursor(), m_scene.layout.curves.center().y());
    }
    if (m_overlay.mouse && m_scene.device) {
        const QPointF at(m_overlay.mouse->x(), m_scene.layout.curves.center().y()); // the scales read too
        m_overlay.hover = hitAt(m_scene, {}, nullptr, at);
        m_overlay.card = cardFor(m_scene, {}, m_overlay.hover);
    }
    describe();
    update();
}

void CurveOverview::describe()
{
    QString about;
    if (!m_scene.device)
        about = m_waitingFor;
    else if (pointedAt())
        about = cardText(m_overlay.card);
    else if (const model::Totals& totals = m_scene.device->summary->totals; totals.reservedKnown)
        about
            = tr("%1 requested and %2 reserved at most. Left and right arrow read an instant, Enter shows it "
                 "in Memory.")
                  .arg(text::bytes(totals.requestedBytesPeak), text::bytes(totals.reservedBytesPeak));
    else
        about = tr("%1 requested at most. Left and right arrow read an instant, Enter shows it in Memory.")
                    .arg(text::bytes(totals.requestedBytesPeak));
    if (about == accessibleDescription())
        return;
    setAccessibleDescription(about);
    if (hasFocus()) {
        QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
        QAccessible::updateAccessibility(&changed);
    }
}

void CurveOverview::moveCursor(int points)
{
    if (!m_scene.device || m_scene.x.columns() <= 0)
        return;
    double column = 0;
    if (m_overlay.mouse)
        column = (m_overlay.mouse->x() - m_scene.layout.left()) * m_scene.ratio + points * m_scene.ratio;
    else // where the peak is
        column = m_scene.x.columnOf(model::axisPosition(
            m_scene.x.axis(), m_scene.clock(), m_scene.device->summary->totals.requestedPeakEvent));
    m_cursor = m_scene.x.valueAt(std::clamp(std::floor(column), 0.0, m_scene.x.columns() - 1.0) + 0.5);
    m_mouse = false;
    updateHover();
    Q_EMIT hoverText(cardText(m_overlay.card));
}

bool CurveOverview::event(QEvent* event)
{
    // They are shortcuts of the window, too.
    if (takesOwnKey(event, { Qt::Key_Left, Qt::Key_Right }))
        return true;
    return QWidget::event(event);
}

void CurveOverview::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right)
        return moveCursor(event->key() == Qt::Key_Left ? -1 : 1);
    const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (const auto instant = pointedAt(); enter && instant)
        Q_EMIT eventChosen(*instant);
    else
        QWidget::keyPressEvent(event);
}

void CurveOverview::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || !m_scene.device)
        return QWidget::mousePressEvent(event);
    m_mouse = true;
    m_overlay.mouse = event->position();
    updateHover();
    if (const auto instant = pointedAt())
        Q_EMIT eventChosen(*instant);
}

void CurveOverview::mouseMoveEvent(QMouseEvent* event)
{
    m_mouse = true;
    m_overlay.mouse = event->position();
    updateHover();
    Q_EMIT hoverText(pointedAt() ? cardText(m_overlay.card) : QString());
}

void CurveOverview::leaveEvent(QEvent*)
{
    m_mouse = false;
    updateHover();
    Q_EMIT hoverText(QString());
}

void CurveOverview::focusInEvent(QFocusEvent* event)
{
    const bool walked = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason
        || event->reason() == Qt::ShortcutFocusReason;
    m_overlay.focused = m_overlay.focused || walked;
    if (walked && !m_cursor)
        moveCursor(0);
    updateHover();
}

void CurveOverview::focusOutEvent(QFocusEvent*)
{
    m_overlay.focused = false;
    updateHover();
}

void CurveOverview::resizeEvent(QResizeEvent*)
{
    updateScene();
}

void CurveOverview::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange) {
        updateGeometry();
        updateScene();
    }
    QWidget::changeEvent(event);
}

void CurveOverview::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    if (!m_scene.device) {
        painter.fillRect(rect(), m_scene.palette[Palette::Role::Frame]);
        painter.setPen(m_scene.palette[Palette::Role::TextMuted]);
        painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, m_waitingFor);
        return;
    }
    if (m_scene.ratio != devicePixelRatioF())
        updateScene();
    paintAxes(painter, m_scene);
    paintCurves(painter, m_scene);
    paintMarks(painter, m_scene);
    paintOverlay(painter, m_scene, m_overlay, size());
}

} // namespace strata::views
