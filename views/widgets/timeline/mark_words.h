// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/document/work_details.h"
#include "views/widgets/timeline/mark_track.h"

#include <QString>
#include <QStringList>

namespace strata::views::text {

/// "Segment allocated", "Out of memory".
[[nodiscard]] QString markTitle(const model::AllocatorMark& mark);
/// One in three lines at most: what and how large, where, when; `ns` since the start of the axis.
[[nodiscard]] QStringList markLines(const model::AllocatorMark& mark, std::int64_t ns);
/// Several that lie together: how many, and what they come to.
[[nodiscard]] QStringList markLines(const MarkTrack& marks, const MarkGroup& group);
[[nodiscard]] WorkDetails markDetails(
    const model::AllocatorMark& mark, std::int64_t ns); ///< all that is known

} // namespace strata::views::text
