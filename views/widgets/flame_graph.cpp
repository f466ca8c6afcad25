// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/flame_graph.h"

#include "views/style/texts.h"
#include "views/widgets/hover_tip.h"

#include <QAccessible>
#include <QCursor>
#include <QScrollBar>

#include <algorithm>
#include <cmath>

namespace strata::views {

namespace {

constexpr int kTransitionMs = 80; // the whole picture within a tenth of a second

} // namespace

FlameGraph::FlameGraph(QWidget* parent)
    : QAbstractScrollArea(parent)
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
    m_text.emplace(font());
    m_lowestLevel = std::max(20, static_cast<int>(m_text->metrics().height()) + 5);
    m_levelHeight = m_lowestLevel;
}

void FlameGraph::changeEvent(QEvent* event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) {
        measureFont();
        updateScrollBar();
    }
}

void FlameGraph::setColours(const Palette& palette)
{
    m_palette = palette;
    m_tip->setColours(palette);
    viewport()->update();
}

void FlameGraph::setRanks(std::map<Node, int> ranks)
{
    m_ranks = std::move(ranks);
    viewport()->update();
}

void FlameGraph::setMatches(std::vector<bool> nodes)
{
    m_matches = std::move(nodes);
    viewport()->update();
}

void FlameGraph::setTree(std::shared_ptr<const FlameTree> tree)
{
    const auto counterpart = [this, &tree](Node node) {
        return m_tree && tree && tree->total(0) > 0 ? m_tree->counterpart(*tree, node) : 0;
    };
    const Node zoomed = counterpart(m_zoomed);
    const Node current = counterpart(m_current);
    m_animation.stop();
    m_tree = std::move(tree);
    m_laidOut.reset();
    m_history.clear();
    leave();
    m_zoomed = zoomed;
    m_current = current;
    m_piece = m_tree ? pieceOf(zoomed) : Piece{};
    updateScrollBar();
    viewport()->update();
    Q_EMIT zoomChanged();
}

/// What of the frame that is zoomed into is seen, is seen of the same one in another tree.
FlameGraph::Place FlameGraph::placeIn(const FlameTree& tree, const Place& place) const
{
    const Node node = m_tree->counterpart(tree, place.zoomed);
    const auto before = static_cast<double>(m_tree->begin(place.zoomed));
    const auto begin = static_cast<double>(tree.begin(node));
    const double stretch = static_cast<double>(tree.total(node))
        / std::max(1.0, static_cast<double>(m_tree->total(place.zoomed)));
    return { { begin + (place.piece.begin - before) * stretch, begin + (place.piece.end - before) * stretch },
        node };
}

void FlameGraph::goOn(std::shared_ptr<const FlameTree> tree)
{
    if (!m_tree || !tree || m_tree->total(0) <= 0 || tree->total(0) <= 0)
        return setTree(std::move(tree));
    if (m_animation.state() == QAbstractAnimation::Running) { // to where it was going
        m_animation.stop();
        m_piece = pieceOf(m_zoomed);
    }
    const Place now = placeIn(*tree, { m_piece, m_zoomed });
    m_history.changeAll([&](Place& place) { place = placeIn(*tree, place); });
    const Node current = m_tree->counterpart(*tree, m_current);
    const std::optional<QPoint> mouse
        = m_hovered ? std::optional(viewport()->mapFromGlobal(QCursor::pos())) : std::nullopt;
    m_tree = std::move(tree);
    m_laidOut.reset();
    m_hovered.reset();
    m_zoomed = now.zoomed;
    m_current = current;
    updateScrollBar();
    setPiece(now.piece);
    if (mouse)
        hover(*mouse);
    Q_EMIT zoomChanged();
}

FlameGraph::Piece FlameGraph::pieceOf(Node node) const
{
    const auto begin = static_cast<double>(m_tree->begin(node));
    return { begin, begin + std::max(1.0, static_cast<double>(m_tree->total(node))) };
}

FlameGraph::Piece FlameGraph::clamped(Piece piece) const
{
    const Piece all = pieceOf(0);
    const double length = std::clamp(piece.end - piece.begin, 1.0, all.end - all.begin);
    const double begin = std::clamp(piece.begin, all.begin, all.end - length);
    return { begin, begin + length };
}

void FlameGraph::setPiece(Piece piece)
{
    m_piece = clamped(piece);
    viewport()->update();
}

FlameWindow FlameGraph::window() const
{
    const int scrolled = verticalScrollBar()->value();
    return { m_piece.begin, m_piece.end, static_cast<double>(viewport()->width()), scrolled / m_levelHeight,
        (scrolled + viewport()->height()) / m_levelHeight };
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
    if (!m_tree || (node == m_zoomed && m_piece == pieceOf(node)))
        return;
    m_history.leave({ m_piece, m_zoomed });
    m_zoomed = node;
    moveTo(node, m_animated);
}

void FlameGraph::moveTo(Node node, bool animated)
{
    m_animation.stop();
    disconnect(&m_animation, nullptr, this, nullptr);
    const Piece to = pieceOf(node);
    leave();
    if (!animated || !isVisible()) {
        setPiece(to);
    } else {
        const Piece from = m_piece;
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
    if (canGoBack())
        restore(m_history.back({ m_piece, m_zoomed }));
}

void FlameGraph::goForward()
{
    if (canGoForward())
        restore(m_history.forward({ m_piece, m_zoomed }));
}

void FlameGraph::restore(const Place& place)
{
    m_zoomed = place.zoomed;
    m_animation.stop();
    setPiece(place.piece);
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
        if (m_zoomed != 0 && m_tree->isAncestor(m_zoomed, node))
            figures
                += tr(", %1 of what is shown").arg(text::share(m_tree->total(node), m_tree->total(m_zoomed)));
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

} // namespace strata::views
