// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/call_tree_view.h"

#include "views/widgets/table_header.h"

#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>

#include <algorithm>
#include <vector>

namespace strata::views {

namespace {

constexpr int kTreePadding = 8;
constexpr int kTreeRowHeight = 24;
constexpr int kFrame = 140; // of the frames' column, at least
constexpr int kWithSelf = 460; // pixels from which the column is shown
constexpr int kWithBlocks = 540;
constexpr int kOpened = 40; // levels of the heaviest path
constexpr int kDeepest = 2000; // beyond it, the tree is not opened to a frame: indentation ends somewhere

/// Text and a grey note behind it; numbers right-aligned with their units below each other; the share as a
/// bar.
class CallTreeDelegate : public QStyledItemDelegate {
public:
    explicit CallTreeDelegate(const Palette& palette, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_palette(palette)
    {
    }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override
    {
        return { 60, std::max(kTreeRowHeight, option.fontMetrics.height() + 8) };
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const QString text = index.data(Qt::DisplayRole).toString();
        const QString note = index.data(CallTreeModel::NoteRole).toString();
        const QFontMetrics& metrics = option.fontMetrics;
        QRect rect = option.rect.adjusted(kTreePadding, 0, -kTreePadding, 0);
        painter->setFont(option.font);
        if (index.column() == CallTreeModel::Frame) {
            rect.setLeft(option.rect.left() + 2);
            painter->setPen(m_palette[Palette::Role::Text]);
            const FrameRow row = cutToFit(text, note == text ? QString() : note, rect.width(), metrics);
            painter->drawText(rect, kLeft, row.function);
            rect.setLeft(rect.left() + metrics.horizontalAdvance(row.function) + kTreePadding);
            painter->setPen(m_palette[Palette::Role::TextMuted]);
            painter->drawText(rect, kLeft, row.place);
            return;
        }
        if (index.column() == CallTreeModel::Share) {
            const double share = index.data(CallTreeModel::ShareRole).toDouble();
            const QRectF track = QRectF(option.rect).adjusted(4, 6, -4, -6);
            painter->fillRect(track, m_palette[Palette::Role::Free]);
            painter->fillRect(
                QRectF(track.left(), track.top(), track.width() * share, track.height()), barColour());
        }
        if (!note.isEmpty()) {
            const int unit = metrics.horizontalAdvance(QStringLiteral("MiB"));
            painter->setPen(m_palette[Palette::Role::TextMuted]);
            painter->drawText(rect.adjusted(rect.width() - unit, 0, 0, 0), kLeft, note);
            rect.setRight(rect.right() - unit - metrics.horizontalAdvance(QLatin1Char(' ')));
        }
        painter->setPen(m_palette[Palette::Role::Text]);
        painter->drawText(rect, kRight, text);
    }

private:
    static constexpr int kLeft = static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter);
    static constexpr int kRight = static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);

    QColor barColour() const
    {
        QColor colour = m_palette[Palette::Role::Accent];
        colour.setAlphaF(0.3F);
        return colour;
    }

    const Palette& m_palette;
};

} // namespace

FrameRow cutToFit(const QString& function, const QString& place, int width, const QFontMetrics& metrics)
{
    const auto widthOf = [&](const QString& text) { return metrics.horizontalAdvance(text) + kTreePadding; };
    const int wanted = place.isEmpty() ? 0 : widthOf(place);
    // The number of the line stays whole, or nothing of the place does.
    const qsizetype colon = place.lastIndexOf(QLatin1Char(':'));
    const QString number = colon < 0 ? QString() : place.mid(colon);
    const int least = std::min(wanted, widthOf(QChar(0x2026) + number) + 2);
    const int share = std::max(std::min(width * 3 / 5, width - least), width * 3 / 10);
    FrameRow row;
    row.function = metrics.elidedText(function, Qt::ElideRight, std::max(width - wanted, share));
    const int left = width - metrics.horizontalAdvance(row.function) - kTreePadding;
    row.place = left > 0 ? metrics.elidedText(place, Qt::ElideLeft, left) : QString();
    if (!row.place.endsWith(number))
        row.place.clear();
    return row;
}

