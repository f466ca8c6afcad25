// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/allocator/fragmentation_chart.h"
#include "views/widgets/allocator/map_picture.h"

#include <QString>

namespace strata::views {

class Document;

/// What the pages Allocator state and Fragmentation and the summary say of a replay, as rich text. Links are
/// those of views/style/rich_text.h.

/// What is reserved at the instant, how much of it is free in which pieces, and why a request failed there.
[[nodiscard]] QString allocatorVerdict(const MapPicture& picture);
/// "12 segments, 3,100 blocks; exact".
[[nodiscard]] QString allocatorFooter(const MapPicture& picture);
/// Why memory is free at the instant and not used, and what would reserve less.
[[nodiscard]] QString fragmentationVerdict(const MapPicture& picture);
/// Memory that is given back and taken again; empty where none is.
[[nodiscard]] QString thrashText(const ReplayData& replay);
/// Whether the figures of a replay are exact, and why not.
[[nodiscard]] QString replayText(const Document& document, const DeviceData& device);

} // namespace strata::views
