// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/document/work_details.h"
#include "views/style/palette.h"
#include "views/widgets/legend.h"
#include "views/widgets/timeline/lanes_data.h"

#include <QColor>
#include <QString>
#include <QStringList>

namespace strata::views {

/// What a picture of work tells apart by colour.
enum class WorkLook { Computation, Communication, Copy, Wait, Operator, Runtime, Annotation, Python, Other };
inline constexpr int kWorkLooks = 9;

[[nodiscard]] WorkLook lookOf(const model::WorkSpan& span, std::string_view name);
[[nodiscard]] QColor colourOf(const Palette& palette, WorkLook look);
/// Of those that occur in the work, and of marks.
[[nodiscard]] std::vector<Legend::Entry> workLegend(const Palette& palette, const LanesData& lanes);

namespace text {

/// "GPU 0, stream 7", "python 4242, thread 4242 (main)".
[[nodiscard]] QString lane(const model::WorkLane& lane, const model::StringTable& strings);
[[nodiscard]] QString workKind(model::WorkKind kind);
/// A piece in three lines at most: its name, what and how long it is, where.
[[nodiscard]] QStringList workLines(const LanesData& lanes, std::uint32_t span);
[[nodiscard]] WorkDetails workDetails(const LanesData& lanes, std::uint32_t span); ///< all that is known

} // namespace text

} // namespace strata::views
