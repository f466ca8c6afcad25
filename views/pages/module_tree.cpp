// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/module_tree.h"

#include "views/style/texts.h"
#include "views/style/type.h"

#include <QHeaderView>
#include <QTreeWidgetItemIterator>
#include <QWheelEvent>

#include <array>

namespace strata::views {

namespace {

constexpr int kPathRole = Qt::UserRole;
constexpr int kUnfolded = 12; // so many rows are unfolded from the start
constexpr std::array kColumns{ model::Category::Parameter, model::Category::Gradient,
    model::Category::OptimizerState, model::Category::Activation };

std::string pathOf(const QTreeWidgetItem& item)
{
    return item.data(0, kPathRole).toByteArray().toStdString();
}

QString lastPart(const QString& path)
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

ModuleTree::ModuleTree(const std::vector<model::ModuleRow>& rows, const QColor& muted, QWidget* parent)
    : QTreeWidget(parent)
{
    setAccessibleName(tr("Modules"));
    setHeaderLabels({ tr("module"), tr("parameters"), tr("gradients"), tr("state"), tr("activations"),
        tr("other"), tr("total") });
    setFrameShape(NoFrame);
    setUniformRowHeights(true);
    setSelectionBehavior(SelectRows);
    setTextElideMode(Qt::ElideMiddle);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    const QFont numbers = numberFont(font());
    const int height = scaled(kRowHeight, font());
    std::vector<QTreeWidgetItem*> parents{ invisibleRootItem() };
    for (const model::ModuleRow& row : rows) {
        parents.resize(std::min(parents.size(), static_cast<std::size_t>(row.depth) + 1));
        auto* item = new QTreeWidgetItem(parents.back());
        parents.push_back(item);
        const QString path = text::utf8(row.path);
        item->setText(0, path.isEmpty() ? tr("no module") : row.depth > 0 ? lastPart(path) : path);
        item->setToolTip(0,
            path.isEmpty() ? tr("Blocks that no module asked for, and whose module was not recorded") : path);
        item->setData(0, kPathRole, QByteArray::fromStdString(row.path));
        item->setSizeHint(0, { 0, height });
        const auto set = [&](int column, std::int64_t bytes) {
            item->setText(column, bytes == 0 ? QStringLiteral("-") : text::bytes(bytes));
            item->setToolTip(column, text::exactBytes(bytes));
            item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
            item->setFont(column, numbers);
            if (bytes == 0)
                item->setForeground(column, muted);
        };
        int column = 1;
        for (const model::Category category : kColumns)
            set(column++, row.total.of(category));
        set(column++, otherBytes(row.total));
        set(column, row.total.bytes);
    }
    QHeaderView& head = *header();
    head.setStretchLastSection(false);
    head.setSectionsMovable(false);
    head.setFont(sized(font(), kAxisPx));
    head.setSectionResizeMode(QHeaderView::ResizeToContents);
    head.setSectionResizeMode(0, QHeaderView::Stretch);
    for (int c = 1; c < columnCount(); ++c)
        headerItem()->setTextAlignment(c, Qt::AlignRight | Qt::AlignVCenter);
    head.setStyleSheet(QStringLiteral( // as cells
        "QHeaderView::section { padding: 0 3px 0 8px; } QHeaderView::down-arrow { width: 0; }"));
    unfold(*this);
    connect(this, &QTreeWidget::itemExpanded, this, [this] { updateGeometry(); });
    connect(this, &QTreeWidget::itemCollapsed, this, [this] { updateGeometry(); });
    connect(this, &QTreeWidget::itemActivated, this,
        [this](const QTreeWidgetItem* item) { Q_EMIT moduleChosen(pathOf(*item)); });
}

ModuleTree::Kept ModuleTree::kept() const
{
    Kept kept;
    QTreeWidgetItemIterator at(const_cast<ModuleTree*>(this), QTreeWidgetItemIterator::HasChildren);
    for (; *at; ++at)
        kept.unfolded[pathOf(**at)] = (*at)->isExpanded();
    if (const QTreeWidgetItem* const current = currentItem())
        kept.current = pathOf(*current);
    return kept;
}

void ModuleTree::restore(const Kept& kept)
{
    for (QTreeWidgetItemIterator at(this); *at; ++at) {
        const std::string path = pathOf(**at);
        if (const auto known = kept.unfolded.find(path); known != kept.unfolded.end())
            (*at)->setExpanded(known->second);
        if (path == kept.current)
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
