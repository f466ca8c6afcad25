// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/minimap.h"

#include "views/pages/parts/document_texts.h"
#include "views/style/elided_name.h"
#include "views/style/type.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace strata::views {

using Role = Palette::Role;

namespace {

constexpr int kStripHeight = 16;
constexpr int kStripGap = 1;
constexpr int kMostStrips = 2;
constexpr int kCurveHeight = 40;
constexpr int kGripWidth = 5; // to either side of a handle
constexpr int kDragThreshold = 4;
constexpr double kShareOfEarlier = 0.2; // of the width
constexpr int kEarlierGap = kGrid;

} // namespace

Minimap::Minimap(Document& document, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
{
    setObjectName(QStringLiteral("minimap"));
    setAccessibleName(tr("Whole session"));
    setMouseTracking(true);
    setFocusPolicy(Qt::ClickFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    const ViewState& state = document.viewState();
    connect(&document, &Document::deviceReady, this, &Minimap::refresh);
    connect(&document, &Document::stateChanged, this, &Minimap::updateGeometry);
    connect(&state, &ViewState::deviceChanged, this, &Minimap::refresh);
    connect(&state, &ViewState::axisChanged, this, &Minimap::refresh);
    connect(&state, &ViewState::selectionChanged, this, [this] {
        describe();
        update();
    });
    connect(&state, &ViewState::userChanged, this, qOverload<>(&Minimap::update));
    refresh();
}

void Minimap::setPalette(const Palette& palette)
{
    m_palette = palette;
    update();
}

QSize Minimap::sizeHint() const
{
    // A trace of work has no events, which are what it shows.
    if (m_document.recording() && m_document.devices().empty() && !m_document.isFollowing())
        return { 400, 0 };
    return { 400, 1 + kGrid / 2 + strips() * (kStripHeight + kStripGap) + kCurveHeight + kGrid / 2 };
}

void Minimap::refresh()
{
    const auto device = m_document.device();
    if (device != m_device) {
        const int before = strips();
        m_device = device;
        if (strips() != before)
            updateGeometry();
    }
    computeColumns();
    describe();
    update();
}

void Minimap::computeColumns()
{
    m_columns.clear();
    m_top = 0;
    if (!m_device || columns() <= 0 || m_device->trace->eventCount() == 0)
        return;
    const model::Clock& clock = m_device->timeline->clock();
    const bool time = m_document.viewState().axis() == model::Axis::Time && clock.hasTimes();
    const model::Axis axis = time ? model::Axis::Time : model::Axis::Events;
    m_x = XMapping(axis, XMapping::wholeSpan(axis, clock), columns());
    m_edges = model::columnEdges(m_x.window(), clock);
    m_columns = model::curveColumns(m_device->timeline->requested(), clock, m_x.window());
    for (const model::CurveRange& column : m_columns)
        m_top = std::max(m_top, column.max);
    if (const auto* const stretches = earlier())
        m_top = std::max(m_top, model::wholeOf(*stretches).requestedMax);
}

void Minimap::describe()
{
    const auto& selection = m_document.viewState().selection();
    setAccessibleDescription(
        m_device && selection ? text::selection(*m_device, *selection) : tr("nothing is selected"));
}

const std::vector<model::EarlierStretch>* Minimap::earlier() const
{
    const auto* const curves
        = m_device ? m_device->trace->recording().parts.find<model::EarlierCurves>() : nullptr;
    if (!curves)
        return nullptr;
    const auto found = curves->byDevice.find(m_device->trace->device());
    return found == curves->byDevice.end() || found->second.empty() ? nullptr : &found->second;
}

int Minimap::left() const
{
    return kMargin
        + (earlier() ? static_cast<int>((width() - 2 * kMargin) * kShareOfEarlier) + kEarlierGap : 0);
}

QRect Minimap::earlierRect() const
{
    const QRect curve = curveRect();
    return { kMargin, curve.top(), std::max(left() - kMargin - kEarlierGap, 0), curve.height() };
}

int Minimap::columns() const
{
    return width() - kMargin - left();
}

int Minimap::strips() const
{
    if (!m_device || m_device->annotations->empty())
        return 0;
    return std::min(m_device->annotations->back().level + 1, kMostStrips); // they stand level by level
}

QRect Minimap::curveRect() const
{
    const int top = 1 + kGrid / 2 + strips() * (kStripHeight + kStripGap);
    return { left(), top, columns(), height() - top - kGrid / 2 };
}

double Minimap::xOf(double position) const
{
    return left() + m_x.columnOf(position);
}

double Minimap::xOfEvent(model::EventIndex event) const
{
    return xOf(model::axisPosition(m_x.axis(), m_device->timeline->clock(), event));
}

double Minimap::endOfEvent(model::EventIndex event) const
{
    return xOf(XMapping::endOf(m_x.axis(), m_device->timeline->clock(), event));
}

int Minimap::columnAt(double x) const
{
    return std::clamp(static_cast<int>(x) - left(), 0, std::max(columns() - 1, 0));
}

model::ColumnEvents Minimap::eventsAt(int column) const
{
    return model::eventsOfColumn(m_edges, column);
}

Minimap::Grip Minimap::gripAt(double x) const
{
    const auto& selection = m_document.viewState().selection();
    if (!selection || selection->isInstant())
        return Grip::None;
    const double first = std::abs(x - xOfEvent(selection->first)),
                 last = std::abs(x - endOfEvent(selection->last));
    if (std::min(first, last) > kGripWidth)
        return Grip::None;
    return first < last ? Grip::First : Grip::Last;
}

void Minimap::resizeEvent(QResizeEvent*)
{
    computeColumns();
}

void Minimap::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || m_columns.empty()
        || earlierRect().contains(event->position().toPoint()))
        return QWidget::mousePressEvent(event);
    m_pressX = event->position().x();
    m_dragged = false;
    m_grip = gripAt(m_pressX);
    if (m_grip == Grip::None) {
        m_grip = Grip::Range;
        const model::ColumnEvents events = eventsAt(columnAt(m_pressX));
        m_anchor = { events.first, events.last };
    } else {
        m_anchor = *m_document.viewState().selection();
    }
}

