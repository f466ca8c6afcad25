// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata::dryrun {

/// Ends the program after the last of its steps as exit(0) does: files are flushed, handlers and destructors
/// of static objects run, recordings are finished. What then goes wrong, since other threads go on meanwhile
/// or wait for ever, is no failure of the program: it ends with 0 all the same. Any thread; once.
[[noreturn]] void endProgram() noexcept;

} // namespace strata::dryrun
