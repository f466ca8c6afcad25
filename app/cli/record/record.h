// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/record/options.h"
#include "model/base/result.h"

namespace strata::cli {

/// Starts the command with the recorder preloaded, waits for it, says on stderr what was written. The exit
/// status is the command's (128 + signal where one ended it); an error is what keeps it from starting.
[[nodiscard]] model::Result<int> record(const RecordOptions& options);

} // namespace strata::cli
