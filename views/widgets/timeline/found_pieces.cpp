// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/found_pieces.h"

#include "views/style/texts.h"

#include <algorithm>
#include <utility>

namespace strata::views {

FoundPieces::FoundPieces(const LanesData& data, const std::vector<bool>& isFound)
{
    if (isFound.empty())
        return;
    for (const model::WorkTrack& track : data.tracks().tracks()) {
        std::vector<std::vector<std::uint32_t>>& rows = m_places.emplace_back();
        for (const model::WorkRow& row : track.rows) {
            std::vector<std::uint32_t>& places = rows.emplace_back();
            for (std::uint32_t i = 0; i < row.size(); ++i)
                if (isFound[row.spans[i]])
                    places.push_back(i);
            m_count += std::ssize(places);
        }
    }
}

FoundPieces FoundPieces::named(const LanesData& data, const QString& wanted)
{
    std::vector<std::int8_t> matches; // by name: 0 not looked at yet, 1 yes, -1 no
    const auto& spans = data.work().spans;
    std::vector<bool> isFound(spans.size());
    for (std::size_t first = 0; first < spans.size(); first += spans.kChunk) {
        const std::span<const model::WorkSpan> run = spans.run(first);
        for (std::size_t i = 0; i < run.size(); ++i) {
            const model::StringId name = run[i].name;
            if (name.value >= matches.size())
                matches.resize(name.value + 1);
            std::int8_t& known = matches[name.value];
            if (known == 0)
                known = text::utf8(data.strings()[name]).contains(wanted, Qt::CaseInsensitive) ? 1 : -1;
            isFound[first + i] = known == 1;
        }
    }
    return { data, isFound };
}

FoundPieces FoundPieces::of(const LanesData& data, std::span<const std::uint32_t> pieces)
{
    std::vector<bool> isMarked(data.work().spans.size());
    for (const std::uint32_t piece : pieces)
        isMarked[piece] = true;
    return { data, isMarked };
}

bool FoundPieces::has(std::size_t track, std::size_t row, const model::WorkSegment& segment) const
{
    const std::vector<std::uint32_t>& places = m_places[track][row];
    const auto at = std::ranges::lower_bound(places, segment.first);
    return at != places.end() && *at < segment.first + segment.count;
}

std::optional<std::uint32_t> FoundPieces::next(
    const LanesData& data, std::optional<std::uint32_t> current, bool forward) const
{
    std::optional<std::uint32_t> next, around; // the nearest beyond, and the farthest the other way
    const auto order = [&](std::uint32_t span) { return std::pair(data.tracks().beginOf(span), span); };
    const auto isBefore = [&](std::uint32_t a, std::uint32_t b) {
        return forward ? order(a) < order(b) : order(b) < order(a);
    };
    const auto take = [&](std::optional<std::uint32_t>& best, std::uint32_t span) {
        if (!best || isBefore(span, *best))
            best = span;
    };
    for (std::size_t track = 0; track < m_places.size(); ++track)
        for (std::size_t row = 0; row < m_places[track].size(); ++row) {
            const std::vector<std::uint32_t>& places = m_places[track][row];
            const std::vector<std::uint32_t>& spans = data.tracks().tracks()[track].rows[row].spans;
            if (places.empty())
                continue;
            take(around, spans[forward ? places.front() : places.back()]);
            if (!current)
                continue;
            const auto behind = std::ranges::partition_point(places, [&](std::uint32_t place) {
                return forward ? order(spans[place]) <= order(*current)
                               : order(spans[place]) < order(*current);
            });
            if (forward && behind != places.end())
                take(next, spans[*behind]);
            if (!forward && behind != places.begin())
                take(next, spans[*std::prev(behind)]);
        }
    return next ? next : around;
}

} // namespace strata::views
