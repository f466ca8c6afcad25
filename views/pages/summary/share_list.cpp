// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/summary/share_list.h"

#include "views/style/texts.h"

#include <QKeyEvent>

#include <algorithm>

namespace strata::views {

ShareList::ShareList(QWidget* parent)
    : BarList(parent)
{
    setTextElideMode(Qt::ElideRight); // file and line stand first
    connect(this, &QTableWidget::cellClicked, this, [this](int row) {
        if (const ShareRow* chosen = rowAt(row))
            Q_EMIT rowChosen(*chosen);
    });
    connect(this, &QTableWidget::cellDoubleClicked, this, [this](int row) {
        if (const ShareRow* chosen = rowAt(row))
            Q_EMIT rowFiltered(*chosen);
    });
}

void ShareList::setRows(const std::vector<ShareRow>& rows, std::int64_t whole, const Palette& palette)
{
    m_rows = rows;
    std::int64_t longest = 1;
    for (const ShareRow& row : rows)
        longest = std::max(longest, row.bytes);
    std::vector<Row> bars;
    for (const ShareRow& row : rows) {
        Row& bar = bars.emplace_back();
        bar.label = row.label;
        bar.shortLabel = row.shortLabel;
        bar.toolTip = row.toolTip;
        bar.fraction = static_cast<double>(row.bytes) / static_cast<double>(longest);
        bar.colour = row.colour;
        bar.swatch = true;
        bar.figures = { text::share(row.bytes, whole), text::bytes(row.bytes),
            tr("%n block(s)", nullptr, static_cast<int>(row.blocks)) };
        if (!row.clickable)
            bar.ink = palette[Palette::Role::TextMuted];
    }
    BarList::setRows(bars);
    const int blocks = columnCount() - 1;
    for (int r = 0; r < rowCount(); ++r) {
        const ShareRow& row = rows[static_cast<std::size_t>(r)];
        item(r, blocks)->setForeground(palette[Palette::Role::TextMuted]);
        item(r, blocks - 1)->setToolTip(text::exactBytes(row.bytes));
        for (int c = 0; c < columnCount() && !row.clickable; ++c)
            item(r, c)->setFlags(Qt::ItemIsEnabled);
    }
}

void ShareList::setColours(const std::function<QBrush(const ShareRow&)>& colourOf)
{
    for (std::size_t r = 0; r < m_rows.size(); ++r) {
        ShareRow& row = m_rows[r];
        if (!row.clickable)
            continue;
        row.colour = colourOf(row);
        setColour(static_cast<int>(r), row.colour);
    }
}

void ShareList::keyPressEvent(QKeyEvent* event)
{
    if (event->key() != Qt::Key_Return && event->key() != Qt::Key_Enter)
        return QTableWidget::keyPressEvent(event);
    const ShareRow* chosen = rowAt(currentRow());
    if (!chosen)
        return;
    if (event->modifiers() & Qt::ShiftModifier)
        Q_EMIT rowFiltered(*chosen);
    else
        Q_EMIT rowChosen(*chosen);
}

const ShareRow* ShareList::rowAt(int row) const
{
    if (row < 0 || row >= static_cast<int>(m_rows.size()))
        return nullptr;
    const ShareRow& found = m_rows[static_cast<std::size_t>(row)];
    return found.clickable ? &found : nullptr;
}

} // namespace strata::views
