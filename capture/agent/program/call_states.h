// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/call_list_codec.h"

#include <cstdint>
#include <string>
#include <vector>

namespace strata::agent {

/// Which tensors of a call list are states of an optimizer, where nobody tells them: references to
/// parameters, each with one to a state behind it. `refs` are those of each row; texts are strings of the
/// list.
///
/// An optimizer goes from parameter to parameter: a state is that of the first one that is taken with it or
/// behind it, as itself, its gradient, or an alias of one of these, which lie at their places.
[[nodiscard]] std::vector<std::uint32_t> findStates(const wire::CallListChunk& chunk,
    const std::vector<std::string>& texts, const std::vector<std::vector<std::uint32_t>>& refs);

} // namespace strata::agent
