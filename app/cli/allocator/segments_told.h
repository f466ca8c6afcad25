// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/trace/recording.h"

namespace strata::cli {

/// What is about segments has nothing to say of a device that a profiler's trace told of: an error says so.
[[nodiscard]] inline model::Result<void> tellsOfSegments(const model::Recording& recording, int device)
{
    const model::DeviceRecording* const found = recording.find(device);
    if (found == nullptr || !found->profiled)
        return {};
    return model::fail(model::Error::Kind::NotFound,
        model::say("a profiler tells of blocks, not of the segments that they lie in"),
        model::say("a memory snapshot tells of both; strata summary, at, blocks and events show the blocks"));
}

} // namespace strata::cli
