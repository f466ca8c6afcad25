// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/session/outline.h"
#include "model/session/session.h"

#include <vector>

namespace strata::model {

/// The devices whose digest says something else than their events: `outline` and `session` are of one file.
/// O(blocks).
[[nodiscard]] std::vector<int> wrongDigests(const SessionOutline& outline, const Session& session);

} // namespace strata::model
