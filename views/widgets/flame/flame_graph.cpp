// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/flame/flame_graph.h"

#include "views/style/texts.h"
#include "views/widgets/hover_tip.h"
#include "views/widgets/own_keys.h"

#include <QAccessible>
#include <QApplication>
#include <QCursor>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::views {

namespace {

constexpr int kTransitionMs = 80; // the whole picture within a tenth of a second

} // namespace

FlameGraph::FlameGraph(QWidget* parent)
    : QAbstractScrollArea(parent)
    , m_painter(font())
    , m_tip(new HoverTip(viewport()))
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setMouseTracking(true);
    viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(tr("Flame graph"));
    measureFont();
    m_animation.setDuration(kTransitionMs);
    m_animation.setEasingCurve(QEasingCurve::OutCubic);
}

void FlameGraph::measureFont()
{
    m_lowestLevel = std::max(20, static_cast<int>(m_painter.textHeight()) + 5);
    m_levelHeight = m_lowestLevel;
}

void FlameGraph::changeEvent(QEvent* event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) {
        m_painter.setFont(font());
        measureFont();
        updateScrollBar();
    }
}

void FlameGraph::setColours(const Palette& palette)
{
    m_painter.setColours(palette);
    m_tip->setColours(palette);
    viewport()->update();
}

void FlameGraph::setRanks(std::map<Node, int> ranks)
{
    m_painter.setRanks(std::move(ranks));
    viewport()->update();
}

void FlameGraph::setMatches(std::vector<bool> nodes)
{
    m_painter.setMatches(std::move(nodes));
    viewport()->update();
}

void FlameGraph::setTree(std::shared_ptr<const FlameTree> tree)
{
    const Node current = m_tree && tree && tree->total(0) > 0 ? m_tree->counterpart(*tree, m_current) : 0;
    m_animation.stop();
    m_tree = tree;
    m_painter.setTree(tree);
    leave();
    m_zoom.setTree(std::move(tree));
    m_current = current;
    updateScrollBar();
    viewport()->update();
    Q_EMIT zoomChanged();
}

void FlameGraph::goOn(std::shared_ptr<const FlameTree> tree)
{
    if (!m_tree || !tree || m_tree->total(0) <= 0 || tree->total(0) <= 0)
        return setTree(std::move(tree));
    if (m_animation.state() == QAbstractAnimation::Running) { // to where it was going
        m_animation.stop();
        m_zoom.arrive();
    }
    const Node current = m_tree->counterpart(*tree, m_current);
    const std::optional<QPoint> mouse
        = m_hovered ? std::optional(viewport()->mapFromGlobal(QCursor::pos())) : std::nullopt;
    m_tree = tree;
    m_painter.setTree(tree);
    m_zoom.goOn(std::move(tree));
    m_hovered.reset();
    m_current = current;
    updateScrollBar();
    viewport()->update();
    if (mouse)
        hover(*mouse);
    Q_EMIT zoomChanged();
}

void FlameGraph::setPiece(FlamePiece piece)
{
    m_zoom.show(piece);
    viewport()->update();
}

FlameWindow FlameGraph::window() const
{
    const int scrolled = verticalScrollBar()->value();
    return { m_zoom.piece().begin, m_zoom.piece().end, static_cast<double>(viewport()->width()),
        scrolled / m_levelHeight, (scrolled + viewport()->height()) / m_levelHeight };
}

void FlameGraph::updateScrollBar()
{
    if (m_tree) // shallow trees get more air
        m_levelHeight
            = std::clamp(viewport()->height() / (m_tree->maxDepth() + 2), m_lowestLevel, m_lowestLevel + 6);
    const qint64 height = m_tree ? qint64{ m_tree->maxDepth() + 1 } * m_levelHeight : 0;
    const auto beyond = std::clamp<qint64>(height - viewport()->height(), 0, 1 << 30);
    verticalScrollBar()->setRange(0, static_cast<int>(beyond));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(m_levelHeight);
}

