// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/simulated_card.h"

namespace strata::launch {

simgpu::Settings settingsOf(const model::Card& card, std::optional<std::int64_t> capacityBytes, int devices)
{
    simgpu::Settings settings;
    settings.devices = devices;
    settings.name = card.product;
    settings.capacityBytes = static_cast<std::uint64_t>(capacityBytes.value_or(card.capacityBytes));
    settings.computeMajor = card.computeMajor;
    settings.computeMinor = card.computeMinor;
    settings.multiprocessors = card.multiprocessors;
    settings.l2Bytes = static_cast<std::uint64_t>(card.l2Bytes);
    settings.memoryBusBits = card.memoryBusBits;
    return settings;
}

} // namespace strata::launch
