// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/column.h"
#include "model/base/ids.h"
#include "model/trace/recording.h"
#include "model/wire/kinds.h"

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace strata::model {

/// What the program asked of the allocator of one device besides memory, between two of its events: what a
/// replay needs and no event tells.
struct AllocatorCall {
    using Kind = wire::AllocatorCallKind;
    int device = 0;
    EventIndex event = 0; ///< it was before this one: how many events of the device came before
    Kind kind = Kind::EmptyCache;
    StringId value; ///< as it is in the file; of Settings the string that was given
    double fraction = 1; ///< of MemoryFraction
    std::int64_t poolOwner = 0, poolId = 0; ///< of EmptyCache and the calls of pools; (0,0) the default
    std::int64_t timeNs = 0;
};

/// All calls that a recording tells of: a type of Recording::parts. That there are none says nothing unless
/// the fact "allocator_calls" is "1": then the recorder saw all of them.
struct AllocatorCalls {
    using Calls = Column<AllocatorCall, 6>;

    std::map<int, Calls> byDevice; ///< in the order in which they were made, by ascending event

    [[nodiscard]] static const Calls& of(const Recording& recording, int device);
};

/// Settings as they were before the first event, where they changed since: Recording::settings has those of
/// the last state. A type of Recording::parts.
struct SettingsAtStart {
    std::vector<Setting> settings;

    /// Recording::settings where none changed.
    [[nodiscard]] static const std::vector<Setting>& of(const Recording& recording);
};

/// "empty_cache", "settings", "settings_refused", "memory_fraction", "pool_begin", ...
[[nodiscard]] std::string_view callName(AllocatorCall::Kind kind);

} // namespace strata::model
