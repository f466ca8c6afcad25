// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/recording.h"

#include <algorithm>
#include <fmt/format.h>

namespace strata::model {

namespace {

template <class T> std::uint16_t internIn(std::vector<T>& table, const T& value)
{
    const auto found = std::find(table.begin(), table.end(), value);
    if (found != table.end())
        return static_cast<std::uint16_t>(found - table.begin());
    if (table.size() >= kNoIndex)
        return kNoIndex;
    table.push_back(value);
    return static_cast<std::uint16_t>(table.size() - 1);
}

} // namespace

std::string_view kindName(SegmentKind kind)
{
    return kind == SegmentKind::Small ? "small" : kind == SegmentKind::Large ? "large" : "unknown";
}

std::optional<SegmentKind> kindFromName(std::string_view name)
{
    for (const SegmentKind kind : { SegmentKind::Small, SegmentKind::Large, SegmentKind::Unknown })
        if (name == kindName(kind))
            return kind;
    return std::nullopt;
}

std::string poolName(const Pool& pool)
{
    const std::string_view kind = kindName(pool.kind);
    return pool.owner == 0 && pool.id == 0 ? std::string(kind)
                                           : fmt::format("({},{})/{}", pool.owner, pool.id, kind);
}

StreamIndex Recording::internStream(std::int64_t stream)
{
    return internIn(streams, stream);
}

PoolIndex Recording::internPool(const Pool& pool)
{
    return internIn(pools, pool);
}

ThreadIndex Recording::internThread(std::uint32_t thread)
{
    return thread == 0 ? kNoIndex : internIn(threads, thread);
}

ModuleIndex Recording::internModule(StringId name)
{
    return name.valid() ? internIn(modules, name) : kNoIndex;
}

const DeviceRecording* Recording::find(int device) const
{
    const auto found = std::find_if(
        devices.begin(), devices.end(), [device](const DeviceRecording& d) { return d.device == device; });
    return found == devices.end() ? nullptr : &*found;
}

} // namespace strata::model
