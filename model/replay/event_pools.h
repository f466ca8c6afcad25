// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/block_pool.h"
#include "model/trace/device_trace.h"

#include <cstddef>

namespace strata::model {

/// Which pool a request of a trace went to. Torch writes it from 2.12 on. Before, the end state tells it of
/// the segments that are still there; what was in one of a private pool that is gone seems to be of the
/// default pools. The trace must outlive it.
class EventPools {
public:
    explicit EventPools(const DeviceTrace& trace);

    /// The default pools' where nothing tells. O(1) where there are no private pools, else O(log segments).
    [[nodiscard]] PoolOwner at(std::size_t row) const;

private:
    const DeviceTrace* m_trace;
    bool m_anyPrivate = false;
};

/// The owner of the pool of a row of Recording::pools; the default pools' where there is none.
[[nodiscard]] PoolOwner poolOwnerOf(const Recording& recording, PoolIndex pool);

} // namespace strata::model
