// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"
#include "model/trace/program/deep_step.h"

#include <cstdint>
#include <set>

namespace strata::model {

/// Blocks of what operators of a deep step make of tensors in `from`, or of what they made of those, and
/// `from`: with the parameters that are trained, what has gradients. `step` is one that stepOwners() takes.
/// O(rows x log blocks + events of the step + blocks).
[[nodiscard]] std::set<std::uint32_t> derivedBlocks(
    const DeviceTrace& trace, const DeepStep& step, std::set<std::uint32_t> from);

} // namespace strata::model
