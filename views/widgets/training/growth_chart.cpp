// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/training/growth_chart.h"

#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/axis/ticks.h"
#include "views/widgets/hover_tip.h"
#include "views/widgets/own_keys.h"

#include <QAccessible>
#include <QAreaSeries>
#include <QCategoryAxis>
#include <QChartView>
#include <QLineSeries>
#include <QMouseEvent>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::views {

namespace {

constexpr double kGrowthHeadroom = 1.08;
constexpr std::size_t kMostDots = 80; // more would touch
constexpr int kTickWidth = 72, kTickHeight = 36; // between ticks, before scaling
constexpr int kGrowthAreaAlpha = 48;

} // namespace

/// Draws the series of its owner, which has the mouse and the keyboard.
class GrowthChart::View : public QChartView {
public:
    explicit View(GrowthChart& owner);

    void showPoints();
    void makeAxes();
    [[nodiscard]] QPointF inScene(double step, double bytes) const;
    [[nodiscard]] double stepAt(const QPointF& at) const;

protected:
    void drawBackground(QPainter* painter, const QRectF& rect) override;
    void drawForeground(QPainter* painter, const QRectF& rect) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    [[nodiscard]] QRectF band() const; ///< of the warm-up; in the scene
    [[nodiscard]] double headroom() const; ///< the top of the axis, as a multiple of the highest point

    GrowthChart& m_owner;
    QLineSeries* m_line;
    QAreaSeries* m_area;
};

GrowthChart::View::View(GrowthChart& owner)
    : QChartView(&owner)
    , m_owner(owner)
    , m_line(new QLineSeries(this))
    , m_area(new QAreaSeries(m_line))
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setRenderHint(QPainter::Antialiasing);
    QChart& all = *chart();
    all.setAnimationOptions(QChart::NoAnimation);
    all.legend()->hide();
    all.setBackgroundVisible(false);
    all.setContentsMargins(0, 0, 0, 0);
    all.layout()->setContentsMargins(0, 0, 0, 0);
    all.addSeries(m_area);
    all.addSeries(m_line);
}

void GrowthChart::View::showPoints()
{
    QList<QPointF> points;
    points.reserve(static_cast<qsizetype>(m_owner.m_series.points.size()));
    for (const GrowthSeries::Point& point : m_owner.m_series.points)
        points.append({ static_cast<double>(point.step), static_cast<double>(point.bytes) });
    m_line->replace(points);
    m_line->setPointsVisible(m_owner.m_series.points.size() <= kMostDots);
    makeAxes();
}

/// Anew, since labels of ticks can only be added. Their number follows the size.
void GrowthChart::View::makeAxes()
{
    const QColor ink = m_owner.m_palette[Palette::Role::Requested];
    m_line->setPen(QPen(ink, 1.5));
    m_line->setBrush(ink);
    m_line->setMarkerSize(2.5);
    QColor under = ink;
    under.setAlpha(kGrowthAreaAlpha);
    m_area->setPen(Qt::NoPen);
    m_area->setBrush(under);

    double highest = 1;
    for (const GrowthSeries::Point& point : m_owner.m_series.points)
        highest = std::max(highest, static_cast<double>(point.bytes));
    QColor grid = m_owner.m_palette[Palette::Role::TextMuted];
    grid.setAlpha(56);
    const auto make = [&](Span span, const std::vector<Tick>& ticks, Qt::Alignment side) {
        auto* axis = new QCategoryAxis;
        axis->setLabelsPosition(QCategoryAxis::AxisLabelsPositionOnValue);
        axis->setStartValue(span.begin);
        for (const Tick& tick : ticks)
            axis->append(tick.label, tick.value);
        axis->setRange(span.begin, span.end);
        axis->setLabelsFont(sized(font(), kAxisPx));
        axis->setLabelsColor(m_owner.m_palette[Palette::Role::TextMuted]);
        axis->setLinePen(QPen(m_owner.m_palette[Palette::Role::Line], 1));
        axis->setGridLinePen(QPen(grid, 1));
        axis->setGridLineVisible(side == Qt::AlignLeft);
        axis->setTruncateLabels(false);
        chart()->addAxis(axis, side);
        m_line->attachAxis(axis);
        m_area->attachAxis(axis);
    };
    for (QAbstractAxis* axis : chart()->axes()) {
        chart()->removeAxis(axis);
        delete axis;
    }
    const Span y{ 0, highest * headroom() };
    // Half a step at both ends: points do not stand on the frame.
    const Span x{ static_cast<double>(m_owner.m_series.firstStep) - 0.5,
        static_cast<double>(std::max(m_owner.m_series.lastStep, m_owner.m_series.firstStep)) + 0.5 };
    make(y, byteTicks(y, std::max(height() / scaled(kTickHeight, font()), 2)), Qt::AlignLeft);
    std::vector<Tick> steps = eventTicks(x, std::max(width() / scaled(kTickWidth, font()), 2));
    if (!steps.empty())
        steps.front().label = tr("step %1").arg(steps.front().label);
    make(x, steps, Qt::AlignBottom);
    // Half of the last label beyond the axis, and half of the highest one.
    const QFontMetrics metrics(sized(font(), kAxisPx));
    const int right = steps.empty() ? 0 : metrics.horizontalAdvance(steps.back().label) / 2 + 2;
    chart()->setMargins({ 0, scaled(kAxisPx, font()) / 2 + 1, right, 0 });
}

