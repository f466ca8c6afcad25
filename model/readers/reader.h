// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/trace/digest.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace strata::model {

struct ReadLimits {
    /// Unpacked bytes of a compressed file above which it is refused; 0: half of this machine's RAM.
    std::uint64_t unpackedBytes = 0;
    bool force = false; ///< no such limit
};

/// Opens a snapshot in any form that PyTorch or its users write: pickle of protocols 0 to 5 (Python's and
/// LibTorch's writer), gzip of it, JSON of the same shape, PyTorch's memory_viz page with the snapshot
/// inside; and Strata's own session. The form is found from the content, never from the name. Memory is proportional to events, not to
/// the file. A file that ends early or is damaged opens as far as it goes, if at least one event or segment
/// was whole (Recording::truncation says where); anything else is an error that names file, byte offset and
/// remedy.
[[nodiscard]] Result<std::unique_ptr<Recording>> readRecording(
    const std::filesystem::path& path, const ReadLimits& limits, const Progress& progress);

/// The same from memory: for tests and fuzzers.
[[nodiscard]] Result<std::unique_ptr<Recording>> readRecording(
    std::span<const std::byte> content, const ReadLimits& limits, const Progress& progress);

/// A session without its events.
struct RecordingOutline {
    std::unique_ptr<Recording> recording;
    std::vector<DeviceDigest> digests; ///< of its devices, in their order
};

/// None if the file is no session, or one without digests that can be believed (readSessionOutline).
[[nodiscard]] std::optional<RecordingOutline> readOutline(
    const std::filesystem::path& path, const ReadLimits& limits);
[[nodiscard]] std::optional<RecordingOutline> readOutline(
    std::span<const std::byte> content, const ReadLimits& limits);

} // namespace strata::model
