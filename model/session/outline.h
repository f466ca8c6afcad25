// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/digest.h"
#include "model/trace/recording.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace strata::model {

/// A session without its events: what its summary needs. From a finished session whose writer left digests;
/// the events are checked against their hashes, not read.
struct SessionOutline {
    std::unique_ptr<Recording> recording; ///< its devices have no events
    std::vector<DeviceOutline> devices; ///< as Recording::devices

    /// None where the file has no digests or they cannot be believed: not whole, of other events, in
    /// contradiction with the end state. Session::open() then says what there is. O(bytes of the file), with
    /// a hash's speed.
    [[nodiscard]] static std::optional<SessionOutline> open(const std::filesystem::path& path, bool force);
};

} // namespace strata::model
