// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata::wire {

/// How chunks about one step of a device begin.
inline constexpr auto kStepHeadLayout = [](auto& coder, auto& chunk) {
    coder.signedVarint(chunk.device);
    coder.id(chunk.unusable);
    coder.varint(chunk.beginEvent, chunk.endEvent);
};

} // namespace strata::wire