void Minimap::mouseMoveEvent(QMouseEvent* event)
{
    if (m_columns.empty())
        return;
    const double x = event->position().x();
    const int column = columnAt(x);
    if (m_grip == Grip::None && earlierRect().contains(event->position().toPoint())) {
        const model::EarlierStretch whole = model::wholeOf(*earlier());
        setCursor(Qt::ArrowCursor);
        Q_EMIT hoverText(tr("%1 earlier events, kept as curves alone: requested %2 at most, reserved %3")
                             .arg(text::count(whole.events), text::bytes(whole.requestedMax),
                                 text::bytes(whole.reservedMax)));
        return;
    }
    if (m_grip == Grip::None) {
        setCursor(gripAt(x) == Grip::None ? Qt::ArrowCursor : Qt::SizeHorCursor);
        const model::CurveRange& range = m_columns[static_cast<std::size_t>(column)];
        const model::Clock& clock = m_device->timeline->clock();
        const QString when = m_x.axis() == model::Axis::Time
            ? text::pointed(clock, range.maxEvent, std::llround(m_x.valueAt(column)))
            : text::instant(clock, range.maxEvent);
        Q_EMIT hoverText(tr("%1: requested %2").arg(when, text::bytes(range.max)));
        return;
    }
    m_dragged = m_dragged || std::abs(x - m_pressX) >= kDragThreshold;
    if (!m_dragged)
        return;
    const model::ColumnEvents here = eventsAt(column);
    EventRange range = m_anchor;
    if (m_grip == Grip::First)
        range.first = here.first;
    else if (m_grip == Grip::Last)
        range.last = here.last;
    else
        range = { std::min(m_anchor.first, here.first), std::max(m_anchor.last, here.last) };
    if (range.first > range.last) {
        std::swap(range.first, range.last);
        m_grip = m_grip == Grip::First ? Grip::Last : Grip::First;
        m_anchor = range;
    }
    range.first = std::max<model::EventIndex>(range.first, 0);
    range.last = std::max(range.last, range.first);
    m_document.viewState().select(range);
    Q_EMIT hoverText(QString());
}

void Minimap::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || m_grip == Grip::None)
        return;
    if (!m_dragged && m_grip == Grip::Range) {
        const model::EventIndex instant = m_columns[static_cast<std::size_t>(columnAt(m_pressX))].maxEvent;
        m_document.viewState().select(EventRange{ instant, instant });
    }
    m_grip = Grip::None;
}

void Minimap::leaveEvent(QEvent*)
{
    Q_EMIT hoverText(QString());
}

void Minimap::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_palette[Role::Frame]);
    painter.fillRect(0, 0, width(), 1, m_palette[Role::Line]);
    if (m_columns.empty())
        return;
    paintStrips(painter);
    paintEarlier(painter);
    paintCurve(painter);
    paintNotes(painter);
    paintSelection(painter);
}

/// A tick for a note, a bar for a named range, along the foot.
void Minimap::paintNotes(QPainter& painter) const
{
    const ViewState& state = m_document.viewState();
    const double foot = curveRect().bottom() + 1;
    for (const model::UserItem& item : state.user().items) {
        if (!item.isPlaced() || item.device != state.device() || item.first > item.last
            || item.last >= m_device->trace->eventCount())
            continue;
        const double x = std::floor(xOfEvent(item.first));
        const bool range = item.first != item.last;
        const double width = range ? std::max(endOfEvent(item.last) - x, 2.0) : 2.0;
        painter.fillRect(QRectF(x, foot - (range ? 3 : 8), width, range ? 3 : 8), m_palette[Role::Text]);
    }
}

