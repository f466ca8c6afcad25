// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

#include <filesystem>

namespace strata::cli {

/// Copies a recording to `output`, of the kind that this name says; a file that is there is replaced. Nothing
/// to do where it is that file. Fails with NotFound: `recording` is empty, or the copy cannot be written.
[[nodiscard]] model::Result<void> keepRecording(
    const std::filesystem::path& recording, const std::filesystem::path& output);

} // namespace strata::cli
