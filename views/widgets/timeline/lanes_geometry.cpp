// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/lanes_geometry.h"

#include "views/style/type.h"
#include "views/widgets/timeline/lanes_look.h"

#include <algorithm>

namespace strata::views {

namespace {

constexpr double kMostFixed = 2.0 / 3; // of the height of the lanes

} // namespace

LanesGeometry::LanesGeometry(
    const LanesData* data, const LaneLayout& lanes, Span view, QSize size, int scrolled, const QFont& font)
    : m_data(data)
    , m_lanes(&lanes)
    , m_view(view)
    , m_size(size)
    , m_scrolled(scrolled)
    , m_font(font)
{
}

/// Memory takes room that the lanes do not need, as far as that makes it easier to read.
int LanesGeometry::memoryHeight() const
{
    const int marked = marks().empty() ? 0 : scaled(kMarksHeight, m_font);
    const int room = m_size.height() - scaled(kScaleHeight, m_font) - marked - m_lanes->height();
    return std::clamp(room, scaled(kMemoryHeight, m_font), scaled(kMostMemoryHeight, m_font));
}

QRect LanesGeometry::plot() const
{
    const int left = scaled(kNamesWidth, m_font), top = scaled(kScaleHeight, m_font);
    const int below = (memory() ? memoryHeight() : 0)
        + (marks().empty() ? 0 : scaled(kMarksHeight, m_font) + (memory() ? 0 : kGrid));
    return { left, top, std::max(m_size.width() - left, 1), std::max(m_size.height() - top - below, 1) };
}

QRect LanesGeometry::memoryPlot() const
{
    if (!memory())
        return {};
    const QRect lanes = plot();
    const int marked = marks().empty() ? 0 : scaled(kMarksHeight, m_font);
    return { lanes.left(), lanes.bottom() + 1 + kGrid + marked, lanes.width(), memoryHeight() - 2 * kGrid };
}

/// Of a GPU, where there is one.
const model::WorkMemory* LanesGeometry::memory() const
{
    if (!m_data || m_data->tracks().memory().empty())
        return nullptr;
    const auto all = m_data->tracks().memory();
    const auto gpu
        = std::ranges::find_if(all, [](const model::WorkMemory& each) { return each.deviceType != 0; });
    return gpu == all.end() ? &all.front() : &*gpu;
}

double LanesGeometry::nsPerPoint() const
{
    return m_view.width() / plot().width();
}

double LanesGeometry::nsAt(int x) const
{
    const QRect area = plot();
    return m_view.begin + (x - area.left()) * m_view.width() / area.width();
}

double LanesGeometry::xOf(double ns) const
{
    const QRect area = plot();
    return area.left() + (ns - m_view.begin) * area.width() / m_view.width();
}

std::optional<std::uint32_t> LanesGeometry::pieceAt(const QPoint& at) const
{
    if (!m_data || !plot().contains(at))
        return std::nullopt;
    const auto row = m_lanes->rowAt(topAt(at.y()));
    if (!row)
        return std::nullopt;
    const LaneLayout::Row& shown = m_lanes->rows()[*row];
    return m_data->tracks().pick(m_data->tracks().tracks()[shown.track].rows[shown.row],
        static_cast<std::int64_t>(nsAt(at.x())), static_cast<std::int64_t>(2 * nsPerPoint()));
}

QPoint LanesGeometry::placeOf(std::uint32_t span) const
{
    const auto place = m_data->tracks().placeOf(span);
    const auto row = place ? m_lanes->rowOf(place->first, place->second) : std::nullopt;
    const double begin
        = std::max(xOf(static_cast<double>(m_data->tracks().beginOf(span))), plot().left() * 1.0);
    const double end = std::min(xOf(static_cast<double>(m_data->tracks().endOf(span))), plot().right() * 1.0);
    const int top = row ? m_lanes->rows()[*row].top : 0;
    return { static_cast<int>((begin + end) / 2), yOf(top) + m_lanes->rowHeight() / 2 };
}

int LanesGeometry::fixedHeight() const
{
    return m_lanes->pinnedHeight() <= kMostFixed * plot().height() ? m_lanes->pinnedHeight() : 0;
}

QRect LanesGeometry::partOf(bool isFixed) const
{
    QRect part = plot();
    if (isFixed)
        part.setHeight(fixedHeight());
    else
        part.setTop(part.top() + fixedHeight());
    return part;
}

int LanesGeometry::yOf(int top) const
{
    return plot().top() + top - (top < fixedHeight() ? 0 : m_scrolled);
}

int LanesGeometry::topAt(int y) const
{
    const int top = y - plot().top();
    return top < fixedHeight() ? top : top + m_scrolled;
}

std::optional<std::size_t> LanesGeometry::trackAt(int y) const
{
    return plot().top() <= y && y <= plot().bottom() ? m_lanes->trackAt(topAt(y)) : std::nullopt;
}

const MarkTrack& LanesGeometry::marks() const
{
    static const MarkTrack kNone;
    return m_data ? m_data->marks() : kNone;
}

QRect LanesGeometry::marksPlot() const
{
    if (marks().empty())
        return {};
    const QRect lanes = plot();
    return { lanes.left(), lanes.bottom() + 1 + kGrid / 2, lanes.width(), scaled(kMarksHeight, m_font) };
}

std::int64_t LanesGeometry::foldNs() const
{
    return std::max<std::int64_t>(static_cast<std::int64_t>(kFoldPx * nsPerPoint()), 1);
}

std::optional<std::uint32_t> LanesGeometry::markAt(const QPoint& at) const
{
    return marksPlot().contains(at)
        ? marks().pick(static_cast<std::int64_t>(nsAt(at.x())), static_cast<std::int64_t>(3 * nsPerPoint()))
        : std::nullopt;
}

/// What lies at the ends of the view is whole: the last thing that happened may be an out-of-memory.
int LanesGeometry::xOfMark(std::int64_t ns) const
{
    const QRect area = plot();
    const auto time = static_cast<double>(ns);
    const double x = area.left() + (time - m_view.begin) * area.width() / m_view.width();
    const bool isInView = m_view.begin <= time && time <= m_view.end;
    const double left = area.left() + 1.0;
    return static_cast<int>(isInView ? std::clamp(x, left, std::max(area.right() - 1.0, left)) : x);
}

QPoint LanesGeometry::placeOfMark(std::uint32_t mark) const
{
    return { xOfMark(marks().timeOf(mark)), marksPlot().center().y() };
}

} // namespace strata::views