/// Above the highest point: where the warm-up is named beside its band, as much as that name is high.
double GrowthChart::View::headroom() const
{
    if (!m_owner.m_series.warmupLast)
        return kGrowthHeadroom;
    const double line = QFontMetricsF(sized(font(), kAxisPx)).height() + 6;
    const double plot = std::max(height() - 2 * line, 2 * line);
    return std::max(kGrowthHeadroom, plot / (plot - line));
}

void GrowthChart::View::resizeEvent(QResizeEvent* event)
{
    QChartView::resizeEvent(event);
    makeAxes();
}

QPointF GrowthChart::View::inScene(double step, double bytes) const
{
    return chart()->mapToScene(chart()->mapToPosition({ step, bytes }, m_line));
}

double GrowthChart::View::stepAt(const QPointF& at) const
{
    return chart()->mapToValue(chart()->mapFromScene(mapToScene(at.toPoint())), m_line).x();
}

QRectF GrowthChart::View::band() const
{
    if (!m_owner.m_series.warmupLast)
        return {};
    const QRectF plot = chart()->mapRectToScene(chart()->plotArea());
    const double right = inScene(static_cast<double>(*m_owner.m_series.warmupLast) + 0.5, 0).x();
    return { plot.topLeft(), QPointF(right, plot.bottom()) };
}

void GrowthChart::View::drawBackground(QPainter* painter, const QRectF& rect)
{
    painter->fillRect(rect, m_owner.m_palette[Palette::Role::Surface]);
    const QRectF warmup = band();
    painter->fillRect(warmup, m_owner.m_palette[Palette::Role::Free]);
    painter->fillRect(
        QRectF(warmup.right() - 1, warmup.top(), 1, warmup.height()), m_owner.m_palette[Palette::Role::Line]);
}

void GrowthChart::View::drawForeground(QPainter* painter, const QRectF&)
{
    const QRectF plot = chart()->mapRectToScene(chart()->plotArea());
    const QRectF warmup = band();
    painter->setFont(sized(font(), kAxisPx));
    painter->setPen(m_owner.m_palette[Palette::Role::TextMuted]);
    const QFontMetricsF metrics(painter->font());
    if (!warmup.isEmpty()) {
        const QString name = tr("warm-up, left out");
        const bool fits = metrics.horizontalAdvance(name) + 8 <= warmup.width();
        painter->drawText(QRectF(fits ? warmup.left() + 4 : warmup.right() + 4, warmup.top() + 2,
                              plot.width(), metrics.height()),
            Qt::AlignLeft, fits ? name : QStringLiteral("← ") + name);
    }
    const auto mark = [&](const GrowthSeries::Point& point, const QColor& colour, qreal radius) {
        const QPointF at = inScene(static_cast<double>(point.step), static_cast<double>(point.bytes));
        painter->fillRect(QRectF(at.x() - 0.5, plot.top(), 1, plot.height()), colour);
        painter->setPen(QPen(colour, 1.5));
        painter->setBrush(m_owner.m_palette[Palette::Role::Surface]);
        painter->drawEllipse(at, radius, radius);
    };
    if (m_owner.m_instant) {
        const auto chosen
            = std::ranges::find(m_owner.m_series.points, *m_owner.m_instant, &GrowthSeries::Point::event);
        if (chosen != m_owner.m_series.points.end())
            mark(*chosen, m_owner.m_palette[Palette::Role::Text], 4);
    }
    if (m_owner.m_pointed)
        mark(m_owner.m_series.points[*m_owner.m_pointed], m_owner.m_palette[Palette::Role::TextMuted], 4);
    if (m_owner.hasFocus()) {
        painter->setPen(QPen(m_owner.m_palette[Palette::Role::Accent], 1));
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(plot.adjusted(0, 0, -1, -1));
    }
}

