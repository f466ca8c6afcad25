// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/readers/source/byte_stream.h"
#include "model/trace/recording.h"

#include <cstddef>
#include <span>

namespace strata::model {

/// Whether JSON is a trace of PyTorch's profiler, or another of Chrome's form, and no snapshot: from its
/// first bytes.
[[nodiscard]] bool looksLikeChromeTrace(std::span<const std::byte> head);

/// Reads a Chrome trace into the recording's Work, row by row: memory is proportional to the rows, not to the
/// file. One that ends early, or is damaged so that rows cannot be told apart any more, is read up to there,
/// if a row was whole (Recording::truncation).
[[nodiscard]] Result<void> readChromeTrace(Recording& recording, ByteStream& stream);

} // namespace strata::model
