// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/dryrun/dry_run_answer.h"
#include "model/dryrun/dry_run_fit.h"

#include <string_view>
#include <variant>

namespace strata::model {

/// What `strata dryrun --json` printed, of this version or an older one; with --fit the second. Kind::Format:
/// it is no such document, or a value in it is of another type.
[[nodiscard]] Result<std::variant<DryRunAnswer, DryRunFitAnswer>> readDryRun(std::string_view json);

} // namespace strata::model
