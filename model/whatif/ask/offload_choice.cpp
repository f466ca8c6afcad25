// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/ask/offload_choice.h"

namespace strata::model {

std::optional<OffloadChoice> OffloadChoice::parse(std::string_view value)
{
    constexpr std::string_view kWhat = "activations";
    if (value == kWhat)
        return OffloadChoice{};
    if (value == "optimizer")
        return OffloadChoice{ .isOfOptimizer = true, .modules = {} };
    if (!value.starts_with(kWhat) || value[kWhat.size()] != ':')
        return std::nullopt;
    const std::string_view modules = value.substr(kWhat.size() + 1);
    if (modules.empty() || modules == "path:")
        return std::nullopt;
    return OffloadChoice{ .isOfOptimizer = false, .modules = ModuleChoice(modules) };
}

} // namespace strata::model
