// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/trace/filter/filter_conditions.h"

#include <string>
#include <string_view>

namespace strata::model {

/// Conditions as the JSON object that sessions keep (model/wire/FORMAT.md, "Notes, named ranges, filters").
[[nodiscard]] std::string conditionsJson(const FilterConditions& conditions);

/// Back again. An error only for a text that is no such object, or has conditions that this Strata does not
/// know: to leave one out would show too much.
[[nodiscard]] Result<FilterConditions> conditionsFromJson(std::string_view json);

/// conditionsJson() of a filter of this recording.
[[nodiscard]] std::string filterText(const Recording& recording, const BlockFilter& filter);

/// conditionsFromJson() for this recording; see filterOf().
[[nodiscard]] Result<BlockFilter> filterFromText(const Recording& recording, std::string_view text);

} // namespace strata::model
