// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata::interpose {

/// A process that ends by _exit() runs nothing that waits for its end: process_exit.cpp puts itself in
/// between, and calls this first. Each library that contains that file says here what it does then. Any
/// thread, signal handlers and children of vfork() among them: async-signal-safe calls alone.
void onImmediateExit() noexcept;

} // namespace strata::interpose