CallTreeView::CallTreeView(QWidget* parent)
    : QTreeView(parent)
    , m_model(new CallTreeModel(this))
{
    setFrameShape(QFrame::NoFrame);
    setHeader(new TableHeader(this));
    header()->setSortIndicatorShown(false);
    header()->setSectionsClickable(false);
    header()->setSectionsMovable(false);
    header()->setStretchLastSection(false);
    setModel(m_model);
    setItemDelegate(new CallTreeDelegate(m_palette, this));
    setUniformRowHeights(true);
    setIndentation(12);
    setAllColumnsShowFocus(true);
    setExpandsOnDoubleClick(false);
    setHorizontalScrollMode(ScrollPerPixel);
    setEditTriggers(NoEditTriggers);
    setAccessibleName(tr("Call tree"));
    connect(this, &QAbstractItemView::activated, this,
        [this](const QModelIndex& index) { Q_EMIT opened(CallTreeModel::nodeOf(index)); });
}

void CallTreeView::setTree(std::shared_ptr<const FlameTree> tree)
{
    m_quiet = true;
    m_model->setTree(std::move(tree));
    openHeaviestPath();
    fitColumns();
    m_quiet = false;
}

void CallTreeView::goOn(std::shared_ptr<const FlameTree> tree)
{
    const std::shared_ptr<const FlameTree> before = m_model->tree();
    if (!before || !tree || before->total(0) <= 0 || tree->total(0) <= 0)
        return setTree(std::move(tree));
    std::vector<FlameTree::Node> open; // parents first
    if (isExpanded(m_model->indexOf(0)))
        open.push_back(0);
    for (std::size_t i = 0; i < open.size(); ++i)
        for (const FlameTree::Node child : before->children(open[i]))
            if (isExpanded(m_model->indexOf(child)))
                open.push_back(child);
    const auto inNew
        = [&](FlameTree::Node node) { return m_model->indexOf(before->counterpart(*tree, node)); };
    const QModelIndex current = currentIndex(), top = indexAt(QPoint(0, 0));
    const auto nodesOf = [](const QModelIndex& index) { // one, or none
        return index.isValid() ? std::vector{ CallTreeModel::nodeOf(index) } : std::vector<FlameTree::Node>{};
    };
    const std::vector<FlameTree::Node> currentNode = nodesOf(current), topNode = nodesOf(top);
    const int offset = top.isValid() ? visualRect(top).top() : 0, x = horizontalScrollBar()->value();
    m_quiet = true;
    setUpdatesEnabled(false);
    m_model->setTree(tree);
    for (const FlameTree::Node node : open)
        expand(inNew(node));
    for (const FlameTree::Node node : currentNode)
        selectionModel()->setCurrentIndex(
            inNew(node), QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    fitColumns();
    for (const FlameTree::Node node : topNode)
        if (const QRect now = visualRect(inNew(node)); now.height() > 0) // it scrolls row by row
            verticalScrollBar()->setValue(verticalScrollBar()->value() + (now.top() - offset) / now.height());
    horizontalScrollBar()->setValue(x);
    setUpdatesEnabled(true);
    m_quiet = false;
}

void CallTreeView::openHeaviestPath()
{
    if (!m_model->tree())
        return;
    constexpr double kMost = 0.6; // of its parent: there is one way to go on
    const FlameTree& tree = *m_model->tree();
    FlameTree::Node node = 0;
    for (int level = 0; level < kOpened; ++level) {
        expand(m_model->indexOf(node));
        const std::span<const FlameTree::Node> children = tree.children(node);
        if (children.empty()
            || static_cast<double>(tree.total(children.front()))
                < kMost * static_cast<double>(tree.total(node)))
            return;
        node = children.front();
    }
}

int CallTreeView::bytesWidth() const
{
    return fontMetrics().horizontalAdvance(QStringLiteral("1,023 MiB")) + 2 * kTreePadding;
}

int CallTreeView::shareWidth() const
{
    return fontMetrics().horizontalAdvance(QStringLiteral("100.0 %")) + 4 * kTreePadding;
}

/// Frames, totals and shares without a scroll bar below them.
QSize CallTreeView::minimumSizeHint() const
{
    const int bar = verticalScrollBar()->sizeHint().width();
    return { kFrame + bytesWidth() + shareWidth() + bar, QTreeView::minimumSizeHint().height() };
}

void CallTreeView::fitColumns()
{
    header()->resizeSection(CallTreeModel::Total, bytesWidth());
    header()->resizeSection(CallTreeModel::Self, bytesWidth());
    header()->resizeSection(CallTreeModel::Share, shareWidth());
    header()->resizeSection(CallTreeModel::Blocks,
        fontMetrics().horizontalAdvance(QStringLiteral("8,888,888")) + 2 * kTreePadding);
    // The frames keep room to be read: in a narrow view the rarer figures give way.
    const int width = viewport()->width();
    setColumnHidden(CallTreeModel::Self, width < kWithSelf);
    setColumnHidden(CallTreeModel::Blocks, width < kWithBlocks);
    int others = 0;
    for (int column = 1; column < CallTreeModel::ColumnCount; ++column)
        others += isColumnHidden(column) ? 0 : header()->sectionSize(column);
    header()->resizeSection(CallTreeModel::Frame, std::max(kFrame, width - others));
    fitIndentation();
}

/// Half of the frames' column is for their names, however deep the tree.
void CallTreeView::fitIndentation()
{
    constexpr int kLeast = 5, kMost = 12;
    const int levels = m_model->tree() ? m_model->tree()->maxDepth() + 1 : 1;
    setIndentation(std::clamp(header()->sectionSize(CallTreeModel::Frame) / 2 / levels, kLeast, kMost));
}

void CallTreeView::resizeEvent(QResizeEvent* event)
{
    QTreeView::resizeEvent(event);
    fitColumns();
    updateGeometries(); // now: a scroll bar for the columns as they were would flicker
}

void CallTreeView::setColours(const Palette& palette)
{
    m_palette = palette;
    static_cast<TableHeader*>(header())->setColours(palette);
    viewport()->update();
}

void CallTreeView::setCurrentNode(FlameTree::Node node)
{
    if (!m_model->tree() || node >= m_model->tree()->size() || m_model->tree()->depth(node) > kDeepest)
        return;
    m_quiet = true;
    const QModelIndex index = m_model->indexOf(node);
    setCurrentIndex(index);
    scrollTo(index);
    horizontalScrollBar()->setValue(0);
    m_quiet = false;
}

FlameTree::Node CallTreeView::currentNode() const
{
    return currentIndex().isValid() ? CallTreeModel::nodeOf(currentIndex()) : 0;
}

void CallTreeView::currentChanged(const QModelIndex& current, const QModelIndex& previous)
{
    QTreeView::currentChanged(current, previous);
    if (!m_quiet && current.isValid())
        Q_EMIT chosen(CallTreeModel::nodeOf(current));
}

void CallTreeView::drawRow(
    QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    if (selectionModel()->isSelected(index))
        painter->fillRect(option.rect, m_palette[Palette::Role::Selection]);
    QTreeView::drawRow(painter, option, index);
    if (index.siblingAtColumn(0) == currentIndex().siblingAtColumn(0))
        painter->fillRect(
            QRect(0, option.rect.top(), 3, option.rect.height()), m_palette[Palette::Role::Accent]);
}

void CallTreeView::drawBranches(QPainter* painter, const QRect& rect, const QModelIndex& index) const
{
    if (!m_model->hasChildren(index))
        return;
    const QPointF centre(rect.right() - indentation() / 2.0 + 0.5, rect.center().y() + 0.5);
    const QPointF closed[] = { { -2, -4 }, { 2, 0 }, { -2, 4 } };
    const QPointF open[] = { { -4, -2 }, { 0, 2 }, { 4, -2 } };
    QPolygonF arrow;
    for (const QPointF& point : isExpanded(index) ? open : closed)
        arrow << centre + point * std::clamp(indentation() / 9.0, 0.6, 1.0);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(QPen(m_palette[Palette::Role::TextMuted], 1.5));
    painter->drawPolyline(arrow);
    painter->restore();
}

} // namespace strata::views
