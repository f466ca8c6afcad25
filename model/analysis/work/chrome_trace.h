// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/device/intervals.h"
#include "model/base/result.h"
#include "model/trace/strings.h"
#include "model/trace/work.h"

#include <filesystem>
#include <optional>
#include <string>

namespace strata::model {

/// Writes work as a Chrome trace, which Perfetto and chrome://tracing open, and Strata again: of all of it or
/// of `range` what lies in it in part, whole; arrows from launches to what they launched; memory as counters
/// and as the profiler's [memory] rows; steps that no annotation tells of as ProfilerStep#N, on a thread of
/// their own. `simulation` is what simulationJson() has, where the device was a simulated one. The file
/// appears when it is whole.
///
/// Form: "Trace Event Format" (Google), with the categories of kineto's output_json.cpp.
[[nodiscard]] Result<void> saveChromeTrace(const Work& work, const StringTable& strings,
    const std::filesystem::path& path, const std::optional<TimeSpan>& range = {},
    const std::string& simulation = {});

} // namespace strata::model
