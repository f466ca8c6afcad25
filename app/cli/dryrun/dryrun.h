// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace strata::cli {

/// `strata dryrun`: argv[0] is the word "dryrun". Prints on stdout, complains on stderr; the exit code is 0
/// when it fits, 1 when it does not or the command failed, 2 for bad usage.
[[nodiscard]] int dryRunMain(int argc, const char* const* argv);

} // namespace strata::cli
