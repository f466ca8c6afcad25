// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/report.h"
#include "model/analysis/allocator/fragmentation.h"
#include "model/analysis/allocator/settings_advice.h"
#include "model/trace/filter/grouping.h"

#include <span>

namespace strata::cli {

/// A table of pins, `rows` at most.
[[nodiscard]] Table pinsTable(
    std::span<const model::Pin> pins, const model::GroupTable& byLine, std::size_t rows);

/// A table of settings that were tried, with the string to copy.
/// The first column is headed by the environment variable of the recorded device. `saysServed`: a column says
/// which serve the refused request, where one was refused.
[[nodiscard]] Table settingsTable(
    std::span<const model::SettingTried> tried, const model::Recording& recording, bool saysServed = true);

} // namespace strata::cli
