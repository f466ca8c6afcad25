// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/bytes.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace strata::wire {

/// What debug information says of a frame of C++: a row of a Symbols chunk.
struct SymbolRow {
    std::string place; ///< the extras of the frames that it is about: build id and offset
    std::string file, function;
    std::uint64_t line = 0; ///< 0 not known

    friend bool operator==(const SymbolRow&, const SymbolRow&) = default;
};

void encodeSymbols(std::span<const SymbolRow> rows, Bytes& out);
[[nodiscard]] bool decodeSymbols(std::span<const std::byte> payload, std::vector<SymbolRow>& rows);

} // namespace strata::wire
