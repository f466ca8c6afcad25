// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/program/allocator_calls.h"

#include <array>

namespace strata::model {

const AllocatorCalls::Calls& AllocatorCalls::of(const Recording& recording, int device)
{
    static const Calls none;
    const auto* const part = recording.parts.find<AllocatorCalls>();
    if (!part)
        return none;
    const auto found = part->byDevice.find(device);
    return found == part->byDevice.end() ? none : found->second;
}

const std::vector<Setting>& SettingsAtStart::of(const Recording& recording)
{
    const auto* const part = recording.parts.find<SettingsAtStart>();
    return part ? part->settings : recording.settings;
}

std::string_view callName(AllocatorCall::Kind kind)
{
    constexpr std::array<std::string_view, wire::kAllocatorCallKinds> kNames{ "empty_cache", "settings",
        "settings_refused", "memory_fraction", "pool_begin", "pool_end", "pool_release", "pool_create",
        "pool_use_on_oom", "pool_no_split", "capture_begin", "capture_end" };
    return kNames[static_cast<std::size_t>(kind)];
}

} // namespace strata::model
