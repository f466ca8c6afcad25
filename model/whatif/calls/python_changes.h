// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"
#include "model/whatif/ask/scenario.h"

namespace strata::model {

/// Whether a change is made from outside in programs of Python alone: in one of C++ nobody makes it.
[[nodiscard]] bool isMadeInPython(const Change& change);

/// The first such change of a scenario, where the recorded program is in C++; nullptr: none is. Points into
/// the scenario. O(frames of the recording).
[[nodiscard]] const Change* changeOfPython(const DeviceTrace& trace, const Scenario& scenario);

/// Whether the calls of a program in C++ tell what a change comes to: they tell of no modules.
[[nodiscard]] bool isToldWithoutModules(const Change& change);

} // namespace strata::model
