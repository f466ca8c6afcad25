// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/sentence.h"

#include <cstddef>
#include <optional>
#include <span>

namespace strata::model {

/// What JSON of others seems to be, from keys among its first bytes: "a Jupyter notebook". None: it has none
/// of those that are known here.
[[nodiscard]] std::optional<Sentence> foreignJson(std::span<const std::byte> head);

/// What Strata opens, for whoever has given it something else.
[[nodiscard]] Sentence whatOpens();

} // namespace strata::model
