// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/whatif/ask/module_choice.h"

#include <optional>
#include <string_view>

namespace strata::model {

/// What of a program lies on the host: "activations", what all of forward and loss saves for backward, or
/// "activations:Block" and "activations:path:blocks.*", the forwards of those modules; "optimizer", its
/// states and its step, to which gradients are copied and from which parameters are.
struct OffloadChoice {
    bool isOfOptimizer = false;
    std::optional<ModuleChoice> modules; ///< of activations; none: all

    [[nodiscard]] static std::optional<OffloadChoice> parse(std::string_view value); ///< none: it is no such
};

[[nodiscard]] inline bool isOffload(std::string_view value)
{
    return OffloadChoice::parse(value).has_value();
}

} // namespace strata::model
