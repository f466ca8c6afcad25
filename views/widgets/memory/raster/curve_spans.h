// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/device_timeline.h"
#include "model/timeline/rounded_curves.h"
#include "views/widgets/axis/x_mapping.h"

#include <vector>

namespace strata::views {

/// The curves in one window, one range per pixel column.
struct CurveColumns {
    XMapping x;
    std::vector<model::CurveRange> requested, reserved;
    std::vector<model::CurveRange> allocated; ///< empty where it is not known
    std::vector<std::int64_t> pending; ///< at the event that a column shows; empty if it is nowhere
};

/// Cost per pixel column, not per event: what every frame can afford.
/// `rounded`: where it is known.
[[nodiscard]] CurveColumns curveColumnsOf(
    const model::DeviceTimeline& timeline, const model::RoundedCurves* rounded, const XMapping& x);

/// A rectangle of device pixels: columns [x0, x1), rows [top, bottom).
struct PixelSpan {
    int x0 = 0, x1 = 0;
    int top = 0, bottom = 0;
    friend bool operator==(const PixelSpan&, const PixelSpan&) = default;
};

/// A curve as one vertical span per column from its lowest to its highest value, stretched to meet the column
/// before, so that the curve has no gaps; equal neighbours come as one rectangle. At least `thickness` high.
[[nodiscard]] std::vector<PixelSpan> curveSpans(
    const std::vector<model::CurveRange>& ranges, const YMapping& y, int thickness);

/// The highest value of each column alone, `thickness` high: what lies below it is not covered.
[[nodiscard]] std::vector<PixelSpan> capSpans(
    const std::vector<model::CurveRange>& ranges, const YMapping& y, int thickness);

/// From the highest value of a column down to the ground.
[[nodiscard]] std::vector<PixelSpan> areaSpans(
    const std::vector<model::CurveRange>& ranges, const YMapping& y);

/// The top part of the requested curve that is pending free.
[[nodiscard]] std::vector<PixelSpan> pendingSpans(const CurveColumns& curves, const YMapping& y);

/// The event that a column shows: the one with the highest requested bytes in it.
[[nodiscard]] model::EventIndex eventOfColumn(const CurveColumns& curves, int column);

} // namespace strata::views
