// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"

#include <cstddef>
#include <span>

namespace strata::model {

/// Whether allocs recur within one call of a forward, as over its layers, and not once a call. Stacks tell:
///
///     forward:49           an embedding
///     forward:56  layer    }
///     forward:56  layer    } all of what recurs is at one line of this forward,
///     forward:56  layer    } and nothing in between at another one
///     forward:67           the head
///
/// `recurring`: numbers of allocs with one stack, ascending, at least two. O(allocs + frames of stacks).
[[nodiscard]] bool recursWithinForward(const DeviceTrace& trace, std::span<const std::size_t> recurring);

} // namespace strata::model
