// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata::agent {

/// From now on calls `flush` where a signal is about to end this process: a fault, abort() (which is what an
/// uncaught exception comes to), or what the program does not handle, as SIGTERM, SIGINT, SIGPIPE. Then the
/// process ends, or goes on, as it would have: handlers that are there are called, a default action is taken,
/// by the same signal. A program that handles or ignores such a request itself is left alone; one that
/// installs handlers later replaces ours. Once in a process; any thread.
///
/// `flush` runs in a signal handler, on whatever thread the signal struck: async-signal-safe calls alone, and
/// not for long.
void watchFatalEnds(void (*flush)(int signal) noexcept);

} // namespace strata::agent
