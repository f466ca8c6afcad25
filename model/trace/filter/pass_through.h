// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <string_view>

namespace strata::model {

/// Packages whose functions stand between a program and torch and say nothing of their own: what they
/// allocate, their caller asked for. Names as below site-packages, in lower case. A new one is a line here.
inline constexpr std::array<std::string_view, 13> kPassThroughPackages{
    "beartype", // checks types at calls
    "decorator",
    "einops", // rearranges, reduces and repeats for its caller
    "einx",
    "fancy_einsum",
    "jaxtyping",
    "multipledispatch",
    "opt_einsum", // calls torch.einsum in another order
    "plum",
    "torchtyping",
    "typeguard",
    "typing_extensions",
    "wrapt",
};

} // namespace strata::model
