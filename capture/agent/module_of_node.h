// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/reserved_memory.h"

#include <atomic>
#include <cstdint>

namespace strata::agent {

/// The module in whose forward a node of autograd's graph was made. A node has the number of its thread and
/// how many the thread made before: the call that makes one allocates its result right after. So the module
/// that allocates is put down under the node that was made last, and found again when that one, or one made
/// shortly after it, is evaluated.
///
/// Of the last 262,144 nodes, from many threads at once, without a lock. A place that two write at the same
/// time may hold neither: then nothing is found.
class ModuleOfNode {
public:
    ModuleOfNode()
        : m_memory(sizeof(Place) << kBits)
        , m_places(m_memory.as<Place>())
    {
    }

    void put(std::uint64_t node, std::uint64_t module) noexcept
    {
        if (node == 0 || !m_places)
            return;
        Place& place = m_places[node & kMask];
        place.module.store(0, std::memory_order_relaxed);
        place.node.store(node, std::memory_order_release);
        place.module.store(module, std::memory_order_release);
    }

    /// Of a node that nothing was put down under: one that is made before a forward without gradients, as
    /// those that programs write themselves are.
    void putIfNew(std::uint64_t node, std::uint64_t module) noexcept
    {
        if (m_places && m_places[node & kMask].node.load(std::memory_order_relaxed) != node)
            put(node, module);
    }

    /// 0: not known.
    [[nodiscard]] std::uint64_t find(std::uint64_t node) const noexcept
    {
        if (node == 0 || !m_places)
            return 0;
        for (std::uint64_t back = 0; back < kFarthest; ++back) {
            const Place& place = m_places[(node - back) & kMask];
            const std::uint64_t module = place.module.load(std::memory_order_acquire);
            if (place.node.load(std::memory_order_acquire) == node - back && module != 0)
                return module;
        }
        return 0;
    }

private:
    static constexpr unsigned kBits = 18;
    static constexpr std::uint64_t kMask = (std::uint64_t{ 1 } << kBits) - 1;
    static constexpr std::uint64_t kFarthest = 16; ///< nodes in a row that allocate nothing: views

    struct Place {
        std::atomic<std::uint64_t> node, module;
    };
    ReservedMemory m_memory;
    Place* m_places;
};

} // namespace strata::agent