GrowthChart::GrowthChart(QWidget* parent)
    : QWidget(parent)
    , m_view(new View(*this))
    , m_tip(new HoverTip(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAccessibleName(tr("Growth from step to step"));
    m_view->lower();
}

QSize GrowthChart::sizeHint() const
{
    return { scaled(480, font()), scaled(190, font()) };
}

QSize GrowthChart::minimumSizeHint() const
{
    return { scaled(200, font()), scaled(110, font()) };
}

void GrowthChart::setSeries(GrowthSeries series)
{
    m_series = std::move(series);
    setCursor(m_series.points.empty() ? Qt::ArrowCursor : Qt::PointingHandCursor);
    m_view->showPoints();
    point(std::nullopt, false);
}

void GrowthChart::setInstant(std::optional<model::EventIndex> event)
{
    m_instant = event;
    m_view->viewport()->update();
}

void GrowthChart::setColours(const Palette& palette)
{
    m_palette = palette;
    m_tip->setColours(palette);
    m_view->makeAxes();
    m_view->viewport()->update();
}

void GrowthChart::resizeEvent(QResizeEvent*)
{
    m_view->setGeometry(rect());
}

void GrowthChart::paintOn(QPainter& painter)
{
    m_view->render(&painter);
}

QPointF GrowthChart::placeOf(std::size_t point) const
{
    const GrowthSeries::Point& at = m_series.points[point];
    return m_view->mapFromScene(m_view->inScene(static_cast<double>(at.step), static_cast<double>(at.bytes)));
}

std::optional<std::size_t> GrowthChart::pointNear(const QPointF& at) const
{
    const auto& points = m_series.points;
    const QRectF plot = m_view->chart()->mapRectToScene(m_view->chart()->plotArea());
    if (points.empty() || !plot.adjusted(-8, -8, 8, 8).contains(m_view->mapToScene(at.toPoint())))
        return std::nullopt;
    const double step = m_view->stepAt(at);
    const auto nearest = std::ranges::min_element(points, {},
        [&](const GrowthSeries::Point& p) { return std::abs(static_cast<double>(p.step) - step); });
    return static_cast<std::size_t>(nearest - points.begin());
}

QStringList GrowthChart::describe(std::size_t point) const
{
    const GrowthSeries::Point& at = m_series.points[point];
    QStringList lines{ tr("At the end of step %1").arg(text::count(at.step)),
        QStringLiteral("%1 (%2)").arg(text::bytes(at.bytes), text::exactBytes(at.bytes)) };
    if (at.blocks >= 0)
        lines << text::counted(at.blocks, tr("1 block"), tr("%1 blocks"));
    lines << text::event(at.event);
    return lines;
}

/// Reads a point, be it that of the mouse or of the keyboard.
void GrowthChart::point(std::optional<std::size_t> at, bool byMouse)
{
    const bool any = std::exchange(m_pointed, at).has_value();
    m_view->viewport()->update();
    if (!at) {
        m_tip->hide();
        setAccessibleDescription(m_series.points.empty()
                ? QString()
                : tr("From %1 to %2. Left and right arrow read a step, Enter shows it.")
                      .arg(text::bytes(m_series.points.front().bytes),
                          text::bytes(m_series.points.back().bytes)));
        if (any)
            Q_EMIT hovered({});
        return;
    }
    const QStringList lines = describe(*at);
    m_tip->showAt(placeOf(*at).toPoint(), lines);
    setAccessibleDescription(lines.join(QStringLiteral(", ")));
    if (!byMouse) {
        QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
        QAccessible::updateAccessibility(&changed);
    }
    Q_EMIT hovered(lines.join(QStringLiteral(", ")));
}

bool GrowthChart::event(QEvent* event)
{
    // They are shortcuts of the window, too.
    if (takesOwnKey(event, { Qt::Key_Left, Qt::Key_Right }))
        return true;
    return QWidget::event(event);
}

void GrowthChart::keyPressEvent(QKeyEvent* event)
{
    const auto last = m_series.points.size();
    if (last == 0)
        return QWidget::keyPressEvent(event);
    if (event->key() == Qt::Key_Left)
        point(m_pointed ? (*m_pointed > 0 ? *m_pointed - 1 : 0) : last - 1, false);
    else if (event->key() == Qt::Key_Right)
        point(m_pointed ? std::min(*m_pointed + 1, last - 1) : 0, false);
    else if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && m_pointed)
        Q_EMIT instantChosen(m_series.points[*m_pointed].event);
    else
        QWidget::keyPressEvent(event);
}

void GrowthChart::mousePressEvent(QMouseEvent* event)
{
    const auto at = pointNear(event->position());
    if (event->button() == Qt::LeftButton && at)
        Q_EMIT instantChosen(m_series.points[*at].event);
}

void GrowthChart::mouseMoveEvent(QMouseEvent* event)
{
    point(pointNear(event->position()), true);
}

void GrowthChart::leaveEvent(QEvent*)
{
    point(std::nullopt, true);
}

void GrowthChart::focusInEvent(QFocusEvent* event)
{
    QWidget::focusInEvent(event);
    m_view->viewport()->update();
}

void GrowthChart::focusOutEvent(QFocusEvent* event)
{
    QWidget::focusOutEvent(event);
    point(std::nullopt, false);
}

} // namespace strata::views
