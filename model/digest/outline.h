// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/digest/digest.h"
#include "model/trace/recording.h"

#include <memory>
#include <optional>
#include <vector>

namespace strata::model {

/// A device without its events: its digest, its end state, and what follows from both.
struct DeviceOutline {
    DeviceDigest digest;
    Totals totals;
    std::vector<Finding> findings; ///< notes alone
};

/// The figures that DeviceTrace::build() would give of the device with its events. `device` has its end state
/// and no events. None where the digest contradicts itself or the end state, or anything is wrong with that:
/// then the events must be read.
[[nodiscard]] std::optional<DeviceOutline> outlineOf(
    const Recording& recording, const DeviceRecording& device, DeviceDigest digest);

/// A session without its events: what its summary needs.
struct SessionOutline {
    std::unique_ptr<Recording> recording; ///< its devices have no events
    std::vector<DeviceOutline> devices; ///< as Recording::devices
};

/// Of all devices, whose digests are in their order; none if that of one is not to be believed.
[[nodiscard]] std::optional<SessionOutline> outlineOf(
    std::unique_ptr<Recording> recording, std::vector<DeviceDigest> digests);

} // namespace strata::model
