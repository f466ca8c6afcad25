// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/raster/curve_spans.h"

#include "model/timeline/pictures.h"

#include <algorithm>
#include <cmath>

namespace strata::views {

namespace {

int rowOf(const YMapping& y, std::int64_t bytes)
{
    // Far outside stays outside, without leaving the range of int.
    const double row = std::clamp(y.rowOf(static_cast<double>(bytes)), -10.0, y.rows() + 10.0);
    return static_cast<int>(std::lround(row));
}

/// Appends a column, or widens the last span if it is the same.
void append(std::vector<PixelSpan>& spans, int column, int top, int bottom)
{
    if (!spans.empty() && spans.back().x1 == column && spans.back().top == top
        && spans.back().bottom == bottom)
        ++spans.back().x1;
    else
        spans.push_back({ column, column + 1, top, bottom });
}

/// Appends what of it lies within the rows.
void appendVisible(std::vector<PixelSpan>& spans, int column, int top, int bottom, int rows)
{
    top = std::max(top, 0);
    bottom = std::min(bottom, rows);
    if (top < bottom)
        append(spans, column, top, bottom);
}

/// What is pending at the event that each column shows. A column of many events has nearly always one between
/// a free's request and its completion; that moment is not what the column is about.
std::vector<std::int64_t> pendingColumns(
    const model::DeviceTimeline& timeline, const std::vector<model::CurveRange>& requested)
{
    const model::Curve& curve = timeline.pendingFree();
    if (curve.range(-1, timeline.clock().eventCount()).max <= 0)
        return {};
    std::vector<model::EventIndex> events;
    events.reserve(requested.size());
    for (const model::CurveRange& column : requested)
        events.push_back(column.maxEvent);
    std::vector<std::int64_t> pending = curve.atEach(events);
    bool any = false;
    for (std::int64_t& bytes : pending) {
        bytes = std::max<std::int64_t>(bytes, 0);
        any = any || bytes > 0;
    }
    return any ? pending : std::vector<std::int64_t>();
}

} // namespace

CurveColumns curveColumnsOf(
    const model::DeviceTimeline& timeline, const model::RoundedCurves* rounded, const XMapping& x)
{
    const std::vector<model::EventIndex> edges = model::columnEdges(x.window(), timeline.clock());
    CurveColumns curves;
    curves.x = x;
    curves.requested = timeline.requested().columns(edges);
    if (timeline.trace().totals().reservedKnown)
        curves.reserved = timeline.reserved().columns(edges);
    if (rounded != nullptr)
        curves.allocated = rounded->allocated.columns(edges);
    curves.pending = pendingColumns(timeline, curves.requested);
    return curves;
}

std::vector<PixelSpan> curveSpans(
    const std::vector<model::CurveRange>& ranges, const YMapping& y, int thickness)
{
    std::vector<PixelSpan> spans;
    int previousTop = 0, previousBottom = 0;
    for (std::size_t c = 0; c < ranges.size(); ++c) {
        // The line's lower edge lies on the value, so that zero stands on the ground.
        const int bottom = rowOf(y, ranges[c].min);
        const int top = std::min(rowOf(y, ranges[c].max), bottom - thickness);
        int from = top, to = bottom;
        if (c > 0) {
            from = std::min(from, previousBottom - thickness);
            to = std::max(to, previousTop + thickness);
        }
        appendVisible(spans, static_cast<int>(c), from, to, y.rows());
        previousTop = top;
        previousBottom = bottom;
    }
    return spans;
}

std::vector<PixelSpan> capSpans(
    const std::vector<model::CurveRange>& ranges, const YMapping& y, int thickness)
{
    std::vector<PixelSpan> spans;
    for (std::size_t c = 0; c < ranges.size(); ++c) {
        const int bottom = rowOf(y, ranges[c].max);
        appendVisible(spans, static_cast<int>(c), bottom - thickness, bottom, y.rows());
    }
    return spans;
}

std::vector<PixelSpan> areaSpans(const std::vector<model::CurveRange>& ranges, const YMapping& y)
{
    std::vector<PixelSpan> spans;
    const int ground = rowOf(y, 0);
    for (std::size_t c = 0; c < ranges.size(); ++c)
        appendVisible(spans, static_cast<int>(c), rowOf(y, ranges[c].max), ground, y.rows());
    return spans;
}

std::vector<PixelSpan> pendingSpans(const CurveColumns& curves, const YMapping& y)
{
    std::vector<PixelSpan> spans;
    for (std::size_t c = 0; c < curves.pending.size() && c < curves.requested.size(); ++c) {
        const std::int64_t pending = curves.pending[c];
        if (pending > 0)
            appendVisible(spans, static_cast<int>(c), rowOf(y, curves.requested[c].max),
                rowOf(y, curves.requested[c].max - pending), y.rows());
    }
    return spans;
}

model::EventIndex eventOfColumn(const CurveColumns& curves, int column)
{
    if (curves.requested.empty())
        return -1;
    const int last = static_cast<int>(curves.requested.size()) - 1;
    return curves.requested[static_cast<std::size_t>(std::clamp(column, 0, last))].maxEvent;
}

} // namespace strata::views
