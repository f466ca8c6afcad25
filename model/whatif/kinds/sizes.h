// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/whatif/ask/change.h"

#include <cstdint>
#include <span>

namespace strata::model {

/// Items of a batch, or tokens of sequences, that a change asks for: so many, or so many times as many as
/// there were, as a fraction in lowest terms.
struct SizeAsked {
    bool isRelative = false;
    std::int64_t numerator = 1, denominator = 1;
};

/// The items of a batch that changes lead to, one after the other, from so many. Kind::Usage: they are not
/// whole.
[[nodiscard]] Result<std::int64_t> batchAfter(std::span<const Change> changes, std::int64_t items);
/// The same of the length of sequences.
[[nodiscard]] Result<std::int64_t> sequenceAfter(std::span<const Change> changes, std::int64_t length);

} // namespace strata::model
