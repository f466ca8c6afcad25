// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/summary/summary.h"

#include <vector>

namespace strata::model {

/// The verdict on one device, in plain words: the last out-of-memory if there is one (asked, free, reserved,
/// free inside segments, the three biggest lines), else what the device needs (reserved peak) and the peak of
/// requested bytes with its moment and its biggest line; then what makes these figures less than certain
/// (breaches, a simulated device). `summary` must be complete but for its verdict.
[[nodiscard]] std::vector<Sentence> verdictOn(
    const Recording& recording, const DeviceSummary& summary, const GroupTable& byLine);

} // namespace strata::model
