// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/recording.h"

#include <cstdint>
#include <memory>

namespace strata::bench {

/// A program that trains, recorded with the state that it began with: `events` events of the same steps, in
/// which it takes a segment again and again and gives it back.
[[nodiscard]] std::unique_ptr<model::Recording> trainingRun(std::int64_t events);

} // namespace strata::bench
