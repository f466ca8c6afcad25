// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/whatif/module_choice.h"

#include <optional>
#include <string_view>

namespace strata::model {

/// What of a program saves for backward on the host: "activations", all of forward and loss, or
/// "activations:Block" and "activations:path:blocks.*", the forwards of those modules.
struct OffloadChoice {
    std::optional<ModuleChoice> modules; ///< none: all

    [[nodiscard]] static std::optional<OffloadChoice> parse(std::string_view value); ///< none: it is no such
};

[[nodiscard]] inline bool isOffload(std::string_view value)
{
    return OffloadChoice::parse(value).has_value();
}

} // namespace strata::model
