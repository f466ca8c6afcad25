// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "model/base/result.h"
#include "views/pages/parts/page.h"

namespace strata::views {

/// Writes what a page shows to a file; the error says what failed and what to do. GUI thread.

/// PNG, or SVG if the name ends so and the page has it.
[[nodiscard]] model::Result<void> savePicture(Page& page, const QString& path);
[[nodiscard]] model::Result<void> saveTable(const Page& page, const QString& path);

/// A name to propose: "snapshot memory.png" for the page "memory" of snapshot.pickle.gz.
[[nodiscard]] QString proposedName(const Page& page, const QString& suffix);

} // namespace strata::views
