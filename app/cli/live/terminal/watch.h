// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/live/find_processes.h"
#include "model/live/follow.h"

namespace strata::cli {

/// Shows a process that is watched on the terminal of standard input and output, until the user quits. An
/// error is what kept it from ever being shown; the terminal is restored then, too.
[[nodiscard]] model::Result<void> watchOnTerminal(
    const model::LinkAddress& address, const model::FollowOptions& options);

/// The same of a process of which the driver's totals are all that is known. `remedy` says what would tell
/// more.
[[nodiscard]] model::Result<void> watchOnTerminal(
    model::PolledProcess& polled, const model::LiveProcess& first, const model::Sentence& remedy);

} // namespace strata::cli
