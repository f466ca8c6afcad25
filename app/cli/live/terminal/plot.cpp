// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/live/terminal/plot.h"

#include "model/base/units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace strata::cli {

namespace {

constexpr int kEighths = 8;
/// Steps of an axis within one unit, whose halves and quarters read well too.
constexpr std::array kNice{ 1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256,
    320, 384, 512, 640, 768 };

struct Glyphs {
    std::array<char32_t, kEighths> requested; ///< by eighths of the cell, from 1
    char32_t range, allocated, reserved, reservedThin, reservedRange;
};
constexpr Glyphs kUtf8{ { U'▁', U'▂', U'▃', U'▄', U'▅', U'▆', U'▇', U'█' }, U'▓', U'▒', U'░', U'┈', U':' };
constexpr Glyphs kAscii{ { U'_', U'_', U'_', U'#', U'#', U'#', U'#', U'#' }, U'+', U'=', U'-', U'.', U':' };

/// A column in eighths of a row above the ground.
struct Heights {
    int requestedMin = 0, requestedMax = 0, allocated = 0, reservedMin = 0, reservedMax = 0;
};

Cell cellOf(const Heights& heights, int ground, const Glyphs& glyphs)
{
    const auto above = [ground](int height) { return std::clamp(height - ground, 0, kEighths); };
    if (const int filled = above(heights.requestedMax); filled > 0) {
        const bool isRange = above(heights.requestedMin) * 2 < filled;
        const auto glyph = glyphs.requested[static_cast<std::size_t>(filled) - 1];
        return { isRange && filled == kEighths ? glyphs.range : glyph,
            isRange ? Ink::RequestedRange : Ink::Requested };
    }
    if (above(heights.allocated) > 0)
        return { glyphs.allocated, Ink::Allocated };
    if (above(heights.reservedMin) * 2 >= kEighths)
        return { glyphs.reserved, Ink::Reserved };
    if (const int filled = above(heights.reservedMax); filled > 0) {
        const bool isRange = heights.reservedMax - heights.reservedMin >= kEighths;
        if (isRange)
            return { glyphs.reservedRange, Ink::Reserved };
        return { filled * 2 >= kEighths ? glyphs.reserved : glyphs.reservedThin, Ink::Reserved };
    }
    return {};
}

} // namespace

std::int64_t plotTop(std::int64_t bytes)
{
    std::int64_t unit = 1;
    while (unit < (std::int64_t{ 1 } << 50) && bytes > kNice.back() * unit)
        unit <<= 10;
    for (const int step : kNice)
        if (bytes <= step * unit)
            return step * unit;
    return std::max(bytes, unit);
}

std::int64_t niceNs(std::int64_t ns)
{
    for (std::int64_t unit = 1'000'000;; unit *= 10)
        for (const std::int64_t step : { 1, 2, 5 })
            if (step * unit >= ns || unit > INT64_MAX / 100)
                return step * unit;
}

std::string axisLabel(std::int64_t bytes)
{
    constexpr std::array kUnits{ "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
    std::size_t unit = 0;
    auto value = static_cast<double>(bytes);
    for (; std::abs(value) >= 1024 && unit + 1 < kUnits.size(); ++unit)
        value /= 1024;
    return value == std::floor(value) && value < 1000 ? fmt::format("{:.0f} {}", value, kUnits[unit])
                                                      : model::formatBytes(bytes);
}

void drawPlot(Grid& grid, const PlotPlace& place, const std::vector<PlotColumn>& columns, std::int64_t top,
    Charset charset)
{
    const Glyphs& glyphs = charset == Charset::Utf8 ? kUtf8 : kAscii;
    const double eighths
        = static_cast<double>(place.rows * kEighths) / static_cast<double>(std::max<std::int64_t>(top, 1));
    const auto up = [&](std::int64_t bytes) {
        return static_cast<int>(std::ceil(std::clamp(static_cast<double>(bytes) * eighths, 0.0, 1e6)));
    };
    const auto down = [&](std::int64_t bytes) {
        return static_cast<int>(std::floor(std::clamp(static_cast<double>(bytes) * eighths, 0.0, 1e6)));
    };
    const int count = std::min<int>(place.columns, static_cast<int>(columns.size()));
    for (int i = 0; i < count; ++i) {
        const PlotColumn& column = columns[static_cast<std::size_t>(i)];
        Heights heights;
        if (column.requested) {
            heights.requestedMax = up(column.requested->max);
            // What does not change is no range, whichever way its ends are rounded.
            heights.requestedMin = column.requested->min == column.requested->max
                ? heights.requestedMax
                : down(column.requested->min);
        }
        if (column.allocated)
            heights.allocated = down(column.allocated->max);
        if (column.reserved) {
            heights.reservedMax = up(column.reserved->max);
            heights.reservedMin = column.reserved->min == column.reserved->max ? heights.reservedMax
                                                                               : down(column.reserved->min);
        }
        for (int row = 0; row < place.rows; ++row) {
            const Cell cell = cellOf(heights, (place.rows - 1 - row) * kEighths, glyphs);
            if (cell.character != U' ')
                grid.put(place.row + row, place.column + i, cell.character, cell.ink);
        }
    }
}

} // namespace strata::cli
