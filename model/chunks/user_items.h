// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/user_data.h"
#include "model/wire/user_data_codec.h"

#include <span>

namespace strata::model {

/// The chunk that an item of user data travels in, and what travels of it.
[[nodiscard]] wire::ChunkType chunkTypeOf(UserItem::Kind kind);
[[nodiscard]] wire::UserRow rowOf(const UserItem& item, bool removed = false);

/// Adds the rows of such a chunk, or takes away what they remove. Rows may be damaged or of a later version
/// without harm to what is there: then none of them counts.
void takeUserRows(wire::ChunkType type, std::span<const std::byte> payload, UserData& user);

} // namespace strata::model
