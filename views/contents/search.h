// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "model/base/result.h"
#include "model/trace/filter_conditions.h"

namespace strata::views {

/// What the search box makes of a text in the language of filters (model/trace/filter_language.h): `filter`
/// narrowed to it. The conditions that the text says nothing of are kept; a blank text keeps all.
[[nodiscard]] model::Result<model::BlockFilter> searchFilter(
    const model::BlockFilter& filter, const model::Recording& recording, const QString& text);

} // namespace strata::views
