// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <vector>

namespace strata::views {

/// A card of resources/devices.json, the catalogue that `strata dryrun` has built in too.
struct DeviceCard {
    QString name; ///< "A100-80GB", as --device takes it
    QString product; ///< "NVIDIA A100-SXM4-80GB"
    qint64 capacityBytes = 0; ///< what PyTorch sees
    QString capacitySource; ///< where that figure is from
};

/// All cards, in the order of the file.
[[nodiscard]] const std::vector<DeviceCard>& deviceCatalogue();

/// nullptr if there is none of that name.
[[nodiscard]] const DeviceCard* findDeviceCard(const QString& name);

} // namespace strata::views
