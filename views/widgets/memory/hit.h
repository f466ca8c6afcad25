// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/document/view_state.h"
#include "views/widgets/memory/canvas_scene.h"
#include "views/widgets/memory/raster/picture_store.h"

#include <QStringList>

#include <optional>

namespace strata::views {

/// What lies under a point of the canvas.
struct Hit {
    enum class Kind : std::uint8_t {
        Nothing, ///< outside of the pictures and strips
        Above, ///< over the stack, or in memory that no block holds
        Group,
        BeforeTrace,
        Other,
        FilteredOut,
        Block,
        Curves, ///< the panel above the blocks picture
        Annotation,
        Note, ///< the flag or label of a note, the bar or label of a named range
    };
    Kind kind = Kind::Nothing;
    model::EventIndex event = -1; ///< the instant that the pixel column shows
    std::optional<std::int64_t> pointerNs{}; ///< since the first event: where an axis of time was pointed at
    std::uint32_t group = 0; ///< of Group
    std::int64_t bytes = 0; ///< of the layer at the instant
    model::BlockId block; ///< of Block
    int annotation = -1; ///< index in CanvasScene::annotations
    int note = -1; ///< index in CanvasScene::notes
    int notesHere = 0; ///< how many marks lie there, this one included

    [[nodiscard]] bool onTimeAxis() const { return kind != Kind::Nothing; }
    [[nodiscard]] bool sameThing(const Hit& other) const;
};

/// What the pointer reads: the instant, on an axis of time behind the pointer's own time.
[[nodiscard]] QString instantText(const CanvasScene& scene, const Hit& hit);

/// A layer of the stack at an instant, as a hit.
[[nodiscard]] Hit layerHit(
    const model::StackedPicture& picture, int column, std::size_t layer, model::EventIndex event);

/// O(live blocks) in the blocks mode, O(layers) else.
[[nodiscard]] Hit hitAt(const CanvasScene& scene, const PictureSubject& subject,
    const std::shared_ptr<const StackedData>& stacked, QPointF point);

/// A note or named range as a hit: index in CanvasScene::notes.
[[nodiscard]] Hit noteHit(const CanvasScene& scene, int note);

/// The layers (ground first) or live blocks (by address) at the selected instant, the middle of the selected
/// range, or the middle of the view: what the keyboard walks through.
[[nodiscard]] std::vector<Hit> thingsAt(const CanvasScene& scene, const PictureSubject& subject,
    const std::shared_ptr<const StackedData>& stacked, const std::optional<EventRange>& selection);

/// The events whose state shows between two points of the canvas, in any order.
[[nodiscard]] EventRange rangeBetween(const CanvasScene& scene, double fromX, double toX);

/// The part of the axis that a thing takes, and of the height where it has one: what a double click zooms to.
struct Extent {
    Span x;
    std::optional<Span> y;
};
[[nodiscard]] std::optional<Extent> extentOf(
    const CanvasScene& scene, const std::shared_ptr<const StackedData>& stacked, const Hit& hit);

/// The same group, or thing, of a newer generation of what is shown; none: it has it no more. `now` has
/// groups; `was`: the device before.
[[nodiscard]] std::optional<std::uint32_t> groupIn(
    const PictureSubject& now, const PictureSubject& before, std::uint32_t group);
[[nodiscard]] std::optional<Hit> hitIn(
    const PictureSubject& now, const PictureSubject& before, const DeviceData& was, Hit hit);

/// What the hover label says.
struct HoverCard {
    QString title; ///< the figure, strong
    QString name; ///< whose it is
    QStringList lines;
};
[[nodiscard]] HoverCard cardFor(const CanvasScene& scene, const PictureSubject& subject, const Hit& hit);
/// The colour and pattern that the thing has in the picture.
[[nodiscard]] std::optional<FillStyle> swatchFor(const GroupStyles& styles, const Hit& hit);
/// The card in one line, for the status bar and for screen readers.
[[nodiscard]] QString cardText(const HoverCard& card);

} // namespace strata::views
