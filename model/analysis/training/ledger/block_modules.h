// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/categories.h"
#include "model/trace/filter/grouping.h"

#include <memory>
#include <string_view>

namespace strata::model {

/// The path of the module that a block belongs to, in the strings of the recording: of a tensor that the
/// program told of, its name without the last part ("h.3.attn" of "h.3.attn.weight"); else that of the
/// module whose forward asked for it. Nothing where none is known. O(log tensors).
[[nodiscard]] std::string_view moduleOf(
    const DeviceTrace& trace, const ListedTensors& tensors, BlockId block);

/// What the group of blocks without a module is called.
inline constexpr std::string_view kNoModuleLabel = "no module recorded";

/// The groups of Grouping::Category, of Grouping::Module. O(blocks).
[[nodiscard]] std::shared_ptr<const BlockLabels> categoryLabels(
    const DeviceTrace& trace, const Categories& categories);
[[nodiscard]] std::shared_ptr<const BlockLabels> moduleLabels(
    const DeviceTrace& trace, const Categories& categories);
[[nodiscard]] DeviceLabels deviceLabels(const DeviceTrace& trace, const Categories& categories); ///< both

} // namespace strata::model
