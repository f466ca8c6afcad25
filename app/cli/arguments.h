// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/options.h"
#include "model/base/result.h"

#include <optional>
#include <string>

namespace strata::cli {

/// What a command line comes to: something to do, or a text (help, version) to print.
struct Parsed {
    std::optional<Options> options;
    std::string text; ///< where there are no options
};

/// Error::Kind::Usage with a remedy for what is no command line of strata.
[[nodiscard]] model::Result<Parsed> parseArguments(int argc, const char* const* argv);

} // namespace strata::cli
