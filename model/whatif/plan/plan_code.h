// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// A module of a program, as recordings name it.
struct NamedModule {
    /// Within the model, as get_submodule() takes it.
    std::string path;
    /// The class of the model that it is in where the recording has several, with their classes in front of
    /// paths; empty: the one model.
    std::string root;
};

/// The line that puts one of them behind checkpoints, once checkpointCode() has defined how.
[[nodiscard]] std::string checkpointLine(const NamedModule& module);

/// Python to paste behind where the program has made its model, which it calls `model`: each call of these in
/// training goes through torch.utils.checkpoint (use_reentrant=False). Names of parameters stay as they are.
[[nodiscard]] std::string checkpointCode(const std::vector<NamedModule>& modules);

} // namespace strata::model
