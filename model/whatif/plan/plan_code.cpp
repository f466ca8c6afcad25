// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/plan/plan_code.h"

#include <cctype>
#include <set>

namespace strata::model {

namespace {

/// As a literal of Python.
std::string pythonText(std::string_view text)
{
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        if (static_cast<unsigned char>(c) >= ' ')
            out += c;
    }
    return out + '"';
}

/// A name of Python for a model of that class: "TextEncoder" is text_encoder.
std::string variableOf(std::string_view root)
{
    if (root.empty())
        return "model";
    std::string name;
    bool wasLower = false;
    for (const char c : root) {
        const auto letter = static_cast<unsigned char>(c);
        if (std::isupper(letter) != 0 && wasLower)
            name += '_';
        name += std::isalnum(letter) != 0 ? static_cast<char>(std::tolower(letter)) : '_';
        wasLower = std::islower(letter) != 0 || std::isdigit(letter) != 0;
    }
    return std::isdigit(static_cast<unsigned char>(name.front())) != 0 ? "model_" + name : name;
}

} // namespace

std::string checkpointLine(const NamedModule& module)
{
    return "checkpointed(" + variableOf(module.root) + ".get_submodule(" + pythonText(module.path) + "))";
}

std::string checkpointCode(const std::vector<NamedModule>& modules)
{
    std::string code = R"(import functools

import torch
from torch.utils.checkpoint import checkpoint


def checkpointed(module):
    """Backward computes its forward again, instead of what it saves being kept until then."""
    forward = module.forward

    def run(*inputs, **named):
        if not module.training or not torch.is_grad_enabled():
            return forward(*inputs, **named)
        return checkpoint(functools.partial(forward, **named), *inputs, use_reentrant=False)
    module.forward = run


)";
    std::set<std::string> roots;
    for (const NamedModule& module : modules)
        if (!module.root.empty() && roots.insert(module.root).second)
            code += "# " + variableOf(module.root) + ": the program's " + module.root + "\n";
    for (const NamedModule& module : modules)
        code += checkpointLine(module) + "\n";
    return code;
}

} // namespace strata::model
