// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/bytes.h"
#include "model/wire/kinds.h"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::wire {

/// A tensor as the program has it at one place among the events of a device. It holds until a row of the same
/// kind, name, part and optimizer says otherwise: an address of 0 that there is none any more.
struct RoleRow {
    std::int32_t device = 0;
    std::uint64_t event = 0; ///< how many events of the device came before
    RoleKind kind = RoleKind::Parameter;
    std::uint64_t address = 0; ///< where its bytes begin, somewhere in a block
    std::uint32_t name = kNone; ///< string: "h.3.attn.weight", of the parameter that it belongs to; of Stepped, the optimizer's
    std::uint32_t part = kNone; ///< string: what of the state of an optimizer, "exp_avg"
    std::uint32_t dtype = kNone; ///< string: "bfloat16"
    std::uint64_t elements = 0; ///< that lie on this device
    std::uint32_t optimizer = kNone; ///< its number, in the order in which they were met

    friend bool operator==(const RoleRow&, const RoleRow&) = default;
};

/// Rows in the order in which they were told.
void encodeRoles(std::span<const RoleRow> rows, Bytes& out);
/// Rows of kinds that this Strata does not know are passed over.
[[nodiscard]] bool decodeRoles(std::span<const std::byte> payload, std::vector<RoleRow>& rows);

} // namespace strata::wire
