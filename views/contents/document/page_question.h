// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/pages/parts/page.h"

#include <QStringList>

#include <vector>

namespace strata::views {

/// Asks the page What-if among `pages` for changes, KIND=VALUE, and has it show one of the tables below its
/// picture: "alternatives", "peaks", "cards", "blocks", "plan" or "confirm"; empty: as they are. Kind::Usage
/// names what there is. GUI thread.
[[nodiscard]] model::Result<void> askWhatIf(
    const std::vector<Page*>& pages, const QStringList& changes, const QString& table);

} // namespace strata::views
