// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/recording.h"

#include <algorithm>

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

StreamIndex Recording::internStream(std::int64_t stream)
{
    return internIn(streams, stream);
}

PoolIndex Recording::internPool(const Pool& pool)
{
    return internIn(pools, pool);
}

const DeviceRecording* Recording::find(int device) const
{
    const auto found = std::find_if(
        devices.begin(), devices.end(), [device](const DeviceRecording& d) { return d.device == device; });
    return found == devices.end() ? nullptr : &*found;
}

} // namespace strata::model
