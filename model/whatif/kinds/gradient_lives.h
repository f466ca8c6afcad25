// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/run/run_edits.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace strata::model {

/// Where a program calls zero_grad(), which lets go of gradients (torch.optim.Optimizer.zero_grad(), whose
/// set_to_none is True by itself).
enum class ZeroGradPlace : std::uint8_t {
    AfterStep, ///< right behind the step of its optimizer
    BeforeForward, ///< before the next forward that is trained
    BeforeBackward, ///< before the next backward: gradients are there while forward computes
};
[[nodiscard]] std::optional<ZeroGradPlace> zeroGradPlace(std::string_view word); ///< "after-step", ...

/// Gradients go where zero_grad() would stand, each behind the step that used it; those of the last step stay
/// where none follows. Refused as recordedOptimizers(), and where steps keep gradients. Needs steps and
/// categories. O(listings log steps).
[[nodiscard]] Result<RunEdits> gradientEdits(const RecordedRun& run, ZeroGradPlace place);

} // namespace strata::model
