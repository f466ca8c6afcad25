// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string_view>

namespace strata::model {

/// What numbers a card calculates with, as far as its peaks differ. Of a product: of its factors; sums are
/// kept in FP32, of FP64 in FP64.
enum class NumberType : std::uint8_t {
    Fp64,
    Fp32, ///< without tensor cores
    Tf32, ///< of FP32 tensors, where the program allows it
    Fp16,
    Bf16,
    Fp8,
    Other, ///< whole numbers, truth values, what is not told: no peak is known
};
inline constexpr int kNumberTypes = 7;

[[nodiscard]] std::string_view numberTypeWord(NumberType type); ///< "bf16", as resources/devices.json has it

} // namespace strata::model
