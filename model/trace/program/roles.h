// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/column.h"
#include "model/base/ids.h"
#include "model/trace/recording.h"
#include "model/wire/kinds.h"

#include <cstdint>
#include <map>

namespace strata::model {

/// What the program said of one of its tensors at one place among the events of a device. The block that
/// holds `address` then has that role. A listing stands until another one of the same kind, name, part and
/// optimizer takes its place, and is said again by each Stepped of its optimizer: recorders tell what
/// changed.
struct RoleListing {
    static constexpr std::uint32_t kNoOptimizer = 0xffffffffu;

    EventIndex event = 0; ///< how many events of the device came before
    wire::RoleKind kind = wire::RoleKind::Parameter;
    std::uint64_t address = 0; ///< somewhere in a block; 0: there is no such tensor any more
    StringId name; ///< "h.3.attn.weight": of the parameter that it belongs to; of a step, the optimizer's
    StringId part; ///< what of the state of an optimizer: "exp_avg"
    StringId dtype; ///< "bfloat16"
    std::int64_t elements = 0; ///< that lie on this device
    std::uint32_t optimizer = kNoOptimizer; ///< its number, in the order in which they were met
};

/// All of them: a type of Recording::parts.
struct RoleListings {
    using Rows = Column<RoleListing, 8>;

    std::map<int, Rows> byDevice; ///< in the order in which they were told

    [[nodiscard]] static const Rows& of(const Recording& recording, int device);
    /// Whether the program told of any, and not of steps of its optimizers alone. O(listings).
    [[nodiscard]] static bool tellTensors(const Recording& recording, int device);
};

/// How many names of modules, and of parameters and buffers within them, it holds. O(listings).
[[nodiscard]] std::int64_t countModuleNames(const Recording& recording);

/// "parameter", "buffer", "gradient", "optimizer_state", "input", "stepped", "stepped_unlisted".
[[nodiscard]] std::string_view roleName(wire::RoleKind kind);

} // namespace strata::model
