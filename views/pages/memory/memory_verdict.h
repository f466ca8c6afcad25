// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/document/document.h"

#include <QString>

namespace strata::views {

/// The sentence on top of the page "Memory over time", as rich text with links "event:N": the out-of-memory
/// if there is one, else the peak, where it was and what makes most of it: a line of code, or the group that
/// comes first in `peak`, of `groups`.
[[nodiscard]] QString memoryVerdict(
    const DeviceData& device, const model::GroupTable* groups = nullptr, const model::LiveGroups& peak = {});

} // namespace strata::views
