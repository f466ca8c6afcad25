// SPDX-License-Identifier: Apache-2.0
#include "model/wire/symbols.h"

namespace strata::wire {

void encodeSymbols(std::span<const SymbolRow> rows, Bytes& out)
{
    ByteWriter writer(out);
    writer.varint(rows.size());
    for (const SymbolRow& row : rows) {
        writer.text(row.place);
        writer.text(row.file);
        writer.text(row.function);
        writer.varint(row.line);
    }
}

bool decodeSymbols(std::span<const std::byte> payload, std::vector<SymbolRow>& rows)
{
    ByteReader in(payload);
    constexpr std::size_t kLeastBytes = 4;
    rows.assign(in.count(kLeastBytes), {});
    for (SymbolRow& row : rows) {
        row.place = in.text();
        row.file = in.text();
        row.function = in.text();
        row.line = in.varint();
    }
    return in.ok() && in.atEnd();
}

} // namespace strata::wire
