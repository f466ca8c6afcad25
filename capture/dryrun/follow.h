// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/dryrun/peaks.h"
#include "capture/interpose/python_start.h"

#include <optional>

namespace strata::dryrun {

/// Follows LibTorch's allocator from its first segment on, once it is ready, and keeps its peaks in a file
/// that outlives the process (peaks.h); nothing outside of a dry run. Any thread; a load of a flag once that
/// is settled.
void followWhenReady() noexcept;

/// Python's side of a dry run; none outside of one.
[[nodiscard]] std::optional<interpose::PythonScript> startScript();

/// Whether this process is part of one, and how many steps each of its optimizers is to make; 0: all.
[[nodiscard]] bool isDryRun();
[[nodiscard]] int stepsWanted();

/// What the process tells of its steps, besides what the allocator does. Kept until peaks are followed; not
/// from a child of a process that is. Any thread.
void tellSteps(int steps, int allSteps, StepSource source) noexcept;
void tellEnded() noexcept;
void tellUnseen() noexcept;

/// Python's side has begun: it ends the program, which exit() would not let it do.
[[nodiscard]] bool isEndedByPython() noexcept;

} // namespace strata::dryrun
