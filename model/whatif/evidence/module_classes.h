// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"

#include <string>
#include <vector>

namespace strata::model {

/// What of a program is worth naming in a change. Any thread.

/// Classes of modules that a usable deep step saw run in training, those with modules in them first. O(rows).
[[nodiscard]] std::vector<std::string> moduleClassesOf(const DeviceTrace& trace);
/// Of modules that the recording names those that stand beside others like them, as layers do ("path:h.*"),
/// the outermost first, and of those the most.
[[nodiscard]] std::vector<std::string> layerPathsOf(const Recording& recording);

/// A filter that takes what a line of the program asks for; empty: it has no line.
[[nodiscard]] std::string lineFilter(const Recording& recording, StackId stack);
/// Of the program's lines those that ask for most in all, as filters; of very many blocks each so many-th
/// tells.
[[nodiscard]] std::vector<std::string> busiestLinesOf(const DeviceTrace& trace);

/// The program told of its tensors, and an optimizer keeps something: of all of them SGD alone keeps nothing.
[[nodiscard]] bool hasOptimizerState(const DeviceTrace& trace);
[[nodiscard]] bool tellsTensors(const DeviceTrace& trace);

} // namespace strata::model
