// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/session/save.h"
#include "model/session/session.h"

namespace strata::model {

/// Writes a session with its digests, or a PyTorch snapshot, as the name of `path` says (savedFormat()).
/// Of a generation of a session that grows, the file says that it was saved while its program was running.
[[nodiscard]] Result<void> saveAs(
    const Session& session, const std::filesystem::path& path, const Progress& progress = {});

} // namespace strata::model