void Minimap::paintStrips(QPainter& painter) const
{
    painter.setFont(sized(font(), kAxisPx));
    const QFontMetricsF metrics(painter.font());
    int odd = 0;
    for (const model::AnnotationSpan& span : *m_device->annotations) {
        if (span.level >= strips())
            break;
        const bool time = m_x.axis() == model::Axis::Time;
        const double x0 = time ? xOf(static_cast<double>(span.beginNs)) : endOfEvent(span.first);
        const double x1 = time ? xOf(static_cast<double>(span.endNs)) : endOfEvent(span.last);
        const int top = 1 + kGrid / 2 + span.level * (kStripHeight + kStripGap);
        const QRectF box(x0, top, std::max(x1 - x0 - 1, 1.0), kStripHeight);
        painter.fillRect(box, m_palette[++odd % 2 == 0 ? Role::Hover : Role::Line]);
        if (box.width() >= 24) {
            painter.setPen(m_palette[Role::Text]);
            const QRectF text = box.adjusted(4, 0, -2, 0);
            painter.drawText(text, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine,
                elidedName(metrics, text::utf8(span.name), text.width()));
        }
    }
}

/// By event, as many of them as there were: greyer than what can be looked at.
void Minimap::paintEarlier(QPainter& painter) const
{
    const auto* const stretches = earlier();
    const QRect area = earlierRect();
    if (!stretches || area.isEmpty() || m_top <= 0)
        return;
    painter.fillRect(area, m_palette[Role::Surface]);
    const double all = static_cast<double>(model::wholeOf(*stretches).events);
    const double scale = (area.height() - 2.0) / static_cast<double>(m_top);
    const auto rowOf
        = [&](std::int64_t bytes) { return area.bottom() + 1 - static_cast<double>(bytes) * scale; };
    QColor fill = m_palette[Role::BeforeTrace];
    fill.setAlphaF(0.4F);
    double x = area.left();
    for (const model::EarlierStretch& stretch : *stretches) {
        const double w = static_cast<double>(stretch.events) / all * area.width();
        const double high = rowOf(stretch.requestedMax), low = rowOf(stretch.requestedMin);
        painter.fillRect(QRectF(x, high, w, area.bottom() + 1 - high), fill);
        painter.fillRect(QRectF(x, high, w, std::max(low - high, 1.5)), m_palette[Role::BeforeTrace]);
        x += w;
    }
}

void Minimap::paintCurve(QPainter& painter) const
{
    const QRect area = curveRect();
    painter.fillRect(area, m_palette[Role::Surface]);
    if (m_top <= 0)
        return;
    QColor fill = m_palette[Role::Requested];
    fill.setAlphaF(0.25F);
    const double scale = (area.height() - 2.0) / static_cast<double>(m_top);
    double before = area.bottom() + 1 - static_cast<double>(m_columns.front().max) * scale;
    for (std::size_t i = 0; i < m_columns.size(); ++i) {
        const double x = area.left() + static_cast<double>(i);
        const double high = area.bottom() + 1 - static_cast<double>(m_columns[i].max) * scale;
        const double low = area.bottom() + 1 - static_cast<double>(m_columns[i].min) * scale;
        painter.fillRect(QRectF(x, high, 1, area.bottom() + 1 - high), fill);
        // One span a column, joined to the one before it.
        const double top = std::min(high, before),
                     bottom = std::max({ low, high + 1.5, std::min(before, low) });
        painter.fillRect(QRectF(x, top, 1, bottom - top), m_palette[Role::Requested]);
        before = low;
    }
}

void Minimap::paintSelection(QPainter& painter) const
{
    const auto& selection = m_document.viewState().selection();
    if (!selection)
        return;
    const int top = 1, bottom = height();
    const QColor accent = m_palette[Role::Accent];
    if (selection->isInstant()) {
        const double x = std::floor(xOfEvent(selection->first));
        painter.fillRect(QRectF(x, top, 1.5, bottom - top), accent);
        QPainterPath mark;
        mark.moveTo(x - 4, top);
        mark.lineTo(x + 5.5, top);
        mark.lineTo(x + 0.75, top + 6);
        mark.closeSubpath();
        painter.setRenderHint(QPainter::Antialiasing);
        painter.fillPath(mark, accent);
        painter.setRenderHint(QPainter::Antialiasing, false);
        return;
    }
    const double x0 = xOfEvent(selection->first), x1 = std::max(endOfEvent(selection->last), x0 + 1);
    painter.fillRect(QRectF(x0, top, x1 - x0, bottom - top), m_palette[Role::Selection]);
    for (const double x : { x0, x1 }) {
        painter.fillRect(QRectF(x - 0.75, top, 1.5, bottom - top), accent);
        painter.fillRect(QRectF(x - 2.5, (top + bottom) / 2.0 - 8, 5, 16), accent);
    }
}

} // namespace strata::views
