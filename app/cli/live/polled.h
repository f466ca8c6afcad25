// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "model/base/result.h"

#include <stop_token>
#include <string>

namespace strata::cli {

/// How a process is to be watched that is not live.
struct PolledOptions {
    std::string output; ///< a session was asked for, which there cannot be
    bool json = false; ///< else on the terminal
};

/// Watches a process that is not live, by what the driver says of it. `notLive` is what is given where the
/// target is no process, or nothing is known of it; else an error says what can be done with it.
[[nodiscard]] model::Result<void> attachPolled(const std::string& target, const model::Error& notLive,
    const PolledOptions& options, Output& out, const std::stop_token& stop);

} // namespace strata::cli