void FlameGraph::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    updateScrollBar();
}

void FlameGraph::scrollContentsBy(int, int)
{
    leave();
    viewport()->update();
}

void FlameGraph::zoomTo(Node node)
{
    if (!m_tree || !m_zoom.leaveFor(node))
        return;
    m_animation.stop();
    disconnect(&m_animation, nullptr, this, nullptr);
    const FlamePiece to = m_zoom.pieceOf(node);
    leave();
    if (!m_animated || !isVisible()) {
        setPiece(to);
    } else {
        const FlamePiece from = m_zoom.piece();
        connect(&m_animation, &QVariantAnimation::valueChanged, this, [this, from, to](const QVariant& v) {
            const double t = v.toDouble();
            setPiece({ std::lerp(from.begin, to.begin, t), std::lerp(from.end, to.end, t) });
        });
        m_animation.setStartValue(0.0);
        m_animation.setEndValue(1.0);
        m_animation.start();
    }
    Q_EMIT zoomChanged();
}

void FlameGraph::zoomOut()
{
    zoomTo(0);
}

void FlameGraph::goBack()
{
    if (!canGoBack())
        return;
    m_animation.stop();
    m_zoom.goBack();
    viewport()->update();
    Q_EMIT zoomChanged();
}

void FlameGraph::goForward()
{
    if (!canGoForward())
        return;
    m_animation.stop();
    m_zoom.goForward();
    viewport()->update();
    Q_EMIT zoomChanged();
}

void FlameGraph::setCurrent(Node node, bool scrollThere)
{
    if (!m_tree || node >= m_tree->size())
        return;
    m_current = node;
    if (scrollThere)
        showLevel(node);
    announce();
    viewport()->update();
}

void FlameGraph::choose(Node node)
{
    setCurrent(node);
    Q_EMIT chosen(node);
}

void FlameGraph::showLevel(Node node)
{
    const int top = m_tree->depth(node) * m_levelHeight;
    QScrollBar* bar = verticalScrollBar();
    if (top < bar->value())
        bar->setValue(top);
    else if (top + 2 * m_levelHeight > bar->value() + viewport()->height())
        bar->setValue(top + 2 * m_levelHeight - viewport()->height());
}

