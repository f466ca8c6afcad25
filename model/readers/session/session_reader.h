// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/readers/source/byte_source.h"
#include "model/trace/recording.h"

#include <cstdint>
#include <memory>

namespace strata::model {

/// Reads a Strata session, chunk after chunk (model/wire/FORMAT.md), into `recording`. Chunks of unknown
/// types are passed over. A stream that ends inside a chunk, or is damaged, gives what came before
/// (Recording::truncation); an error only if that is nothing, if its major version is newer, or if it unpacks
/// to more than `memoryLimit` bytes.
[[nodiscard]] Result<void> readSessionFile(Recording& recording, std::unique_ptr<ByteSource> source,
    std::uint64_t memoryLimit, const Progress& progress);

} // namespace strata::model
