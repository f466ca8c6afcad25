// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace strata::cli {

/// `strata record`: starts the command with the recorder preloaded, waits for it, says on stderr what was
/// written. The exit status is the command's (128 + signal where one ended it), or 2 for what keeps it from
/// starting. argv[0] is "record".
[[nodiscard]] int recordMain(int argc, const char* const* argv);

} // namespace strata::cli
