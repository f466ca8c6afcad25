// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/sentence.h"
#include "model/trace/device_trace.h"
#include "model/trace/program/deep_step.h"

#include <cstdint>
#include <string_view>

namespace strata::model {

/// What a deep step allocates beside the steps around it, which nobody looked into. Addresses do not count.
enum class DeepLikeness : std::uint8_t {
    Same, ///< as one next to it: sizes and streams in the same order, each block freed between the same two
    Alike, ///< the steps next to it differ from each other; in each phase it allocates as often as these
    Differs, ///< looking changed the program, or the program did something else in that step
    Alone, ///< nothing tells where the steps around it are
};
[[nodiscard]] std::string_view likenessWord(DeepLikeness likeness); ///< "same", "alike", "differs", "alone"

struct DeepCheck {
    DeepLikeness likeness = DeepLikeness::Alone;
    EventIndex differsAt
        = -1; ///< with Differs the first event that the step next to it has not; -1: it ends early
    std::int64_t operators = 0, saved = 0, modules = 0; ///< that ran, tensors for backward, calls of forward
};

/// Holds a deep step of this device's against the two steps before it and behind it, as the optimizer told of
/// their ends. O(its rows + listings + events of five steps).
[[nodiscard]] DeepCheck checkDeepStep(const DeviceTrace& trace, const DeepStep& step);

/// Whether what it tells holds for steps that nobody looks into.
[[nodiscard]] bool isUsable(const DeepStep& step, const DeepCheck& check);

/// Why it is not; what it is like, if it is.
[[nodiscard]] Sentence sayDeepCheck(const DeepStep& step, const DeepCheck& check, const StringTable& strings);

} // namespace strata::model
