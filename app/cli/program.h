// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"

namespace strata::cli {

/// The program `strata` but for its list of commands: finds the one that the first word names, reads its
/// options, runs it. Help goes to `out`, what is no command line of strata to `err`, with a remedy. The exit
/// code.
[[nodiscard]] int runProgram(
    int argc, const char* const* argv, const Commands& commands, Output& out, Output& err);

} // namespace strata::cli
