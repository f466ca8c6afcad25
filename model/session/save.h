// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/digest/digest.h"
#include "model/wire/chunk_sink.h"

#include <cstdint>
#include <filesystem>
#include <span>

namespace strata::model {

/// Whether a session or a snapshot would hold all there is: none keeps what a profiler's
/// trace tells (Work), or its memory timeline (ProfiledCategories), yet.
[[nodiscard]] Result<void> canBeKept(const Recording& recording);

/// Writes a recording as a Strata session (model/wire/FORMAT.md), its user data behind it. It opens with the
/// same figures as the file that the recording came from. `digests` are of all its devices, or of none
/// (digestsOf()): with them its summary can be had without its events. O(events), memory for one chunk.
[[nodiscard]] Result<void> writeSession(const Recording& recording, wire::ChunkSink& sink,
    std::span<const DeviceDigest> digests = {}, const Progress& progress = {});

/// The same into a file, which appears when it is whole.
[[nodiscard]] Result<void> saveSession(const Recording& recording, const std::filesystem::path& path,
    std::span<const DeviceDigest> digests = {}, const Progress& progress = {});

/// Writes a recording as torch.cuda.memory._dump_snapshot() does, pickle protocol 4, for PyTorch's own tools.
/// What Strata itself does not keep of a snapshot is missing: traces of pinned host memory, unknown keys of
/// segments.
[[nodiscard]] Result<void> exportPickle(
    const Recording& recording, const std::filesystem::path& path, const Progress& progress = {});

enum class SavedFormat : std::uint8_t { Session, Pickle };

/// What a file is to be by its name: .strata, .pickle or .pkl. Error::Kind::Usage for another.
[[nodiscard]] Result<SavedFormat> savedFormat(const std::filesystem::path& path);

} // namespace strata::model
