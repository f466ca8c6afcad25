// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/recording.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace strata::model {

/// The figures of tools/oracle.py that need no replay, one object per device.
[[nodiscard]] nlohmann::json figuresOf(const Recording& recording);

/// Everything a recording says, one line each, by content: two files that say the same give the same lines,
/// whatever order their texts, stacks and streams were interned in.
[[nodiscard]] std::vector<std::string> linesOf(const Recording& recording);

} // namespace strata::model
