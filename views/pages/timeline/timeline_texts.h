// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/empty_notice.h"
#include "views/widgets/timeline/lanes_data.h"

#include <QString>

#include <optional>

namespace strata::views {

class Document;
class RunRanks;

/// What the page Timeline says, as `strata timeline` does.
[[nodiscard]] QString timelineVerdict(const WorkFigures& figures); ///< rich text
[[nodiscard]] QString timelineSteps(const WorkFigures& figures); ///< empty: there are none
[[nodiscard]] QString timelineRange(const WorkFigures& figures); ///< of what the tables are; empty: of all
[[nodiscard]] QString timelineRoofline(const WorkFigures& figures); ///< rich text
/// Why there is no roofline, and what would record it; nullopt: there is one.
[[nodiscard]] std::optional<EmptyNotice::Text> noRoofline(const WorkFigures& figures);
[[nodiscard]] QString ranksVerdict(const RunRanks& ranks); ///< rich text
[[nodiscard]] QString timelineAdded(const AddedMemory& added); ///< rich text: how it lies to the trace
[[nodiscard]] QString timelinePeaks(const WorkFigures& figures); ///< of what was added; empty: there are none
/// Where there is no picture: why.
[[nodiscard]] EmptyNotice::Text timelineNotice(const Document& document);

namespace text {

[[nodiscard]] QString noWorkReason(); ///< and what would record it

} // namespace text

} // namespace strata::views
