// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "capture/simgpu/machine/settings.h"
#include "model/cards/catalogue.h"

#include <cstdint>
#include <optional>

namespace strata::launch {

/// A machine with `devices` such cards, each of `capacityBytes` where given.
[[nodiscard]] simgpu::Settings settingsOf(
    const model::Card& card, std::optional<std::int64_t> capacityBytes, int devices);

} // namespace strata::launch
