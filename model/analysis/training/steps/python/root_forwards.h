// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata::model {

/// A call of a module that no other module calls, by numbers of allocs.
struct RootForward {
    std::uint32_t site = 0; ///< the same for the same line that calls, called by the same lines
    std::size_t begin = 0; ///< its first alloc, or that of the batch that the loop around makes for it
    std::size_t first = 0, last = 0; ///< its own
    bool isGuess = false; ///< nothing but lines says where it ends and the next begins, or where it begins
};

struct RootForwards {
    std::vector<RootForward> calls; ///< in order; empty where no stack shows a module
    /// Where one call ends and the next begins is shown: the program allocates between them, or nothing that
    /// one made is alive in the next.
    bool areShown = true;
};

/// Calls of modules as Python's frames show them; frames of C++ and of the interpreter do not count.
///
///     <module>:284  run_step:122 | forward:245               an embedding
///     <module>:284  run_step:122 | forward:253  forward:100  }
///     <module>:284  run_step:122 | forward:253  forward:101  } a layer, and again: still the same call
///     <module>:284  run_step:122 | forward:257               the head
///         who calls: the site    | the root module
///
/// A call ends where the program allocates outside of it, or where its first line comes again and what lies
/// between is alike each time. O(allocs + frames of distinct stacks).
[[nodiscard]] RootForwards rootForwards(const DeviceTrace& trace);

} // namespace strata::model
