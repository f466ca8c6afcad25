// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "model/base/result.h"
#include "model/trace/filter.h"

namespace strata::views {

/// Reads what is typed into a filter box. Sizes are conditions (`> 1 MiB`, `>=512`, `< 2GiB`, `= 20 MiB`, a
/// range `1MiB..4MiB`), joined by "and"; the rest is text: part of a file or function name, or an address.
/// Error::Kind::Usage for a comparison without a size.
///
///     "attention > 1 MiB < 2GiB"   ->   text "attention", 1 MiB + 1 to 2 GiB - 1
[[nodiscard]] model::Result<model::BlockFilter> parseTableFilter(const QString& typed);

} // namespace strata::views
