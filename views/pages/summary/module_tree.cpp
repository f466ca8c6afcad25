// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/summary/module_tree.h"

#include "views/style/texts.h"
#include "views/style/type.h"

#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTreeWidgetItemIterator>
#include <QWheelEvent>

#include <algorithm>
#include <array>

namespace strata::views {

namespace {

constexpr int kPathRole = Qt::UserRole; // invalid: of no module
constexpr int kTreeFractionRole = Qt::UserRole + 1;
constexpr int kBar = 7; // the last column, which stands beside the names
constexpr int kTreeBarWidth = 64, kGap = 16; // between figures
constexpr int kCellMargin = 6; // of both sides
constexpr int kUnfolded = 12; // so many rows are unfolded from the start
constexpr std::array kColumns{ model::Category::Parameter, model::Category::Gradient,
    model::Category::OptimizerState, model::Category::Activation };

/// What part of all that is requested a module holds, as the ledger has it.
class ShareDelegate : public QStyledItemDelegate {
public:
    ShareDelegate(const QColor& colour, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_colour(colour)
    {
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QStyledItemDelegate::paint(painter, option, index);
        const QRectF area = QRectF(option.rect).adjusted(kGrid, 6, -kGrid, -6);
        const double width = area.width() * std::clamp(index.data(kTreeFractionRole).toDouble(), 0.0, 1.0);
        if (width > 0)
            painter->fillRect(QRectF(area.left(), area.top(), std::max(width, 1.0), area.height()), m_colour);
    }

private:
    QColor m_colour;
};

std::string pathOf(const QTreeWidgetItem& item)
{
    return item.data(0, kPathRole).toByteArray().toStdString();
}

QString lastModulePart(const QString& path)
{
    return path.mid(path.lastIndexOf(QLatin1Char('.')) + 1);
}

int shownBelow(const QTreeWidgetItem& item)
{
    int rows = 0;
    for (int i = 0; i < item.childCount(); ++i)
        rows += 1 + (item.child(i)->isExpanded() ? shownBelow(*item.child(i)) : 0);
    return rows;
}

/// Level by level from the top, as far as there is room.
void unfold(QTreeWidget& tree)
{
    std::vector<QTreeWidgetItem*> level{ tree.invisibleRootItem() };
    while (!level.empty()) {
        std::vector<QTreeWidgetItem*> next;
        int rows = shownBelow(*tree.invisibleRootItem());
        for (const QTreeWidgetItem* parent : level)
            for (int i = 0; i < parent->childCount(); ++i)
                if (parent->child(i)->childCount() > 0) {
                    next.push_back(parent->child(i));
                    rows += parent->child(i)->childCount();
                }
        if (rows > kUnfolded)
            return;
        for (QTreeWidgetItem* item : next)
            item->setExpanded(true);
        level = std::move(next);
    }
}

} // namespace

std::int64_t otherBytes(const model::CategorySums& sums)
{
    std::int64_t other = sums.bytes;
    for (const model::Category category : kColumns)
        other -= sums.of(category);
    return other;
}

ModuleTree::ModuleTree(
    const std::vector<model::ModuleRow>& rows, const QColor& muted, const QColor& bar, QWidget* parent)
    : QTreeWidget(parent)
    , m_muted(muted)
    , m_numbers(numberFont(font()))
{
    setAccessibleName(tr("Modules"));
    setHeaderLabels({ tr("module"), tr("parameters"), tr("gradients"), tr("optimizer state"),
        tr("activations"), tr("other"), tr("total"), QString() });
    setItemDelegateForColumn(kBar, new ShareDelegate(bar, this));
    setFrameShape(NoFrame);
    setUniformRowHeights(true);
    setSelectionBehavior(SelectRows);
    setTextElideMode(Qt::ElideMiddle);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    model::CategorySums all;
    for (const model::ModuleRow& row : rows)
        if (row.depth == 0)
            all.add(row.total);
    std::vector<QTreeWidgetItem*> parents{ invisibleRootItem() };
    for (const model::ModuleRow& row : rows) {
        parents.resize(std::min(parents.size(), static_cast<std::size_t>(row.depth) + 1));
        auto* item = new QTreeWidgetItem(parents.back());
        parents.push_back(item);
        const QString path = text::utf8(row.path);
        item->setText(0, path.isEmpty() ? tr("no module") : row.depth > 0 ? lastModulePart(path) : path);
        item->setToolTip(0,
            path.isEmpty() ? tr("Blocks that no module asked for, and whose module was not recorded") : path);
        item->setData(0, kPathRole, QByteArray::fromStdString(row.path));
        setFigures(*item, row.total);
        item->setData(kBar, kTreeFractionRole,
            all.bytes > 0 ? static_cast<double>(row.total.bytes) / static_cast<double>(all.bytes) : 0.0);
        item->setToolTip(kBar, text::share(row.total.bytes, all.bytes));
    }
    if (!rows.empty()) {
        auto* sum = new QTreeWidgetItem(this);
        sum->setText(0, tr("Requested"));
        sum->setToolTip(0, tr("The rows above"));
        m_numbers.setBold(true);
        sum->setFont(0, m_numbers);
        setFigures(*sum, all);
    }
    QHeaderView& head = *header();
    head.setStretchLastSection(false);
    head.setSectionsMovable(false);
    head.setFont(sized(font(), kAxisPx));
    head.setSectionResizeMode(QHeaderView::ResizeToContents);
    head.setSectionResizeMode(0, QHeaderView::Stretch);
    head.setSectionResizeMode(kBar, QHeaderView::Fixed);
    head.resizeSection(kBar, scaled(kTreeBarWidth, font()));
    head.moveSection(kBar, 1);
    for (int c = 1; c < columnCount(); ++c)
        headerItem()->setTextAlignment(c, Qt::AlignRight | Qt::AlignVCenter);
    head.setStyleSheet(QStringLiteral( // as cells
        "QHeaderView::section { padding: 0 3px 0 19px; } QHeaderView::down-arrow { width: 0; }"));
    unfold(*this);
    connect(this, &QTreeWidget::itemExpanded, this, [this] { updateGeometry(); });
    connect(this, &QTreeWidget::itemCollapsed, this, [this] { updateGeometry(); });
    connect(this, &QTreeWidget::itemActivated, this, [this](const QTreeWidgetItem* item) {
        if (item->data(0, kPathRole).isValid())
            Q_EMIT moduleChosen(pathOf(*item));
    });
}

void ModuleTree::setFigures(QTreeWidgetItem& item, const model::CategorySums& sums) const
{
    const int height = scaled(kRowHeight, font());
    item.setSizeHint(0, { 0, height });
    const QFontMetrics metrics(m_numbers);
    const auto set = [&](int column, std::int64_t bytes) {
        item.setText(column, bytes == 0 ? QStringLiteral("-") : text::bytes(bytes));
        item.setToolTip(column, text::exactBytes(bytes));
        item.setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
        item.setFont(column, m_numbers);
        item.setSizeHint(column,
            { metrics.horizontalAdvance(item.text(column)) + kCellMargin + scaled(kGap, font()), height });
        if (bytes == 0)
            item.setForeground(column, m_muted);
    };
    int column = 1;
    for (const model::Category category : kColumns)
        set(column++, sums.of(category));
    set(column++, otherBytes(sums));
    set(column, sums.bytes);
}

ModuleTree::Kept ModuleTree::kept() const
{
    Kept kept;
    QTreeWidgetItemIterator at(const_cast<ModuleTree*>(this), QTreeWidgetItemIterator::HasChildren);
    for (; *at; ++at)
        kept.unfolded[pathOf(**at)] = (*at)->isExpanded();
    if (const QTreeWidgetItem* const current = currentItem();
        current && current->data(0, kPathRole).isValid())
        kept.current = pathOf(*current);
    return kept;
}

void ModuleTree::restore(const Kept& kept)
{
    for (QTreeWidgetItemIterator at(this); *at; ++at) {
        const std::string path = pathOf(**at);
        if (const auto known = kept.unfolded.find(path); known != kept.unfolded.end())
            (*at)->setExpanded(known->second);
        if (path == kept.current && (*at)->data(0, kPathRole).isValid())
            setCurrentItem(*at);
    }
}

QSize ModuleTree::sizeHint() const
{
    const int rows = shownBelow(*invisibleRootItem());
    return { scaled(320, font()), header()->sizeHint().height() + rows * scaled(kRowHeight, font()) + 2 };
}

QSize ModuleTree::minimumSizeHint() const
{
    return { scaled(200, font()), sizeHint().height() };
}

// The page scrolls, not the tree.
void ModuleTree::wheelEvent(QWheelEvent* event)
{
    event->ignore();
}

/// Who comes by keyboard sees where he is.
void ModuleTree::focusInEvent(QFocusEvent* event)
{
    QTreeWidget::focusInEvent(event);
    if (event->reason() != Qt::MouseFocusReason && !currentItem() && topLevelItemCount() > 0)
        setCurrentItem(topLevelItem(0));
}

} // namespace strata::views
