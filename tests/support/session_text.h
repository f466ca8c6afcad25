// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/blocks_picture.h"
#include "model/timeline/device_timeline.h"
#include "model/timeline/layer_order.h"
#include "model/trace/filter/grouping.h"

#include <memory>
#include <string>
#include <vector>

namespace strata::test {

/// What views derive from a trace; from that of the trace before where this one continues it.
struct Derived {
    explicit Derived(const model::DeviceTrace& trace, const Derived* earlier = nullptr);

    const model::DeviceTrace* trace;
    std::shared_ptr<const model::DeviceTimeline> timeline;
    std::vector<std::shared_ptr<const model::GroupTable>> groups; ///< by Grouping
    std::vector<std::shared_ptr<const model::LayerOrder>> orders; ///< likewise
    std::shared_ptr<const model::StripLayout> strips;
    std::shared_ptr<const model::BlocksIndex> index; ///< by site
    bool keepsRows = false; ///< of the trace before
};

/// All that a device's trace and what is derived from it answer, as text: two that print the same are the
/// same to every view and command. Pools are named, not numbered. O(events x live blocks / 40).
[[nodiscard]] std::string everythingOf(const Derived& derived);

/// The first line in which two texts differ; empty: they are equal.
[[nodiscard]] std::string firstDifference(const std::string& a, const std::string& b);

} // namespace strata::test
