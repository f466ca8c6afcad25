// SPDX-License-Identifier: Apache-2.0
#include "model/wire/user_data_codec.h"

#include "model/wire/coder.h"

namespace strata::wire {

constexpr auto kUserRowsLayout = [](auto& coder, auto& rows) {
    coder.room(rows, 10, kMaxUserRows); // a key, a byte, a time
    for (auto& row : rows) {
        coder.fixed(row.key);
        coder.flag(row.removed);
        coder.signedVarint(row.changedNs);
        if (row.removed)
            continue;
        coder.signedVarint(row.device, row.first, row.last);
        coder.varint(row.address);
        coder.text(row.text, row.conditions);
    }
    coder.end();
};

void encodeUserRows(std::span<const UserRow> rows, Bytes& out)
{
    encodeAs(kUserRowsLayout, out, rows);
}

bool decodeUserRows(std::span<const std::byte> payload, std::vector<UserRow>& rows)
{
    return decodeAs(kUserRowsLayout, payload, rows);
}

} // namespace strata::wire
