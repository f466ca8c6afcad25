// SPDX-License-Identifier: Apache-2.0
#include "model/wire/roles_codec.h"

#include "model/wire/coder.h"

namespace strata::wire {

constexpr auto kRolesLayout = [](auto& coder, auto& rows) {
    std::uint64_t event = 0, address = 0;
    coder.rows(rows, 9, [&](auto& row) {
        coder.signedVarint(row.device);
        coder.step(row.event, event);
        coder.code(row.kind);
        coder.step(row.address, address);
        coder.id(row.name, row.part, row.dtype);
        coder.varint(row.elements);
        coder.id(row.optimizer);
    });
    coder.dropUnknown(rows, &RoleRow::kind, kRoleKinds);
};

void encodeRoles(std::span<const RoleRow> rows, Bytes& out)
{
    encodeAs(kRolesLayout, out, rows);
}

bool decodeRoles(std::span<const std::byte> payload, std::vector<RoleRow>& rows)
{
    return decodeAs(kRolesLayout, payload, rows);
}

} // namespace strata::wire
