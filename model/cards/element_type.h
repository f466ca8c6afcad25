// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/cards/number_type.h"

#include <cstdint>
#include <string_view>

namespace strata::model {

/// The type of a tensor's elements. bytes 0: not known, or no tensor.
struct ElementType {
    NumberType number = NumberType::Other;
    std::int64_t bytes = 0;
    bool isFloating = false;

    friend bool operator==(const ElementType&, const ElementType&) = default;
};

/// By the name that C++, or PyTorch, gives it: "c10::BFloat16", "long int", "torch.float32". Not known: bytes
/// 0.
[[nodiscard]] ElementType elementTypeOf(std::string_view name);

} // namespace strata::model
