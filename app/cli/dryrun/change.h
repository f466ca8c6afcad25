// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

#include <string>
#include <string_view>

namespace strata::cli {

/// Whether `--change` names a change that there is; what it names in the program (a class, an optimizer)
/// shows only when it runs.
[[nodiscard]] model::Result<void> checkChange(std::string_view change);

/// "checkpoint=MODULE_CLASS|path:GLOB|none, ...": all that `--change` takes.
[[nodiscard]] std::string knownChanges();

} // namespace strata::cli
