// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/document/document.h"
#include "views/style/texts.h"

namespace strata::views::text {

/// Why a page that needs the events of a session shows nothing while there is no more of it than its outline:
/// a title and a sentence; both empty where that is not so.
struct Waiting {
    QString title;
    QString reason;
};
[[nodiscard]] Waiting waiting(const Document& document);
/// What is open tells what ran when (model::Work).
/// A profiler told of the memory of the device that is shown: of blocks, not of segments.
[[nodiscard]] bool lacksSegments(const Document& document);
[[nodiscard]] bool holdsWork(const Document& document);
/// What a recording without devices is instead: "This file holds no memory of a GPU".
[[nodiscard]] QString withoutDevices(const Document& document);
/// Why blocks cannot be put together by this on a device: they are still looked at, or nothing tells; empty
/// where they can.
[[nodiscard]] QString groupsAbsence(
    const Document& document, const DeviceData& device, model::Grouping grouping);
/// "event 41,207 at 12.384 s", "before the first event".
[[nodiscard]] QString instant(const DeviceData& device, model::EventIndex event);
/// What the status bar says of a selection: an instant with its values, a range with its peak.
[[nodiscard]] QString selection(const DeviceData& device, const EventRange& range);

} // namespace strata::views::text
