// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/flow_layout.h"

#include <QWidget>

#include <algorithm>
#include <utility>

namespace strata::views {

FlowLayout::FlowLayout(QWidget* parent)
    : QLayout(parent)
{
    setContentsMargins(0, 0, 0, 0);
}

FlowLayout::~FlowLayout()
{
    qDeleteAll(m_items);
}

void FlowLayout::setSpacings(int between, int lines)
{
    m_between = between;
    m_lines = lines;
    invalidate();
}

void FlowLayout::addItem(QLayoutItem* item)
{
    m_items.append(item);
}

QLayoutItem* FlowLayout::takeAt(int index)
{
    return index >= 0 && index < m_items.size() ? m_items.takeAt(index) : nullptr;
}

int FlowLayout::heightForWidth(int width) const
{
    return place(QRect(0, 0, width, 0), false);
}

QSize FlowLayout::sizeHint() const
{
    QSize all;
    for (const QLayoutItem* item : m_items) {
        if (item->isEmpty())
            continue;
        all.rwidth() += item->sizeHint().width() + (all.width() > 0 ? m_between : 0);
        all.setHeight(std::max(all.height(), item->sizeHint().height()));
    }
    return all;
}

QSize FlowLayout::minimumSize() const
{
    QSize least;
    for (const QLayoutItem* item : m_items)
        if (!item->isEmpty())
            least = least.expandedTo(item->minimumSize());
    return least;
}

void FlowLayout::setGeometry(const QRect& rect)
{
    QLayout::setGeometry(rect);
    place(rect, true);
}

int FlowLayout::place(const QRect& rect, bool move) const
{
    QPoint at = rect.topLeft();
    int lineHeight = 0;
    QList<std::pair<QLayoutItem*, QRect>> line;
    const auto endLine = [&] {
        for (const auto& [item, place] : line)
            if (move)
                item->setGeometry(place.translated(0, (lineHeight - place.height()) / 2));
        line.clear();
    };
    for (QLayoutItem* item : m_items) {
        if (item->isEmpty())
            continue;
        const QSize size = item->sizeHint();
        if (at.x() > rect.left() && at.x() + size.width() > rect.left() + rect.width()) {
            endLine();
            at = { rect.left(), at.y() + lineHeight + m_lines };
            lineHeight = 0;
        }
        line.append({ item, QRect(at, size) });
        at.rx() += size.width() + m_between;
        lineHeight = std::max(lineHeight, size.height());
    }
    endLine();
    return at.y() + lineHeight - rect.top();
}

} // namespace strata::views
