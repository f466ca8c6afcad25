// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/note_places.h"

#include "views/widgets/memory/canvas_scene.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

namespace strata::views {

namespace {

constexpr int kMostLabels = 200; // of a frame: there is room for fewer
constexpr int kRows = 3;
constexpr double kMostText = 180;
constexpr double kLeastText = 44;
constexpr double kNoteGap = 6;
constexpr double kFlagHeight = 12;
constexpr double kFlagWidth = 12;
constexpr double kReach = 3; // that the mouse may be off a mark

/// The free stretch of a row around `centre`; empty where a label stands already.
std::pair<double, double> freeAround(
    const std::vector<std::pair<double, double>>& taken, double centre, double left, double right, double gap)
{
    for (const auto& [begin, end] : taken) {
        if (end + gap <= centre)
            left = std::max(left, end + gap);
        else if (begin - gap >= centre)
            right = std::min(right, begin - gap);
        else
            return { centre, centre };
    }
    return { left, right };
}

} // namespace

std::vector<RowPlace> placeInRows(
    const std::vector<WantedRow>& labels, double left, double right, int rows, double gap, double least)
{
    std::vector<RowPlace> places(labels.size());
    std::vector<std::vector<std::pair<double, double>>> taken(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const WantedRow& label = labels[i];
        RowPlace best;
        for (int row = 0; row < rows; ++row) {
            const auto [begin, end]
                = freeAround(taken[static_cast<std::size_t>(row)], label.centre, left, right, gap);
            // Over its mark alone: beside it, it would seem to be another's.
            const double width = std::min(label.width, end - begin);
            if (width < std::min(least, label.width) || width <= best.width + 1)
                continue;
            const double at = std::clamp(label.centre - width / 2, begin, end - width);
            best = { row, at, width };
        }
        places[i] = best;
        if (best.row >= 0)
            taken[static_cast<std::size_t>(best.row)].emplace_back(best.left, best.left + best.width);
    }
    return places;
}

std::vector<NotePlace> placeNotes(const CanvasScene& scene)
{
    std::vector<NotePlace> places;
    if (scene.notes.empty() || !scene.hasEvents())
        return places;
    const QRect& area = scene.layout.picture;
    const double left = area.left(), right = area.left() + area.width(), foot = area.top() + area.height();
    for (std::size_t i = 0; i < scene.notes.size(); ++i) {
        const model::UserItem& note = scene.notes[i];
        if (note.last >= scene.device->trace->eventCount() || note.first > note.last)
            continue;
        NotePlace place;
        place.note = static_cast<int>(i);
        place.range = note.first != note.last;
        const double from = scene.pointOfEvent(note.first);
        const double to
            = place.range ? scene.pointOf(XMapping::endOf(scene.x.axis(), scene.clock(), note.last)) : from;
        if (to < left || from > right)
            continue;
        if (place.range) {
            place.from = std::max(from, left);
            place.to = std::max(std::min(to, right), place.from + 2);
            place.mark = QRectF(place.from, foot - 5, place.to - place.from, 5);
        } else {
            place.from = place.to = std::min(std::floor(from), right - 2);
            place.turned = place.from + kFlagWidth > right;
            place.mark = QRectF(place.turned ? place.from - kFlagWidth + 2 : place.from, foot - kFlagHeight,
                kFlagWidth, kFlagHeight);
        }
        places.push_back(place);
    }
    const QFontMetricsF metrics(scene.axisFont());
    std::vector<WantedRow> wanted;
    std::vector<QString> lines;
    for (std::size_t i = 0; i < std::min<std::size_t>(places.size(), kMostLabels); ++i) {
        const model::UserItem& note = scene.notes[static_cast<std::size_t>(places[i].note)];
        lines.push_back(QString::fromStdString(note.text).section(QLatin1Char('\n'), 0, 0));
        const double width = std::min(metrics.horizontalAdvance(lines.back()), kMostText) + 8;
        wanted.push_back({ places[i].mark.center().x(), std::ceil(width) });
    }
    // Rows as the height has room for: they may take a third of it.
    const double rowHeight = metrics.height() + 2;
    const int rows = std::clamp(static_cast<int>(area.height() / 3.0 / rowHeight), 1, kRows);
    const std::vector<RowPlace> rowPlaces = placeInRows(wanted, left, right, rows, kNoteGap, kLeastText);
    for (std::size_t i = 0; i < rowPlaces.size(); ++i) {
        const RowPlace& row = rowPlaces[i];
        if (row.row < 0 || lines[i].isEmpty())
            continue;
        places[i].text = metrics.elidedText(lines[i], Qt::ElideRight, row.width - 8 + 0.5);
        places[i].label = QRectF(row.left, foot - kFlagHeight - 3 - metrics.height() - row.row * rowHeight,
            row.width, metrics.height());
    }
    return places;
}

std::vector<int> notesAt(const std::vector<NotePlace>& places, QPointF point)
{
    std::vector<std::pair<double, int>> found;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const NotePlace& place = places[i];
        const bool onMark = place.mark.adjusted(-kReach, -kReach, kReach, kReach).contains(point);
        const bool onLabel = !place.text.isEmpty() && place.label.contains(point);
        if (onLabel) // labels do not overlap: it is meant
            found.emplace_back(-2, static_cast<int>(i));
        else if (onMark) // a flag stands before the bars of ranges
            found.emplace_back(
                place.range ? 1e6 : std::abs(place.mark.center().x() - point.x()), static_cast<int>(i));
    }
    std::ranges::stable_sort(found, {}, &std::pair<double, int>::first);
    std::vector<int> rows;
    for (const auto& [distance, row] : found)
        rows.push_back(row);
    return rows;
}

} // namespace strata::views
