// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/hit.h"

#include "views/style/texts.h"

#include <algorithm>
#include <cmath>

namespace strata::views {

namespace {

/// The column of `stacked` that shows what `value` on the scene's axis does; -1 if it lies outside.
int columnIn(const StackedData& stacked, const CanvasScene& scene, double value)
{
    if (stacked.x.axis() != scene.x.axis())
        value = model::axisPosition(
            stacked.x.axis(), scene.clock(), model::eventAtPosition(scene.x.axis(), scene.clock(), value));
    const double column = std::floor(stacked.x.columnOf(value));
    return column >= 0 && column < stacked.x.columns() ? static_cast<int>(column) : -1;
}

Hit stackHit(const CanvasScene& scene, const StackedData& stacked, int column, double row)
{
    Hit hit;
    hit.event = eventOfColumn(scene.curves, column);
    hit.kind = Hit::Kind::Above;
    const int from = columnIn(stacked, scene, scene.x.valueAt(column + 0.5));
    if (from < 0)
        return hit;
    const double bytes = scene.y.bytesAt(row);
    const auto columns = static_cast<std::size_t>(stacked.picture.columns);
    double sum = 0;
    for (std::size_t layer = 0; layer < stacked.picture.layers.size(); ++layer) {
        sum += static_cast<double>(stacked.picture.bytes[layer * columns + static_cast<std::size_t>(from)]);
        if (bytes < sum)
            return layerHit(stacked.picture, from, layer, hit.event);
    }
    return hit;
}

Hit blockHit(const CanvasScene& scene, const PictureSubject& subject, int column, double row)
{
    Hit hit;
    hit.kind = Hit::Kind::Above;
    hit.event = model::eventAtPosition(scene.x.axis(), scene.clock(), scene.x.valueAt(column + 0.5));
    if (!subject.groups || !subject.groups->blocks)
        return hit;
    const double whole = std::floor(row);
    hit.block = subject.groups->blocks->pick(hit.event, scene.y.bytesAt(whole + 1), scene.y.bytesAt(whole));
    if (hit.block.valid()) {
        hit.kind = Hit::Kind::Block;
        hit.group = subject.groups->table->groupOf(hit.block);
        hit.bytes = scene.device->trace->blocks().requestedBytes[hit.block];
    }
    return hit;
}

} // namespace

QString instantText(const CanvasScene& scene, const Hit& hit)
{
    return hit.pointerNs ? text::pointed(scene.clock(), hit.event, *hit.pointerNs)
                         : text::instant(scene.clock(), hit.event);
}

bool Hit::sameThing(const Hit& other) const
{
    return kind == other.kind && group == other.group && block == other.block
        && annotation == other.annotation && note == other.note;
}

Hit layerHit(const model::StackedPicture& picture, int column, std::size_t layer, model::EventIndex event)
{
    using Layer = model::StackedPicture::Layer;
    Hit hit;
    hit.event = event;
    hit.bytes
        = picture.bytes[layer * static_cast<std::size_t>(picture.columns) + static_cast<std::size_t>(column)];
    switch (picture.layers[layer].kind) {
    case Layer::Kind::BeforeTrace:
        hit.kind = Hit::Kind::BeforeTrace;
        break;
    case Layer::Kind::Group:
        hit.kind = Hit::Kind::Group;
        hit.group = picture.layers[layer].group;
        break;
    case Layer::Kind::Other:
        hit.kind = Hit::Kind::Other;
        break;
    case Layer::Kind::FilteredOut:
        hit.kind = Hit::Kind::FilteredOut;
        break;
    }
    return hit;
}

namespace {

Hit thingAt(const CanvasScene& scene, const PictureSubject& subject,
    const std::shared_ptr<const StackedData>& stacked, QPointF point)
{
    const CanvasLayout& layout = scene.layout;
    if (const model::AnnotationSpan* span = annotationAt(scene, point)) {
        Hit hit;
        hit.kind = Hit::Kind::Annotation;
        hit.annotation = static_cast<int>(span - scene.annotations().data());
        hit.event = model::eventAtPosition(
            scene.x.axis(), scene.clock(), scene.x.valueAt((point.x() - layout.left()) * scene.ratio));
        return hit;
    }
    if (const std::vector<int> places = notesAt(scene.notePlaces, point); !places.empty()) {
        Hit hit = noteHit(scene, scene.notePlaces[static_cast<std::size_t>(places.front())].note);
        hit.notesHere = static_cast<int>(places.size());
        return hit;
    }
    const int column = static_cast<int>(std::floor((point.x() - layout.left()) * scene.ratio));
    if (column < 0 || column >= scene.x.columns())
        return {};
    if (QRectF(layout.picture).contains(point)) {
        const double row = (point.y() - layout.picture.top()) * scene.ratio;
        if (scene.mode == PictureMode::Blocks)
            return blockHit(scene, subject, column, row);
        if (stacked)
            return stackHit(scene, *stacked, column, row);
    }
    Hit hit;
    hit.event = eventOfColumn(scene.curves, column);
    if (QRectF(layout.curves).contains(point))
        hit.kind = Hit::Kind::Curves;
    else if (QRectF(layout.annotations).contains(point) || QRectF(layout.axis).contains(point))
        hit.kind = Hit::Kind::Above;
    return hit;
}

} // namespace

Hit hitAt(const CanvasScene& scene, const PictureSubject& subject,
    const std::shared_ptr<const StackedData>& stacked, QPointF point)
{
    Hit hit = thingAt(scene, subject, stacked, point);
    if (hit.onTimeAxis() && scene.x.axis() == model::Axis::Time && scene.hasEvents())
        hit.pointerNs = std::llround(scene.x.valueAt((point.x() - scene.layout.left()) * scene.ratio));
    return hit;
}

Hit noteHit(const CanvasScene& scene, int note)
{
    Hit hit;
    hit.kind = Hit::Kind::Note;
    hit.note = note;
    hit.notesHere = 1;
    hit.event = scene.notes[static_cast<std::size_t>(note)].first;
    return hit;
}

std::vector<Hit> thingsAt(const CanvasScene& scene, const PictureSubject& subject,
    const std::shared_ptr<const StackedData>& stacked, const std::optional<EventRange>& selection)
{
    const double middle = (scene.x.view().begin + scene.x.view().end) / 2;
    model::EventIndex event = model::eventAtPosition(scene.x.axis(), scene.clock(), middle);
    if (selection)
        event = (selection->first + selection->last) / 2;
    std::vector<Hit> things;
    if (scene.mode == PictureMode::Blocks) {
        for (const model::BlockId block : scene.timeline().live().liveAt(event)) {
            Hit hit;
            hit.kind = Hit::Kind::Block;
            hit.event = event;
            hit.block = block;
            hit.group = subject.groups ? subject.groups->table->groupOf(block) : 0;
            hit.bytes = scene.device->trace->blocks().requestedBytes[block];
            things.push_back(hit);
        }
        return things;
    }
    if (!stacked)
        return things;
    const int column = columnIn(*stacked, scene, model::axisPosition(scene.x.axis(), scene.clock(), event));
    for (std::size_t layer = 0; layer < stacked->picture.layers.size() && column >= 0; ++layer) {
        const Hit hit = layerHit(stacked->picture, column, layer, event);
        if (hit.bytes > 0)
            things.push_back(hit);
    }
    return things;
}

EventRange rangeBetween(const CanvasScene& scene, double fromX, double toX)
{
    const auto [left, right] = std::minmax(fromX, toX);
    const auto value = [&](double point) {
        return std::clamp(scene.x.valueAt((point - scene.layout.left()) * scene.ratio), scene.x.view().begin,
            scene.x.view().end);
    };
    const model::EventIndex first = model::eventAtPosition(scene.x.axis(), scene.clock(), value(left));
    const model::EventIndex last = model::eventAtPosition(scene.x.axis(), scene.clock(), value(right));
    return { first, std::max(first, last) };
}

std::optional<Extent> extentOf(
    const CanvasScene& scene, const std::shared_ptr<const StackedData>& stacked, const Hit& hit)
{
    const model::Axis axis = scene.x.axis();
    const model::Clock& clock = scene.clock();
    if (hit.kind == Hit::Kind::Annotation) {
        const model::AnnotationSpan& span = scene.annotations()[static_cast<std::size_t>(hit.annotation)];
        if (axis == model::Axis::Time)
            return Extent{ { double(span.beginNs), double(span.endNs) }, {} };
        return Extent{ { double(span.first + 1), double(span.last + 1) }, {} };
    }
    if (hit.kind == Hit::Kind::Note) {
        const model::UserItem& note = scene.notes[static_cast<std::size_t>(hit.note)];
        if (note.first == note.last)
            return {};
        return Extent{
            { model::axisPosition(axis, clock, note.first), XMapping::endOf(axis, clock, note.last) }, {}
        };
    }
    if (hit.kind == Hit::Kind::Block) {
        const model::BlockColumns& blocks = scene.device->trace->blocks();
        const model::EventIndex death = std::min(blocks.death(hit.block), clock.eventCount());
        Extent extent;
        extent.x = { model::axisPosition(axis, clock, blocks.birth(hit.block)),
            XMapping::endOf(axis, clock, death - 1) };
        const std::int64_t y
            = scene.device->strips ? scene.device->strips->yOf(blocks.address[hit.block]) : -1;
        if (y >= 0)
            extent.y = Span{ double(y), double(y + blocks.requestedBytes[hit.block]) };
        return extent;
    }
    const bool layered
        = hit.kind == Hit::Kind::Group || hit.kind == Hit::Kind::BeforeTrace || hit.kind == Hit::Kind::Other;
    if (!layered || !stacked)
        return {};
    // The stretch of columns around the instant in which the layer has bytes.
    const model::StackedPicture& picture = stacked->picture;
    const auto columns = static_cast<std::size_t>(picture.columns);
    const int at = columnIn(*stacked, scene, model::axisPosition(axis, clock, hit.event));
    for (std::size_t layer = 0; layer < picture.layers.size() && at >= 0; ++layer) {
        if (!layerHit(picture, at, layer, hit.event).sameThing(hit))
            continue;
        const auto* bytes = &picture.bytes[layer * columns];
        int first = at, last = at;
        while (first > 0 && bytes[first - 1] > 0)
            --first;
        while (last + 1 < picture.columns && bytes[last + 1] > 0)
            ++last;
        if (stacked->x.axis() == axis)
            return Extent{ { stacked->x.valueAt(first), stacked->x.valueAt(last + 1) }, {} };
    }
    return {};
}

std::optional<std::uint32_t> groupIn(
    const PictureSubject& now, const PictureSubject& before, std::uint32_t group)
{
    return before.groups ? now.groups->table->sameGroup(*before.groups->table, group) : std::nullopt;
}

std::optional<Hit> hitIn(
    const PictureSubject& now, const PictureSubject& before, const DeviceData& was, Hit hit)
{
    const DeviceData& device = *now.groups->device;
    bool found = true;
    if (hit.kind == Hit::Kind::Block) {
        hit.block = device.trace->sameBlock(*was.trace, hit.block);
        found = hit.block.valid();
        hit.group = found ? now.groups->table->groupOf(hit.block) : 0;
    } else if (hit.kind == Hit::Kind::Group) {
        const auto group = groupIn(now, before, hit.group);
        found = group.has_value();
        hit.group = group.value_or(0);
    } else if (hit.kind == Hit::Kind::Annotation) {
        const model::AnnotationSpan& span = (*was.annotations)[static_cast<std::size_t>(hit.annotation)];
        const auto same = std::ranges::find_if(*device.annotations, [&](const model::AnnotationSpan& other) {
            return other.name == span.name && other.beginNs == span.beginNs;
        });
        found = same != device.annotations->end();
        hit.annotation = static_cast<int>(same - device.annotations->begin());
    }
    return found ? std::optional(hit) : std::nullopt;
}

} // namespace strata::views
