// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace strata::model {

static_assert(std::endian::native == std::endian::little, "Strata reads its files on little-endian machines");

[[nodiscard]] inline std::uint32_t littleEndian32(const std::uint8_t* at)
{
    std::uint32_t v;
    std::memcpy(&v, at, sizeof v);
    return v;
}

[[nodiscard]] inline std::uint64_t littleEndian64(const std::uint8_t* at)
{
    std::uint64_t v;
    std::memcpy(&v, at, sizeof v);
    return v;
}

} // namespace strata::model
