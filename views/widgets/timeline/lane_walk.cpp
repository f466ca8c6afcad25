// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/lane_walk.h"

#include <algorithm>

namespace strata::views {

namespace {

const model::WorkRow& piecesOf(const LanesGeometry& places, std::size_t number)
{
    const LaneLayout::Row& row = places.lanes().rows()[number];
    return places.data()->tracks().tracks()[row.track].rows[row.row];
}

} // namespace

std::optional<std::size_t> shownRowOf(const LanesGeometry& places, std::uint32_t piece)
{
    const auto place = places.data()->tracks().placeOf(piece);
    return place ? places.lanes().rowOf(place->first, place->second) : std::nullopt;
}

std::optional<std::uint32_t> pieceBeside(
    const LanesGeometry& places, std::optional<std::uint32_t> current, int key)
{
    const model::WorkTracks& tracks = places.data()->tracks();
    const auto shown = current ? shownRowOf(places, *current) : std::nullopt;
    if (!shown) {
        const model::WorkRow& row = piecesOf(places, 0);
        const std::size_t at = row.firstFrom(static_cast<std::int64_t>(places.view().begin));
        return at < row.size() ? std::optional(row.spans[at]) : std::nullopt;
    }
    if (key == Qt::Key_Left || key == Qt::Key_Right) {
        const model::WorkRow& row = piecesOf(places, *shown);
        const auto at = static_cast<std::size_t>(std::ranges::find(row.spans, *current) - row.spans.begin());
        if (key == Qt::Key_Left ? at > 0 : at + 1 < row.size())
            return row.spans[key == Qt::Key_Left ? at - 1 : at + 1];
        return std::nullopt;
    }
    const std::int64_t middle = (tracks.beginOf(*current) + tracks.endOf(*current)) / 2;
    for (std::size_t row = *shown; key == Qt::Key_Up ? row > 0 : row + 1 < places.lanes().rows().size();) {
        row += key == Qt::Key_Up ? std::size_t(-1) : 1;
        if (const auto next = tracks.pick(piecesOf(places, row), middle, tracks.lengthNs()))
            return next;
    }
    return std::nullopt;
}

std::optional<std::uint32_t> lowestPieceAt(const LanesGeometry& places, std::int64_t ns)
{
    const model::WorkTracks& tracks = places.data()->tracks();
    for (std::size_t row = places.lanes().rows().size(); row-- > 0;)
        if (const auto piece = tracks.pick(piecesOf(places, row), ns, tracks.lengthNs()))
            return piece;
    return std::nullopt;
}

} // namespace strata::views
