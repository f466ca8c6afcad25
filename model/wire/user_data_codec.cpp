// SPDX-License-Identifier: Apache-2.0
#include "model/wire/user_data_codec.h"

namespace strata::wire {

void encodeUserRows(std::span<const UserRow> rows, Bytes& out)
{
    ByteWriter writer(out);
    writer.varint(rows.size());
    for (const UserRow& row : rows) {
        writer.fixed(row.key);
        writer.byte(row.removed ? 1 : 0);
        writer.signedVarint(row.changedNs);
        if (row.removed)
            continue;
        writer.signedVarint(row.device);
        writer.signedVarint(row.first);
        writer.signedVarint(row.last);
        writer.varint(row.address);
        writer.text(row.text);
        writer.text(row.conditions);
    }
}

bool decodeUserRows(std::span<const std::byte> payload, std::vector<UserRow>& rows)
{
    ByteReader in(payload);
    constexpr std::size_t kLeastBytes = 10; // a key, a byte, a time
    const std::size_t count = in.count(kLeastBytes);
    if (count > kMaxUserRows)
        return false;
    rows.assign(count, {});
    for (UserRow& row : rows) {
        row.key = in.fixed<std::uint64_t>();
        row.removed = in.byte() == 1;
        row.changedNs = in.signedVarint();
        if (row.removed)
            continue;
        const std::int64_t device = in.signedVarint();
        if (device < INT32_MIN || device > INT32_MAX)
            return false;
        row.device = static_cast<std::int32_t>(device);
        row.first = in.signedVarint();
        row.last = in.signedVarint();
        row.address = in.varint();
        row.text = in.text();
        row.conditions = in.text();
    }
    return in.ok() && in.atEnd();
}

} // namespace strata::wire
