// SPDX-License-Identifier: Apache-2.0
#include "model/wire/symbols.h"

#include "model/wire/coder.h"

namespace strata::wire {

constexpr auto kSymbolsLayout = [](auto& coder, auto& rows) {
    coder.room(rows, 4, kAsManyAsFit);
    for (auto& row : rows) {
        coder.text(row.place, row.file, row.function);
        coder.varint(row.line);
    }
    coder.end();
};

void encodeSymbols(std::span<const SymbolRow> rows, Bytes& out)
{
    encodeAs(kSymbolsLayout, out, rows);
}

bool decodeSymbols(std::span<const std::byte> payload, std::vector<SymbolRow>& rows)
{
    return decodeAs(kSymbolsLayout, payload, rows);
}

} // namespace strata::wire
