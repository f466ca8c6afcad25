// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/timeline/work_tables_source.h"

namespace strata::views {

/// The rows of model::Roofline, longest time first, with the names of "roofline" of `strata timeline --json`.
[[nodiscard]] std::shared_ptr<const WorkTable> makeRooflineTable(std::shared_ptr<const WorkFigures> figures);

} // namespace strata::views
