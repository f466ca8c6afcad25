// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

namespace strata::model {

enum class FileForm : std::uint8_t { Pickle, Json, Html, Gzip, Session, Utf16Little, Utf16Big };

/// What a file is, from its first bytes (a few KiB are enough) and never from its name; for what Strata
/// cannot read, an error that names it and says what to do.
[[nodiscard]] Result<FileForm> sniff(std::span<const std::byte> head);

/// Reports of other tools, which only their names give away: an error that names what `path` is and says
/// what to do. None for other names.
[[nodiscard]] std::optional<Error> foreignReport(const std::filesystem::path& path);

} // namespace strata::model
