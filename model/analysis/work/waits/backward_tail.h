// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/device/device_work.h"

#include <vector>

namespace strata::model {

/// Says of steps for how long collectives run alone behind the backward: what DistributedDataParallel and the
/// like could not hide under computation.
///
///     backward  |kernel|kernel|kernel|
///     collective       |  hidden     |  tail  |
///     optimizer                               |kernel|
///
/// The backward of a step ends with the last kernel that a call within an operator
/// "autograd::engine::evaluate_function..." launches in it; the step's work ends where that of the next one
/// begins. Collectives of the device alone count, as far as no kernel computes. A step without such kernels,
/// and a trace without collectives, has no tail: ProfilerStep::tailNs stays empty. Steps in their order.
/// O(n log n).
void describeTails(std::vector<ProfilerStep>& steps, const Work& work, const StringTable& strings);

} // namespace strata::model
