// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/kept_rows.h"

#include "views/widgets/table_view.h"

#include <algorithm>

namespace strata::views {

namespace {

constexpr std::size_t kMostRanges = 2'000; // of selected rows: Qt looks after each of them one by one

} // namespace

KeptRows::KeptRows(const TableModel& model, const TableView& view)
    : m_source(model.source())
    , m_rows(model.rows())
    , m_selected(view.selectedRanges())
    , m_first(view.firstVisibleRow())
    , m_visible(std::max(1, view.fullyVisibleRows()))
{
    if (const QModelIndex index = view.currentIndex(); index.isValid() && index.row() < model.rowCount()) {
        m_current = index.row();
        m_column = index.column();
    }
}

std::optional<int> KeptRows::positionIn(const TableModel& model, int position) const
{
    const auto row = model.source()->sameRow(*m_source, (*m_rows)[static_cast<std::uint32_t>(position)]);
    const auto found = row ? model.rows()->positionOf(*row) : std::nullopt;
    return found ? std::optional(static_cast<int>(*found)) : std::nullopt;
}

/// Of rows in the table's own order: where nothing came in between, the ends tell of all.
void KeptRows::mapRange(const TableModel& model, int first, int last, Ranges& to) const
{
    const std::optional<int> begin = positionIn(model, first), end = positionIn(model, last);
    if (begin && end && *end - *begin == last - first) {
        if (!to.empty() && to.back().second + 1 == *begin)
            to.back().second = *end;
        else
            to.emplace_back(*begin, *end);
    } else if (first < last && to.size() <= kMostRanges) {
        const int middle = first + (last - first) / 2;
        mapRange(model, first, middle, to);
        mapRange(model, middle + 1, last, to);
    }
}

KeptRows::Ranges KeptRows::selectedIn(const TableModel& model) const
{
    Ranges ranges;
    if (m_rows->isOrdered() && model.rows()->isOrdered()) {
        for (const auto& [first, last] : m_selected)
            mapRange(model, first, last, ranges);
        return ranges;
    }
    if (m_selected.size() == 1 && m_selected.front().first == m_selected.front().second) {
        if (const auto position = positionIn(model, m_selected.front().first))
            ranges.emplace_back(*position, *position);
        return ranges;
    }
    if (m_selected.empty())
        return ranges;
    std::vector<bool> isSelected(model.source()->rowCount());
    for (const auto& [first, last] : m_selected)
        for (int position = first; position <= last; ++position)
            if (const auto row
                = model.source()->sameRow(*m_source, (*m_rows)[static_cast<std::uint32_t>(position)]))
                isSelected[*row] = true;
    for (int position = 0; position < model.rowCount() && ranges.size() <= kMostRanges; ++position)
        if (isSelected[model.sourceRow(position)]) {
            if (!ranges.empty() && ranges.back().second + 1 == position)
                ranges.back().second = position;
            else
                ranges.emplace_back(position, position);
        }
    return ranges;
}

void KeptRows::restore(const TableModel& model, TableView& view) const
{
    const int current = m_current ? positionIn(model, *m_current).value_or(-1) : -1;
    Ranges selected = selectedIn(model);
    if (selected.size() > kMostRanges) {
        selected.clear();
        if (current >= 0)
            selected.emplace_back(current, current);
    }
    int first = m_first;
    const bool inView = m_current && *m_current >= m_first && *m_current < m_first + m_visible;
    if (inView && current >= 0)
        first = current - (*m_current - m_first);
    else if (m_first > 0 && m_first < static_cast<int>(m_rows->size()))
        first = positionIn(model, m_first).value_or(m_first);
    view.restore(current, m_column, selected, first);
}

} // namespace strata::views
