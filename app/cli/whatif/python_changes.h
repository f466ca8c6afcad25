// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/trace/device_trace.h"
#include "model/whatif/scenario.h"

namespace strata::cli {

/// Changes that are made from outside in programs of Python alone: in one of C++ nobody makes them.

/// Whether a scenario has such a change, and the recorded program is in C++. O(frames of the recording).
[[nodiscard]] bool needsPython(const model::DeviceTrace& trace, const model::Scenario& scenario);

/// Whether the calls of a program in C++ tell what a change comes to: they tell of no modules.
[[nodiscard]] bool isToldWithoutModules(const model::Change& change);

/// That a program in C++ cannot be run with the scenario's changes, and what tells it instead. Needs such a
/// change.
[[nodiscard]] model::Error refusedInCpp(const model::Scenario& scenario);

} // namespace strata::cli