void FlameGraph::announce()
{
    setAccessibleDescription(tr("%1, %2, %3 of all")
                                 .arg(m_tree->function(m_current), m_tree->costText(m_tree->total(m_current)),
                                     text::share(m_tree->total(m_current), m_tree->total(0))));
    QAccessibleEvent event(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
}

std::optional<FlameBox> FlameGraph::boxAt(const QPoint& at) const
{
    if (!m_tree || m_tree->total(0) <= 0)
        return std::nullopt;
    return flameBoxAt(
        *m_tree, window(), at.x() + 0.5, (at.y() + verticalScrollBar()->value()) / m_levelHeight);
}

void FlameGraph::hover(const QPoint& at)
{
    const std::optional<FlameBox> box = boxAt(at);
    if (!box) {
        leave();
        return;
    }
    const bool moved = !m_hovered || m_hovered->node != box->node || m_hovered->merged != box->merged;
    m_hovered = box;
    if (moved)
        viewport()->update();

    const Node node = box->node;
    QStringList lines;
    if (box->merged > 0) {
        std::int64_t cost = 0;
        const std::span<const Node> siblings = m_tree->children(m_tree->parent(node));
        if (!siblings.empty())
            cost = m_tree->begin(siblings.back()) + m_tree->total(siblings.back()) - m_tree->begin(node);
        lines = { text::counted(box->merged, tr("1 narrow frame"), tr("%1 narrow frames")),
            tr("%1, %2 of all together; zoom in to see them")
                .arg(m_tree->costText(cost), text::share(cost, m_tree->total(0))) };
    } else {
        lines += m_tree->function(node);
        QString figures = tr("%1, %2 of all")
                              .arg(m_tree->costText(m_tree->total(node)),
                                  text::share(m_tree->total(node), m_tree->total(0)));
        if (m_zoom.zoomed() != 0 && m_tree->isAncestor(m_zoom.zoomed(), node))
            figures += tr(", %1 of what is shown")
                           .arg(text::share(m_tree->total(node), m_tree->total(m_zoom.zoomed())));
        if (!m_tree->countsBlocks())
            figures
                += QStringLiteral(", ") + text::counted(m_tree->blocks(node), tr("1 block"), tr("%1 blocks"));
        lines += figures;
        if (m_tree->self(node) > 0 && m_tree->self(node) < m_tree->total(node))
            lines += tr("%1 of it in the frame itself").arg(m_tree->costText(m_tree->self(node)));
        if (const QString place = m_tree->fullPlace(node); !place.isEmpty())
            lines += place;
    }
    m_tip->showAt(at, lines);
    Q_EMIT hovered(lines.mid(0, 2).join(QStringLiteral("  ")));
}

void FlameGraph::leave()
{
    m_tip->hide();
    if (!m_hovered)
        return;
    m_hovered.reset();
    viewport()->update();
    Q_EMIT hovered({});
}

QSize FlameGraph::fullSize() const
{
    constexpr int kHighest = 20'000;
    const int levels = std::min(m_tree ? m_tree->maxDepth() + 1 : 1, kHighest / m_levelHeight);
    return { viewport()->width(), levels * m_levelHeight };
}

void FlameGraph::paintVectors(QPainter& painter) const
{
    FlameWindow all = window();
    all.firstDepth = 0;
    all.lastDepth = fullSize().height() / m_levelHeight - 1;
    m_painter.paint(painter, all, m_levelHeight, 0, QRect(QPoint(0, 0), fullSize()), {}, true);
}

void FlameGraph::paintEvent(QPaintEvent* event)
{
    QPainter painter(viewport());
    const FlameMarks marks{ m_current, m_hovered, hasFocus() };
    m_painter.paint(
        painter, window(), m_levelHeight, verticalScrollBar()->value(), event->rect(), marks, false);
}

void FlameGraph::mousePressEvent(QMouseEvent* event)
{
    if (!m_tree || (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton))
        return;
    m_dragFrom = event->pos();
    m_dragPiece = m_zoom.piece();
    m_dragScroll = verticalScrollBar()->value();
}

void FlameGraph::mouseMoveEvent(QMouseEvent* event)
{
    if (!m_dragFrom) {
        hover(event->pos());
        return;
    }
    const QPoint moved = event->pos() - *m_dragFrom;
    if (moved.manhattanLength() < QApplication::startDragDistance())
        return;
    leave();
    const double cost = moved.x() * m_dragPiece.length() / viewport()->width();
    verticalScrollBar()->setValue(m_dragScroll - moved.y());
    setPiece({ m_dragPiece.begin - cost, m_dragPiece.end - cost });
}

void FlameGraph::mouseReleaseEvent(QMouseEvent* event)
{
    if (!m_dragFrom)
        return;
    const QPoint moved = event->pos() - *m_dragFrom;
    m_dragFrom.reset();
    if (event->button() != Qt::LeftButton || m_space
        || moved.manhattanLength() >= QApplication::startDragDistance())
        return;
    if (const std::optional<FlameBox> box = boxAt(event->pos())) {
        // A run of narrow frames opens at its parent: that is as wide as they can get together.
        const Node target = box->merged > 0 ? m_tree->parent(box->node) : box->node;
        choose(target);
        zoomTo(target);
    }
}

void FlameGraph::wheelEvent(QWheelEvent* event)
{
    if (!m_tree)
        return;
    const QPoint turned = event->angleDelta();
    const double steps = (turned.y() != 0 ? turned.y() : turned.x()) / 120.0;
    const FlamePiece seen = m_zoom.piece();
    const double length = seen.length();
    m_animation.stop();
    if (event->modifiers() & Qt::ControlModifier) {
        verticalScrollBar()->setValue(
            verticalScrollBar()->value() - static_cast<int>(std::lround(steps * 3 * m_levelHeight)));
    } else if ((event->modifiers() & Qt::ShiftModifier) || turned.y() == 0) {
        const double cost = steps * length / 10;
        setPiece({ seen.begin - cost, seen.end - cost });
    } else {
        const double x = std::clamp(event->position().x() / viewport()->width(), 0.0, 1.0);
        const double centre = seen.begin + x * length;
        const double zoomed = length * std::pow(0.8, steps);
        setPiece({ centre - x * zoomed, centre + (1 - x) * zoomed });
    }
    hover(event->position().toPoint());
    event->accept();
}

FlameGraph::Node FlameGraph::neighbour(Node node, int key) const
{
    switch (key) {
    case Qt::Key_Up:
        return m_tree->parent(node);
    case Qt::Key_Down: {
        const std::span<const Node> children = m_tree->children(node);
        return children.empty() ? node : children.front();
    }
    case Qt::Key_Left:
    case Qt::Key_Right: {
        if (node == 0)
            return node;
        const std::span<const Node> siblings = m_tree->children(m_tree->parent(node));
        const std::size_t rank = m_tree->rank(node);
        if (key == Qt::Key_Left)
            return rank > 0 ? siblings[rank - 1] : node;
        return rank + 1 < siblings.size() ? siblings[rank + 1] : node;
    }
    default:
        return node;
    }
}

void FlameGraph::keyPressEvent(QKeyEvent* event)
{
    if (!m_tree) {
        QAbstractScrollArea::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Left:
    case Qt::Key_Right: {
        const Node next = neighbour(m_current, event->key());
        if (next == m_current)
            return;
        choose(next);
        // A frame outside the window or too narrow to be seen is brought into it.
        const FlamePiece piece = m_zoom.pieceOf(next), seen = m_zoom.piece();
        if (piece.begin >= seen.end || piece.end <= seen.begin)
            zoomTo(m_tree->parent(next));
        return;
    }
    case Qt::Key_Return:
    case Qt::Key_Enter:
        zoomTo(m_current);
        return;
    case Qt::Key_Backspace:
        goBack();
        return;
    case Qt::Key_PageUp:
        verticalScrollBar()->triggerAction(QScrollBar::SliderPageStepSub);
        return;
    case Qt::Key_PageDown:
        verticalScrollBar()->triggerAction(QScrollBar::SliderPageStepAdd);
        return;
    case Qt::Key_Space:
        m_space = true;
        return;
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void FlameGraph::keyReleaseEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Space && !event->isAutoRepeat())
        m_space = false;
    QAbstractScrollArea::keyReleaseEvent(event);
}

void FlameGraph::focusInEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

bool FlameGraph::event(QEvent* event)
{
    // The arrows walk between frames here, whatever they do in the window.
    if (takesOwnKey(event,
            { Qt::Key_Up, Qt::Key_Down, Qt::Key_Left, Qt::Key_Right, Qt::Key_Space, Qt::Key_Backspace }))
        return true;
    return QAbstractScrollArea::event(event);
}

void FlameGraph::contextMenuEvent(QContextMenuEvent* event)
{
    if (!m_tree)
        return;
    Node node = m_current;
    if (event->reason() == QContextMenuEvent::Mouse) {
        const std::optional<FlameBox> box = boxAt(viewport()->mapFrom(this, event->pos()));
        if (!box || box->merged > 0)
            return;
        node = box->node;
    }
    leave();
    Q_EMIT menuRequested(node, event->globalPos());
}

bool FlameGraph::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::Leave)
        leave();
    return QAbstractScrollArea::viewportEvent(event);
}

} // namespace strata::views
