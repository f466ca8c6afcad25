// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/digest/digest.h"
#include "model/readers/source/byte_source.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace strata::model {

/// Reads a Strata session, chunk after chunk (model/wire/FORMAT.md), into `recording`. Chunks of unknown
/// types are passed over. Behind the index, what is damaged is user data alone (UserData::unreadFrom). A
/// stream that ends inside a chunk, or is damaged, gives what came before
/// (Recording::truncation); an error only if that is nothing, if its major version is newer, or if it unpacks
/// to more than `memoryLimit` bytes.
[[nodiscard]] Result<void> readSessionFile(Recording& recording, std::unique_ptr<ByteSource> source,
    std::uint64_t memoryLimit, const Progress& progress);

/// Reads all but the events, which are only checked against their hashes. The digests of its devices, in
/// their order; none if the session is not finished, any chunk of it is damaged, a device has no digest, or a
/// digest was not made of the chunks before it: `recording` is of no use then.
[[nodiscard]] std::optional<std::vector<DeviceDigest>> readSessionOutline(
    Recording& recording, std::unique_ptr<ByteSource> source, std::uint64_t memoryLimit);

} // namespace strata::model
