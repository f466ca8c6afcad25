// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/timeline/work_tables_source.h"

namespace strata::views {

/// The steps of a report in their order, with the names of "steps" of `strata timeline --json`. Enter on one
/// shows and measures it.
[[nodiscard]] std::shared_ptr<const WorkTable> makeWorkStepsTable(std::shared_ptr<const WorkFigures> figures);

} // namespace strata::views
