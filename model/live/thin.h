// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/session/session_stream.h"

#include <cstdint>

namespace strata::model {

/// Keeps the newest `events` of all devices together, about: those that are younger than the one that so many
/// of the busiest device come behind. Without times each device keeps the same share. What is left out leaves
/// its curves (EarlierCurves). For SessionStream::goOnFrom(). O(events).
[[nodiscard]] SessionPart newestOf(const Session& session, std::int64_t events);

} // namespace strata::model
