// SPDX-License-Identifier: Apache-2.0
#include "model/wire/roles_codec.h"

#include "model/wire/tables.h"

namespace strata::wire {

void encodeRoles(std::span<const RoleRow> rows, Bytes& out)
{
    ByteWriter writer(out);
    writer.varint(rows.size());
    std::uint64_t event = 0, address = 0;
    for (const RoleRow& row : rows) {
        writer.signedVarint(row.device);
        writer.signedVarint(static_cast<std::int64_t>(row.event - event));
        writer.byte(static_cast<std::uint8_t>(row.kind));
        writer.signedVarint(static_cast<std::int64_t>(row.address - address));
        writer.id(row.name);
        writer.id(row.part);
        writer.id(row.dtype);
        writer.varint(row.elements);
        writer.id(row.optimizer);
        event = row.event;
        address = row.address;
    }
}

bool decodeRoles(std::span<const std::byte> payload, std::vector<RoleRow>& rows)
{
    constexpr std::size_t kLeastBytes = 9; // a field each
    ByteReader in(payload);
    const std::size_t count = in.count(kLeastBytes);
    if (count > kMaxRowsAChunk)
        return false;
    rows.clear();
    rows.reserve(count);
    std::uint64_t event = 0, address = 0;
    for (std::size_t i = 0; i < count && in.ok(); ++i) {
        const std::int64_t device = in.signedVarint();
        if (device < INT32_MIN || device > INT32_MAX)
            return false;
        RoleRow row;
        row.device = static_cast<std::int32_t>(device);
        event += static_cast<std::uint64_t>(in.signedVarint());
        const std::uint8_t kind = in.byte();
        address += static_cast<std::uint64_t>(in.signedVarint());
        row.event = event;
        row.kind = static_cast<RoleKind>(kind);
        row.address = address;
        row.name = in.id();
        row.part = in.id();
        row.dtype = in.id();
        row.elements = in.varint();
        row.optimizer = in.id();
        if (kind < kRoleKinds)
            rows.push_back(row);
    }
    return in.ok();
}

} // namespace strata::wire
