// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/trace/filter.h"

#include <string>
#include <string_view>

namespace strata::model {

/// The conditions of a filter as a JSON object (model/wire/FORMAT.md, "Notes, named ranges, filters"): by
/// names, so that it means the same after its recording was read again, converted or cut.
[[nodiscard]] std::string filterText(const Recording& recording, const BlockFilter& filter);

/// Back again. Stacks, streams and pools that the recording does not have match nothing. An error only for a
/// text that is no such object, or has conditions that this Strata does not know: to leave one out would show
/// too much.
[[nodiscard]] Result<BlockFilter> filterFromText(const Recording& recording, std::string_view text);

} // namespace strata::model
