// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/events.h"

namespace strata::model {

[[nodiscard]] inline bool isRelease(Action action)
{
    return action == Action::SegmentFree || action == Action::SegmentUnmap;
}

[[nodiscard]] inline bool isOfSegment(Action action)
{
    return isRelease(action) || action == Action::SegmentAlloc || action == Action::SegmentMap;
}

[[nodiscard]] inline bool isOfBlock(Action action)
{
    return action == Action::Alloc || action == Action::FreeRequested || action == Action::FreeCompleted;
}

[[nodiscard]] inline bool isOfAllocator(Action action)
{
    return isOfSegment(action) || isOfBlock(action) || action == Action::Oom;
}

} // namespace strata::model
