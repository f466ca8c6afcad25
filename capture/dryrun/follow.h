// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/interpose/python_start.h"

#include <optional>

namespace strata::dryrun {

/// Follows LibTorch's allocator from its first segment on, once it is ready, and keeps its peaks in a file
/// that outlives the process (peaks.h); nothing outside of a dry run. Any thread; a load of a flag once that
/// is settled.
void followWhenReady() noexcept;

/// Python's side of a dry run; none outside of one.
[[nodiscard]] std::optional<interpose::PythonScript> startScript();

} // namespace strata::dryrun
