// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

namespace strata::model {

/// Bytes of an element of a type that PyTorch names (c10::toString of c10/core/ScalarType.h), as `dtype` of a
/// collective in a trace; 0: not known.
[[nodiscard]] constexpr std::int64_t scalarTypeBytes(std::string_view type)
{
    constexpr std::pair<std::string_view, std::int64_t> kTypes[] = { { "Float", 4 }, { "BFloat16", 2 },
        { "Half", 2 }, { "Long", 8 }, { "Int", 4 }, { "Byte", 1 }, { "Char", 1 }, { "Bool", 1 },
        { "Double", 8 }, { "Short", 2 }, { "ComplexFloat", 8 }, { "ComplexDouble", 16 }, { "ComplexHalf", 4 },
        { "UInt16", 2 }, { "UInt32", 4 }, { "UInt64", 8 } };
    for (const auto& [name, bytes] : kTypes)
        if (name == type)
            return bytes;
    return type.starts_with("Float8_") ? 1 : 0;
}

} // namespace strata::model
