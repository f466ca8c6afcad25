// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/mark_track.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace strata::views {

MarkTrack::MarkTrack(std::vector<model::AllocatorMark> marks, std::int64_t startNs)
    : m_marks(std::move(marks))
    , m_startNs(startNs)
{
    for (std::uint32_t mark = 0; mark < size(); ++mark) {
        Rows& rows = partOf(mark) == Part::Segments ? m_segments : m_refusals;
        rows.times.push_back(timeOf(mark));
        rows.marks.push_back(mark);
        model::AllocatorMarkSums sums;
        sums.add(m_marks[mark]);
        rows.taken.push_back(rows.taken.back() + static_cast<std::uint32_t>(sums.taken));
    }
}

MarkGroup MarkTrack::groupOf(const Rows& rows, std::size_t first, std::size_t last)
{
    return { rows.times[first], rows.times[last], rows.marks[first], rows.marks[last],
        static_cast<std::uint32_t>(last - first + 1), rows.taken[last + 1] - rows.taken[first] };
}

std::size_t MarkTrack::from(const Rows& rows, std::int64_t ns)
{
    return static_cast<std::size_t>(std::ranges::lower_bound(rows.times, ns) - rows.times.begin());
}

std::size_t MarkTrack::behind(const Rows& rows, std::int64_t ns)
{
    return static_cast<std::size_t>(std::ranges::upper_bound(rows.times, ns) - rows.times.begin());
}

std::size_t MarkTrack::lastNear(const Rows& rows, std::size_t at, std::int64_t foldNs, std::size_t end)
{
    const auto begin = rows.times.begin();
    const auto found = std::lower_bound(begin + static_cast<std::ptrdiff_t>(at) + 1,
        begin + static_cast<std::ptrdiff_t>(end), rows.times[at] + foldNs);
    return static_cast<std::size_t>(found - begin) - 1;
}

std::optional<std::uint32_t> MarkTrack::nearestIn(const Rows& rows, std::int64_t ns, std::int64_t nearNs)
{
    const std::size_t next = from(rows, ns);
    std::optional<std::uint32_t> found;
    std::int64_t least = nearNs;
    for (const std::size_t at : { next - 1, next })
        if (at < rows.times.size() && std::abs(rows.times[at] - ns) <= least) {
            least = std::abs(rows.times[at] - ns);
            found = rows.marks[at];
        }
    return found;
}

model::AllocatorMarkSums MarkTrack::sumsOf(const MarkGroup& group) const
{
    model::AllocatorMarkSums sums;
    for (std::uint32_t mark = group.first; mark <= group.last; ++mark)
        if (partOf(mark) == partOf(group.first))
            sums.add(m_marks[mark]);
    return sums;
}

std::optional<std::uint32_t> MarkTrack::pick(std::int64_t ns, std::int64_t nearNs) const
{
    const auto refusal = nearestIn(m_refusals, ns, nearNs);
    return refusal ? refusal : nearestIn(m_segments, ns, nearNs);
}

std::optional<std::uint32_t> MarkTrack::nearest(std::int64_t ns) const
{
    const auto one = nearestIn(m_segments, ns, INT64_MAX), other = nearestIn(m_refusals, ns, INT64_MAX);
    if (!one || !other)
        return one ? one : other;
    return std::abs(timeOf(*one) - ns) <= std::abs(timeOf(*other) - ns) ? one : other;
}

std::optional<std::uint32_t> MarkTrack::find(const model::AllocatorMark& mark) const
{
    const auto [begin, end]
        = std::ranges::equal_range(m_marks, mark.timeNs, {}, &model::AllocatorMark::timeNs);
    const auto found = std::find(begin, end, mark);
    return found == end ? std::nullopt : std::optional(static_cast<std::uint32_t>(found - m_marks.begin()));
}

MarkGroup MarkTrack::groupOf(std::uint32_t mark, std::int64_t foldNs) const
{
    const Rows& rows = this->rows(partOf(mark));
    const auto at = static_cast<std::size_t>(std::ranges::lower_bound(rows.marks, mark) - rows.marks.begin());
    std::size_t first = at, last = at;
    while (first > 0 && rows.times[first] - rows.times[first - 1] < foldNs)
        --first;
    for (std::size_t next = at; (next = lastNear(rows, last, foldNs, rows.times.size())) != last;)
        last = next;
    return groupOf(rows, first, last);
}

} // namespace strata::views
