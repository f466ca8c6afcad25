// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/canvas_zoom.h"

#include "views/widgets/memory/curve_scale.h"

#include <algorithm>
#include <array>

namespace strata::views {

namespace {

std::array<double, kPictureModes> heightsOf(const DeviceData& device, QSize canvas)
{
    const QRect stacked = CanvasLayout::make(canvas, PictureMode::Stacked, 0).picture;
    std::array<double, kPictureModes> heights{};
    heights[pictureOf(PictureMode::Stacked)] = withHeadroom(highestOf(device), stacked.height(), 28);
    heights[pictureOf(PictureMode::Blocks)]
        = device.strips ? static_cast<double>(device.strips->height()) : 1;
    return heights;
}

} // namespace

double highestOf(const DeviceData& device)
{
    const auto& driver = device.summary->driver;
    return highestCurve(
        *device.summary, driver ? driver->processBytesPeak.value_or(driver->usedBytesPeak) : 0);
}

void setHeights(Viewport& viewport, const DeviceData& device, QSize canvas)
{
    const auto now = heightsOf(device, canvas);
    for (std::size_t picture = 0; picture < now.size(); ++picture)
        if (viewport.yLimits(picture).end != now[picture])
            viewport.setHeight(picture, now[picture]);
}

void growHeights(Viewport& viewport, const DeviceData& device, const DeviceData& before, QSize canvas)
{
    const auto now = heightsOf(device, canvas);
    viewport.growHeight(pictureOf(PictureMode::Stacked), now[pictureOf(PictureMode::Stacked)]);
    const model::StripLayout* const strips = device.strips.get();
    if (!strips || strips == before.strips.get())
        return;
    viewport.growHeight(pictureOf(PictureMode::Blocks), now[pictureOf(PictureMode::Blocks)],
        [&before, strips](double height) {
            if (!before.strips || before.strips->stripAtY(static_cast<std::int64_t>(height)) < 0)
                return height;
            const std::int64_t y = strips->yOf(before.strips->addressAt(static_cast<std::int64_t>(height)));
            return y < 0 ? height : static_cast<double>(y);
        });
}

void zoomToExtent(Viewport& viewport, const Extent& extent)
{
    const double margin = std::max(extent.x.width() * 0.08, XMapping::narrowest(viewport.axis()) / 2);
    const Span x{ extent.x.begin - margin, extent.x.end + margin };
    Span y = viewport.y();
    if (extent.y && extent.y->width() > 0) {
        // A block fills a tenth of the height at least, with its neighbours around it.
        const double height = extent.y->width() * 8;
        const double middle = (extent.y->begin + extent.y->end) / 2;
        if (height < y.width())
            y = { middle - height / 2, middle + height / 2 };
    }
    const Span before = viewport.x();
    viewport.show(x, y);
    if (viewport.x() == before && !extent.y)
        viewport.zoomX((x.begin + x.end) / 2, 0.5);
}

} // namespace strata::views
